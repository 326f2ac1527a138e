/* linearize: the linear form of a model at its initial values, or at a time of its run. */
#include "api/handles.h"

#include "study/linear_report.h"

#include <math.h>
#include <string.h>

typedef struct LinearWork {
  const daedal_options *options;
  const char *const *inputs, *const *outputs;
} LinearWork;

/* ---- names ---- */

/* Is the variable an input of the model itself that no equation determines? */
static bool is_open_input(const Variable *variable) {
  return variable->role == ROLE_PARAMETER && variable->variability > VARIABILITY_PARAMETER &&
         variable->type == TYPE_REAL;
}

/* The given names, or, if they are NULL, the names of all variables that qualify. */
static const char *const *list_names(const daedal_result *result, const char *const *given, Arena *arena,
                                     bool (*wanted)(const Variable *variable), uint32_t *count) {
  const Model *model = result->model->model;
  *count = names_count(given);
  if (given) return user_names(result, arena, given);
  const char **names = arena_array(arena, model->variables.count, sizeof *names);
  for (uint32_t v = 0; v < model->variables.count; v++)
    if (wanted(&model->variables.data[v])) names[(*count)++] = model_name(model, v);
  return names;
}

static bool is_output(const Variable *variable) {
  return variable->causality == CAUSALITY_OUTPUT && variable->type == TYPE_REAL;
}

static bool find_input(daedal_result *result, const char *name, uint32_t *leaf) {
  const Model *model = result->model->model;
  uint32_t position = model_find(model, name);
  bool has_inputs = false;
  for (uint32_t v = 0; v < model->variables.count; v++) has_inputs |= is_open_input(&model->variables.data[v]);
  if (!has_inputs) {
    Diag *diag = diag_error(&result->diags, DIAG_USAGE, (Span){0}, "the model has no Real input without a value");
    diag_note(&result->diags, diag, (Span){0},
              "leave the inputs out to get the modes; the sources of a netlist are not inputs");
    return false;
  }
  if (position == MAP_NONE) return refuse_name(model, &result->diags, name, "use as an input");
  const Variable *variable = &model->variables.data[position];
  *leaf = variable->index;
  if (is_open_input(variable)) return true;
  return refuse_usage(
      result, arena_printf(&result->diags.arena, "'%s' is not a Real input of the model without a value", name));
}

bool linear_names_read(daedal_result *result, const char *const *inputs, const char *const *outputs,
                       LinearRequest *names, Request *request) {
  Arena *arena = &result->diags.arena;
  *names = (LinearRequest){0};
  names->input = list_names(result, inputs, arena, is_open_input, &names->inputs);
  names->output = list_names(result, outputs, arena, is_output, &names->outputs);
  uint32_t *leaf = arena_array(arena, names->inputs, sizeof *leaf);
  for (uint32_t k = 0; k < names->inputs; k++)
    if (!find_input(result, names->input[k], &leaf[k])) return false;
  names->leaf = request->varied = leaf;
  request->varied_count = names->inputs;
  return true;
}

/* ---- the form ---- */

bool linearize_at(daedal_result *result, const LinearRequest *names, double t, const double *y) {
  const Simulation *simulation = &result->simulation;
  View *view = simulation->view;
  LinearRequest request = *names;
  if (!view->system.rates_jacobian)
    return refuse_usage(result, "this method has no state-space form of the model; use method dummy");
  if (view->switches && view->switches->edges.now->slides > 0)
    return refuse_usage(result, "the solution slides along the edge of a condition, where it cannot be linearized");
  request.varied = simulation->plan->varied;
  result->linear = heap_alloc(result->heap, sizeof *result->linear);
  if (linear_form(view, simulation->recorder, t, y, &request, &result->diags.arena, &result->diags, result->linear))
    return true;
  result->linear = NULL;
  return false;
}

