/* sensitivity: derivatives of a solution by parameters and start values. */
#include "api/handles.h"

#include <math.h>
#include <string.h>

static bool refuse_target(daedal_result *result, const char *name, const char *why) {
  return refuse_usage(
      result, arena_printf(&result->diags.arena, "the solution cannot be differentiated by '%s': %s", name, why));
}

static bool check_parameter(daedal_result *result, const char *name, const Variable *variable) {
  if (variable->role != ROLE_PARAMETER)
    return refuse_target(result, name, "it is no parameter; its start value is NAME.start");
  if (variable->type != TYPE_REAL) return refuse_target(result, name, "it is no Real");
  if (variable->is_structural) return refuse_target(result, name, "it decides the structure of the model");
  if (variable->variability == VARIABILITY_CONSTANT || variable->is_final)
    return refuse_target(result, name, "it is constant or final");
  if (variable->fixed == FIXED_FALSE && variable->binding == EXPR_NONE)
    return refuse_target(result, name, "initialization determines it");
  return true;
}

static bool check_start(daedal_result *result, const char *name, const Variable *variable) {
  bool varies = variable->role == ROLE_UNKNOWN || variable->role == ROLE_DISCRETE;
  return (varies && variable->type == TYPE_REAL) ||
         refuse_target(result, name, "it is no start value of a Real variable");
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
    return check_parameter(result, name, &model->variables.data[position]);
  }
  if (length > tail && strcmp(name + length - tail, ending) == 0)
    target->variable = model_find(model, arena_copy(&result->diags.arena, name, length - tail));
  if (target->variable == MAP_NONE) return refuse_name(model, &result->diags, name, "differentiate by");
  return check_start(result, name, &model->variables.data[target->variable]);
}

/* Is the text that of der(NAME, TARGET)? */
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

bool read_targets(daedal_result *result, const daedal_options *options, Request *request) {
  Arena *arena = &result->diags.arena;
  uint32_t count;
  if (!options->sensitivity) return true;
  if (options->resumes)
    return refuse_usage(result, "a run that is resumed does not know the sensitivities of its start");
  if (options->variables && options->plot_variables)
    return refuse_usage(result,
                        "with sensitivities, variables of pictures alone cannot be chosen beside those of files");
  const char **names = split_names(arena, options->sensitivity, &count);
  SensitivityTarget *targets = arena_array(arena, count, sizeof *targets);
  for (uint32_t k = 0; k < count; k++)
    if (!read_target(result, names[k], &targets[k])) return false;
  request->targets = targets;
  request->target_count = count;
  return true;
}
