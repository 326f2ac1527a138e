/* boundary: solves boundary value problems by multiple shooting, then simulates with the solution (docs/boundary.md).
 *
 * A second form of the model (model/boundary.h) has the conditions at the end as variables; its time is scaled to a run from 0 to
 * 1. The unknowns are the free parameters and the start values that the model does not fix. They are fitted so that the conditions
 * vanish. The fit uses the sensitivities of the runs, which pass through events, at any index. The last run is that of a third
 * form of the model, with the values found. */
#include "api/boundary.h"
#include "api/fit.h"
#include "api/handles.h"
#include "base/number.h"
#include "base/spread.h"
#include "core/constants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double BOUNDARY_TOLERANCE = 1e-8; /* tolerance of runs, unless the options give one */

const uint32_t boundary_segments[] = {1, 4, 16, 0};

typedef struct Sought {
  daedal_guess guess; /* NaN: the model's own value */
  bool is_start;
} Sought;

/* How to guess unknowns that have no start value in the model. */
typedef enum Otherwise {
  OTHERWISE_ZERO,
  OTHERWISE_FINAL,    /* the value at the end, if a final equation gives it */
  OTHERWISE_NEGATIVE, /* the value at the end, or negative numbers that all differ */
  OTHERWISE_POSITIVE,
  OTHERWISE_COUNT
} Otherwise;

/* The state of the shooting; texts live in the diagnostics of `asked`. */
typedef struct Shooting {
  const daedal_model *model; /* as the user wrote it */
  daedal_options options;
  const Attempt *attempt;
  BoundaryOptions form;
  daedal_model *conditions; /* NULL: not made yet */
  daedal_result *initial;   /* initial values of `conditions` */
  daedal_estimate *estimate;
  daedal_model *known;
  VEC(Sought) sought;
  const char **fixed;
  uint32_t fixed_count, condition_count;
  const daedal_guess *guesses; /* one per unknown */
  const char *data;
  double stop;
  Otherwise otherwise;
  bool must_be_regular, is_regular; /* do the equations determine their variables at the guesses? */
} Shooting;

/* ---- what is sought ---- */

bool result_is_ok(const daedal_result *result) { return result && daedal_status_of(result) == DAEDAL_OK; }

double result_last_time(const daedal_result *result) {
  return daedal_result_value(result, 0, daedal_result_rows(result) - 1);
}

double result_value_at(const daedal_result *result, uint32_t signal, double time) {
  uint32_t low = 0, high = daedal_result_rows(result) - 1;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (daedal_result_value(result, 0, middle) <= time) low = middle;
    else high = middle;
  }
  double from = daedal_result_value(result, 0, low), to = daedal_result_value(result, 0, high);
  double part = to > from ? fmin(1, fmax(0, (time - from) / (to - from))) : 0;
  return (1 - part) * daedal_result_value(result, signal, low) + part * daedal_result_value(result, signal, high);
}

/* The unknown that equals this column (a derivative) or its negative; NULL: there is none. */
static const char *alias_of_column(const InitialSystem *system, uint32_t q, double *sign) {
  const Array *array = system->array;
  if (q >= array->columns) return NULL;
  const Problem *problem = array->problem;
  const Aliases *aliases = &problem->aliases;
  uint32_t unknown = problem->unknown[array->column_unknown[q]], order = array_order(array, q);
  for (uint32_t j = 0; j < aliases->count && order; j++)
    if (aliases->root[j] == unknown && aliases->shift[j] == order) {
      *sign = aliases->sign[j];
      return model_name(problem->model, problem->model->unknowns.data[j]);
    }
  return NULL;
}

