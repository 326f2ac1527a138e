/* report: see report.h. */
#include "pipeline/report.h"

#include "base/number.h"
#include "core/constants.h"
#include "result/conversion_report.h"
#include "result/initial_report.h"
#include "result/json.h"

#include <float.h>
#include <math.h>

static const char *constraint_text(const RunFacts *facts, Arena *arena) {
  const RunStatistics *statistics = facts->statistics;
  if (!statistics || !statistics->constraint_array || statistics->constraint_row == MAP_NONE) return NULL;
  return evaluator_row_text(statistics->constraint_array, statistics->constraint_row, arena);
}

/* ---- text ---- */

static const char *strangeness_array(const Strangeness *strangeness) {
  return strangeness->reduced ? "reduced" : strangeness->shrunk ? "reduced by ranks" : "uniform";
}

static const char *strangeness_point(const Strangeness *strangeness) {
  return strangeness->reduced || strangeness->known.y ? "structure" : "Gauss-Newton";
}

/* The differentiation index of the equations as given. It is defined where they are square and have one solution (v = u = 0): one
 * more than the strangeness index, except for an ODE, where it is 0 (Kunkel and Mehrmann 2003, section 3.4). */
static bool differentiation_index(const Strangeness *strangeness, int32_t *index) {
  *index = strangeness->mu == 0 && strangeness->a == 0 ? 0 : strangeness->mu + 1;
  return strangeness->v == 0 && strangeness->u == 0;
}

static void text_strangeness(const Strangeness *strangeness, Heap *heap, TextVec *text) {
  int32_t index;
  if (!strangeness) return;
  text_printf(heap, text, "  strangeness              mu = %d, a = %d, d = %d, v = %d, u = %d\n", (int)strangeness->mu,
              (int)strangeness->a, (int)strangeness->d, (int)strangeness->v, (int)strangeness->u);
  if (differentiation_index(strangeness, &index))
    text_printf(heap, text, "  differentiation index    %d\n", (int)index);
  text_printf(heap, text, "  derivative array         %s, %u rows; initial values by %s\n",
              strangeness_array(strangeness), strangeness->array->rows, strangeness_point(strangeness));
}

/* The last singular value that counts as nonzero, and the first that does not. */
static void text_singular_values(const char *name, const SingularValues *values, Heap *heap, TextVec *text) {
  text_printf(heap, text, "  rank of %-16s %d", name, (int)values->rank);
  if (values->rank)
    text_printf(heap, text, ", singular values %.3g to %.3g", values->value[0], values->value[values->rank - 1]);
  if (values->rank < values->count) text_printf(heap, text, ", then %.3g", values->value[values->rank]);
  text_append(heap, text, "\n", 1);
}

static void text_ranks(const Strangeness *strangeness, Heap *heap, TextVec *text) {
  text_strangeness(strangeness, heap, text);
  if (!strangeness) return;
  text_singular_values("[F_x F_w]", &strangeness->all, heap, text);
  text_singular_values("F_w", &strangeness->high, heap, text);
}

static void text_boundary(const BoundaryFacts *boundary, Heap *heap, TextVec *text) {
  if (!boundary) return;
  text_printf(
      heap, text, "  boundary value problem   %u condition%s, %u segment%s, %u iteration%s, %u run%s, residual %.3g\n",
      boundary->conditions, plural(boundary->conditions), boundary->segments, plural(boundary->segments),
      boundary->iterations, plural(boundary->iterations), boundary->runs, plural(boundary->runs), boundary->residual);
  for (uint32_t k = 0; k < boundary->count; k++)
    text_printf(heap, text, "    %-22s %.10g\n", boundary->name[k], boundary->value[k]);
  for (uint32_t k = 0; k < boundary->arc_count; k++) {
    const ArcFacts *arc = &boundary->arcs[k];
    text_printf(heap, text, "    arc of %-15s %s from %.10g to %.10g", arc->control, arc->kind, arc->from, arc->to);
    if (arc->order.order)
      text_printf(heap, text, ", of order %u, Legendre-Clebsch %.3g > 0", arc->order.order, arc->order.legendre);
    text_printf(heap, text, "\n");
  }
}

