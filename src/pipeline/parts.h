/* parts: shared by the files of the pipeline. */
#pragma once

#include "pipeline/pipeline.h"

/* ---- supported.c ---- */

/* Refuses models with features that the numeric part cannot run, and names them. */
bool pass_supported(Plan *plan);
bool pass_resets(Plan *plan);

/* ---- start.c ---- */

/* Reports that no choice of states is possible at the initial point. */
bool start_no_choice(Evaluator *evaluator, const Structure *structure, int32_t block, Diags *diags);
/* The array of the plan with room for values, before any value is computed. */
ArrayRun start_array(const Plan *plan, Heap *heap, const double *parameters);
/* The initializer for that array. */
Initializer start_initializer(const Plan *plan, Heap *heap, const ArrayRun *run);
/* Inputs that the caller sets begin at their start values. */
void start_inputs(Evaluator *evaluator, const StartValues *starts);
/* The given start values, extended by "none" for the variables that a conversion added. In the heap, or unchanged. */
StartValues start_extended(const Plan *plan, const StartValues *given, Heap *heap);
/* If structural analysis was wrong about the equations, the converted equations may be singular at the initial point. false:
 * they are singular there, and an error is in diags. */
bool start_is_regular(const Plan *plan, const Request *request, Initializer *initializer, Initial *initial,
                      Arena *arena, Diags *diags);
/* Finds initial values in modes that agree with them. false: an error is in diags. */
bool start_values(Initializer *initializer, const StartValues *starts, const RunOptions *run, Initial *initial,
                  Diags *diags);
/* Transfers the values of the handover to another array. Columns jump as the equations integrated over the instant require. *since:
 * the time at which the values hold. */
bool start_at_event(const Plan *plan, ArrayRun *run, const Handover *from, double *since, Heap *heap, Diags *diags);
/* Transfers the values of the plan's handover to the plan's own array. */
bool start_plan_at_event(Plan *plan);
/* A plan holds branches that do not hold at these initial values. Are their conditions on edges, where both values are right? */
bool start_is_on_edge(const Plan *plan, Evaluator *evaluator, const Initial *initial, Heap *heap);
/* The branches that hold at the current discrete values. */
bool *start_branches(const Plan *plan, Evaluator *evaluator, Heap *heap);

/* ---- ranks.c ---- */

/* A request for the method by ranks that is otherwise the same; its messages are kept apart, in `attempt`. */
Request ranks_ask(const Request *request, Heap *heap, Diags **attempt);
/* The method by ranks has succeeded after the requested method failed. Does it replace the method requested? It does so only
 * for the default method, and only if no equation follows from others and no variable is free. Its messages then
 * replace all messages but the first `before`. Otherwise a note names the method by ranks. */
bool ranks_take_over(const Strangeness *strangeness, const Request *request, const Diags *attempt, uint32_t before,
                     Diags *diags);

/* ---- plan.c ---- */

/* Adds the time since `begin` to the member of `seconds` with offset `place`. */
void seconds_add(Seconds *seconds, size_t place, double begin);
/* Derives a plan from another one, for branches (NULL: all) and for parameters by leaf index. The plan depends only on these
 * arguments. from: the plan to which the branches belong, which is the base or derived from it. handover: the event, for a method
 * that needs values (method.h); NULL: the plan has no values. */
bool plan_derive(Plan *plan, Heap *heap, const Plan *base, const Plan *from, const bool *holds,
                 const double *parameters, const Handover *handover, Diags *diags);
/* Makes a plan with initial values, for the branches that seem to hold at the start, or for those that hold at the values found. */
bool plan_make_at_start(Plan *plan, Heap *heap, const Model *model, const Request *request, bool *holds, Diags *diags);
/* Can plans be derived from it without values? */
bool plan_is_derivable(const Plan *plan);
/* Does the plan have an object that changes? Such a plan belongs to one run. */
bool plan_has_own_objects(const Plan *plan);
/* Reports that in each mode that was tried, the initial values belong to another mode. */
void plan_report_unsettled(Diags *diags);

/* ---- derived.c ---- */

/* The plan that another run uses now. NULL: an error is in diags. */
const Plan *mode_plan_again(Simulation *simulation, const Plan *other);
/* The plan derived from the run's base for these branches of its present plan (NULL: all) and for the parameter values that it
 * depends on. For a method that needs no other values. NULL: an error is in diags. */
const Plan *mode_plan(Simulation *simulation, const bool *holds, const double *parameters, Diags *diags);
/* Like mode_plan, at an event, for any method. */
const Plan *mode_plan_at(Simulation *simulation, const bool *holds, const Handover *handover, Diags *diags);
/* Like mode_plan, with initial values, for a method that needs them. */
const Plan *mode_plan_at_start(Simulation *simulation, const bool *holds);

/* ---- begin.c ---- */

/* A plan of the run's own, with initial values. */
bool simulation_replan(Simulation *simulation);
/* Begins with new values in a plan that others share. */
bool simulation_begin_shared(Simulation *simulation);
/* Begins with the values at which the plan was made. */
void simulation_begin_alone(Simulation *simulation);
/* Begins with initial values in the plan for the branches that seem to be taken at the start. If the values found are in other
 * branches, begins in the plan for those. false: an error is in diags. */
bool mode_start(Simulation *simulation, const bool *holds, const double *parameters);

/* ---- system.c ---- */

/* Makes the view of the system to integrate, from the start values. */
bool simulation_make_view(Simulation *simulation);
/* Makes reports of the beginning refer to the view just made. */
void simulation_note_beginning(Simulation *simulation);
/* Makes the recorder of its signals. */
void simulation_make_recorder(Simulation *simulation);
/* Is the system singular exactly at the initial values? */
bool simulation_is_singular(const Simulation *simulation, TurningPoint *point);
/* Is the model's own array singular at the initial values? For methods whose own system is not watched. */
bool simulation_starts_singular(const Simulation *simulation, TurningPoint *point);
/* Passes of a run; the others are mode_begin and the functions of simulation.c. */
bool pass_view(Simulation *simulation);
bool pass_signals(Simulation *simulation);

/* ---- modes.c ---- */

/* The columns of the model's array that belong to the columns y of the view. */
double *mode_columns(const Simulation *simulation, const double *y, Heap *heap);
/* Begins in a plan made for the mode at the start, if the plan for all branches does not fit. false: an error is in diags. */
bool mode_begin(Simulation *simulation);
/* Begins the loop in the current system; `resumes`: after another one. */
RunStatus mode_loop(Simulation *simulation, bool resumes);
/* Continues in another system if the structure changes. One event may change it several times. */
RunStatus mode_follow(Simulation *simulation);

/* ---- resume.c ---- */

/* Moves the loop, which has begun, to the request's resumption. false: an error is in diags. */
bool simulation_take_up(Simulation *simulation);

/* ---- simulation.c ---- */

/* Makes the loop, with the options that the method allows. */
void simulation_make_loop(Simulation *simulation);
/* Continues after a call with this status, through every structure. */
bool simulation_go_on(Simulation *simulation, RunStatus status, double until, bool once);
/* Opens a simulation without values yet. */
void simulation_open(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request, Diags *diags);