/* The variable itself, x_der for der(x), or x for the constant start.x. NULL: there is no variable of that name. */
static const char *variable_of_column(const Model *model, const char *name, Arena *arena) {
  uint32_t orders = 0;
  size_t length = strlen(name), head = strlen(boundary_start_prefix);
  if (strncmp(name, boundary_start_prefix, head) == 0 && model_find(model, name + head) != MAP_NONE) return name + head;
  while (strncmp(name, "der(", 4) == 0 && name[length - 1] == ')') name += 4, length -= 5, orders++;
  name = arena_copy(arena, name, length);
  for (; orders; orders--) name = arena_printf(arena, "%s_der", name);
  return model_find(model, name) == MAP_NONE ? NULL : name;
}

static double bound(const daedal_model *model, Expr e, double none) {
  double value;
  return e != EXPR_NONE && dag_is_constant(model->model->dag, e, &value) ? value : none;
}

/* A guess with the bounds of the variable. */
static daedal_guess guess_of(const daedal_model *model, const Variable *variable, const char *name, double guess) {
  return (daedal_guess){name, guess, bound(model, variable->min, -INFINITY), bound(model, variable->max, INFINITY)};
}

/* For "segment3.x" returns "x" and sets *segment to 3. NULL: the name belongs to the first segment. */
static const char *of_segment(const Shooting *shooting, const char *name, uint32_t *segment) {
  unsigned number;
  int length = 0;
  bool is_copy = sscanf(name, "segment%u.%n", &number, &length) == 1 && length;
  if (!is_copy || model_find(shooting->model->model, name) != MAP_NONE) return NULL;
  *segment = number;
  return name + length;
}

/* The value in the run that provides the guesses, or a value extrapolated along the line through that run and the run before
 * it.
 * Times are fractions of the runs. */
static double guessed_value(const Shooting *shooting, uint32_t signal, double time) {
  const Attempt *attempt = shooting->attempt;
  double value = result_value_at(attempt->guess, signal, time);
  if (!attempt->before) return value;
  double start = shooting->form.start, length = result_last_time(attempt->guess) - start;
  double earlier_length = result_last_time(attempt->before) - start;
  double earlier = result_value_at(attempt->before, signal, start + (time - start) / length * earlier_length);
  return value + attempt->lead * (value - earlier);
}

/* The value that a final equation gives an unknown; NAN: there is no such equation. */
static double final_value(const Model *model, uint32_t unknown) {
  for (uint32_t i = 0; i < model->final_equations.count; i++) {
    const Equation *equation = &model->final_equations.data[i];
    double value;
    if (equation->left == dag_variable(model->dag, unknown, 0) && dag_is_constant(model->dag, equation->right, &value))
      return value;
  }
  return NAN;
}

/* A guess for an unknown without a start value in the model. */
static double guess_otherwise(const Shooting *shooting, uint32_t unknown) {
  const Model *model = shooting->model->model;
  const Variable *variable = &model->variables.data[model->unknowns.data[unknown]];
  double final = final_value(model, unknown), size = 0.5 + spread_part(unknown + 1);
  if (variable->start != EXPR_NONE) return NAN;
  if (final != 0 && !isnan(final)) return final;
  if (variable->min != EXPR_NONE || variable->max != EXPR_NONE) return NAN;
  switch (shooting->otherwise) {
  case OTHERWISE_NEGATIVE: return -size;
  case OTHERWISE_POSITIVE: return size;
  case OTHERWISE_ZERO:
  case OTHERWISE_FINAL:
  case OTHERWISE_COUNT: break;
  }
  return NAN;
}

/* The value of an unknown at the beginning of a segment; NAN: use the model's value. */
static double guess_start(const Shooting *shooting, uint32_t segment, uint32_t unknown) {
  const Model *model = shooting->model->model;
  const daedal_result *guess = shooting->attempt->guess;
  if (!guess) return guess_otherwise(shooting, unknown);
  double start = shooting->form.start, length = result_last_time(guess) - start;
  double time = shooting->form.arcs.count ? shooting->form.arcs.begin[segment]
                                          : start + segment * length / shooting->form.segments;
  uint32_t signal = daedal_result_find(guess, model_name(model, model->unknowns.data[unknown]));
  return signal == UINT32_MAX ? NAN : guessed_value(shooting, signal, time);
}