static void text_gradient(const Gradient *gradient, Heap *heap, TextVec *text) {
  if (!gradient) return;
  text_printf(heap, text, "  %-24s %.10g, with the derivatives\n", gradient->functional, gradient->value);
  for (uint32_t k = 0; k < gradient->plan->targets; k++)
    text_printf(heap, text, "    by %-19s %.10g\n", gradient->plan->target[k].name, gradient->by[k]);
}

/* ---- states that the tolerance does not see ---- */

typedef struct SmallState {
  const char *name;
  double largest, absolute_tolerance;
} SmallState;
typedef VEC(SmallState) SmallStateVec;

/* The states that had no effect on the choice of steps: their absolute tolerance was larger than all of their values,
 * or could not follow their size. Values that are round-off relative to the nominal value count as zero. O(rows *
 * states). */
static SmallStateVec find_small_states(const RunFacts *facts, Heap *heap) {
  SmallStateVec found = {0};
  const Recorder *recorder = facts->recorder;
  for (uint32_t s = 0; recorder && s < recorder->signals->listed; s++) {
    const Signal *signal = &recorder->signals->list.data[s];
    if (signal->kind != SIGNAL_STATE || signal->column >= recorder->count) continue;
    uint32_t source = recorder->source[signal->column];
    if (source >= recorder->evaluator->array->columns) continue;
    double nominal = recorder->evaluator->nominal[source], largest = 0;
    double absolute = facts->tolerance * recorder->evaluator->size[source];
    double least =
        recorder->evaluator->is_sized[source] ? GOOD_PART * absolute / (SEVERAL * facts->tolerance) : absolute;
    for (size_t r = 0; r < recorder->trajectory->rows && largest <= least; r++)
      largest = fmax(largest, fabs(trajectory_value(recorder->trajectory, r, s)));
    if (largest > DBL_EPSILON * nominal && largest <= least)
      vec_push(heap, &found, ((SmallState){signal->name, largest, absolute}));
  }
  return found;
}

static void text_small_states(const RunFacts *facts, Heap *heap, TextVec *text) {
  enum { SHOWN = 5 };
  SmallStateVec found = find_small_states(facts, heap);
  Arena arena = arena_make(heap);
  for (uint32_t k = 0; k < found.count && k < SHOWN; k++)
    text_printf(heap, text,
                "  few digits               %s, %.3g at most, absolute tolerance %.3g: give it a nominal value\n",
                arena_printable(&arena, found.data[k].name), found.data[k].largest, found.data[k].absolute_tolerance);
  if (found.count > SHOWN)
    text_printf(heap, text, "  few digits               and %u more states\n", found.count - SHOWN);
  arena_free(&arena);
  vec_free(heap, &found);
}

/* ---- a second run ---- */

/* Only as many digits as are certain. */
static double sure_digits(double digits) { return floor(10 * digits) / 10; }

/* The variables with the fewest digits, one per line. */
static void text_verified(const VerifyFacts *verify, Heap *heap, TextVec *text) {
  enum { SHOWN = 5 };
  Arena arena = arena_make(heap);
  for (uint32_t k = 0; k < SHOWN && k + verify->below < verify->count; k++) {
    const VerifiedVariable *variable = &verify->variables[k];
    if (!(variable->difference > 0)) break;
    text_printf(heap, text, "    %-22s %.1f digits, differs by %.3g at time %.6g\n",
                arena_printable(&arena, variable->name), sure_digits(variable->digits), variable->difference,
                variable->time);
  }
  if (verify->below)
    text_printf(heap, text, "    no digits known        of %u variable%s below the absolute tolerance\n", verify->below,
                verify->below == 1 ? "" : "s");
  arena_free(&arena);
}

static void text_verify(const VerifyFacts *verify, Heap *heap, TextVec *text) {
  if (!verify) return;
  if (verify->message)
    text_printf(heap, text, "  verified                 no: %s at tolerance %.3g failed: %s\n", verify->solver,
                verify->tolerance, verify->message);
  else if (isnan(verify->least_digits))
    text_printf(heap, text, "  verified                 no: nothing to compare with %s at tolerance %.3g\n",
                verify->solver, verify->tolerance);
  else
    text_printf(heap, text, "  verified                 %.1f digits at least, by %s at tolerance %.3g\n",
                sure_digits(verify->least_digits), verify->solver, verify->tolerance);
  if (verify->message) return;
  if (verify->events[0] != verify->events[1])
    text_printf(heap, text, "    events                 %llu, and %llu in the second run\n",
                (unsigned long long)verify->events[0], (unsigned long long)verify->events[1]);
  text_verified(verify, heap, text);
}

