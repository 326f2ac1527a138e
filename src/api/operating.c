/* operating: the operating point of a circuit, found by initializing its own model (spice.h) with the parameters of the run. */
#include "api/handles.h"

#include <math.h>
#include <string.h>

/* Values of the operating point's variables, by position. */
static void read_values(const Model *point, const Simulation *simulation, double *values) {
  Evaluator *evaluator = simulation->original.evaluator;
  for (uint32_t k = 0; k < point->unknowns.count; k++)
    values[point->unknowns.data[k]] = evaluator_value(evaluator, simulation->initial.y, k, 0);
}

static void set_starts(const SpiceModel *circuit, const double *values, double *starts) {
  const Model *point = circuit->operating_point;
  for (uint32_t k = 0; k < point->unknowns.count; k++) {
    uint32_t position = point->unknowns.data[k];
    if (isnan(starts[position])) starts[position] = values[position];
  }
  for (uint32_t k = 0; k < circuit->differences.count; k++) {
    Difference difference = circuit->differences.data[k];
    if (isnan(starts[difference.variable])) starts[difference.variable] = values[difference.plus] - values[difference.minus];
  }
}

/* The element whose card an error points at; "" if there is none. */
static const char *element_at(const daedal_result *result, Span span) {
  const Source *source = &result->model->source;
  size_t length = 0;
  if (span.begin == span.end || span.end > source->length) return "";
  while (span.begin + length < span.end && !strchr(" \t,(", source->text[span.begin + length])) length++;
  return arena_copy(&result->model->arena, source->text + span.begin, length);
}

/* Says how the point was sought, and where it failed. */
static bool report_failure(daedal_result *result) {
  Diag *diag = diags_first_error(&result->diags);
  result->simulation.facts.status = "init";
  if (!diag) return false;
  const char *element = element_at(result, diag->span);
  diag_note(&result->diags, diag, (Span){0},
            "the operating point was sought by Newton's method, then with sources growing from 0 and vanishing conductances (source and "
            "gmin stepping)%s%s",
            *element ? ", and not found around " : "", element);
  diag_note(&result->diags, diag, (Span){0}, ".nodeset gives guesses of node voltages; .tran ... uic starts without an operating point");
  return false;
}

bool find_operating_point(daedal_result *result, const Request *request, double *starts) {
  const SpiceModel *circuit = &result->model->circuit;
  const Model *point = circuit->operating_point;
  if (!point) return true;
  Request asked = {.method = method_find("dummy"), .initialize_only = true, .parameter_overrides = request->parameter_overrides};
  asked.run = request->run;
  asked.run.tolerance = 1e-9;
  double *values = heap_array(result->heap, point->variables.count, sizeof *values);
  Simulation *simulation = heap_alloc(result->heap, sizeof *simulation);
  bool found = pipeline_simulate(simulation, result->heap, point, &asked, &result->diags);
  if (found) {
    read_values(point, simulation, values);
    set_starts(circuit, values, starts);
  }
  heap_free(result->heap, values);
  return found || report_failure(result);
}
