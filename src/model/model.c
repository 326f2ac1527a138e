/* model: variables by position and name (see model.h). */
#include "model/model.h"

#include <string.h>

Model *model_new(Heap *heap, Names *names) {
  Model *model = heap_alloc(heap, sizeof *model);
  model->heap = heap;
  model->names = names;
  model->dag = dag_new(heap, names);
  return model;
}

Model *model_layer(const Model *model, Heap *heap) {
  Model *layer = heap_alloc(heap, sizeof *layer);
  *layer = *model;
  layer->heap = heap;
  layer->names = heap_alloc(heap, sizeof *layer->names);
  *layer->names = names_over(heap, model->names);
  layer->dag = dag_over(model->dag, heap, layer->names);
  return layer;
}

static IndexVec *role_list(Model *model, Role role) {
  switch (role) {
  case ROLE_UNKNOWN: return &model->unknowns;
  case ROLE_DISCRETE: return &model->discretes;
  case ROLE_PARAMETER: break;
  }
  return &model->parameters;
}

Variable variable_make(Name name, BaseType type, Role role) {
  static const Variability VARIABILITY[] = {[ROLE_UNKNOWN] = VARIABILITY_CONTINUOUS,
                                            [ROLE_DISCRETE] = VARIABILITY_DISCRETE,
                                            [ROLE_PARAMETER] = VARIABILITY_PARAMETER};
  return (Variable){.name = name,
                    .type = type,
                    .role = role,
                    .variability = VARIABILITY[role],
                    .select = SELECT_DEFAULT,
                    .binding = EXPR_NONE,
                    .start = EXPR_NONE,
                    .min = EXPR_NONE,
                    .max = EXPR_NONE,
                    .nominal = EXPR_NONE};
}

void model_name_variable(Model *model, Name name, uint32_t position) {
  IndexVec *named = &model->variable_of_name;
  uint32_t before = named->count;
  if (name >= before)
    memset(vec_extend(model->heap, named, name + 1 - before), 0, (name + 1 - before) * sizeof *named->data);
  named->data[name] = position + 1;
}

uint32_t model_named(const Model *model, Name name) {
  return name < model->variable_of_name.count ? model->variable_of_name.data[name] - 1 : MAP_NONE;
}

/* The leaf is made now, so that the order of terms follows the order of declarations. */
Expr model_add_leaf(Model *model, Variable *variable) {
  uint32_t position = model->variables.count;
  IndexVec *list = role_list(model, variable->role);
  variable->index = list->count;
  vec_push(model->heap, list, position);
  vec_push(model->heap, &model->variables, *variable);
  model_name_variable(model, variable->name, position);
  return model_leaf(model, position, 0);
}

uint32_t model_add_variable(Model *model, Variable variable) {
  model_add_leaf(model, &variable);
  return model->variables.count - 1;
}

uint32_t model_find(const Model *model, const char *name) {
  Name found = names_find(model->names, name, strlen(name));
  return found == MAP_NONE ? MAP_NONE : model_named(model, found);
}

BaseType model_call_type(const Model *model, Expr call) {
  CallInfo info = dag_call_info(model->dag, call);
  const Shape *output = model->functions.data[info.function]->outputs;
  uint32_t scalar = info.output;
  for (; scalar >= output->scalars; output++) scalar -= output->scalars;
  return info.partial_count ? TYPE_REAL : output->type.base;
}

Expr model_leaf(const Model *model, uint32_t variable, uint32_t order) {
  const Variable *v = &model->variables.data[variable];
  switch (v->role) {
  case ROLE_UNKNOWN: return dag_variable(model->dag, v->index, order);
  case ROLE_DISCRETE: return dag_discrete(model->dag, v->index);
  case ROLE_PARAMETER: break;
  }
  return dag_parameter(model->dag, v->index);
}

uint32_t *model_highest_orders(const Model *model, uint32_t equations, Arena *arena) {
  uint32_t *order = arena_array(arena, model->unknowns.count, sizeof *order);
  ExprVec leaves = {0};
  for (uint32_t i = 0; i < equations; i++) {
    leaves.count = 0;
    dag_variables(model->dag, dag_scratch(model->dag), model->equations.data[i].residual, &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t index = dag_index(model->dag, leaves.data[k]);
      if (dag_order(model->dag, leaves.data[k]) > order[index]) order[index] = dag_order(model->dag, leaves.data[k]);
    }
  }
  vec_free(dag_heap(model->dag), &leaves);
  return order;
}

const char *model_name(const Model *model, uint32_t variable) {
  return names_text(model->names, model->variables.data[variable].name);
}