/* ---- the certificate ---- */

/* The part of the time on which it is proven that no event was missed; NAN: no time has passed. */
static double proven_part(const RunFacts *facts) {
  const CertificateTotals *totals = &facts->statistics->stepper.certificate;
  double part = totals->time > 0 ? totals->proven / totals->time : NAN;
  return part > 1 - ROUND_OFF ? 1 : part;
}

/* Reports the largest defect, if steps that violate the equations had to be accepted. */
static void text_defect(const RunFacts *facts, Heap *heap, TextVec *text) {
  double largest = facts->statistics->stepper.largest_defect;
  if (largest > DEFECT_HARMLESS)
    text_printf(heap, text, "  largest defect           %.3g tolerances, inside a step\n", largest);
}

/* Rounded down, so that 100 % means all of the time except for round-off in the times of events. */
static void text_certificate(const RunFacts *facts, Heap *heap, TextVec *text) {
  const CertificateTotals *totals = &facts->statistics->stepper.certificate;
  if (!(totals->time > 0)) return;
  text_printf(heap, text, "  events complete          on %.4g %% of the time\n",
              floor(1000 * (proven_part(facts) + ROUND_OFF)) / 10);
  if (totals->has_lost_branch) text_printf(heap, text, "  branch of the solution   not followed everywhere\n");
}

void run_report_text(const RunFacts *facts, Heap *heap, TextVec *text) {
  const RunStatistics *statistics = facts->statistics;
  if (!statistics) {
    text_ranks(facts->strangeness, heap, text);
    return;
  }
  Arena arena = arena_make(heap);
  text_printf(heap, text, "  method                   %s, %u state%s of %u equation%s\n", facts->method, facts->states,
              facts->states == 1 ? "" : "s", facts->equations, facts->equations == 1 ? "" : "s");
  text_boundary(facts->boundary, heap, text);
  if (statistics->stepper.solver)
    text_printf(heap, text, "  solver                   %s (%s)\n", statistics->stepper.solver,
                statistics->stepper.solver_reason);
  text_printf(heap, text, "  steps                    %llu accepted, %llu rejected\n",
              (unsigned long long)statistics->stepper.steps, (unsigned long long)statistics->stepper.rejected);
  text_printf(heap, text, "  residual evaluations     %.0f, and %.0f for output\n",
              ceil(statistics->residual_evaluations), ceil(statistics->output_evaluations));
  if (facts->initial && facts->initial->rung > RUNG_START)
    text_printf(heap, text, "  initial values           by %s, %u iteration%s\n",
                nonlinear_rung_words(facts->initial->rung), facts->initial->iterations,
                plural(facts->initial->iterations));
  text_printf(heap, text, "  Jacobian evaluations     %.0f\n", ceil(statistics->jacobian_evaluations));
  text_printf(heap, text, "  factorizations           %llu\n", (unsigned long long)statistics->stepper.factorizations);
  text_printf(heap, text, "  pivots                   %u\n", statistics->stepper.pivots.count);
  if (statistics->stepper.removed)
    text_printf(heap, text, "  left out                 %u superfluous differentiation%s\n",
                statistics->stepper.removed, statistics->stepper.removed == 1 ? "" : "s");
  text_printf(heap, text, "  state events             %llu\n", (unsigned long long)statistics->stepper.events);
  if (statistics->stepper.time_events)
    text_printf(heap, text, "  time events              %llu\n", (unsigned long long)statistics->stepper.time_events);
  if (statistics->stepper.iterations)
    text_printf(heap, text, "  event iterations         %llu\n", (unsigned long long)statistics->stepper.iterations);
  text_defect(facts, heap, text);
  text_certificate(facts, heap, text);
  if (statistics->replans) text_printf(heap, text, "  changes of structure     %u\n", statistics->replans);
  const char *constraint = constraint_text(facts, &arena);
  if (constraint)
    text_printf(heap, text, "  largest constraint error %.2g (scaled) at time %.6g in %s\n",
                statistics->constraint_residual, statistics->constraint_time, constraint);
  if (facts->reduction && facts->reduction->remark)
    text_printf(heap, text, "  reduction                %s\n", facts->reduction->remark);
  for (uint32_t k = 0; facts->recorder && k < facts->invariant_count; k++) {
    Drift drift = recorder_drift(heap, facts->recorder, facts->invariants[k]);
    text_printf(heap, text, "  drift of %-15s %s, %.3g at the end, %.3g at most\n",
                arena_printable(&arena, facts->invariants[k]), drift_name(drift.kind), drift.change, drift.largest);
  }
  text_gradient(facts->gradient, heap, text);
  text_small_states(facts, heap, text);
  text_verify(facts->verify, heap, text);
  text_printf(heap, text,
              "  seconds                  %.3f (reading %.3f, structure %.3f, code %.3f, initial values %.3f, "
              "integration %.3f)\n",
              facts->seconds.parse + facts->seconds.structure + facts->seconds.code + facts->seconds.init +
                  facts->seconds.integrate,
              facts->seconds.parse, facts->seconds.structure, facts->seconds.code, facts->seconds.init,
              facts->seconds.integrate);
  conversion_report_text(facts->conversions, heap, text);
  text_strangeness(facts->strangeness, heap, text);
  arena_free(&arena);
}

