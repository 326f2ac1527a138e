/* logic: the discrete part of a model in a uniform form. Everything that changes only at events is a discrete leaf, and a step
 * computes its value. There are steps for discrete equations, for the conditions of whens, for whether a branch fires, and for the
 * value that a when assigns. That value is pre() of the variable if no branch fires. initial(), terminal() and sample() are leaves
 * that the run sets. Anything else that a branch does is an action.
 *
 * An event iterates until nothing changes: all steps are repeated to a fixed point with pre() held, then reinit acts, then
 * pre() takes the values found (Modelica Language Specification 3.6, 8.5 and appendix B). */
#pragma once

#include "core/delays.h"
#include "model/model.h"

typedef struct LogicStep {
  uint32_t leaf; /* discrete leaf that the step determines */
  Expr value;
  Span span;
  bool fires;        /* the value says whether a branch of a when fires */
  bool is_parameter; /* the leaf belongs to a parameter */
} LogicStep;

typedef struct LogicAction {
  ActionKind kind;
  Expr fires;  /* EXPR_NONE: at all times, for an assertion outside of whens without a condition */
  Expr target; /* for reinit: the variable leaf of the model's unknown, with aliases substituted */
  Expr value;  /* for reinit: the new value of the target; for assert: the condition */
  bool in_when;
  const Action *written;
} LogicAction;

typedef struct LogicSample {
  uint32_t leaf;
  Expr start, interval;
} LogicSample;

/* pre() of a continuous variable: its value when an event or an iteration of it begins. */
typedef struct LogicLeft {
  uint32_t leaf;
  Expr value;
} LogicLeft;

/* The outlet of spatialDistribution at place 0 of its pipe. Two leaves describe the next break of the contents that arrives there:
 * its place, and a sign that changes with each break. So an arrival is an event of the relation sign*place < -sign*x. */
typedef struct LogicPipe {
  Expr x, positive; /* `positive`: is the flow positive? */
  Expr *points, *values;
  uint32_t count;   /* of the points */
  uint32_t arrival; /* leaf that is the relation */
} LogicPipe;

/* delay(value, time, longest). A discrete value delayed by a fixed time is one leaf that changes only at events. Any other delay
 * has DELAY_LEAVES leaves; leaf + k is derivative k of the value. The value of a pipe (spatialDistribution) is the inflow that
 * has reached the outlet. Its leaves are derivatives along the pipe, then the place and the sign of a break. */
typedef struct LogicDelay {
  Expr value, time; /* for a pipe, value is the inflow, and time is not used */
  Expr longest;     /* the longest delay, if the time is not fixed */
  Expr written;
  LogicPipe *pipe; /* NULL: a delay */
  uint32_t leaf;
  bool is_fixed, is_discrete;
} LogicDelay;

/* The number of leaves that a delay takes. */
uint32_t logic_delay_leaves(const LogicDelay *delay);

typedef struct Logic {
  uint32_t leaves;              /* leaves of the model and of the logic: modes come after them */
  uint32_t initial, terminal;   /* the leaf that is true at the start, and the one that is true at the end */
  bool is_asked, asks_terminal; /* initial() or terminal() is used; terminal() is used */
  VEC(LogicStep) steps;         /* sorted by logic_sort: level l is [level_start[l], level_start[l + 1]) */
  IndexVec level_start;
  VEC(LogicSample) samples;
  VEC(LogicLeft) lefts;
  VEC(LogicDelay) delays; /* inner ones come before those that contain them */
  VEC(LogicAction) actions;
  VEC(LogicStep)
  initial_steps; /* values that initial equations give to pre() of a leaf, or to a parameter that is not a number */
  bool *is_initial_step;  /* per initial equation of the model: it is one of the initial steps */
  Expr *initial_residual; /* the residuals of all initial equations */
} Logic;

/* The places of the expressions of the logic, so that they can be changed. Valid until steps are added. */
typedef VEC(Expr *) PlaceVec;
void logic_places(Logic *logic, Heap *heap, PlaceVec *places);

/* Converts an expression to the unknowns of a problem. */
typedef Expr LogicPut(const void *problem, Expr e);

/* Makes the logic of a model. initial(), sample() and similar calls are also replaced by their leaves in the residuals, in place.
 * `put` is applied to every expression. Lives in the model's heap. O(size of the discrete part). */
Logic *logic_make(Model *model, Expr *residual, uint32_t count, LogicPut *put, const void *problem);

/* Sorts the steps, so that each level reads only leaves of earlier levels and leaves without steps; steps in a loop come last, as
 * one level. Call it when the expressions have their final form. */
void logic_sort(Logic *logic, const Model *model);

/* Substitutes the values of delays at the start in the expressions: the delayed value itself, which was constant before. */
void logic_put_start(const Logic *logic, Dag *dag, Heap *heap, Expr *roots, uint32_t count);

/* Do only the modes change at events, and nothing else? */
bool logic_is_empty(const Logic *logic);
