/* variables: facts about the variables of a model before a run. The index of a variable is its position in the flat
 * model. */
#include "api/handles.h"

#include <ctype.h>
#include <string.h>

/* Enlarges the extent by the subscripts "[1,2]". false: the text is not a list of subscripts. */
static bool extend(Extent *extent, const char *text) {
  uint32_t subscripts[TYPE_MAX_DIMENSIONS], count = 0;
  for (char before = '['; *text == before && count < TYPE_MAX_DIMENSIONS; before = ',') {
    uint32_t subscript = 0;
    for (text++; isdigit((unsigned char)*text); text++) subscript = 10 * subscript + (uint32_t)(*text - '0');
    subscripts[count++] = subscript;
  }
  if (strcmp(text, "]") != 0) return false;
  extent->dimensions = count;
  for (uint32_t d = 0; d < count; d++)
    if (subscripts[d] > extent->sizes[d]) extent->sizes[d] = subscripts[d];
  return true;
}

Extent array_extent(const Model *model, const char *name) {
  Extent extent = {0};
  size_t length = strlen(name);
  for (uint32_t v = 0; v < model->variables.count; v++) {
    const char *text = model_name(model, v);
    if (strncmp(text, name, length) == 0) extend(&extent, text + length);
  }
  return extent;
}

uint32_t daedal_array_sizes(const daedal_model *model, const char *name, uint32_t *sizes, uint32_t most) {
  if (!model || !model->model || !name) return 0;
  Extent extent = array_extent(model->model, name);
  for (uint32_t d = 0; d < extent.dimensions && d < most && sizes; d++) sizes[d] = extent.sizes[d];
  return extent.dimensions;
}

uint32_t daedal_variable_count(const daedal_model *model) {
  uint32_t count = model && model->model ? model->model->variables.count : 0;
  while (count && model->model->variables.data[count - 1].is_input_value) count--;
  return count;
}

static daedal_kind kind_of(const Variable *variable) {
  if (variable->variability == VARIABILITY_CONSTANT) return DAEDAL_KIND_CONSTANT;
  if (variable->variability == VARIABILITY_PARAMETER) return DAEDAL_KIND_PARAMETER;
  if (variable->role == ROLE_PARAMETER || variable->causality == CAUSALITY_INPUT) return DAEDAL_KIND_INPUT;
  return variable->role == ROLE_DISCRETE ? DAEDAL_KIND_DISCRETE : DAEDAL_KIND_CONTINUOUS;
}

static daedal_type type_of(const Variable *variable) {
  switch (variable->type) {
  case TYPE_INTEGER: return DAEDAL_TYPE_INTEGER;
  case TYPE_BOOLEAN: return DAEDAL_TYPE_BOOLEAN;
  case TYPE_ENUMERATION: return DAEDAL_TYPE_ENUMERATION;
  case TYPE_STRING: return DAEDAL_TYPE_STRING;
  case TYPE_EXTERNAL_OBJECT: return DAEDAL_TYPE_OBJECT;
  default: return DAEDAL_TYPE_REAL;
  }
}

/* Length of the name without the subscripts at its end. */
static uint32_t length_of_array(const char *name, Extent *extent) {
  size_t length = strlen(name);
  const char *bracket = length && name[length - 1] == ']' ? strrchr(name, '[') : NULL;
  return (uint32_t)(bracket && extend(extent, bracket) ? (size_t)(bracket - name) : length);
}

static daedal_variable variable_at(const daedal_model *model, uint32_t index) {
  if (index >= daedal_variable_count(model)) return (daedal_variable){"", "", "", "", .type = DAEDAL_TYPE_REAL};
  const Variable *variable = &model->model->variables.data[index];
  const Names *names = model->model->names;
  Extent extent = {0};
  daedal_variable out = {.name = names_text(names, variable->name),
                         .unit = names_text(names, variable->unit),
                         .display_unit = names_text(names, variable->display_unit),
                         .description = names_text(names, variable->description),
                         .kind = kind_of(variable),
                         .type = type_of(variable),
                         .is_output = variable->causality == CAUSALITY_OUTPUT,
                         .is_structural = variable->is_structural};
  out.array_length = length_of_array(out.name, &extent);
  out.dimensions = extent.dimensions;
  return out;
}

void daedal_variable_get_(const daedal_model *model, uint32_t index, daedal_variable *out, size_t size) {
  daedal_variable value = variable_at(model, index);
  hand_out(out, size, &value, sizeof value);
}

uint32_t daedal_variable_find(const daedal_model *model, const char *name) {
  if (!model || !model->model || !name) return UINT32_MAX;
  uint32_t found = model_find(model->model, name);
  return found >= daedal_variable_count(model) ? UINT32_MAX : found;
}