/* Guesses start values of all segments: from the run that provides guesses, or in place of the model's own. */
static void guess_starts(daedal_result *asked, Shooting *shooting) {
  const daedal_result *guess = shooting->attempt->guess;
  uint32_t segments = shooting->form.segments, count = shooting->model->model->unknowns.count;
  if (guess ? !daedal_result_rows(guess) : shooting->otherwise == OTHERWISE_ZERO) return;
  double *starts = arena_array(&asked->diags.arena, (size_t)segments * count, sizeof *starts);
  for (uint32_t k = 0; k < segments; k++)
    for (uint32_t j = 0; j < count; j++) starts[(size_t)k * count + j] = guess_start(shooting, k, j);
  shooting->form.starts = starts;
  shooting->form.start_count = count;
}

/* The value of a parameter in the run that provides the guesses. */
static double known_parameter(const Shooting *shooting, const char *name, double otherwise) {
  const daedal_result *guess = shooting->attempt->guess;
  uint32_t signal = guess ? daedal_result_find(guess, name) : UINT32_MAX;
  return signal == UINT32_MAX ? otherwise : guessed_value(shooting, signal, shooting->form.start);
}

/* Adds the free parameters and the times at which arcs begin. The model as written does not have those times. */
static void seek_parameters(daedal_result *asked, Shooting *shooting) {
  const Model *written = shooting->model->model, *model = shooting->conditions->model;
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    bool is_written = p < written->parameters.count;
    const Variable *variable = is_written ? &written->variables.data[written->parameters.data[p]]
                                          : &model->variables.data[model->parameters.data[p]];
    if (is_written && !variable_is_sought(variable)) continue;
    double guess = shooting->initial->simulation.facts.evaluator->parameters[p];
    if (is_written) guess = known_parameter(shooting, names_text(written->names, variable->name), guess);
    Sought sought = {guess_of(shooting->model, variable, names_text(model->names, variable->name), guess), false};
    vec_push(asked->heap, &shooting->sought, sought);
  }
}

/* Adds the start values of columns that no row determines and the model does not fix. */
static bool seek_starts(daedal_result *asked, Shooting *shooting) {
  const Initial *initial = &shooting->initial->simulation.initial;
  const Model *model = shooting->conditions->model;
  Arena *arena = &asked->diags.arena;
  shooting->fixed = arena_array(arena, initial->columns, sizeof *shooting->fixed);
  for (uint32_t q = 0; q < initial->columns; q++) {
    if (initial->column[q].row != MAP_NONE || initial->column[q].fixed) continue;
    double sign = 1;
    const char *column = system_column_name(initial->system, q, arena),
               *name = alias_of_column(initial->system, q, &sign);
    if (!name) name = variable_of_column(model, column, arena);
    if (!name)
      return refuse_usage(
          asked,
          arena_printf(arena, "the start value of %s is unknown: give this derivative its own variable", column));
    const Variable *variable = &model->variables.data[model_find(model, name)];
    Sought sought = {guess_of(shooting->conditions, variable, name, sign * initial->value[q]), true};
    vec_push(asked->heap, &shooting->sought, sought);
    shooting->fixed[shooting->fixed_count++] = name;
  }
  return true;
}

