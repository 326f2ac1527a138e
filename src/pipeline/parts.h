/* parts: what the files of the pipeline share. */
#pragma once

#include "pipeline/pipeline.h"

/* ---- supported.c ---- */

/* What the numeric part cannot run yet is refused by name, not run wrongly. */
bool pass_supported(Plan *plan);
bool pass_resets(Plan *plan);

/* ---- start.c ---- */

/* No choice of states serves at the initial point. */
bool start_no_choice(Evaluator *evaluator, const Structure *structure, int32_t block, Diags *diags);
/* The array of the plan with values, before any is computed. */
ArrayRun start_array(const Plan *plan, Heap *heap, const double *parameters);
/* What finds initial values of that array. */
Initializer start_initializer(const Plan *plan, Heap *heap, const ArrayRun *run);
/* Inputs that the caller sets begin at their start values. */
void start_inputs(Evaluator *evaluator, const StartValues *starts);
/* The start values given, for the variables that a conversion added too: none. In the heap, or as they are. */
StartValues start_extended(const Plan *plan, const StartValues *given, Heap *heap);
/* Where structure was wrong about the equations, the initial point may be a singular one of what was made of them. false: it is, and an
 * error is in diags. */
bool start_is_regular(const Plan *plan, const Request *request, Initializer *initializer, Initial *initial,
                      Arena *arena, Diags *diags);
/* Initial values in the modes that agree with them. false: an error is in diags. */
bool start_values(Initializer *initializer, const StartValues *starts, const RunOptions *run, Initial *initial,
                  Diags *diags);
/* The values of the handover in another array; the columns that jump do so as the equations integrated over the instant say. *since: the time at which they hold. */
bool start_at_event(const Plan *plan, ArrayRun *run, const Handover *from, double *since, Heap *heap, Diags *diags);
/* The same for the plan itself. */
bool start_plan_at_event(Plan *plan);
/* Of branches that a plan holds, and that do not hold at these initial values: are their conditions on edges, where both are right? */
bool start_is_on_edge(const Plan *plan, Evaluator *evaluator, const Initial *initial, Heap *heap);
/* The branches that hold at the current discrete values. */
bool *start_branches(const Plan *plan, Evaluator *evaluator, Heap *heap);

/* ---- ranks.c ---- */

/* The same request for it, with messages of its own. */
Request ranks_ask(const Request *request, Heap *heap, Diags **attempt);
/* Ranks have succeeded where the request failed: do they take its place, with their messages instead of those after the first
 * `before`? Only for the default method, and if no equation follows from others and no variable is free. Otherwise a note names them. */
bool ranks_take_over(const Strangeness *strangeness, const Request *request, const Diags *attempt, uint32_t before,
                     Diags *diags);

/* ---- plan.c ---- */

/* Adds the time since `begin` at that offset of the seconds. */
void seconds_add(Seconds *seconds, size_t place, double begin);
/* Derives a plan from another one, for branches (NULL: all) and for parameters by leaf index: what it is depends on these alone. from:
 * the base, or one derived from it, whose branches they are. handover: of a method that needs values (method.h), the event; NULL: the plan has no
 * values. */
bool plan_derive(Plan *plan, Heap *heap, const Plan *base, const Plan *from, const bool *holds,
                 const double *parameters, const Handover *handover, Diags *diags);
/* With initial values, for branches that seem to hold at the start, or for those that do by the values found. */
bool plan_make_at_start(Plan *plan, Heap *heap, const Model *model, const Request *request, bool *holds, Diags *diags);
/* Can plans be derived from it without values? */
bool plan_is_derivable(const Plan *plan);
/* An object that changes belongs to one run. */
bool plan_has_own_objects(const Plan *plan);
/* In each mode that was tried, initial values lead to another one. */
void plan_report_unsettled(Diags *diags);

/* ---- derived.c ---- */

/* The plan that another run is in. NULL: an error is in diags. */
const Plan *mode_plan_again(Simulation *simulation, const Plan *other);
/* The plan derived from the run's base for these branches of its present plan (NULL: all) and for those of these parameter values that it
 * depends on; the method needs no others. NULL: an error is in diags. */
const Plan *mode_plan(Simulation *simulation, const bool *holds, const double *parameters, Diags *diags);
/* The same at an event, for any method. */
const Plan *mode_plan_at(Simulation *simulation, const bool *holds, const Handover *handover, Diags *diags);
/* The same with initial values, of a method that needs them. */
const Plan *mode_plan_at_start(Simulation *simulation, const bool *holds);

/* ---- begin.c ---- */

/* A plan of the run's own, with initial values. */
bool simulation_replan(Simulation *simulation);
/* Fresh values for a plan that others run too. */
bool simulation_begin_shared(Simulation *simulation);
/* The values that the plan was made at. */
void simulation_begin_alone(Simulation *simulation);
/* Begins with initial values in the plan for branches that seem to hold at the start, or for those that do by the values found. false: an
 * error is in diags. */
bool mode_start(Simulation *simulation, const bool *holds, const double *parameters);

/* ---- system.c ---- */

/* The system to integrate as a view, from the values begun with. */
bool simulation_make_view(Simulation *simulation);
/* What reports say of the beginning is that of the view just made. */
void simulation_note_beginning(Simulation *simulation);
/* The recorder of its signals. */
void simulation_make_recorder(Simulation *simulation);
/* Is the system made singular just at the initial values? */
bool simulation_is_singular(const Simulation *simulation, TurningPoint *point);
/* The same of the model's own array, where the method makes a system that is not watched. */
bool simulation_starts_singular(const Simulation *simulation, TurningPoint *point);
/* Passes of a run; the others are mode_begin and those in simulation.c. */
bool pass_view(Simulation *simulation);
bool pass_signals(Simulation *simulation);

/* ---- modes.c ---- */

/* The columns of the model's array where the view is. */
double *mode_columns(const Simulation *simulation, const double *y, Heap *heap);
/* Begins in a plan of its own for the mode at the start, if the one for all branches does not fit it. false: an error is in diags. */
bool mode_begin(Simulation *simulation);
/* Begins the loop in the current system; `resumes` after another one. */
RunStatus mode_loop(Simulation *simulation, bool resumes);
/* Where the structure changes, the run goes on in another system. Some event may change it again and again. */
RunStatus mode_follow(Simulation *simulation);

/* ---- resume.c ---- */

/* Takes the loop, which has begun, to where the request's resumption is. false: an error is in diags. */
bool simulation_take_up(Simulation *simulation);

/* ---- simulation.c ---- */

/* The loop, with the options that the method allows. */
void simulation_make_loop(Simulation *simulation);
/* Goes on after a call that ended so, through every structure. */
bool simulation_go_on(Simulation *simulation, RunStatus status, double until, bool once);
/* A simulation without values yet. */
void simulation_open(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request, Diags *diags);
