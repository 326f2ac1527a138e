/* sweep: many runs as a handle: reads the request, makes the plan and the table. The runs are in sweep_points.c, the reports in
 * sweep_report.c. */
#include "api/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COURSE_TIMES = 101, COURSE_SIGNALS = 6, MOST_PLANS = 256, TRIED_POINTS = 16 };

/* The request, apart from the options of the runs. */
typedef struct SweepWork {
  daedal_sweep *sweep;
  const daedal_sweep_options *options;
} SweepWork;

/* ---- variables ---- */

/* Finds the variables that determine the structure: each of their values needs a plan. */
static void find_structural(daedal_sweep *sweep, Arena *arena) {
  const Model *model = sweep->asked->model->model;
  uint32_t count = design_variables(&sweep->design);
  sweep->structural = arena_array(arena, count, sizeof *sweep->structural);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t position = model_find(model, design_name(&sweep->design, k));
    bool is_structural = position != MAP_NONE && model->variables.data[position].is_structural;
    if (is_structural) sweep->structural[sweep->structural_count++] = k;
  }
  vec_reserve(sweep->asked->heap, &sweep->plans, MOST_PLANS);
}

/* ---- outputs ---- */

static bool read_outputs(daedal_sweep *sweep, const daedal_sweep_options *options, Arena *arena) {
  daedal_result *asked = sweep->asked;
  const SignalFilter *filter = NULL;
  if (!filter_signals(asked, sweep->given.variables, &filter)) return false;
  uint32_t given = options->outputs ? options->output_count : 0;
  daedal_output *outputs = given ? heap_copy(asked->heap, options->outputs, given, sizeof *outputs) : NULL;
  for (uint32_t k = 0; k < given; k++)
    if (outputs[k].name) outputs[k].name = user_name(asked, arena, outputs[k].name);
  if (!outputs_read(&sweep->outputs, outputs, given, asked->model->model, filter, arena, &asked->diags)) return false;
  sweep->output_count = sweep->outputs.count;
  for (uint32_t k = 0; k < sweep->output_count; k++) {
    const Output *output = &sweep->outputs.data[k];
    if (!filter || output->kind == DAEDAL_OUTPUT_EVENT || signal_filter_match(filter, output->signal)) continue;
    return refuse_usage(asked, arena_printf(arena, "the output '%s' is not among the variables chosen", output->text));
  }
  return true;
}

/* Adds the trajectories of outputs that are variables, each once. */
static void add_courses(daedal_sweep *sweep, Arena *arena) {
  SweepCourses *courses = &sweep->courses;
  const RunOptions *run = &sweep->plan->request.run;
  courses->time_count = COURSE_TIMES;
  courses->times = arena_array(arena, COURSE_TIMES, sizeof *courses->times);
  courses->labels = arena_array(arena, COURSE_SIGNALS, sizeof *courses->labels);
  for (uint32_t t = 0; t < COURSE_TIMES; t++)
    courses->times[t] =
        t + 1 < COURSE_TIMES ? run->start + (run->stop - run->start) * t / (COURSE_TIMES - 1) : run->stop;
  vec_reserve(arena->heap, &sweep->outputs, COURSE_SIGNALS * COURSE_TIMES);
  for (uint32_t k = 0; k < sweep->output_count && courses->signal_count < COURSE_SIGNALS; k++) {
    const Output *output = &sweep->outputs.data[k];
    if (output->kind != DAEDAL_OUTPUT_FINAL) continue;
    courses->labels[courses->signal_count++] = output->text;
    for (uint32_t t = 0; t < COURSE_TIMES; t++)
      vec_push(
          arena->heap, &sweep->outputs,
          ((Output){
              .text = output->text, .signal = output->signal, .kind = DAEDAL_OUTPUT_AT, .time = courses->times[t]}));
  }
}

