/* report: see report.h. */
#include "solve/report.h"

#include "result/conversion_report.h"
#include "result/json.h"

#include <math.h>

static const char *constraint_text(const RunFacts *facts, Arena *arena) {
  const RunStatistics *statistics = facts->statistics;
  if (!statistics || statistics->constraint_row == MAP_NONE) return NULL;
  return array_row_text(facts->evaluator->array, statistics->constraint_row, arena);
}

/* ---- text ---- */

static const char *strangeness_array(const Strangeness *strangeness) {
  return strangeness->reduced ? "reduced" : strangeness->shrunk ? "reduced by ranks" : "uniform";
}

static const char *strangeness_point(const Strangeness *strangeness) {
  return strangeness->reduced || strangeness->known ? "structure" : "Gauss-Newton";
}

static void text_strangeness(const Strangeness *strangeness, Heap *heap, TextVec *text) {
  if (!strangeness) return;
  text_printf(heap, text, "  strangeness              mu = %d, a = %d, d = %d, v = %d, u = %d\n", (int)strangeness->mu,
              (int)strangeness->a, (int)strangeness->d, (int)strangeness->v, (int)strangeness->u);
  text_printf(heap, text, "  derivative array         %s, %u rows; initial values by %s\n",
              strangeness_array(strangeness), strangeness->array->rows, strangeness_point(strangeness));
}

void run_report_text(const RunFacts *facts, Heap *heap, TextVec *text) {
  const RunStatistics *statistics = facts->statistics;
  if (!statistics) return;
  Arena arena = arena_make(heap);
  text_printf(heap, text, "  method                   %s, %u state%s of %u equations\n", facts->method, facts->states,
              facts->states == 1 ? "" : "s", facts->equations);
  text_printf(heap, text, "  solver                   %s (%s)\n", statistics->solver, statistics->solver_reason);
  text_printf(heap, text, "  steps                    %llu accepted, %llu rejected\n",
              (unsigned long long)statistics->steps, (unsigned long long)statistics->rejected);
  text_printf(heap, text, "  residual evaluations     %.0f, and %.0f for output\n",
              ceil(statistics->residual_evaluations), ceil(statistics->output_evaluations));
  text_printf(heap, text, "  Jacobian evaluations     %.0f\n", ceil(statistics->jacobian_evaluations));
  text_printf(heap, text, "  factorizations           %llu\n", (unsigned long long)statistics->factorizations);
  text_printf(heap, text, "  pivots                   %u\n", statistics->pivots.count);
  if (statistics->left_out)
    text_printf(heap, text, "  left out                 %u superfluous differentiation%s\n", statistics->left_out,
                statistics->left_out == 1 ? "" : "s");
  text_printf(heap, text, "  state events             %llu\n", (unsigned long long)statistics->events);
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
  text_printf(heap, text, "  seconds                  %.3f (code %.3f, initial values %.3f, integration %.3f)\n",
              facts->seconds.parse + facts->seconds.structure + facts->seconds.code + facts->seconds.init +
                  facts->seconds.integrate,
              facts->seconds.code, facts->seconds.init, facts->seconds.integrate);
  conversion_report_text(facts->conversions, heap, text);
  text_strangeness(facts->strangeness, heap, text);
  arena_free(&arena);
}

/* ---- JSON ---- */

static void json_pivots(const RunFacts *facts, JsonWriter *json, Arena *arena) {
  const Array *array = facts->run_evaluator->array;
  json_key(json, "pivots");
  json_array_begin(json);
  for (uint32_t k = 0; k < facts->statistics->pivots.count; k++) {
    const PivotRecord *pivot = &facts->statistics->pivots.data[k];
    json_object_begin(json);
    json_key_number(json, "time", pivot->time);
    json_key_string(json, "out", array_column_name(array, pivot->out, arena));
    json_key_string(json, "in", array_column_name(array, pivot->in, arena));
    json_object_end(json);
  }
  json_array_end(json);
}