/* ---- JSON ---- */

static void json_pivots(const RunFacts *facts, JsonWriter *json, Arena *arena) {
  const Array *array = facts->run_evaluator->array;
  for (uint32_t k = 0; json_next_object(json, k, facts->statistics->stepper.pivots.count); k++) {
    const PivotRecord *pivot = &facts->statistics->stepper.pivots.data[k];
    json_key_number(json, "time", pivot->time);
    json_key_string(json, "out", array_column_name(array, pivot->out, arena));
    json_key_string(json, "in", array_column_name(array, pivot->in, arena));
  }
}

static void json_certificate(const RunFacts *facts, JsonWriter *json) {
  const StepperStatistics *statistics = &facts->statistics->stepper;
  json_object_begin(json);
  json_key_number(json, "defect", statistics->looks ? statistics->largest_defect : NAN);
  json_key_number(json, "events_complete", proven_part(facts));
  json_key_integer(json, "evaluations", (int64_t)statistics->certificate.evaluations);
  json_key(json, "unproven");
  json_array_begin(json);
  for (uint32_t k = 0; k < statistics->unproven.count; k++) {
    json_array_begin(json);
    json_number(json, statistics->unproven.data[k].from);
    json_number(json, statistics->unproven.data[k].to);
    json_array_end(json);
  }
  json_array_end(json);
  json_key_bool(json, "branch_followed", !statistics->certificate.has_lost_branch);
  json_object_end(json);
}

static void json_constraint(const RunFacts *facts, JsonWriter *json, Arena *arena) {
  const char *constraint = constraint_text(facts, arena);
  json_object_begin(json);
  json_key_number(json, "max", constraint ? facts->statistics->constraint_residual : NAN);
  json_key_number(json, "at", constraint ? facts->statistics->constraint_time : NAN);
  json_key_string(json, "equation", constraint);
  json_object_end(json);
}

static void json_invariants(const RunFacts *facts, JsonWriter *json, Heap *heap) {
  for (uint32_t k = 0; json_next_object(json, k, facts->recorder ? facts->invariant_count : 0); k++) {
    Drift drift = recorder_drift(heap, facts->recorder, facts->invariants[k]);
    json_key_string(json, "name", facts->invariants[k]);
    json_key_number(json, "first", drift.first);
    json_key_number(json, "change", drift.change);
    json_key_number(json, "largest", drift.largest);
    json_key_string(json, "drift", drift_name(drift.kind));
  }
}