/* Writes the list of parameters and the data of the fit: all conditions are zero at time 1. */
static bool write_problem(daedal_result *asked, Shooting *shooting) {
  const Model *model = shooting->conditions->model;
  Arena *arena = &asked->diags.arena;
  TextVec list = {0}, head = {0}, row = {0};
  daedal_guess *guesses = arena_array(arena, shooting->sought.count, sizeof *guesses);
  for (uint32_t k = 0; k < shooting->sought.count; k++) {
    guesses[k] = shooting->sought.data[k].guess;
    text_printf(asked->heap, &list, "%s%s", k ? ", " : "", guesses[k].name);
  }
  text_printf(asked->heap, &head, "time");
  text_printf(asked->heap, &row, "1");
  for (const char *name;; shooting->condition_count++) {
    name = arena_printf(arena, "%s%u", boundary_prefix, shooting->condition_count + 1);
    if (model_find(model, name) == MAP_NONE) break;
    text_printf(asked->heap, &head, ",%s", name);
    text_printf(asked->heap, &row, ",0");
  }
  text_printf(asked->heap, &head, "\n%s\n", row.data);
  const char *names = text_keep(asked->heap, &list, arena);
  shooting->guesses = guesses;
  shooting->data = text_keep(asked->heap, &head, arena);
  vec_free(asked->heap, &row);
  if (shooting->sought.count && shooting->sought.count <= shooting->condition_count) return true;
  diag_error(&asked->diags, DIAG_STRUCTURE, shooting->model->model->final_equations.data[0].span,
             "%u condition%s at the end for %u free parameter%s or start value%s: %s", shooting->condition_count,
             plural(shooting->condition_count), shooting->sought.count, plural(shooting->sought.count),
             plural(shooting->sought.count), shooting->sought.count ? names : "there are none");
  return false;
}

static bool explain_start(daedal_result *initial, const void *argument) {
  Shooting *shooting = *(Shooting *const *)argument;
  const Explanation *explanation = result_explain(initial);
  InitialWay way = initial->simulation.initial.way;
  shooting->is_regular = explanation && way != WAY_ALL_ROWS && way != WAY_RANKS && isfinite(explanation->condition);
  return explanation != NULL;
}

/* ---- the search ---- */

static bool take_failure(daedal_result *asked, const daedal_result *from) {
  if (from && !from->broken) diags_append(&asked->diags, &from->diags);
  if (!asked->diags.errors) heap_fail(asked->heap);
  return false;
}

static bool take_refusal(daedal_result *asked, const daedal_model *model) {
  if (model && !model->broken) diags_append(&asked->diags, &model->diags);
  if (!asked->diags.errors) heap_fail(asked->heap);
  return false;
}

/* Loads the form of the model that has the conditions as variables, and finds its initial values. */
static bool begin(daedal_result *asked, Shooting *shooting) {
  daedal_free(shooting->conditions);
  shooting->conditions = model_load_boundary(shooting->model, &shooting->form);
  if (daedal_status_of(shooting->conditions) != DAEDAL_OK) return take_refusal(asked, shooting->conditions);
  if (shooting->initial) return true;
  shooting->initial = daedal_initialize(shooting->conditions, &shooting->options);
  shooting->is_regular = daedal_status_of(shooting->initial) != DAEDAL_INIT;
  if (daedal_status_of(shooting->initial) != DAEDAL_OK) return take_failure(asked, shooting->initial);
  return result_protect(shooting->initial, explain_start, &shooting) || take_failure(asked, shooting->initial);
}

/* Are the conditions satisfied, as far as the runs show? */
static bool is_solved(daedal_result *asked, const Shooting *shooting, double *largest) {
  const daedal_estimate *estimate = shooting->estimate;
  uint32_t conditions = shooting->condition_count, worst = 0;
  double excess = 0;
  *largest = 0;
  for (uint32_t i = 0; i < conditions; i++) {
    double size = 1, residual = fabs(estimate->found.r[i]);
    for (uint32_t k = 0; k < estimate->parameters.count; k++)
      size += fabs(estimate->found.jacobian[(size_t)k * conditions + i] * estimate->parameters.data[k].figures.value);
    *largest = fmax(*largest, residual);
    if (!(residual / size <= excess)) excess = residual / size, worst = i;
  }
  double most = 1, tolerance = estimate->options.tolerance;
  for (uint32_t k = 0; k < estimate->parameters.count; k++)
    most = fmax(most, fabs(estimate->parameters.data[k].figures.value));
  /* errors grow along a run, so residuals are large although the unknowns are right: use more segments */
  if (excess <= 100 * tolerance && *largest <= sqrt(tolerance) * most) return true;
  const Model *model = shooting->conditions->model;
  const char *name = arena_printf(&asked->diags.arena, "%s%u", boundary_prefix, worst + 1);
  Diag *diag = diag_error(
      &asked->diags, DIAG_INTEGRATION, model->variables.data[model_find(model, name)].span,
      "no solution of the boundary value problem was found near the start values: this condition is violated by %.3g",
      estimate->found.r[worst]);
  diag_note(&asked->diags, diag, (Span){0}, "try other start values, or more segments (--segments)");
  for (uint32_t c = 0; c < model->switched.count; c++) {
    uint32_t control = model->unknowns.data[dag_index(model->dag, model->switched.data[c].control)];
    diag_note(&asked->diags, diag, model->variables.data[control].span,
              "nor was a sequence of arcs found on which %s is at a bound or singular", model_name(model, control));
  }
  return false;
}