static bool linearize(daedal_result *result, const void *argument) {
  const LinearWork *work = argument;
  Simulation *simulation = &result->simulation;
  LinearRequest names;
  Request request = {.initialize_only = isnan(work->options->stop_time), .keeps_method = true};
  Bridge bridge;
  request.is_stepped = !request.initialize_only;
  bool ok = read_request(result, work->options, &request) &&
            linear_names_read(result, work->inputs, work->outputs, &names, &request);
  hand_on_steps(result, &request, &bridge, work->options);
  ok = ok && pipeline_simulate(simulation, result->heap, result->model->model, &request, &result->diags);
  if (ok && request.is_stepped) ok = simulation_advance(simulation, request.run.stop, false);
  if (ok && request.is_stepped)
    ok = linearize_at(result, &names, run_time(simulation->run), run_values(simulation->run));
  else if (ok) ok = linearize_at(result, &names, request.run.start, simulation->system.y);
  return end_run(result, ok);
}

daedal_linearization *daedal_linearize(daedal_model *model, const daedal_options *options, const char *const *inputs,
                                       const char *const *outputs) {
  daedal_options given = options_given(options);
  daedal_result *made = result_make(model, &given, linearize, &(LinearWork){&given, inputs, outputs});
  if (made) made->kind = HANDLE_LINEARIZATION;
  return (daedal_linearization *)made;
}

static daedal_linear form_of(const daedal_result *result) {
  const LinearForm *form = result->linear;
  if (!form) return (daedal_linear){.time = NAN};
  return (daedal_linear){.time = form->time,
                         .states = form->states,
                         .inputs = form->inputs,
                         .outputs = form->outputs,
                         .state_names = form->state,
                         .input_names = form->input,
                         .output_names = form->output,
                         .point = form->value,
                         .a = form->a,
                         .b = form->b,
                         .c = form->c,
                         .d = form->d,
                         .eigenvalues_real = form->real,
                         .eigenvalues_imaginary = form->imaginary};
}

void daedal_linear_get_(const void *handle, daedal_linear *out, size_t size) {
  HandleKind kind = handle_kind(handle);
  bool has_form = kind == HANDLE_LINEARIZATION || kind == HANDLE_RESULT;
  daedal_linear value = has_form ? form_of(handle) : (daedal_linear){.time = NAN};
  hand_out(out, size, &value, sizeof value);
}

/* ---- reports ---- */

static void print_text(daedal_result *result, TextVec *text) {
  if (result->linear) linear_report_text(result->linear, result->heap, text);
}

static void print_json(daedal_result *result, TextVec *text) {
  linear_report_json(result->simulation.facts.status, result->linear, result->heap, text);
}

static bool draw_bode(daedal_result *result, const void *argument) {
  const daedal_plot *plot = argument;
  result->plot.count = 0;
  linear_report_bode(result->linear, daedal_model_name(result->model), plot->width, plot->height, result->heap,
                     &result->plot);
  return true;
}

const char *api_linear_text(daedal_result *result) { return result_report(result, REPORT_LINEAR, print_text); }

const char *api_linear_json(daedal_result *result) {
  return result ? result_report(result, REPORT_LINEAR_JSON, print_json) : linear_report_nothing;
}

const char *api_linear_draw(daedal_result *result, const daedal_plot *plot) {
  return result->linear && result_protect(result, draw_bode, plot) ? result->plot.data : NULL;
}

static bool write_mat(daedal_result *result, const void *argument) {
  FileWriter *file = file_create(result->heap, &result->diags, argument, NULL, NULL);
  if (file) linear_report_mat(result->linear, file);
  bool ok = file && file_commit(file);
  if (!ok) publish_result(result);
  return ok;
}

daedal_status api_linear_save(daedal_result *result, const char *path) {
  if (!result || !result->linear || !path) return DAEDAL_USAGE;
  return result_protect(result, write_mat, path) ? DAEDAL_OK : DAEDAL_FILE;
}
