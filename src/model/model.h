/* model: the flat model, on which every later pass works. Scalar variables, scalar equations over one expression graph, initial
 * equations, discrete parts, functions, experiment settings.
 *
 * Invariant: variables are scalar; unknown j of the equations is variables[unknowns[j]], and the leaf (j, k) of the graph is its
 * k-th derivative; likewise parameter leaves and discrete leaves. Everything lives in the model's heap and is freed with it. */
#pragma once

#include "base/diag.h"
#include "expr/dag.h"
#include "model/function.h"

/* The role of a variable in the equations. */
typedef enum Role {
  ROLE_UNKNOWN,   /* continuous: leaf (index, k) */
  ROLE_DISCRETE,  /* changes at events only: leaf discrete(index) */
  ROLE_PARAMETER, /* parameter, constant, or top-level input without equation: leaf parameter(index) */
} Role;

typedef enum Variability {
  VARIABILITY_CONSTANT,
  VARIABILITY_PARAMETER,
  VARIABILITY_DISCRETE,
  VARIABILITY_CONTINUOUS
} Variability;
/* CAUSALITY_INNER_INPUT: an input of a component, an unknown like any other. */
typedef enum Causality { CAUSALITY_LOCAL, CAUSALITY_INNER_INPUT, CAUSALITY_INPUT, CAUSALITY_OUTPUT } Causality;
typedef enum StateSelect { SELECT_NEVER, SELECT_AVOID, SELECT_DEFAULT, SELECT_PREFER, SELECT_ALWAYS } StateSelect;
typedef enum Fixed { FIXED_UNSET, FIXED_FALSE, FIXED_TRUE } Fixed;

typedef struct Variable {
  Name name;            /* flat, without quotes: body.r[1] */
  uint32_t enumeration; /* for TYPE_ENUMERATION: index in enumerations */
  uint32_t index;       /* leaf index within its role */
  /* Packed, because large models have millions of variables. */
  BaseType type : 8;
  Role role : 8;
  Variability variability : 8;
  Causality causality : 8;
  StateSelect select : 8;
  Fixed fixed : 8;
  bool is_final;
  bool is_hidden;      /* protected, or annotation(HideResult = true): results need not show it */
  bool is_input_value; /* a parameter that holds the value of an input, or a derivative of it, along a run */
  bool is_structural;  /* its value decided sizes, loops or branches: it can no longer be changed */
  bool is_held; /* a when of an algorithm assigns it or other elements of its array; it keeps its value otherwise */
  bool has_fixed_start; /* equations were made with its start value, so it can no longer be changed */
  /* For parameters and constants; EXPR_NONE if there is none (then start holds). For an input: the right side of the equation that
   * its declaration makes. */
  Expr binding;
  Expr start, min, max, nominal; /* expressions over parameters; EXPR_NONE if not given */
  Name unit, display_unit, quantity, description;
  Span span;
} Variable;

typedef struct Enumeration {
  Name name;
  VEC(Name) literals; /* literal i has value i + 1 */
} Enumeration;

/* The class of a component, a model or block, by its full name. */
typedef struct ComponentClass {
  Name name;
  Span span; /* its name where it is defined */
} ComponentClass;

/* left = right. residual = left - right, simplified. Numbers shown to users are position + 1. */
typedef struct Equation {
  Expr left, right, residual;
  Span span;
  bool is_declared; /* the binding of an input, written in its declaration */
  bool is_added;    /* not written by the user: a rewriting or free variables need it */
  Name note;        /* for a derived equation: its origin; 0: none */
} Equation;

/* If the equation has to be solved for an unknown, unknown = value can take its place. One side of the equation is then a call of a
 * function that names its inverse. */
typedef struct Inversion {
  uint32_t equation; /* position */
  Expr unknown, value;
} Inversion;

/* Equations derived from an energy, M q'' = f + G^T l for coordinates q with multipliers l. */
typedef struct MassForm {
  uint32_t coordinates, constraints;
  uint32_t
      first; /* equation of the first coordinate; the equations of the other coordinates follow, then the constraints */
  uint32_t *coordinate, *multiplier; /* unknowns */
  Expr *mass;                        /* M, row by row: symmetric */
  Expr *gradient;                    /* G, a row for each constraint */
} MassForm;

/* Actions at events, in source order. */
typedef enum ActionKind { ACTION_ASSIGN, ACTION_REINIT, ACTION_ASSERT, ACTION_TERMINATE, ACTION_CALL } ActionKind;

typedef struct Action {
  ActionKind kind;
  Expr guard;      /* branch condition inside the when (EXPR_NONE: always) */
  uint32_t target; /* variable position: assigned discrete variable, or reinitialized unknown */
  Expr value;      /* assigned value, asserted condition, or the call */
  Expr message;    /* string expression of assert and terminate */
  bool is_warning; /* assert with AssertionLevel.warning */
  bool is_initial; /* for an initial section: it applies at the start only */
  Span span;
} Action;