/* The options of the shooting, with values of the unknowns. */
static daedal_options with_guesses(daedal_result *asked, const Shooting *shooting) {
  daedal_options options = shooting->options;
  uint32_t count = shooting->sought.count;
  daedal_override *values = overrides_extend(&asked->diags.arena, &options, count);
  for (uint32_t k = 0; k < count; k++)
    values[k] = (daedal_override){shooting->guesses[k].name, shooting->guesses[k].value, NULL};
  return options;
}

static bool search(daedal_result *asked, Shooting *shooting, double *largest) {
  daedal_fit_options fit = {.size = sizeof fit,
                            .data_text = shooting->data,
                            .parameters = shooting->guesses,
                            .parameter_count = shooting->sought.count,
                            .iterations = shooting->attempt->most_iterations};
  daedal_options options = with_guesses(asked, shooting);
  FitZero zero = {options.tolerance, shooting->form.segments > 1, shooting->attempt->budget};
  shooting->estimate = fit_find(shooting->conditions, &options, &fit, zero);
  if (daedal_status_of(shooting->estimate) == DAEDAL_OK) return is_solved(asked, shooting, largest);
  return take_failure(asked, shooting->estimate ? shooting->estimate->asked : NULL);
}

/* ---- what was found ---- */

/* The times at which segments begin: at equal distances, or where the arcs begin. */
static const double *segment_beginnings(daedal_result *asked, const Shooting *shooting) {
  uint32_t segments = shooting->form.segments;
  double *begin = arena_array(&asked->diags.arena, segments, sizeof *begin);
  for (uint32_t s = 0; s < segments; s++)
    begin[s] = shooting->form.start + s * (shooting->stop - shooting->form.start) / segments;
  for (uint32_t s = 1; shooting->form.arcs.count && s < segments; s++) {
    const char *name = boundary_switch_name(s, &asked->diags.arena);
    for (uint32_t k = 0; k < shooting->sought.count; k++)
      if (strcmp(shooting->sought.data[k].guess.name, name) == 0)
        begin[s] = shooting->estimate->parameters.data[k].figures.value;
  }
  return begin;
}

/* A singular arc has fewer free start values than differentiated variables: the run continues with the values it has reached. */
static bool is_singular(const BoundaryArcs *arcs, uint32_t arc) {
  for (uint32_t c = 0; arc < arcs->count && c < arcs->controls; c++)
    if (arcs->kind[(size_t)arc * arcs->controls + c] == ARC_SINGULAR) return true;
  return false;
}

/* Lists the arcs for the report, control by control. An arc that is divided only because another control changes counts as one. */
static void name_arcs(daedal_result *asked, const Shooting *shooting, const double *begin, BoundaryFacts *facts) {
  static const char *const KIND[] = {[ARC_MIN] = "min", [ARC_MAX] = "max", [ARC_SINGULAR] = "singular"};
  const BoundaryArcs *arcs = &shooting->form.arcs;
  const Model *model = shooting->model->model;
  facts->arcs = arena_array(&asked->diags.arena, (size_t)arcs->count * arcs->controls, sizeof *facts->arcs);
  for (uint32_t c = 0; c < arcs->controls; c++)
    for (uint32_t a = 0; a < arcs->count; a++) {
      size_t at = (size_t)a * arcs->controls + c;
      double to = a + 1 < arcs->count ? begin[a + 1] : shooting->stop;
      if (a && arcs->kind[at] == arcs->kind[at - arcs->controls]) {
        facts->arcs[facts->arc_count - 1].to = to;
        continue;
      }
      Expr control = model->switched.data[c].control;
      facts->arcs[facts->arc_count++] =
          (ArcFacts){model_name(model, model->unknowns.data[dag_index(model->dag, control)]), KIND[arcs->kind[at]],
                     begin[a], to, shooting->attempt->order ? shooting->attempt->order[at] : (ArcOrder){0, NAN}};
    }
}

