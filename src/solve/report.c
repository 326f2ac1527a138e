/* report: see report.h. */
#include "solve/report.h"

#include "result/json.h"

#include <math.h>

static const char *const ORIGIN_NAME[] = {
    [ORIGIN_COMPUTED] = "computed", [ORIGIN_FIXED] = "fixed", [ORIGIN_KEPT] = "kept", [ORIGIN_MOVED] = "moved"};

static const char *constraint_text(const RunFacts *facts, Arena *arena) {
  const RunStatistics *statistics = facts->statistics;
  if (!statistics || statistics->constraint_row == MAP_NONE) return NULL;
  return array_row_text(facts->evaluator->array, statistics->constraint_row, arena);
}

/* ---- text ---- */

void run_report_text(const RunFacts *facts, Heap *heap, TextVec *text) {
  const RunStatistics *statistics = facts->statistics;
  if (!statistics) return;
  Arena arena = arena_make(heap);
  text_printf(heap, text, "  method                   %s, %u states of %u equations\n", facts->method, facts->states,
              facts->equations);
  text_printf(heap, text, "  solver                   %s (%s)\n", statistics->solver, statistics->solver_reason);
  text_printf(heap, text, "  steps                    %llu accepted, %llu rejected\n", (unsigned long long)statistics->steps,
              (unsigned long long)statistics->rejected);
  text_printf(heap, text, "  residual evaluations     %.0f, and %.0f for output\n", ceil(statistics->residual_evaluations),
              ceil(statistics->output_evaluations));
  text_printf(heap, text, "  Jacobian evaluations     %.0f\n", ceil(statistics->jacobian_evaluations));
  text_printf(heap, text, "  factorizations           %llu\n", (unsigned long long)statistics->factorizations);
  text_printf(heap, text, "  pivots                   %u\n", statistics->pivots.count);
  text_printf(heap, text, "  state events             %llu\n", (unsigned long long)statistics->events);
  const char *constraint = constraint_text(facts, &arena);
  if (constraint)
    text_printf(heap, text, "  largest constraint error %.2g (scaled) at time %.6g in %s\n", statistics->constraint_residual,
                statistics->constraint_time, constraint);
  text_printf(heap, text, "  seconds                  %.3f (code %.3f, initial values %.3f, integration %.3f)\n",
              facts->seconds.parse + facts->seconds.structure + facts->seconds.code + facts->seconds.init + facts->seconds.integrate,
              facts->seconds.code, facts->seconds.init, facts->seconds.integrate);
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

static void json_counts(const RunFacts *facts, JsonWriter *json, Arena *arena) {
  static const char *const keys[] = {"solver", "solver_reason", "steps", "rejected", "residual_evals", "output_evals",
                                     "jacobian_evals", "factorizations", "end_time", "events", "pivots", "constraint_residual"};
  const RunStatistics *statistics = facts->statistics;
  if (!statistics) {
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) json_key_null(json, keys[k]);
    return;
  }
  json_key_string(json, "solver", statistics->solver);
  json_key_string(json, "solver_reason", statistics->solver_reason);
  json_key_integer(json, "steps", (int64_t)statistics->steps);
  json_key_integer(json, "rejected", (int64_t)statistics->rejected);
  json_key_number(json, "residual_evals", statistics->residual_evaluations);
  json_key_number(json, "output_evals", statistics->output_evaluations);
  json_key_number(json, "jacobian_evals", statistics->jacobian_evaluations);
  json_key_integer(json, "factorizations", (int64_t)statistics->factorizations);
  json_key_number(json, "end_time", statistics->end_time);
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
  if (facts->evaluator) {
    json_key_integer(&json, "equations", facts->equations);
    json_key_integer(&json, "states", facts->states);
    json_key_integer(&json, "rows", facts->run_evaluator ? facts->run_evaluator->array->rows : facts->evaluator->array->rows);
  } else {
    json_key_null(&json, "equations");
    json_key_null(&json, "states");
    json_key_null(&json, "rows");
  }
  json_counts(facts, &json, &arena);
  json_seconds(facts, &json);
  if (facts->recorder) json_final(facts, &json);
  else json_key_null(&json, "final");
  json_object_end(&json);
  text_append(heap, text, "\n", 1);
  arena_free(&arena);
}

/* ---- initial values ---- */

void initial_report_text(const RunFacts *facts, Heap *heap, TextVec *text) {
  if (!facts->initial || !facts->evaluator) return;
  const Array *array = facts->evaluator->array;
  Arena arena = arena_make(heap);
  text_printf(heap, text, "%-32s  %-24s %s\n", "variable", "value", "how");
  for (uint32_t q = 0; q < array->columns; q++) {
    const InitialColumn *column = &facts->initial->column[q];
    text_printf(heap, text, "%-32s  %-24.16g %s", array_column_name(array, q, &arena), facts->initial->y[q],
                ORIGIN_NAME[column->origin]);
    if (column->origin == ORIGIN_MOVED) text_printf(heap, text, " from %.10g", column->start);
    text_append(heap, text, "\n", 1);
  }
  arena_free(&arena);
}

void initial_report_json(const RunFacts *facts, Heap *heap, TextVec *text) {
  Arena arena = arena_make(heap);
  JsonWriter json = json_make(heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", facts->status);
  if (!facts->initial || !facts->evaluator) {
    json_key_null(&json, "values");
  } else {
    const Array *array = facts->evaluator->array;
    json_key_integer(&json, "fixed", facts->initial->fixed);
    json_key_integer(&json, "free", facts->initial->free);
    json_key_integer(&json, "iterations", facts->initial->iterations);
    json_key(&json, "values");
    json_array_begin(&json);
    for (uint32_t q = 0; q < array->columns; q++) {
      const InitialColumn *column = &facts->initial->column[q];
      json_object_begin(&json);
      json_key_string(&json, "name", array_column_name(array, q, &arena));
      json_key_number(&json, "value", facts->initial->y[q]);
      json_key_string(&json, "how", ORIGIN_NAME[column->origin]);
      json_key_number(&json, "start", column->given ? column->start : NAN);
      json_object_end(&json);
    }
    json_array_end(&json);
  }
  json_object_end(&json);
  text_append(heap, text, "\n", 1);
  arena_free(&arena);
}