/* when c1 then A1 elsewhen c2 then A2 ...: branches in order of priority. */
typedef struct WhenBranch {
  VEC(Expr) conditions; /* a vector condition has several */
  Name mark;            /* calls that are made once have this text for `the branch fires`; 0: there are none */
  VEC(Action) actions;
} WhenBranch;

typedef struct When {
  VEC(WhenBranch) branches;
  /* Whens of one algorithm section share a number above 0 and may assign the same variable: the later one then
   * holds. 0: an equation. */
  uint32_t algorithm;
  Span span;
} When;

typedef struct Experiment {
  bool has_start, has_stop, has_tolerance, has_interval;
  double start, stop, tolerance, interval;
} Experiment;

/* The source of an input's values over time. */
typedef enum InputKind {
  INPUT_SET,      /* the caller sets the values; they are held in between */
  INPUT_LINES,    /* points; lines between them */
  INPUT_STAIRS,   /* points; a value holds up to the next point */
  INPUT_FUNCTION, /* a function of the caller */
} InputKind;

typedef struct InputSource {
  InputKind kind;
  uint32_t variable; /* position */
  uint32_t leaf;     /* parameter leaf of the value; those of the derivatives follow */
  uint32_t orders;   /* number of derivatives given */
  uint32_t rows;     /* points; two at the same time are a jump */
  const double *times, *values;
  double (*function)(void *context, double time, uint32_t order);
  void *context;
} InputSource;

/* A class of external objects; its text is kept as it was written, for `flatten`. */
typedef struct ExternalObject {
  Name name;
  Span span;
} ExternalObject;

/* A control that the sign of a function puts at one of its bounds (energy/optimal.c). */
typedef struct SwitchedControl {
  uint32_t equation; /* the equation that determines the control */
  Expr control, function, min, max;
} SwitchedControl;

/* The final time of an optimal control, if it is sought. */
typedef struct OptimalEnd {
  bool is_sought;
  uint32_t parameter; /* leaf: the time */
  uint32_t condition; /* the final equation H + ... = 0 that determines it */
  bool is_cost;       /* the cost is only the time, so runs of the same length cost the same */
} OptimalEnd;

typedef struct Model {
  Heap *heap;
  Names *names;
  Dag *dag;
  const Source *source;
  Name name;
  Name description;
  VEC(Enumeration) enumerations;
  VEC(Variable) variables;                  /* variables in order of declaration */
  IndexVec unknowns, parameters, discretes; /* leaf index -> variable position */
  VEC(ComponentClass) classes;              /* classes of components at any depth, each once */
  VEC(Equation) equations;                  /* continuous, in flat order */
  VEC(Inversion) inversions;
  VEC(Equation) initial_equations;
  VEC(Equation) final_equations; /* equations at the end of a run; time is the stop time there */
  VEC(SwitchedControl) switched; /* of an optimal control problem: controls that jump between bounds */
  OptimalEnd optimal_end;
  VEC(Equation) discrete_equations; /* left is a discrete leaf; outside of when */
  VEC(When) whens;
  VEC(Action) asserts;       /* assert and terminate outside of when */
  VEC(Function *) functions; /* the functions that dag_call refers to */
  VEC(InputSource) inputs;   /* inputs whose values come from outside */
  VEC(Routine *) routines;   /* bodies, numbered as in CODE_CALL */
  VEC(Record) records;
  VEC(ExternalObject) external_objects;
  Experiment experiment;
  const MassForm *mass;      /* NULL: none is known */
  IndexVec variable_of_name; /* see model_named */
  bool is_strict;            /* refuses everything that the language forbids, even if daedal usually only warns */
} Model;

/* An empty model in `heap`. */
Model *model_new(Heap *heap, Names *names);

/* A layer over another model, which stays unchanged and must outlive the layer. Its names and its graph begin with the same content
 * and may grow. Variables, equations and the rest are shared and must not grow. O(size of the graph). */
Model *model_layer(const Model *model, Heap *heap);

/* A variable with only a name, a type and a role. */
Variable variable_make(Name name, BaseType type, Role role);

/* Appends a variable, gives it the next leaf index of its role, and returns its position. The name must be new. */
uint32_t model_add_variable(Model *model, Variable variable);

/* Like model_add_variable, for a copy of the variable, whose index is set; returns its leaf. */
Expr model_add_leaf(Model *model, Variable *variable);

/* Position of a variable by flat name; MAP_NONE if there is none. */
uint32_t model_find(const Model *model, const char *name);
uint32_t model_named(const Model *model, Name name);

/* From now on the name refers to the variable at this position. */
void model_name_variable(Model *model, Name name, uint32_t position);