/* Collects the values at the start of the run and at the starts of segments. */
static BoundaryFacts *gather(daedal_result *asked, Shooting *shooting, double largest) {
  Arena *arena = &asked->diags.arena;
  BoundaryFacts *facts = arena_alloc(arena, sizeof *facts);
  uint32_t count = shooting->sought.count, segment;
  BoundaryNode *nodes = arena_array(arena, count, sizeof *nodes);
  *facts = (BoundaryFacts){.name = arena_array(arena, count, sizeof(char *)),
                           .value = arena_array(arena, count, sizeof(double)),
                           .conditions = shooting->condition_count,
                           .segments = shooting->form.segments,
                           .iterations = shooting->estimate->found.iterations,
                           .runs = shooting->estimate->runs,
                           .residual = largest};
  const double *begin = segment_beginnings(asked, shooting);
  shooting->form.nodes = nodes;
  for (uint32_t k = 0; k < count; k++) {
    double value = shooting->estimate->parameters.data[k].figures.value;
    const char *name = shooting->sought.data[k].guess.name, *own = of_segment(shooting, name, &segment);
    if (own && is_singular(&shooting->form.arcs, segment - 1)) continue;
    if (own) nodes[shooting->form.node_count++] = (BoundaryNode){own, begin[segment - 1], value};
    else facts->name[facts->count] = name, facts->value[facts->count++] = value;
  }
  name_arcs(asked, shooting, begin, facts);
  return facts;
}

/* Finds the stop time: from the options, or from a final equation with the values found. */
static bool find_stop(daedal_result *asked, Shooting *shooting) {
  const Model *model = shooting->conditions->model;
  Expr time = boundary_final_time(model);
  shooting->stop = shooting->form.stop;
  if (time == EXPR_NONE) return true;
  double *values =
      heap_copy(asked->heap, shooting->estimate->plan->plan->parameters, model->parameters.count, sizeof *values);
  for (uint32_t k = 0; k < shooting->sought.count; k++) {
    uint32_t position = model_find(model, shooting->sought.data[k].guess.name);
    if (model->variables.data[position].role == ROLE_PARAMETER)
      values[model->variables.data[position].index] = shooting->estimate->parameters.data[k].figures.value;
  }
  DagScratch scratch = dag_scratch_make(asked->heap);
  bool ok = model_evaluate(model, &scratch, time, values, &shooting->stop);
  dag_scratch_free(&scratch);
  heap_free(asked->heap, values);
  return ok;
}

/* ---- the whole ---- */

typedef struct BoundaryWork {
  Shooting *shooting;
  const BoundaryFacts *facts;
} BoundaryWork;

static bool load_known(daedal_result *asked, Shooting *shooting) {
  BoundaryOptions form = shooting->form;
  uint32_t own = 0, segment;
  const char **fixed = arena_array(&asked->diags.arena, shooting->fixed_count, sizeof *fixed);
  for (uint32_t k = 0; k < shooting->fixed_count; k++)
    if (!of_segment(shooting, shooting->fixed[k], &segment)) fixed[own++] = shooting->fixed[k];
  form.form = BOUNDARY_KNOWN;
  form.fixed = fixed;
  form.fixed_count = own;
  shooting->known = model_load_boundary(shooting->model, &form);
  return daedal_status_of(shooting->known) == DAEDAL_OK || take_refusal(asked, shooting->known);
}