static void json_gradient(const Gradient *gradient, JsonWriter *json) {
  json_object_begin(json);
  json_key_string(json, "functional", gradient->functional);
  json_key_number(json, "value", gradient->value);
  json_key(json, "derivatives");
  json_object_begin(json);
  for (uint32_t k = 0; k < gradient->plan->targets; k++)
    json_key_number(json, gradient->plan->target[k].name, gradient->by[k]);
  json_object_end(json);
  json_object_end(json);
}

static void json_small_states(const RunFacts *facts, JsonWriter *json, Heap *heap) {
  SmallStateVec found = find_small_states(facts, heap);
  for (uint32_t k = 0; json_next_object(json, k, found.count); k++) {
    json_key_string(json, "name", found.data[k].name);
    json_key_number(json, "largest", found.data[k].largest);
    json_key_number(json, "absolute_tolerance", found.data[k].absolute_tolerance);
  }
  vec_free(heap, &found);
}

static void json_verify(const VerifyFacts *verify, JsonWriter *json) {
  json_object_begin(json);
  json_key_string(json, "status", verify->status);
  json_key_string(json, "message", verify->message);
  json_key_string(json, "solver", verify->solver);
  json_key_number(json, "tolerance", verify->tolerance);
  json_key_integer(json, "points", (int64_t)verify->points);
  json_key(json, "events");
  for (uint32_t k = 0; json_next(json, k, 2); k++) json_integer(json, (int64_t)verify->events[k]);
  json_key_number(json, "digits", verify->least_digits);
  json_key(json, "variables");
  for (uint32_t k = 0; json_next_object(json, k, verify->count); k++) {
    const VerifiedVariable *variable = &verify->variables[k];
    json_key_string(json, "name", variable->name);
    json_key_number(json, "digits", variable->digits);
    json_key_number(json, "difference", variable->difference);
    json_key_number(json, "size", variable->size);
    json_key_number(json, "time", variable->time);
  }
  json_object_end(json);
}

static void json_boundary(const BoundaryFacts *boundary, JsonWriter *json) {
  json_object_begin(json);
  json_key(json, "found");
  json_object_begin(json);
  for (uint32_t k = 0; k < boundary->count; k++) json_key_number(json, boundary->name[k], boundary->value[k]);
  json_object_end(json);
  json_key_integer(json, "conditions", boundary->conditions);
  json_key_integer(json, "segments", boundary->segments);
  json_key_number(json, "residual", boundary->residual);
  json_key_integer(json, "iterations", boundary->iterations);
  json_key_integer(json, "simulations", boundary->runs);
  json_key(json, "arcs");
  for (uint32_t k = 0; json_next_object(json, k, boundary->arc_count); k++) {
    const ArcFacts *arc = &boundary->arcs[k];
    json_key_string(json, "control", arc->control);
    json_key_string(json, "kind", arc->kind);
    json_key_number(json, "from", arc->from);
    json_key_number(json, "to", arc->to);
    json_key_integer(json, "order", arc->order.order);
    json_key_number(json, "legendre", arc->order.legendre);
  }
  json_object_end(json);
}

/* Largest residual of each level of constraints. */
static void json_levels(const RunFacts *facts, JsonWriter *json) {
  const Constraints *constraints = facts->statistics ? facts->statistics->constraints : NULL;
  for (uint32_t l = 0; json_next(json, l, constraints ? constraints->plan->levels : 0); l++)
    json_number(json, constraints->level_worst[l]);
}

static void json_final(const Recorder *recorder, JsonWriter *json) {
  const Trajectory *trajectory = recorder->trajectory;
  json_object_begin(json);
  for (uint32_t s = 0; trajectory->rows && s < recorder->signals->listed; s++) {
    const Signal *signal = &recorder->signals->list.data[s];
    if (signal->kind == SIGNAL_PARAMETER) continue;
    json_key_number(json, signal->name, trajectory_value(trajectory, trajectory->rows - 1, s));
  }
  json_object_end(json);
}

static void json_initial(const Initial *initial, JsonWriter *json) {
  json_object_begin(json);
  json_key_string(json, "way", initial_report_way(initial->way));
  json_key_string(json, "rung", nonlinear_rung_words(initial->rung));
  json_key_number(json, "iterations", initial->iterations);
  json_object_end(json);
}