static bool times_inside(daedal_sweep *sweep, Arena *arena) {
  const RunOptions *run = &sweep->plan->request.run;
  for (uint32_t k = 0; k < sweep->output_count; k++) {
    const Output *output = &sweep->outputs.data[k];
    if (output->kind != DAEDAL_OUTPUT_AT || (output->time >= run->start && output->time <= run->stop)) continue;
    return refuse_usage(sweep->asked,
                        arena_printf(arena, "the time of the output '%s' is not between start and stop", output->text));
  }
  return true;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Chooses the rows that the outputs need, and all usual rows if trajectories are written. */
static void choose_output_times(daedal_sweep *sweep, Arena *arena) {
  const RunOptions *run = &sweep->plan->request.run;
  bool all;
  uint32_t given, count = 0;
  const double *instants = outputs_times(&sweep->outputs, arena, &given, &all);
  all |= sweep->directory != NULL;
  if (all && !given) return;
  uint32_t regular = all ? run->intervals : 0;
  double *times = arena_array(arena, (size_t)given + regular + 2, sizeof *times);
  times[count++] = run->start;
  times[count++] = run->stop;
  for (uint32_t k = 1; k < regular; k++) times[count++] = run->start + k * run->interval;
  if (given) memcpy(times + count, instants, given * sizeof *times);
  count += given;
  qsort(times, count, sizeof *times, ascending);
  uint32_t kept = 1;
  for (uint32_t k = 1; k < count; k++)
    if (times[k] > times[kept - 1]) times[kept++] = times[k];
  sweep->options.output_times = times;
  sweep->options.output_time_count = kept;
}

/* ---- the table ---- */

static void make_table(daedal_sweep *sweep, Arena *arena) {
  Heap *heap = sweep->asked->heap;
  uint32_t points = sweep->design.points, varied = design_variables(&sweep->design);
  uint32_t columns = varied + sweep->output_count, stride = varied + sweep->outputs.count;
  const char **names = arena_array(arena, columns, sizeof *names);
  for (uint32_t c = 0; c < columns; c++)
    names[c] = c < varied ? design_name(&sweep->design, c) : sweep->outputs.data[c - varied].text;
  sweep->values = heap_array(heap, (size_t)points * stride, sizeof *sweep->values);
  sweep->status = heap_array(heap, points, sizeof *sweep->status);
  sweep->causes = heap_array(heap, points, sizeof *sweep->causes);
  sweep->done = heap_array(heap, points, sizeof *sweep->done);
  sweep->order = heap_array(heap, points, sizeof *sweep->order);
  for (uint32_t p = 0; p < points; p++) {
    double *row = sweep->values + (size_t)p * stride;
    for (uint32_t c = 0; c < stride; c++) row[c] = c < varied ? design_value(&sweep->design, p, c) : NAN;
    sweep->status[p] = UINT8_MAX;
    atomic_init(&sweep->order[p], UINT32_MAX);
  }
  sweep->table = (Table){names, columns, points, stride, sweep->values, sweep->status, sweep->causes};
}

/* ---- the journal ---- */

static uint64_t hash_number(uint64_t hash, double value) { return hash_mix(hash ^ hash_bytes(&value, sizeof value)); }

static uint64_t hash_design(uint64_t hash, const Design *design) {
  for (uint32_t k = 0; k < design->vary_count; k++) {
    hash = hash_text(hash, design->vary[k].name);
    for (uint32_t v = 0; v < design->vary[k].count; v++) hash = hash_number(hash, design->vary[k].values[v]);
  }
  for (uint32_t k = 0; k < design->distribution_count; k++) {
    const Distribution *distribution = &design->distributions[k];
    hash = hash_number(hash_text(hash, distribution->name), distribution->kind);
    for (uint32_t p = 0; p < DISTRIBUTION_PARAMETERS; p++) hash = hash_number(hash, distribution->parameter[p]);
  }
  return hash;
}

static uint64_t hash_overrides(uint64_t hash, const daedal_options *options) {
  for (uint32_t k = 0; k < options->override_count; k++) {
    const daedal_override *override = &options->overrides[k];
    hash = hash_number(hash_text(hash_text(hash, override->name), override->text), override->value);
  }
  return hash;
}

/* A hash of everything that determines the numbers of the sweep. */
static uint64_t hash_sweep(const daedal_sweep *sweep, const daedal_sweep_options *asked) {
  const daedal_options *options = &sweep->options;
  const RunOptions *run = &sweep->plan->request.run;
  const char *texts[] = {DAEDAL_VERSION,        options->method,     options->solver,
                         options->start_values, options->start_from, asked->sampling};
  const double numbers[] = {run->start,
                            run->stop,
                            run->tolerance,
                            run->interval,
                            run->max_step,
                            run->constraint_tolerance,
                            options->start_from_time,
                            options->baumgarte_alpha,
                            options->baumgarte_beta,
                            options->rank_tolerance,
                            options->keep_superfluous,
                            options->compile,
                            options->no_event_rows,
                            asked->samples,
                            (double)asked->seed,
                            sweep->outputs.count,
                            sweep->design.points};
  uint64_t hash = hash_design(model_flat_hash(sweep->asked->model), &sweep->design);
  for (uint32_t k = 0; k < run->absolute_count; k++)
    hash = hash_number(hash_number(hash, run->absolute[k].unknown), run->absolute[k].value);
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) hash = hash_text(hash, texts[k]);
  for (uint32_t k = 0; k < sweep->outputs.count; k++) hash = hash_text(hash, sweep->outputs.data[k].text);
  for (uint32_t k = 0; options->variables && options->variables[k]; k++) hash = hash_text(hash, options->variables[k]);
  hash = hash_inputs(hash_overrides(hash, &sweep->given), options);
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) hash = hash_number(hash, numbers[k]);
  return hash;
}