static bool solve(daedal_result *asked, const void *argument) {
  BoundaryWork *work = *(BoundaryWork *const *)argument;
  Shooting *shooting = work->shooting;
  double largest;
  guess_starts(asked, shooting);
  if (!begin(asked, shooting) || (shooting->must_be_regular && !shooting->is_regular))
    return result_finish(asked, false);
  seek_parameters(asked, shooting);
  if (!seek_starts(asked, shooting) || !write_problem(asked, shooting)) return result_finish(asked, false);
  shooting->form.fixed = shooting->fixed;
  shooting->form.fixed_count = shooting->fixed_count;
  if (!begin(asked, shooting) || !search(asked, shooting, &largest) || !find_stop(asked, shooting))
    return result_finish(asked, false);
  BoundaryFacts *facts = gather(asked, shooting, largest);
  if (!load_known(asked, shooting)) return result_finish(asked, false);
  daedal_override *values = overrides_extend(&asked->diags.arena, &shooting->options, facts->count);
  for (uint32_t k = 0; k < facts->count; k++) values[k] = (daedal_override){facts->name[k], facts->value[k], NULL};
  work->facts = facts;
  return result_finish(asked, true);
}

/* Clears options that only the last run needs: its rows, where they go, and sensitivities. */
void boundary_forget_outputs(daedal_options *options) {
  options->variables = options->plot_variables = options->invariants = NULL;
  options->sensitivity = options->gradient_by = NULL;
  options->gradient = NULL;
  options->part_path = NULL;
  options->on_event = NULL;
  options->output_times = NULL;
  options->intervals = options->output_time_count = 0;
  options->output_interval = NAN;
  options->resumes = false;
}

/* Reads times and tolerance of the run from the options and the model. */
static void read_times(Shooting *shooting, const daedal_options *options) {
  const Experiment *experiment = &shooting->model->model->experiment;
  shooting->options = *options;
  boundary_forget_outputs(&shooting->options);
  double start = options->start_time, stop = options->stop_time;
  if (isnan(start)) start = experiment->has_start ? experiment->start : 0;
  if (isnan(stop)) stop = experiment->has_stop ? experiment->stop : 1;
  shooting->form = (BoundaryOptions){.form = BOUNDARY_CONDITIONS, .start = start, .stop = stop};
  shooting->options.start_time = 0;
  shooting->options.stop_time = 1;
  if (isnan(options->tolerance))
    shooting->options.tolerance = experiment->has_tolerance ? experiment->tolerance : BOUNDARY_TOLERANCE;
}

static bool copy_facts(daedal_result *result, const void *argument) {
  const BoundaryFacts *from = argument;
  BoundaryFacts *facts = heap_alloc(result->heap, sizeof *facts);
  *facts = *from;
  facts->value = heap_copy(result->heap, from->value, from->count, sizeof *facts->value);
  facts->name = heap_array(result->heap, from->count, sizeof *facts->name);
  for (uint32_t k = 0; k < from->count; k++)
    facts->name[k] = arena_copy(&result->diags.arena, from->name[k], strlen(from->name[k]));
  facts->arcs = heap_copy(result->heap, from->arcs, from->arc_count, sizeof *facts->arcs);
  for (uint32_t k = 0; k < from->arc_count; k++)
    facts->arcs[k].control = arena_copy(&result->diags.arena, from->arcs[k].control, strlen(from->arcs[k].control));
  result->simulation.facts.boundary = facts;
  return true;
}

/* Shoots from these guesses and makes the run with the values found. NULL: at these guesses the equations do not determine
 * their variables, although they must. */
