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

static void set_starts(const SpiceModel *circuit, const Model *point, const double *values, double *starts) {
  for (uint32_t k = 0; k < point->unknowns.count; k++) {
    uint32_t position = point->unknowns.data[k];
    if (isnan(starts[position])) starts[position] = values[position];
  }
  for (uint32_t k = 0; k < circuit->differences.count; k++) {
    Difference difference = circuit->differences.data[k];
    if (isnan(starts[difference.variable]))
      starts[difference.variable] = values[difference.plus] - values[difference.minus];
  }
}

/* The element of the netlist line that an error points at; "" if there is none. */
static const char *element_at(const daedal_result *result, Span span) {
  const Source *source = &result->model->source;
  size_t length = 0;
  if (!source_holds(source, span)) return "";
  const char *text = source_text(source, span.begin);
  while (span.begin + length < span.end && !strchr(" \t,(", text[length])) length++;
  return arena_copy(&result->model->arena, text, length);
}

/* Reports how the operating point was sought, and where the search failed. */
static bool report_failure(daedal_result *result) {
  Diag *diag = diags_first_error(&result->diags);
  result->simulation.facts.status = "init";
  if (!diag) return false;
  const char *element = element_at(result, diag->span);
  diag_note(&result->diags, diag, (Span){0},
            "the operating point was sought by Newton's method, then with sources growing from 0 and vanishing "
            "conductances (source and "
            "gmin stepping)%s%s",
            *element ? ", and not found around " : "", element);
  diag_note(&result->diags, diag, (Span){0},
            ".nodeset gives guesses of node voltages; .tran ... uic starts without an operating point");
  return false;
}

/* Start values for an operating point: the solution with the .nodeset nodes held. NULL: there is none. */
static double *held_starts(const Model *held, Heap *heap, const Request *request) {
  Diags silent = diags_make(heap);
  Simulation *simulation = heap_alloc(heap, sizeof *simulation);
  if (!held || !pipeline_simulate(simulation, heap, held, request, &silent)) return NULL;
  double *starts = heap_array(heap, held->variables.count, sizeof *starts);
  for (uint32_t k = 0; k < held->variables.count; k++) starts[k] = NAN;
  read_values(held, simulation, starts);
  return starts;
}

Simulation *simulate_operating_point(const Model *point, const Model *held, Heap *heap, const Request *asked,
                                     Diags *diags) {
  Request request = {.method = method_find("dummy"),
                     .initialize_only = true,
                     .parameter_overrides = asked->parameter_overrides,
                     .run = asked->run};
  request.run.tolerance = 1e-9;
  request.starts.start = held_starts(held, heap, &request);
  request.targets = asked->targets;
  request.target_count = asked->target_count;
  Simulation *simulation = heap_alloc(heap, sizeof *simulation);
  return pipeline_simulate(simulation, heap, point, &request, diags) ? simulation : NULL;
}

/* How the operating point's variables vary with a target, by position. */
static void read_slopes(const Model *point, const Simulation *simulation, const char *target, Arena *arena,
                        double *values) {
  const Trajectory *trajectory = simulation->recorder->trajectory;
  for (uint32_t k = 0; k < point->unknowns.count; k++) {
    uint32_t position = point->unknowns.data[k];
    const char *name = arena_printf(arena, "der(%s, %s)", model_name(point, position), target);
    uint32_t signal = signals_find(trajectory->signals, name);
    values[position] = signal == MAP_NONE ? 0 : trajectory_value(trajectory, 0, signal);
  }
}

/* Adds the slopes of the start values that are not given and that the operating point determines. */
static void set_slopes(const SpiceModel *circuit, const Model *point, const Simulation *simulation, Arena *arena,
                       uint32_t variables, const double *starts, Request *request) {
  const double **by = arena_array(arena, request->target_count, sizeof *by);
  double *values = arena_array(arena, point->variables.count, sizeof *values);
  for (uint32_t k = 0; k < request->target_count; k++) {
    double *slopes = arena_array(arena, variables, sizeof *slopes);
    for (uint32_t v = 0; v < variables; v++) slopes[v] = isnan(starts[v]) ? NAN : 0;
    read_slopes(point, simulation, request->targets[k].name, arena, values);
    set_starts(circuit, point, values, slopes);
    by[k] = slopes;
  }
  request->start_slopes = (StartSlopes){by, variables};
}

bool find_operating_point(daedal_result *result, Request *request, double *starts) {
  const SpiceModel *circuit = &result->model->circuit;
  const Model *held = circuit->held_point, *point = circuit->operating_point ? circuit->operating_point : held;
  if (!point) return true;
  bool is_model = point == held; /* the model is the operating point itself, and only needs start values */
  Diags silent = diags_make(result->heap);
  double *values = heap_array(result->heap, point->variables.count, sizeof *values);
  const Simulation *found = simulate_operating_point(point, is_model ? NULL : held, result->heap, request,
                                                     is_model ? &silent : &result->diags);
  if (found && !is_model && request->target_count)
    set_slopes(circuit, point, found, &result->diags.arena, result->model->model->variables.count, starts, request);
  if (found) read_values(point, found, values);
  if (found) set_starts(circuit, point, values, starts);
  heap_free(result->heap, values);
  return found || is_model || report_failure(result);
}

/* Gives the layer its own copy of the variables, with these start values. */
static void give_starts(Model *layer, const double *starts) {
  uint32_t count = layer->variables.count;
  Variable *own = heap_array(layer->heap, count, sizeof *own);
  if (count) memcpy(own, layer->variables.data, count * sizeof *own);
  for (uint32_t k = 0; k < count; k++)
    if (own[k].role == ROLE_UNKNOWN && !isnan(starts[k])) own[k].start = dag_constant(layer->dag, starts[k]);
  layer->variables.data = own;
}

Model *layer_at_operating_point(daedal_model *model) {
  Model *layer = model_layer(model->model, model->heap);
  const SpiceModel *circuit = &model->circuit;
  if (!circuit->operating_point) return layer;
  Diags diags = diags_make(model->heap);
  double *values = heap_array(model->heap, circuit->operating_point->variables.count, sizeof *values);
  double *starts = heap_array(model->heap, layer->variables.count, sizeof *starts);
  for (uint32_t k = 0; k < layer->variables.count; k++) starts[k] = NAN;
  const Simulation *found =
      simulate_operating_point(circuit->operating_point, circuit->held_point, model->heap, &(Request){0}, &diags);
  if (found) {
    read_values(circuit->operating_point, found, values);
    set_starts(circuit, circuit->operating_point, values, starts);
    give_starts(layer, starts);
  } else {
    diag_warning(&model->diags, DIAG_WARNING, (Span){0},
                 "the operating point was not found: the start values are not those of the circuit");
  }
  heap_free(model->heap, values);
  heap_free(model->heap, starts);
  return layer;
}