static void take_record(void *context, const JournalRecord *record) {
  daedal_sweep *sweep = context;
  if (record->point >= sweep->design.points || record->status > DAEDAL_FILE || atomic_load(&sweep->done[record->point]))
    return;
  if (record->status == DAEDAL_OK && !sweep_has_trajectory(sweep, record->point)) return;
  sweep_finish_point(sweep, record->point, (daedal_status)record->status, record->cause, record->values);
  sweep->resumed++;
}

static bool open_journal(daedal_sweep *sweep, const daedal_sweep_options *options, Arena *arena) {
  daedal_result *asked = sweep->asked;
  if (!options->journal) return true;
  const char *path = arena_copy(arena, options->journal, strlen(options->journal));
  Journal *journal = journal_open(asked->heap, &asked->diags, path, hash_sweep(sweep, options), sweep->outputs.count,
                                  options->resume, take_record, sweep);
  sweep->journal = journal;
  return journal != NULL;
}

/* ---- making ---- */

static const char *copy_name(Arena *arena, const char *name) {
  return name ? arena_copy(arena, name, strlen(name)) : NULL;
}

/* Copies the values to vary and the distributions, because the caller may free them. */
static bool take_design(daedal_sweep *sweep, const daedal_sweep_options *options, Arena *arena) {
  Design *design = &sweep->design;
  design->vary_count = options->vary ? options->vary_count : 0;
  design->distribution_count = options->distributions ? options->distribution_count : 0;
  design->vary = arena_array(arena, design->vary_count, sizeof *design->vary);
  design->distributions = arena_array(arena, design->distribution_count, sizeof *design->distributions);
  for (uint32_t k = 0; k < design->vary_count; k++) {
    const daedal_axis *axis = &options->vary[k];
    const double *values = axis->values ? arena_copy_array(arena, axis->values, axis->count, sizeof(double)) : NULL;
    design->vary[k] = (Vary){copy_name(arena, axis->name), values, axis->count};
  }
  for (uint32_t k = 0; k < design->distribution_count; k++) {
    const daedal_distribution *given = &options->distributions[k];
    Distribution *distribution = &design->distributions[k];
    distribution->name = copy_name(arena, given->name);
    memcpy(distribution->parameter, given->parameters, sizeof given->parameters);
    if (distribution->name && !distribution_find(distribution, given->kind ? given->kind : "", &sweep->asked->diags))
      return false;
  }
  return true;
}

