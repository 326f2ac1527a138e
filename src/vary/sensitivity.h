/* sensitivity: derivatives of a solution by parameters and start values, along the run.
 *
 * They obey the variational equations G_y Y + g = 0 with links Y[from]' = Y[to], g what the rows owe to the parameters directly
 * (Maly and Petzold 1996, for DAEs). Staggered: when the integrator has accepted a step, the equations of the variations over
 * it are solved by Radau IIA, at the stages and with the factors of the step where it is one of that method, otherwise at points
 * of the dense output. They are linear, so the iteration only corrects for the Jacobian not being that of each stage. Y holds all
 * columns, so that another choice of states changes nothing. The error of the variations is estimated as that of a step of Radau is, and takes part in
 * the choice of steps: one in which they are not resolved is taken again, shorter.
 *
 * At an event the time of it varies too (Galán, Feehery and Barton 1999): what is fixed there varies by Y + y' dt.
 */
#pragma once

#include "init/initial.h"
#include "vary/adjoint.h"
#include "vary/sensitivity_plan.h"
#include "view/view.h"

typedef struct Sensitivity Sensitivity;

/* Lives in the heap. Errors go to diags. tolerance, span: that of the run, and its length. With an adjoint it hands on to that what the sensitivities would follow
 * from, and follows a few combinations of them itself, so that steps are as short as they ask for. */
Sensitivity *sensitivity_new(Heap *heap, const SensitivityPlan *plan, View *view, double tolerance, double span,
                             Adjoint *adjoint, Diags *diags);

/* The derivatives at the start: those of the initial values, which the initializer has found. false: an error is in diags. */
bool sensitivity_start(Sensitivity *sensitivity, Initializer *initializer, const Initial *initial, double t,
                       const double *y);

/* Solves over the last step of the integrator, up to `to` within it. What follows is of this step, until it is
 * accepted or solved again. false: an error is in diags. */
bool sensitivity_step(Sensitivity *sensitivity, const Integrator *integrator, void *self, const Segment *segment,
                      double to);

/* Is the error of the variations in that step more than the tolerance? Then it must be taken again, and no longer than this. Otherwise the next
 * one should not be longer than this. */
bool sensitivity_is_coarse(const Sensitivity *sensitivity);
double sensitivity_longest(const Sensitivity *sensitivity);

/* Takes the end of the step as the beginning of the next. */
void sensitivity_accept(Sensitivity *sensitivity);

/* Values at a time within the step, where the columns are y: of target k, per column of the array, and after them per discrete
 * leaf. Those of states are interpolated, all others follow from them. Until the next call. */
const double *const *sensitivity_at(Sensitivity *sensitivity, double t, const double *y);

/* An event at (t, y), before anything changes; mode: the one that made it, MAP_NONE: none did. Then, in this order for every iteration: the
 * values have been settled, reinit has acted, pre() has taken the values over. At its end the states are those of y. false: an error
 * is in diags. */
bool sensitivity_event(Sensitivity *sensitivity, double t, const double *y, uint32_t mode);
bool sensitivity_settled(Sensitivity *sensitivity, double t, const double *y);
bool sensitivity_reset(Sensitivity *sensitivity, double t, const double *y);
bool sensitivity_passed(Sensitivity *sensitivity, double t, const double *y);
bool sensitivity_event_end(Sensitivity *sensitivity, double t, const double *y);

/* Conditions that change at one time (turns.h), those marked, of which each has a time that moves by its own derivative: gives each a
 * number, 0 if the time stays and from 1 on one for each other derivative, MAP_NONE if it is not marked; *count is one more than
 * the largest. From here on, until sensitivity_end_turns, several events follow each other at (t, y). false: an error is in diags. */
bool sensitivity_begin_turns(Sensitivity *sensitivity, double t, const double *y, const bool *marked, uint32_t *number,
                             uint32_t *count);
void sensitivity_end_turns(Sensitivity *sensitivity);

/* What varies where such an event begins or ends: kept in the heap, and taken back. */
typedef struct SensitivityMoment SensitivityMoment;
SensitivityMoment *sensitivity_keep(const Sensitivity *sensitivity, Heap *heap);
void sensitivity_go_back(Sensitivity *sensitivity, const SensitivityMoment *moment);

/* Lets the sizes of a moment grow to the current ones; does everything vary as then, except for round-off of these sizes? */
void sensitivity_note_sizes(const Sensitivity *sensitivity, SensitivityMoment *moment);
bool sensitivity_agrees(const Sensitivity *sensitivity, const SensitivityMoment *moment,
                        const SensitivityMoment *sizes);

/* Ends with an error at an event that cannot be followed; returns false. */
bool sensitivity_refuse(Sensitivity *sensitivity, double t, const char *why);

/* Was an error given? */
bool sensitivity_failed(const Sensitivity *sensitivity);

/* Does it solve with the factors of an integrator that has them? One that notes for an adjoint does not. */
bool sensitivity_shares_factors(const Sensitivity *sensitivity);

/* What an expression over parameters varies by in the direction of a target. */
double sensitivity_slope(Sensitivity *sensitivity, uint32_t target, Expr e);
