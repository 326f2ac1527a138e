/* sensitivity: derivatives of a solution with respect to parameters and start values, during the run.
 *
 * They satisfy the variational equations G_y Y + g = 0 with links Y[from]' = Y[to]; g is the direct dependence of the rows on the
 * parameters (Maly and Petzold 1996, for DAEs). The scheme is staggered: when the integrator has accepted a step, the variational
 * equations over it are solved by Radau IIA. For a step of that method they use its stages and factors, otherwise points of the
 * dense output. They are linear, so the iteration only corrects for the use of one Jacobian at all stages. Y holds all columns, so
 * another choice of states changes nothing. The error of the variations is estimated like that of a step of Radau, and influences
 * the choice of steps: a step that does not resolve them is repeated with a shorter length.
 *
 * At an event its time varies, too (Galán, Feehery and Barton 1999): values that are fixed there vary by Y + y' dt. */
#pragma once

#include "init/initial.h"
#include "vary/adjoint.h"
#include "vary/sensitivity_plan.h"
#include "view/view.h"

typedef struct Sensitivity Sensitivity;

/* Lives in the heap. Errors go to diags. tolerance, span: tolerance and length of the run. With an adjoint, the object
 * passes on all data that determine the sensitivities. It then computes only a few combinations of the sensitivities itself,
 * so that steps are short enough for them. */
Sensitivity *sensitivity_new(Heap *heap, const SensitivityPlan *plan, View *view, double tolerance, double span,
                             Adjoint *adjoint, Diags *diags);

/* Begins with the derivatives of the initial values that the initializer has found. slopes: the derivatives of start values
 * that replace the model's own. Returns false if an error is in diags. */
bool sensitivity_start(Sensitivity *sensitivity, Initializer *initializer, const Initial *initial, StartSlopes slopes,
                       double t, const double *y);

/* Solves over the last step of the integrator, up to `to` within it. The functions below refer to this step until it is accepted or
 * solved again. false: an error is in diags. */
bool sensitivity_step(Sensitivity *sensitivity, const Integrator *integrator, void *self, const Segment *segment,
                      double to);

/* Does the error of the variations in that step exceed the tolerance? If so, the step must be repeated with at most the
 * length that the second function returns. If not, the next step should be at most that long. */
bool sensitivity_is_coarse(const Sensitivity *sensitivity);
double sensitivity_longest(const Sensitivity *sensitivity);

/* Makes the end of the step the beginning of the next. */
void sensitivity_accept(Sensitivity *sensitivity);

/* Values at a time within the step, where the columns are y: for target k, per column of the array, and then per discrete
 * leaf. The derivatives of states are interpolated; all others follow from these. Valid until the next call. */
const double *const *sensitivity_at(Sensitivity *sensitivity, double t, const double *y);

/* Call this at an event at (t, y), before anything changes. mode: the mode that caused the event; MAP_NONE: no mode did. Then, in
 * this order for every iteration: the values have been settled, reinit has acted, pre() has taken the values. At the end of an
 * iteration, y has the states that hold from then on. false: an error is in diags. */
bool sensitivity_event(Sensitivity *sensitivity, double t, const double *y, uint32_t mode);
bool sensitivity_settled(Sensitivity *sensitivity, double t, const double *y);
bool sensitivity_reset(Sensitivity *sensitivity, double t, const double *y);
bool sensitivity_passed(Sensitivity *sensitivity, double t, const double *y);
bool sensitivity_event_end(Sensitivity *sensitivity, double t, const double *y);

/* For the marked conditions, which change at one time (turns.h). The time of each varies with its own derivative. Numbers the
 * conditions: 0 if the time is fixed, otherwise from 1 on, with one number for each distinct derivative; MAP_NONE if not marked.
 * *count is one more than the largest number. From here until sensitivity_end_turns, several events follow each other at (t, y).
 * false: an error is in diags. */
bool sensitivity_begin_turns(Sensitivity *sensitivity, double t, const double *y, const bool *marked, uint32_t *number,
                             uint32_t *count);
void sensitivity_end_turns(Sensitivity *sensitivity);

/* The variations where such an event begins or ends: saved in the heap, and restored. */
typedef struct SensitivityMoment SensitivityMoment;
SensitivityMoment *sensitivity_keep(const Sensitivity *sensitivity, Heap *heap);
void sensitivity_go_back(Sensitivity *sensitivity, const SensitivityMoment *moment);

/* Lets the sizes of a moment grow to the current ones. The second function compares the present variations with those of that
 * moment: are they equal, except for round-off relative to these sizes? */
void sensitivity_note_sizes(const Sensitivity *sensitivity, SensitivityMoment *moment);
bool sensitivity_agrees(const Sensitivity *sensitivity, const SensitivityMoment *moment,
                        const SensitivityMoment *sizes);

/* Reports an error at an event that cannot be followed; returns false. */
bool sensitivity_refuse(Sensitivity *sensitivity, double t, const char *why);

/* Was an error reported? */
bool sensitivity_failed(const Sensitivity *sensitivity);

/* Does the sensitivity analysis solve with the factors of the integrator? It does not while it records for an adjoint. */
bool sensitivity_shares_factors(const Sensitivity *sensitivity);

/* The variation of an expression over parameters in the direction of a target. */
double sensitivity_slope(Sensitivity *sensitivity, uint32_t target, Expr e);