/* Reads everything that needs only the model: names and values. */
static bool read_work(daedal_result *asked, const void *argument) {
  const SweepWork *work = argument;
  daedal_sweep *sweep = work->sweep;
  const daedal_sweep_options *options = work->options;
  Arena *arena = &asked->diags.arena;
  sweep->asked = asked;
  overrides_keep(arena, &sweep->given);
  DesignRequest request = {options->samples, options->sampling, options->seed};
  bool ok = take_design(sweep, options, arena) && design_check(&sweep->design, &request, arena, &asked->diags) &&
            read_outputs(sweep, options, arena);
  ok = ok && (!options->trajectories || sweep_place_trajectories(sweep, options->trajectories));
  if (ok) find_structural(sweep, arena);
  return result_finish(asked, ok);
}

/* Completes the parts that need the plan. */
static bool complete_work(daedal_result *asked, const void *argument) {
  const SweepWork *work = argument;
  daedal_sweep *sweep = work->sweep;
  Arena *arena = &asked->diags.arena;
  sweep->options = sweep->plan->options;
  sweep->options.plot_variables = NULL;
  const Plan *plan = sweep->plan->plan;
  bool fits = sweep->structural_count ||
              outputs_fit(&sweep->outputs, &plan->problem, &plan->modes, plan->orders, arena, &asked->diags);
  if (!fits || !times_inside(sweep, arena)) return result_finish(asked, false);
  if (work->options->keep_courses && !design_is_map(&sweep->design)) add_courses(sweep, arena);
  choose_output_times(sweep, arena);
  make_table(sweep, arena);
  return result_finish(asked, open_journal(sweep, work->options, arena));
}

/* Do these variables exist, and may they have these values? */
static bool try_values(daedal_result *result, const void *argument) {
  Request request = {0};
  bool ok = read_starts(result, argument, &request);
  result->status = ok ? DAEDAL_OK : (daedal_status)diags_code(&result->diags);
  publish_result(result);
  return ok;
}

static bool copy_diagnostics(daedal_result *asked, const void *argument) {
  diags_append(&asked->diags, argument);
  return result_finish(asked, false);
}

/* Copies a failure of another handle to the sweep. */
static void blame(daedal_sweep *sweep, const daedal_result *result) {
  if (!result || result->broken) sweep->asked->status = DAEDAL_INTERNAL, sweep->asked->broken = true;
  else result_protect(sweep->asked, copy_diagnostics, &result->diags);
}

static bool values_fit(daedal_sweep *sweep, daedal_override *room) {
  daedal_options options = sweep->given;
  sweep_override(sweep, 0, false, room, &options);
  daedal_result *tried = result_make(sweep->asked->model, &options, try_values, &options);
  bool ok = daedal_status_of(tried) != DAEDAL_USAGE && daedal_status_of(tried) != DAEDAL_INTERNAL;
  if (!ok) blame(sweep, tried);
  daedal_free(tried);
  return ok;
}

/* ---- variables that only some points have ---- */

static bool same_structure(const daedal_sweep *sweep, uint32_t p, uint32_t other) {
  for (uint32_t k = 0; k < sweep->structural_count; k++) {
    uint32_t variable = sweep->structural[k];
    if (design_value(&sweep->design, p, variable) != design_value(&sweep->design, other, variable)) return false;
  }
  return true;
}

typedef struct OtherStructure {
  daedal_sweep *sweep;
  const Model *model;
} OtherStructure;

static bool add_columns(daedal_result *asked, const void *argument) {
  const OtherStructure *other = argument;
  daedal_sweep *sweep = other->sweep;
  const SignalFilter *filter = NULL;
  if (!filter_signals(asked, sweep->given.variables, &filter)) return false;
  outputs_extend(&sweep->outputs, asked->model->model, other->model, filter, &asked->diags.arena);
  sweep->output_count = sweep->outputs.count;
  return true;
}

