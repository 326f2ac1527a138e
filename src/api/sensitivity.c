/* sensitivity: derivatives of a solution with respect to parameters and start values. */
#include "api/handles.h"

#include <math.h>
#include <string.h>

static const double GRADIENT_MEMORY = 256; /* megabytes */

static bool refuse_target(daedal_result *result, const char *name, const char *why) {
  return refuse_usage(
      result,
      arena_printf(&result->diags.arena, "the solution cannot be differentiated with respect to '%s': %s", name, why));
}

/* Why solutions cannot be differentiated with respect to a parameter; NULL: they can. */
static const char *parameter_fault(const Variable *variable) {
  if (variable->role != ROLE_PARAMETER) return "it is not a parameter; its start value is NAME.start";
  if (variable->type != TYPE_REAL) return "it is not a Real";
  if (variable->is_structural) return "it decides the structure of the model";
  if (variable->variability == VARIABILITY_CONSTANT || variable->is_final) return "it is constant or final";
  if (variable_is_sought(variable)) return "initialization determines it";
  return NULL;
}

static const char *start_fault(const Variable *variable) {
  bool varies = variable->role == ROLE_UNKNOWN || variable->role == ROLE_DISCRETE;
  return varies && variable->type == TYPE_REAL ? NULL : "it is not a start value of a Real variable";
}

/* A parameter, or NAME.start of a variable. */
static bool read_target(daedal_result *result, const char *name, SensitivityTarget *target) {
  static const char ending[] = ".start";
  const Model *model = result->model->model;
  size_t length = strlen(name), tail = strlen(ending);
  uint32_t position = model_find(model, name);
  *target = (SensitivityTarget){name, MAP_NONE, MAP_NONE};
  if (position != MAP_NONE) {
    target->parameter = model->variables.data[position].index;
    const char *fault = parameter_fault(&model->variables.data[position]);
    return !fault || refuse_target(result, name, fault);
  }
  if (length > tail && strcmp(name + length - tail, ending) == 0)
    target->variable = model_find(model, arena_copy(&result->diags.arena, name, length - tail));
  if (target->variable == MAP_NONE) return refuse_name(model, &result->diags, name, "differentiate by");
  const char *fault = start_fault(&model->variables.data[target->variable]);
  return !fault || refuse_target(result, name, fault);
}

/* Is the text der(NAME, TARGET)? */
static bool is_derivative(const char *text, const char *name, const char *target) {
  size_t length = strlen(name), tail = strlen(target);
  if (strncmp(text, "der(", 4) != 0 || strncmp(text + 4, name, length) != 0) return false;
  text += 4 + length;
  return strncmp(text, ", ", 2) == 0 && strncmp(text + 2, target, tail) == 0 && strcmp(text + 2 + tail, ")") == 0;
}

uint32_t daedal_result_sensitivity(const daedal_result *result, const char *name, const char *target) {
  uint32_t count = daedal_result_signals(result);
  for (uint32_t s = 1; s < count && name && target; s++)
    if (is_derivative(daedal_result_name(result, s), name, target)) return s;
  return UINT32_MAX;
}

static bool read_list(daedal_result *result, const char *const *list, Request *request) {
  Arena *arena = &result->diags.arena;
  uint32_t count = names_count(list);
  const char *const *names = user_names(result, arena, list);
  SensitivityTarget *targets = arena_array(arena, count, sizeof *targets);
  for (uint32_t k = 0; k < count; k++)
    if (!read_target(result, names[k], &targets[k])) return false;
  request->targets = targets;
  request->target_count = count;
  return true;
}

/* All parameters and fixed start values with respect to which solutions can be differentiated. */
static void list_all(daedal_result *result, Request *request) {
  Arena *arena = &result->diags.arena;
  const Model *model = result->model->model;
  SensitivityTarget *targets = arena_array(arena, model->variables.count, sizeof *targets);
  for (uint32_t v = 0; v < model->variables.count; v++) {
    const Variable *variable = &model->variables.data[v];
    const char *name = names_text(model->names, variable->name);
    bool is_parameter = variable->variability == VARIABILITY_PARAMETER && !parameter_fault(variable);
    bool is_start = variable->fixed == FIXED_TRUE && !start_fault(variable);
    if (is_parameter) targets[request->target_count++] = (SensitivityTarget){name, variable->index, MAP_NONE};
    else if (is_start)
      targets[request->target_count++] = (SensitivityTarget){arena_printf(arena, "%s.start", name), MAP_NONE, v};
  }
  request->targets = targets;
}

static bool read_gradient(daedal_result *result, const daedal_options *options, Request *request) {
  Arena *arena = &result->diags.arena;
  if (options->sensitivity) return refuse_usage(result, "a run has either sensitivities or a gradient");
  request->is_integral = options->gradient_of_integral;
  request->integrand = arena_copy(arena, options->gradient, strlen(options->gradient));
  request->functional = arena_printf(arena, request->is_integral ? "integral(%s)" : "%s", options->gradient);
  double memory = isnan(options->gradient_memory) ? GRADIENT_MEMORY : options->gradient_memory;
  if (!(memory >= 0 && memory < 1e9))
    return refuse_usage(result, "the memory of a gradient must be a number of megabytes");
  request->gradient_memory = (size_t)(memory * 1048576);
  if (options->gradient_by) return read_list(result, options->gradient_by, request);
  list_all(result, request);
  return request->target_count > 0 ||
         refuse_usage(result, "the model has no parameter or start value to differentiate with respect to");
}

double daedal_result_functional(const daedal_result *result) {
  const Gradient *gradient = result ? result->simulation.facts.gradient : NULL;
  return gradient ? gradient->value : NAN;
}

uint32_t daedal_result_derivatives(const daedal_result *result) {
  const Gradient *gradient = result ? result->simulation.facts.gradient : NULL;
  return gradient ? gradient->plan->targets : 0;
}

static daedal_derivative derivative_at(const daedal_result *result, uint32_t index) {
  if (index >= daedal_result_derivatives(result)) return (daedal_derivative){NULL, NAN};
  const Gradient *gradient = result->simulation.facts.gradient;
  return (daedal_derivative){gradient->plan->target[index].name, gradient->by[index]};
}

void daedal_result_derivative_(const daedal_result *result, uint32_t index, daedal_derivative *out, size_t size) {
  daedal_derivative value = derivative_at(result, index);
  hand_out(out, size, &value, sizeof value);
}

bool read_targets(daedal_result *result, const daedal_options *options, Request *request) {
  if (!options->sensitivity && !options->gradient) return true;
  if (options->resumes) return refuse_usage(result, "a resumed run has no sensitivities at its start");
  if (options->gradient) return read_gradient(result, options, request);
  if (options->variables && options->plot_variables)
    return refuse_usage(result, "with sensitivities, pictures cannot have variables that files do not have");
  return read_list(result, options->sensitivity, request);
}
