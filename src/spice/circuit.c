/* circuit: nodes and branches as they are read (see circuit.h). */
#include "spice/circuit.h"

#include <string.h>

static Expr optional_constant(Circuit *circuit, double value) {
  return value != 0 ? dag_constant(circuit->dag, value) : EXPR_NONE;
}

/* Errors are measured in units of 0.1 V for voltages and 0.1 mA for currents. */
static double nominal_of(const char *unit) { return !strcmp(unit, "V") ? 0.1 : !strcmp(unit, "A") ? 1e-4 : 0; }

uint32_t add_variable(Circuit *circuit, const char *name, const char *unit, Span span) {
  Variable variable = variable_make(names_add(circuit->names, name, strlen(name)), TYPE_REAL, ROLE_UNKNOWN);
  variable.nominal = optional_constant(circuit, nominal_of(unit));
  variable.unit = names_add(circuit->names, unit, strlen(unit));
  variable.span = span;
  return model_add_variable(circuit->model, variable);
}

uint32_t circuit_node(Circuit *circuit, const char *name, const Card *card) {
  Name full = names_add(circuit->names, name, strlen(name));
  uint32_t found = map_get(&circuit->node_of, full);
  if (found != MAP_NONE) return found;
  CircuitNode node = {.name = full, .variable = MAP_NONE, .outer = circuit->nodes.count, .card = card};
  if (circuit->nodes.count > GROUND)
    node.variable = add_variable(circuit, arena_printf(circuit->arena, "v(%s)", name), "V", card_whole(card));
  map_put(&circuit->node_of, full, circuit->nodes.count);
  vec_push(circuit->heap, &circuit->nodes, node);
  return circuit->nodes.count - 1;
}

Expr node_voltage(Circuit *circuit, uint32_t node) {
  if (node == GROUND) return dag_constant(circuit->dag, 0);
  return model_leaf(circuit->model, circuit->nodes.data[node].variable, 0);
}

Expr voltage_between(Circuit *circuit, uint32_t from, uint32_t to) {
  Expr a = node_voltage(circuit, from), b = node_voltage(circuit, to);
  return dag_subtract(circuit->dag, a, b);
}

/* The name as in SPICE: i(v.x1.v1) for v1 in x1. */
static const char *current_name(Circuit *circuit, const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && dot[1] ? arena_printf(circuit->arena, "i(%c.%s)", dot[1], name)
                       : arena_printf(circuit->arena, "i(%s)", name);
}

uint32_t circuit_current(Circuit *circuit, const char *name, const Card *card) {
  const char *signal = current_name(circuit, name);
  uint32_t found = model_find(circuit->model, signal);
  if (found != MAP_NONE) return found;
  found = add_variable(circuit, signal, "A", card_whole(card));
  vec_push(circuit->heap, &circuit->currents, found);
  vec_push(circuit->heap, &circuit->current_cards, card);
  return found;
}

void add_equation(Model *model, Expr left, Expr right, Span span) {
  Expr residual = dag_subtract(model->dag, left, right);
  vec_push(model->heap, &model->equations,
           (Equation){.left = left, .right = right, .residual = residual, .span = span});
}

void add_relations(const Circuit *circuit, Model *model) {
  for (uint32_t k = 0; k < circuit->relations.count; k++) {
    const Equation *relation = &circuit->relations.data[k];
    add_equation(model, relation->left, relation->right, relation->span);
  }
}

void add_warnings(const Circuit *circuit, Model *model) {
  for (uint32_t k = 0; k < circuit->warnings.count; k++)
    vec_push(model->heap, &model->asserts, circuit->warnings.data[k]);
}

void add_branch(Circuit *circuit, Branch branch) {
  circuit->nodes.data[branch.from].degree++;
  circuit->nodes.data[branch.to].degree++;
  if (branch.variable != MAP_NONE) map_put(&circuit->branch_of, branch.name, circuit->branches.count);
  vec_push(circuit->heap, &circuit->branches, branch);
}