/* A point whose model cannot be read is skipped here; it fails in its run. */
static bool widen_by(daedal_sweep *sweep, uint32_t point, daedal_override *room) {
  daedal_options options = sweep->given;
  sweep_override(sweep, point, true, room, &options);
  daedal_result *tried = result_make(sweep->asked->model, &options, try_values, &options);
  bool ok = tried && !tried->broken, is_read = ok && daedal_status_of(tried) == DAEDAL_OK;
  if (is_read) ok = result_protect(sweep->asked, add_columns, &(OtherStructure){sweep, tried->model->model});
  else if (!ok) blame(sweep, tried);
  daedal_free(tried);
  return ok;
}

/* If all variables are requested, adds those that exist only with other sizes. */
static bool widen(daedal_sweep *sweep, daedal_override *room) {
  uint32_t seen[MOST_PLANS], count = 0;
  for (uint32_t p = 0; sweep->structural_count && p < sweep->design.points && count < MOST_PLANS; p++) {
    uint32_t k = 0;
    while (k < count && !same_structure(sweep, p, seen[k])) k++;
    if (k < count) continue;
    seen[count++] = p;
    if (!widen_by(sweep, p, room)) return false;
  }
  return true;
}

/* Makes the plan for the model's own values. If the model has no initial values with these, makes the plan for the first point
 * that has initial values. */
static bool make_plan(daedal_sweep *sweep, daedal_model *model, daedal_override *room) {
  daedal_options options = sweep->given;
  options.on_step = NULL;
  options.on_event = NULL;
  sweep->plan = daedal_plan_make(model, &options);
  for (uint32_t p = 0; p < sweep->design.points && p < TRIED_POINTS; p++) {
    if (daedal_status_of(sweep->plan) != DAEDAL_INIT && daedal_status_of(sweep->plan) != DAEDAL_INTEGRATION) break;
    sweep_override(sweep, p, false, room, &options);
    daedal_plan *other = daedal_plan_make(model, &options);
    bool is_better = daedal_status_of(other) == DAEDAL_OK;
    daedal_free(is_better ? sweep->plan : other);
    if (is_better) sweep->plan = other;
  }
  if (daedal_status_of(sweep->plan) == DAEDAL_OK) return true;
  blame(sweep, sweep->plan ? sweep->plan->asked : NULL);
  return false;
}

/* A point that is initialized beforehand, so that the code made for it is kept in the plan. */
typedef struct Rehearsal {
  daedal_plan *plan;
  const daedal_options *options;
  const Request *request;
} Rehearsal;

static bool rehearse_start(daedal_result *asked, const void *argument) {
  const Rehearsal *rehearsal = argument;
  Diags diags = diags_make(asked->heap);
  plan_rehearse(rehearsal->plan->plan, rehearsal->request, &diags);
  return true;
}

/* The memory is the plan's, so the work runs protected on the plan's result. */
static bool rehearse_point(daedal_result *result, const void *argument) {
  Rehearsal rehearsal = *(const Rehearsal *)argument;
  Request request = {0};
  if (!check_analysis(result, rehearsal.options) || !read_request(result, rehearsal.options, &request)) return false;
  rehearsal.request = &request;
  return result_protect(rehearsal.plan->asked, rehearse_start, &rehearsal);
}

/* Initializes the first point, the last one and one between them, so that similar points need no further code. A point may fail
 * here as in a run. false: memory was refused. */
