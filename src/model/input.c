/* input: see input.h. */
#include "model/input.h"

#include <string.h>

/* The equation made from the variable's binding; NULL if there is none. */
static Equation *declared_equation(Model *model, const Variable *variable) {
  Expr leaf = dag_variable(model->dag, variable->index, 0);
  for (uint32_t i = 0; i < model->equations.count; i++)
    if (model->equations.data[i].is_declared && model->equations.data[i].left == leaf) return &model->equations.data[i];
  return NULL;
}

/* Adds the parameters that hold the value and its derivatives; returns the leaf of the first. */
static uint32_t add_leaves(Model *model, Name input, uint32_t orders) {
  const char *name = names_text(model->names, input);
  uint32_t first = model->parameters.count;
  for (uint32_t k = 0; k <= orders; k++) {
    TextVec text = {0};
    text_printf(model->heap, &text, "input(%s, %u)", name, k);
    Variable variable = variable_make(names_add(model->names, text.data, strlen(text.data)), TYPE_REAL, ROLE_PARAMETER);
    variable.is_final = variable.is_input_value = true;
    variable.binding = dag_constant(model->dag, 0);
    model_add_variable(model, variable);
    vec_free(model->heap, &text);
  }
  return first;
}

bool model_bind_input(Model *model, const char *name, const InputSource *source) {
  uint32_t position = model_find(model, name);
  if (position == MAP_NONE || model->variables.data[position].role != ROLE_UNKNOWN) return false;
  Equation *equation = declared_equation(model, &model->variables.data[position]);
  if (!equation) return false;
  InputSource own = *source;
  own.variable = position;
  own.leaf = add_leaves(model, model->variables.data[position].name, own.orders);
  if (own.rows) {
    own.times = heap_copy(model->heap, own.times, own.rows, sizeof(double));
    own.values = heap_copy(model->heap, own.values, own.rows, sizeof(double));
  }
  Expr arguments[] = {dag_parameter(model->dag, own.leaf), dag_time(model->dag), dag_constant(model->dag, own.orders)};
  equation->right = dag_nary(model->dag, OP_INPUT, arguments, 3);
  equation->residual = dag_subtract(model->dag, equation->left, equation->right);
  model->variables.data[position].binding = equation->right;
  vec_push(model->heap, &model->inputs, own);
  return true;
}

const InputSource *model_input_at(const Model *model, uint32_t leaf) {
  for (uint32_t k = 0; k < model->inputs.count; k++) {
    const InputSource *source = &model->inputs.data[k];
    if (leaf >= source->leaf && leaf <= source->leaf + source->orders) return source;
  }
  return NULL;
}

const InputSource *model_lacking_input(const Model *model, const Expr *residual, const int32_t *c, uint32_t count,
                                       int32_t *order) {
  const InputSource *found = NULL;
  IndexVec below = {0};
  for (uint32_t i = 0; i < count && !found && model->inputs.count; i++) {
    below.count = 0;
    if (c[i] > 0) dag_below(model->dag, dag_scratch(model->dag), &residual[i], 1, &below);
    for (uint32_t k = 0; k < below.count && !found; k++) {
      if (dag_op(model->dag, below.data[k]) != OP_INPUT) continue;
      double more = dag_value(model->dag, dag_child(model->dag, below.data[k], 2));
      if (c[i] <= more) continue;
      found = model_input_at(model, dag_index(model->dag, dag_child(model->dag, below.data[k], 0)));
      *order = (int32_t)(found->orders - more) + c[i];
    }
  }
  vec_free(dag_heap(model->dag), &below);
  return found;
}