static void json_constraint(const RunFacts *facts, JsonWriter *json, Arena *arena) {
  const char *constraint = constraint_text(facts, arena);
  json_key(json, "constraint_residual");
  json_object_begin(json);
  json_key_number(json, "max", constraint ? facts->statistics->constraint_residual : NAN);
  json_key_number(json, "at", constraint ? facts->statistics->constraint_time : NAN);
  json_key_string(json, "equation", constraint);
  json_object_end(json);
}

static void json_invariants(const RunFacts *facts, JsonWriter *json, Heap *heap) {
  json_key(json, "invariants");
  json_array_begin(json);
  for (uint32_t k = 0; facts->recorder && k < facts->invariant_count; k++) {
    Drift drift = recorder_drift(heap, facts->recorder, facts->invariants[k]);
    json_object_begin(json);
    json_key_string(json, "name", facts->invariants[k]);
    json_key_number(json, "first", drift.first);
    json_key_number(json, "change", drift.change);
    json_key_number(json, "largest", drift.largest);
    json_key_string(json, "drift", drift_name(drift.kind));
    json_object_end(json);
  }
  json_array_end(json);
}

/* Largest residual of each level of constraints. */
static void json_levels(const RunFacts *facts, JsonWriter *json) {
  const Constraints *constraints = facts->statistics ? facts->statistics->constraints : NULL;
  json_key(json, "constraint_levels");
  json_array_begin(json);
  for (uint32_t l = 0; constraints && l < constraints->levels; l++) json_number(json, constraints->level_worst[l]);
  json_array_end(json);
}

static void json_final(const RunFacts *facts, JsonWriter *json) {
  const Trajectory *trajectory = facts->recorder->trajectory;
  json_key(json, "final");
  json_object_begin(json);
  for (uint32_t s = 0; trajectory->rows && s < facts->recorder->signals->list.count; s++) {
    const Signal *signal = &facts->recorder->signals->list.data[s];
    if (signal->kind == SIGNAL_PARAMETER) continue;
    json_key_number(json, signal->name, trajectory_value(trajectory, trajectory->rows - 1, s));
  }
  json_object_end(json);
}

static void json_seconds(const RunFacts *facts, JsonWriter *json) {
  json_key(json, "seconds");
  json_object_begin(json);
  json_key_number(json, "parse", facts->seconds.parse);
  json_key_number(json, "structure", facts->seconds.structure);
  json_key_number(json, "code", facts->seconds.code);
  json_key_number(json, "init", facts->seconds.init);
  json_key_number(json, "integrate", facts->seconds.integrate);
  json_object_end(json);
}

/* The characteristic values of Kunkel and Mehrmann. */
static void json_strangeness(const Strangeness *strangeness, JsonWriter *json) {
  if (!strangeness) return;
  json_key(json, "strangeness");
  json_object_begin(json);
  json_key_integer(json, "mu", strangeness->mu);
  json_key_integer(json, "a", strangeness->a);
  json_key_integer(json, "d", strangeness->d);
  json_key_integer(json, "v", strangeness->v);
  json_key_integer(json, "u", strangeness->u);
  json_key_string(json, "array", strangeness_array(strangeness));
  json_key_string(json, "initial", strangeness_point(strangeness));
  json_object_end(json);
}

static void json_turning(const TurningPoint *point, JsonWriter *json) {
  if (!point) {
    json_key_null(json, "singular");
    return;
  }
  json_key(json, "singular");
  json_object_begin(json);
  json_key_number(json, "time", point->time);
  json_key_integer(json, "block", point->block + 1);
  json_key_integer(json, "equations", point->size);
  json_key_integer(json, "rank", point->rank);
  json_object_end(json);
}