static void json_seconds(const Seconds *seconds, JsonWriter *json) {
  json_object_begin(json);
  json_key_number(json, "parse", seconds->parse);
  json_key_number(json, "structure", seconds->structure);
  json_key_number(json, "code", seconds->code);
  json_key_number(json, "init", seconds->init);
  json_key_number(json, "integrate", seconds->integrate);
  json_object_end(json);
}

static void json_singular_values(const char *key, const SingularValues *values, JsonWriter *json) {
  json_key(json, key);
  json_array_begin(json);
  for (int32_t k = 0; k < values->count; k++) json_number(json, values->value[k]);
  json_array_end(json);
}

/* The characteristic values of Kunkel and Mehrmann. */
static void json_strangeness(const Strangeness *strangeness, JsonWriter *json) {
  json_object_begin(json);
  json_key_integer(json, "mu", strangeness->mu);
  json_key_integer(json, "a", strangeness->a);
  json_key_integer(json, "d", strangeness->d);
  json_key_integer(json, "v", strangeness->v);
  json_key_integer(json, "u", strangeness->u);
  int32_t index;
  json_key(json, "differentiation_index");
  if (differentiation_index(strangeness, &index)) json_integer(json, index);
  else json_null(json);
  json_key_string(json, "array", strangeness_array(strangeness));
  json_key_string(json, "initial", strangeness_point(strangeness));
  json_key_number(json, "rank_tolerance", strangeness->rank_tolerance);
  json_key(json, "free");
  for (uint32_t k = 0; json_next_object(json, k, strangeness->free_count); k++) {
    static const char *const choices[] = {[FREE_NEAREST] = "nearest", [FREE_SLOWEST] = "slowest", [FREE_HELD] = "held"};
    const Model *model = strangeness->problem.model;
    json_key_string(json, "variable", model_name(model, model->unknowns.data[strangeness->free[k].unknown]));
    json_key_string(json, "choice", choices[strangeness->free[k].choice]);
  }
  json_singular_values("singular_values", &strangeness->all, json);
  json_singular_values("singular_values_w", &strangeness->high, json);
  json_object_end(json);
}

static void json_turning(const TurningPoint *point, JsonWriter *json) {
  json_object_begin(json);
  json_key_number(json, "time", point->time);
  json_key_integer(json, "block", point->block + 1);
  json_key_integer(json, "equations", point->size);
  json_key_integer(json, "rank", point->rank);
  json_object_end(json);
}

static void json_run(const RunFacts *facts, JsonWriter *json, Arena *arena) {
  const RunStatistics *statistics = facts->statistics;
  Heap *heap = arena->heap;
#define KEY(name, known, value) JSON_MEMBER(name, known, value)
#define OPTIONAL(name, known, value) \
  if (known) {                       \
    json_key(json, #name);           \
    value;                           \
  }
#include "pipeline/run_report.def"
}

void run_report_json(const RunFacts *facts, Heap *heap, TextVec *text) {
  Arena arena = arena_make(heap);
  JsonWriter json = json_make(heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", facts->status);
  json_run(facts, &json, &arena);
  json_object_end(&json);
  arena_free(&arena);
}

const char run_report_nothing[] = JSON_NOTHING
#define KEY(name, known, value) JSON_NULL(name)
#define OPTIONAL(name, known, value)
#include "pipeline/run_report.def"
    JSON_END;

/* ---- the reduced system ---- */

static void json_before(const EquationKinds *before, JsonWriter *json) {
  json_object_begin(json);
  json_key_integer(json, "differential", before->differential);
  json_key_integer(json, "algebraic", before->algebraic);
  json_key_integer(json, "solved", before->solved);
  json_object_end(json);
}

static void json_reduction(const RunFacts *facts, JsonWriter *json) {
  const Reduction *reduction = facts->reduction;
#define KEY(name, known, value) JSON_MEMBER(name, known, value)
#include "pipeline/reduction_report.def"
}

void reduction_report_json(const RunFacts *facts, Heap *heap, TextVec *text) {
  JsonWriter json = json_make(heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", facts->status);
  json_reduction(facts, &json);
  json_object_end(&json);
}

const char reduction_report_nothing[] = JSON_NOTHING
#define KEY(name, known, value) JSON_NULL(name)
#include "pipeline/reduction_report.def"
    JSON_END;
