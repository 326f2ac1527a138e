/* operating: the operating point as a separate model; its variables are the first variables of the circuit. Capacitors are open
 * and inductors are shorts; a voltage or current that is then undetermined is set to 0, with a warning.
 *
 * Two homotopies lead to the operating point: all sources grow from 0 (source stepping), while conductances from the nodes of
 * devices to ground vanish (gmin stepping). */
#include "spice/equations.h"

#include <math.h>
#include <string.h>

typedef VEC(Term) TermVec;

typedef struct PointWriter {
  Circuit *circuit;
  Dag *dag;
  Model *model;
  TermVec *rows;       /* per node */
  Expr *held;          /* per node: the voltage that .ic gives, or .nodeset; EXPR_NONE: none */
  bool is_silent;      /* another attempt at the operating point gives the warnings */
  const Card **device; /* per node: a device, or another source of nonlinearity, connected to it; NULL: none */
} PointWriter;

/* A model with copies of the variables as they are now, over the same graph. */
static Model *copy_variables(Circuit *circuit) {
  const Model *from = circuit->model;
  Model *model = heap_alloc(circuit->heap, sizeof *model);
  *model = (Model){.heap = circuit->heap,
                   .names = from->names,
                   .dag = from->dag,
                   .source = from->source,
                   .name = from->name,
                   .description = from->description};
  for (uint32_t k = 0; k < from->variables.count; k++) {
    vec_push(circuit->heap, &model->variables, from->variables.data[k]);
    model_name_variable(model, from->variables.data[k].name, k);
  }
  for (uint32_t k = 0; k < from->unknowns.count; k++) vec_push(circuit->heap, &model->unknowns, from->unknowns.data[k]);
  for (uint32_t k = 0; k < from->parameters.count; k++)
    vec_push(circuit->heap, &model->parameters, from->parameters.data[k]);
  return model;
}

/* ---- sources ---- */

/* start + amount, or start - amount. */
static Expr sweep_value(Dag *dag, const Sweep *sweep, Expr amount) {
  double sign = sweep->stop >= sweep->start ? 1 : -1;
  return dag_add(dag, dag_constant(dag, sweep->start), dag_scale(dag, sign, amount));
}

/* Time is how far the first source has advanced. With a second source, the first one begins again half a step after its last
 * value, which is between output points. */
static Expr swept_value(const PointWriter *writer, uint32_t k) {
  Dag *dag = writer->dag;
  const Sweep *first = &writer->circuit->sweeps[0], *second = &writer->circuit->sweeps[1];
  if (writer->circuit->sweep_count == 1) return sweep_value(dag, first, dag_time(dag));
  Expr period = dag_constant(dag, fabs(first->step) * sweep_points(first));
  Expr ahead = dag_add(dag, dag_time(dag), dag_constant(dag, fabs(first->step) / 2));
  Expr rounds = dag_unary(dag, OP_FLOOR, dag_divide(dag, ahead, period));
  if (k) return sweep_value(dag, second, dag_scale(dag, fabs(second->step), rounds));
  Expr within = dag_subtract(dag, dag_time(dag), dag_multiply(dag, period, rounds));
  Expr most = dag_constant(dag, fabs(first->stop - first->start));
  Expr bounded = dag_binary(dag, OP_MAX, dag_constant(dag, 0), dag_binary(dag, OP_MIN, within, most));
  return sweep_value(dag, first, bounded);
}

static Expr source_value(const PointWriter *writer, const Branch *branch) {
  bool is_start = is_run_over_time(writer->circuit);
  Expr value = !is_start && branch->still != EXPR_NONE ? branch->still : branch->value,
       zero = dag_constant(writer->dag, 0);
  for (uint32_t k = 0; writer->circuit->analysis == ANALYSIS_SWEEP && k < writer->circuit->sweep_count; k++)
    if (branch->name == writer->circuit->sweeps[k].source) value = swept_value(writer, k);
  return branch->is_independent ? dag_binary(writer->dag, OP_HOMOTOPY, value, zero) : value;
}

/* ---- what is undetermined ---- */

/* An inductor that closes a loop of inductors and voltage sources has an undetermined current at rest: it is set to 0. */
static void write_shorts(PointWriter *writer) {
  Circuit *circuit = writer->circuit;
  NodeSets parts = sets_make(circuit->arena, circuit->nodes.count, NULL);
  for (uint32_t n = 1; n < circuit->nodes.count; n++)
    if (writer->held[n] != EXPR_NONE) sets_join(&parts, n, GROUND);
  for (uint32_t b = 0; b < circuit->branches.count; b++)
    if (circuit->branches.data[b].kind == BRANCH_VOLTAGE)
      sets_join(&parts, circuit->branches.data[b].from, circuit->branches.data[b].to);
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind != BRANCH_INDUCTOR) continue;
    Expr left = voltage_between(circuit, branch->from, branch->to);
    if (!sets_join(&parts, branch->from, branch->to)) {
      left = model_leaf(writer->model, branch->variable, 0);
      if (!writer->is_silent)
        card_warning(circuit->diags, branch->card, 0, CARD_END,
                     "%s closes a loop of inductors and voltage sources: the operating point does not determine "
                     "its current, which starts at 0",
                     names_text(circuit->names, branch->name));
    }
    add_equation(writer->model, left, dag_constant(writer->dag, 0), card_whole(branch->card));
  }
}

