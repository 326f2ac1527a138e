/* operating: the operating point of a circuit, found by initializing its own model (spice.h) with the parameters of the run. */
#include "api/handles.h"

#include <math.h>

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
  } else {
    result->simulation.facts.status = "init";
  }
  heap_free(result->heap, values);
  return found;
}