static void json_counts(const RunFacts *facts, JsonWriter *json, Arena *arena) {
  static const char *const keys[] = {
      "solver",         "solver_reason",  "left_out", "steps",    "rejected", "residual_evals", "output_evals",
      "jacobian_evals", "factorizations", "end_time", "singular", "events",   "pivots",         "constraint_residual"};
  const RunStatistics *statistics = facts->statistics;
  if (!statistics) {
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) json_key_null(json, keys[k]);
    return;
  }
  json_key_string(json, "solver", statistics->solver);
  json_key_string(json, "solver_reason", statistics->solver_reason);
  json_key_integer(json, "left_out", statistics->left_out);
  json_key_integer(json, "steps", (int64_t)statistics->steps);
  json_key_integer(json, "rejected", (int64_t)statistics->rejected);
  json_key_number(json, "residual_evals", statistics->residual_evaluations);
  json_key_number(json, "output_evals", statistics->output_evaluations);
  json_key_number(json, "jacobian_evals", statistics->jacobian_evaluations);
  json_key_integer(json, "factorizations", (int64_t)statistics->factorizations);
  json_key_number(json, "end_time", statistics->end_time);
  json_turning(statistics->turning, json);
  json_key_integer(json, "events", (int64_t)statistics->events);
  json_pivots(facts, json, arena);
  json_constraint(facts, json, arena);
}

void run_report_json(const RunFacts *facts, Heap *heap, TextVec *text) {
  Arena arena = arena_make(heap);
  JsonWriter json = json_make(heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", facts->status);
  json_key_string(&json, "method", facts->method);
  conversion_report_json(facts->conversions, &json);
  json_strangeness(facts->strangeness, &json);
  if (facts->evaluator) {
    json_key_integer(&json, "equations", facts->equations);
    json_key_integer(&json, "states", facts->states);
    json_key_integer(&json, "rows",
                     facts->run_evaluator ? facts->run_evaluator->array->rows : facts->evaluator->array->rows);
  } else {
    json_key_null(&json, "equations");
    json_key_null(&json, "states");
    json_key_null(&json, "rows");
  }
  json_counts(facts, &json, &arena);
  json_levels(facts, &json);
  json_invariants(facts, &json, heap);
  json_seconds(facts, &json);
  if (facts->recorder) json_final(facts, &json);
  else json_key_null(&json, "final");
  json_object_end(&json);
  arena_free(&arena);
}

/* ---- the reduced system ---- */

/* Equations of the model itself, counted likewise: differential as of first order, constraints, and the rest. */
static void json_before(const Reduction *reduction, JsonWriter *json) {
  const Array *array = reduction->array;
  const Problem *problem = array->problem;
  uint32_t differential = 0, constraints = 0;
  int32_t *order = heap_array(reduction->heap, problem->unknowns, sizeof *order);
  for (int32_t e = 0; e < problem->incidence.row_start[problem->equations]; e++) {
    int32_t j = problem->incidence.column[e];
    for (; order[j] < problem->incidence.order[e]; order[j]++) differential++;
  }
  for (uint32_t i = 0; i < problem->equations; i++) constraints += array->c[i] > 0;
  uint32_t equations = problem->model->equations.count;
  json_key(json, "before");
  json_object_begin(json);
  json_key_integer(json, "differential", differential);
  json_key_integer(json, "algebraic", constraints);
  json_key_integer(json, "solved", equations > differential + constraints ? equations - differential - constraints : 0);
  json_object_end(json);
  heap_free(reduction->heap, order);
}

void reduction_report_json(const RunFacts *facts, Heap *heap, TextVec *text) {
  const Reduction *reduction = facts->reduction;
  JsonWriter json = json_make(heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", facts->status);
  json_key_string(&json, "method", facts->method);
  if (reduction) {
    const ReductionCounts *counts = &reduction->counts;
    json_key_integer(&json, "equations", facts->equations);
    json_key_integer(&json, "states", facts->states);
    json_key_string(&json, "remark", reduction->remark);
    json_before(reduction, &json);
    json_key_integer(&json, "differential", counts->differential);
    json_key_integer(&json, "algebraic", counts->algebraic);
    json_key_integer(&json, "solved", counts->solved);
    json_key_integer(&json, "left_out", counts->left_out);
    json_key_integer(&json, "new_variables", counts->new_variables);
    json_key_integer(&json, "first_order", counts->first_order);
    json_key_integer(&json, "dummy_first_order", counts->dummy_first_order);
    json_seconds(facts, &json);
  }
  json_object_end(&json);
}