static daedal_result *shoot(daedal_model *model, const daedal_options *options, const Attempt *attempt,
                            Otherwise otherwise, bool must_be_regular) {
  Shooting shooting = {.model = model,
                       .attempt = attempt,
                       .otherwise = otherwise,
                       .must_be_regular = must_be_regular,
                       .is_regular = true};
  BoundaryWork work = {.shooting = &shooting}, *pointer = &work;
  read_times(&shooting, options);
  shooting.form.segments = attempt->segments;
  shooting.form.smoothing = attempt->smoothing;
  shooting.form.held_end = attempt->held_end;
  shooting.form.arcs = attempt->arcs;
  shooting.form.examined = attempt->examined;
  daedal_result *asked = result_make(model, NULL, solve, &pointer), *result = asked;
  if (work.facts) {
    daedal_options found = *options;
    found.overrides = shooting.options.overrides;
    found.override_count = shooting.options.override_count;
    found.stop_time = shooting.stop;
    if (isnan(found.tolerance)) found.tolerance = shooting.options.tolerance;
    result = initial_value_simulate(shooting.known, &found);
    if (result) result_protect(result, copy_facts, work.facts);
  }
  daedal_free(shooting.estimate);
  daedal_free(shooting.initial);
  daedal_free(shooting.conditions);
  daedal_free(shooting.known);
  if (result != asked) daedal_free(asked);
  bool is_left_out = must_be_regular && !shooting.is_regular;
  if (is_left_out) daedal_free(result);
  return is_left_out ? NULL : result;
}

/* At guesses of 0 the equations may determine nothing, for example multipliers. Then other guesses are tried first. */
static daedal_result *shoot_from_guesses(daedal_model *model, const daedal_options *options, const Attempt *attempt) {
  for (Otherwise k = OTHERWISE_ZERO; k < OTHERWISE_COUNT && !attempt->guess; k++) {
    daedal_result *result = shoot(model, options, attempt, k, true);
    if (result && (k == OTHERWISE_ZERO || daedal_status_of(result) == DAEDAL_OK)) return result;
    daedal_free(result);
  }
  return shoot(model, options, attempt, OTHERWISE_ZERO, false);
}

/* Makes a run of a given length. Guesses come from another run, or from the model if there is none. NULL: none was found. */
static daedal_result *shoot_held(daedal_model *model, const daedal_options *options, const Attempt *attempt,
                                 double held_end, daedal_result *guess) {
  Attempt held = *attempt;
  held.held_end = held_end;
  held.guess = guess;
  daedal_result *run = shoot_from_guesses(model, options, &held);
  if (result_is_ok(run)) return run;
  daedal_free(run);
  return NULL;
}

/* Finds an optimal final time that is far from its guess. First finds the best run of the guessed length, then of twice that length
 * and so on, because bounded controls need time. From that run, or from shorter ones, it searches for the best length. NULL: none
 * was found. */
static daedal_result *shoot_lengths(daedal_model *model, const daedal_options *options, const Attempt *attempt) {
  const Model *written = model->model;
  const Variable *end = &written->variables.data[written->parameters.data[written->optimal_end.parameter]];
  double guess = bound(model, end->start, 1), length = guess;
  daedal_result *run = NULL, *found = NULL;
  for (; !run && length > 0 && length <= MANY * guess; length *= 2)
    run = shoot_held(model, options, attempt, length, NULL);
  for (length /= 2; run && !found;) {
    found = shoot_held(model, options, attempt, 0, run);
    daedal_result *shorter = found ? NULL : shoot_held(model, options, attempt, length *= sqrt(0.5), run);
    daedal_free(run);
    run = shorter;
  }
  return found;
}

daedal_result *boundary_shoot(daedal_model *model, const daedal_options *options, const Attempt *attempt) {
  daedal_result *result = shoot_from_guesses(model, options, attempt), *found = NULL;
  const OptimalEnd *end = &model->model->optimal_end;
  bool has_best = attempt->smoothing > 0 || (!model->model->switched.count && !end->is_cost); /* for a given length */
  if (!attempt->guess && has_best && end->is_sought && daedal_status_of(result) == DAEDAL_INTEGRATION)
    found = shoot_lengths(model, options, attempt);
  daedal_free(found ? result : NULL);
  return found ? found : result;
}