/* Per node: does a part begin here that has no path to ground for direct current and that no controlled source feeds? */
static bool *find_islands(PointWriter *writer) {
  Circuit *circuit = writer->circuit;
  NodeSets parts = sets_make(circuit->arena, circuit->nodes.count, NULL);
  bool *is_island = arena_array(circuit->arena, circuit->nodes.count, sizeof *is_island);
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind != BRANCH_CAPACITOR && branch->kind != BRANCH_CURRENT) sets_join(&parts, branch->from, branch->to);
  }
  for (uint32_t n = 1; n < circuit->nodes.count; n++)
    if (writer->held[n] != EXPR_NONE) sets_join(&parts, n, GROUND);
  for (uint32_t n = 1; n < circuit->nodes.count; n++) is_island[n] = sets_find(&parts, n) == n;
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind != BRANCH_CURRENT || branch->is_independent) continue;
    is_island[sets_find(&parts, branch->from)] = is_island[sets_find(&parts, branch->to)] = false;
  }
  return is_island;
}

/* ---- rows ---- */

/* gmin stepping: a conductance that exists only in the simplified circuit. */
static Expr stepped_conductance(const PointWriter *writer, uint32_t node) {
  static const double conductance = 1e-2;
  Expr current = dag_scale(writer->dag, conductance, node_voltage(writer->circuit, node));
  return dag_binary(writer->dag, OP_HOMOTOPY, dag_constant(writer->dag, 0), current);
}

static void write_rows(PointWriter *writer) {
  Circuit *circuit = writer->circuit;
  bool *is_island = find_islands(writer);
  Expr zero = dag_constant(writer->dag, 0);
  for (uint32_t n = 1; n < circuit->nodes.count; n++) {
    Span span = card_whole(writer->device[n] ? writer->device[n] : circuit->nodes.data[n].card);
    if (writer->held[n] != EXPR_NONE) {
      add_equation(writer->model, node_voltage(circuit, n), writer->held[n], span);
    } else if (is_island[n]) {
      add_equation(writer->model, node_voltage(circuit, n), zero, span);
      if (!writer->is_silent)
        card_warning(circuit->diags, circuit->nodes.data[n].card, 0, CARD_END,
                     "no direct current can flow to node %s: the operating point does not determine its voltage, which "
                     "starts at 0",
                     names_text(circuit->names, circuit->nodes.data[n].name));
    } else {
      if (writer->device[n]) vec_push(circuit->heap, &writer->rows[n], (Term){1, stepped_conductance(writer, n)});
      add_equation(writer->model, dag_sum(writer->dag, 0, writer->rows[n].data, writer->rows[n].count), zero, span);
    }
    vec_free(circuit->heap, &writer->rows[n]);
  }
}

static void write_branch(PointWriter *writer, const Branch *branch) {
  Circuit *circuit = writer->circuit;
  if (branch->kind == BRANCH_CAPACITOR) return;
  Expr current = branch->variable != MAP_NONE ? model_leaf(writer->model, branch->variable, 0) : branch->value;
  if (branch->kind == BRANCH_CURRENT) current = source_value(writer, branch);
  if (branch->hysteresis && circuit->analysis == ANALYSIS_SWEEP)
    current = switch_current(circuit, writer->model, branch);
  vec_push(circuit->heap, &writer->rows[branch->from], (Term){1, current});
  vec_push(circuit->heap, &writer->rows[branch->to], (Term){-1, current});
  if (branch->kind == BRANCH_VOLTAGE)
    add_equation(writer->model, voltage_between(circuit, branch->from, branch->to), source_value(writer, branch),
                 card_whole(branch->card));
  if (branch->has_junction || (branch->kind == BRANCH_RESISTIVE && branch->card->text[0] != 'r'))
    writer->device[branch->from] = writer->device[branch->to] = branch->card;
}

Model *write_operating_point(Circuit *circuit, bool holds_guesses) {
  uint32_t nodes = circuit->nodes.count;
  PointWriter writer = {.circuit = circuit,
                        .dag = circuit->dag,
                        .model = copy_variables(circuit),
                        .is_silent = holds_guesses,
                        .rows = arena_array(circuit->arena, nodes, sizeof *writer.rows),
                        .held = arena_array(circuit->arena, nodes, sizeof(Expr)),
                        .device = arena_array(circuit->arena, nodes, sizeof *writer.device)};
  for (uint32_t n = 0; n < nodes; n++) writer.held[n] = EXPR_NONE;
  for (uint32_t k = 0; k < circuit->initial.count && is_run_over_time(circuit); k++)
    writer.held[circuit->initial.data[k].node] = circuit->initial.data[k].value;
  for (uint32_t k = 0; k < circuit->guesses.count; k++) {
    const NodeValue *guess = &circuit->guesses.data[k];
    if (guess->node == GROUND) continue;
    writer.model->variables.data[circuit->nodes.data[guess->node].variable].start = guess->value;
    if (holds_guesses) writer.held[guess->node] = guess->value;
  }
  for (uint32_t b = 0; b < circuit->branches.count; b++) write_branch(&writer, &circuit->branches.data[b]);
  add_relations(circuit, writer.model);
  write_shorts(&writer);
  write_rows(&writer);
  /* It needs its own graph, because the graph of the circuit gets variables that this model does not have. */
  writer.model->dag = dag_over(circuit->dag, circuit->heap, circuit->names);
  return writer.model;
}