/* The type of a call's value; Real for a derivative of it. */
BaseType model_call_type(const Model *model, Expr call);

/* The leaf of a variable: (index, order) for unknowns; order must be 0 for others. */
Expr model_leaf(const Model *model, uint32_t variable, uint32_t order);

/* For each unknown the highest derivative in the first `equations` continuous equations; in the arena. O(size of these
 * equations). */
uint32_t *model_highest_orders(const Model *model, uint32_t equations, Arena *arena);

const char *model_name(const Model *model, uint32_t variable);

/* Text of an expression with this model's names, for people: names are quoted only if they are not made of plain names, dots
 * and subscripts. Lives in the arena. */
const char *model_text(Model *model, Expr e, Arena *arena);

/* Text of equation `left = right`. */
const char *model_equation_text(Model *model, const Equation *equation, Arena *arena);

/* Values of all parameters and constants (by leaf index), evaluated in dependency order. `overrides` (by leaf index, NAN: none; may
 * be NULL) replace bindings. false: an error is in diags (a missing value, or an argument outside of a domain). */
bool model_parameter_values(const Model *model, Heap *heap, const double *overrides, double *values, Diags *diags);

/* Warns of constants without a value. */
void model_warn_constants(const Model *model, Diags *diags);

/* Do initial equations determine the parameter? */
bool variable_is_sought(const Variable *variable);

/* Marks (by leaf index) the parameters that initial equations determine, and those bound to them. Returns whether there are any. */
bool model_sought_parameters(const Model *model, DagScratch *scratch, bool *is_sought);

/* Does the expression depend on one of the marked parameters (by leaf index)? O(graph below). */
bool model_depends_on(const Model *model, DagScratch *scratch, Expr e, const bool *parameters);

/* Value of an expression over constants and parameters, given parameter values. false outside of a domain. Works in
 * the scratch and its heap. */
bool model_evaluate(const Model *model, DagScratch *scratch, Expr e, const double *parameters, double *value);

/* ---- balance (balance.c) ---- */

/* Counts of continuous equations and unknowns, discrete equations and discrete unknowns. */
typedef struct Balance {
  uint32_t equations, unknowns, discrete_equations, discrete_unknowns;
} Balance;
Balance model_balance(const Model *model);

/* Every discrete variable must be determined by one equation, one when, or the whens of one algorithm section. Otherwise reports
 * errors (DIAG_UNBALANCED) and returns false. Warns of equations that determine each other's variables; a strict model has an error then. The heap is used during the call only. O(size of the discrete part). */
bool model_check_discrete(const Model *model, Heap *heap, Diags *diags);

/* ---- printing (print.c) ---- */

/* The model as Base Modelica that reads back to the same model; functions are printed from their code, and
 * only those that equations, algorithms or bindings still call. O(size of the model and of its text). */
void model_print(Model *model, Heap *heap, TextVec *text);

/* A hash of that text, with terms in the order of the graph. The text is made piece by piece and not kept. */
uint64_t model_hash(Model *model, Heap *heap);

/* Does the text have the calls that are made once (function.h) as often as the model, and in the same order? */
bool model_prints_calls(const Model *model);

/* The text of model_print with comments: `head` above the model, and one above each equation (NULL: none). */
typedef struct ModelNotes {
  const char *head; /* lines, each ended by a line break */
  const char *const *equation;
} ModelNotes;
void model_print_noted(Model *model, const ModelNotes *notes, Heap *heap, TextVec *text);

/* ---- alias elimination (alias.c) ---- */

/* How each unknown is represented after elimination of x = y, x = -y, x = constant, v = der(x) and v = -der(x). Derivative k of
 * unknown j is a constant, or sign times derivative k + shift of the representative. */
typedef struct Aliases {
  uint32_t count;      /* unknowns */
  uint32_t *root;      /* representative unknown, itself if kept; UINT32_MAX if constant */
  int8_t *sign;        /* +1 or -1 */
  uint16_t *shift;     /* 0 except for v = der(x) */
  Expr *constant;      /* value if root is UINT32_MAX: an expression over parameters only */
  bool *equation_used; /* true if elimination removed the equation */
  uint32_t removed;    /* number of removed equations = removed unknowns */
} Aliases;

/* Finds aliases by union-find with sign (and shift) over the equations; conflicting ones (x = y, x = -y + 1) stay equations. An
 * unknown with stateSelect always/prefer, fixed start, or given start is preferred as representative, so that no value given by
 * the user is lost. Conflicting fixed starts are left for initialization to report. O(n alpha(n)). */
Aliases model_find_aliases(Model *model, Arena *arena);

/* Residuals of the kept equations with the representatives substituted for the eliminated unknowns (also in derivatives). */
void model_substitute_aliases(Model *model, const Aliases *aliases, ExprVec *residuals, IndexVec *equations);