static bool rehearse(daedal_sweep *sweep, daedal_override *room) {
  daedal_plan *plan = sweep->plan;
  uint32_t points = sweep->design.points, chosen[] = {0, points / 2, points - 1};
  for (int k = 0; k < 3 && daedal_status_of(plan) == DAEDAL_OK && !sweep->structural_count; k++) {
    daedal_options options = plan->options;
    sweep_override(sweep, chosen[k], false, room, &options);
    Rehearsal rehearsal = {plan, &options, NULL};
    daedal_result *tried = result_make(plan->asked->model, &options, rehearse_point, &rehearsal);
    bool refused = !tried || daedal_status_of(tried) == DAEDAL_INTERNAL || plan->asked->broken;
    daedal_free(tried);
    if (!refused) continue;
    blame(sweep, NULL);
    return false;
  }
  return true;
}

static bool prepare(daedal_sweep *sweep, daedal_model *model, const SweepWork *work) {
  daedal_override *room =
      sweep->hook.resize(sweep->hook.context, NULL, ((size_t)sweep_override_count(sweep) + 1) * sizeof *room);
  if (!room) {
    blame(sweep, NULL);
    return false;
  }
  bool ok = values_fit(sweep, room) && (work->options->outputs || widen(sweep, room)) && make_plan(sweep, model, room);
  ok = ok && rehearse(sweep, room);
  sweep->hook.resize(sweep->hook.context, room, 0);
  return ok && result_protect(sweep->asked, complete_work, work);
}

static daedal_sweep_options sweep_options_given(const daedal_sweep_options *options) {
  daedal_sweep_options given = {.size = sizeof given};
  if (options) memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
  return given;
}

daedal_sweep *daedal_sweep_make(daedal_model *model, const daedal_options *options,
                                const daedal_sweep_options *sweep_options) {
  if (!model) return NULL;
  HeapHook hook = *heap_hook(model->heap);
  daedal_sweep *sweep = hook.resize(hook.context, NULL, sizeof *sweep);
  if (!sweep) return NULL;
  memset(sweep, 0, sizeof *sweep);
  daedal_sweep_options given = sweep_options_given(sweep_options);
  sweep->kind = HANDLE_SWEEP;
  sweep->hook = hook;
  sweep->given = options_given(options);
  sweep->given.part_path = NULL; /* a sweep is resumed by points, not within a run */
  sweep->given.resumes = false;
  sweep->threads = given.threads;
  sweep->process = given.process;
  sweep->processes = given.processes ? given.processes : 1;
  sweep->on_progress = given.on_progress;
  sweep->context = given.context;
  sweep->has_lock = pthread_mutex_init(&sweep->lock, NULL) == 0;
  SweepWork work = {sweep, &given};
  sweep->asked = sweep->has_lock ? result_make(model, &sweep->given, read_work, &work) : NULL;
  if (!sweep->asked) {
    daedal_free(sweep);
    return NULL;
  }
  if (daedal_status_of(sweep) == DAEDAL_OK) prepare(sweep, model, &work);
  return sweep;
}

/* ---- executing ---- */

static bool report_failure(daedal_result *asked, const void *argument) {
  const daedal_sweep *sweep = argument;
  diag_file_error(&asked->diags, "write", sweep->failed_path, sweep->failed_error);
  return result_finish(asked, false);
}

daedal_status daedal_sweep_execute(daedal_sweep *sweep) {
  if (daedal_status_of(sweep) != DAEDAL_OK) return daedal_status_of(sweep);
  atomic_store(&sweep->stopped, false);
  atomic_store(&sweep->next, 0);
  sweep_run_points(sweep);
  if (atomic_load(&sweep->failure)) result_protect(sweep->asked, report_failure, sweep);
  else sweep_collect_trajectories(sweep);
  return daedal_status_of(sweep);
}

daedal_status daedal_sweep_put(daedal_sweep *sweep, uint32_t point, daedal_status status, const char *cause,
                               const double *values) {
  if (daedal_status_of(sweep) != DAEDAL_OK) return daedal_status_of(sweep);
  if (point >= sweep->design.points) return DAEDAL_USAGE;
  if (!atomic_load(&sweep->done[point])) sweep_finish_point(sweep, point, status, cause ? cause : "", values);
  return DAEDAL_OK;
}
