/* equations: modified nodal analysis. If capacitors join nodes to ground, the node voltages themselves are differentiated;
 * elsewhere the voltages v(n,r) to one node r of the part. One row of a part is the sum of Kirchhoff's current laws over the part,
 * which does not contain its capacitors' currents. The same is done with voltage sources and resistive branches (network.h). So
 * every equation that must be differentiated is one row, as in (43) of Kunkel and Mehrmann, and structural analysis finds it. */
#include "spice/equations.h"

#include <math.h>
#include <string.h>

typedef VEC(Term) TermVec;

typedef struct Writer {
  Circuit *circuit;
  Dag *dag;
  Model *model;
  const Network *network;
  Expr *state;        /* per node: its voltage to the root of its part; 0 for the root itself */
  uint32_t *variable; /* of it; MAP_NONE */
  /* per unknown: the state in its place, if it is the voltage of a node that no capacitors join to ground */
  Expr *floating;
  uint32_t unknowns;  /* of them */
  TermVec *rows;      /* per node: its current law */
  uint32_t *terminal; /* per node: the part whose row also contains the node's currents */
} Writer;

static Expr zero_of(const Writer *writer) { return dag_constant(writer->dag, 0); }

/* ---- capacitors ---- */

static void find_floating(Writer *writer) {
  Circuit *circuit = writer->circuit;
  writer->unknowns = circuit->model->unknowns.count;
  writer->floating = arena_array(circuit->arena, writer->unknowns, sizeof *writer->floating);
  for (uint32_t k = 0; k < writer->unknowns; k++) writer->floating[k] = EXPR_NONE;
  for (uint32_t n = 1; n < circuit->nodes.count; n++)
    if (writer->network->root[LEVEL_C][n] != GROUND)
      writer->floating[circuit->model->variables.data[circuit->nodes.data[n].variable].index] = writer->state[n];
}

static void make_states(Writer *writer) {
  Circuit *circuit = writer->circuit;
  for (uint32_t n = 0; n < circuit->nodes.count; n++) {
    const CircuitNode *node = &circuit->nodes.data[n];
    uint32_t root = writer->network->root[LEVEL_C][n];
    writer->state[n] = zero_of(writer);
    writer->variable[n] = MAP_NONE;
    if (root == n) continue;
    writer->variable[n] = node->variable;
    if (root != GROUND) {
      const char *name = arena_printf(circuit->arena, "v(%s,%s)", names_text(circuit->names, node->name),
                                      names_text(circuit->names, circuit->nodes.data[root].name));
      writer->variable[n] = add_variable(circuit, name, "V", card_whole(node->card));
      Expr difference = voltage_between(circuit, n, root);
      vec_push(circuit->heap, &circuit->made->differences,
               (Difference){writer->variable[n], node->variable, circuit->nodes.data[root].variable});
      add_equation(writer->model, model_leaf(writer->model, writer->variable[n], 0), difference,
                   card_whole(node->card));
    }
    writer->state[n] = model_leaf(writer->model, writer->variable[n], 0);
  }
}

static Expr in_place_of(const Writer *writer, Expr leaf) {
  uint32_t index = dag_index(writer->dag, leaf);
  return index < writer->unknowns && writer->floating[index] != EXPR_NONE ? writer->floating[index] : leaf;
}

/* The expression with states in place of the node voltages; it may depend only on differences within a part. */
static Expr in_states(const Writer *writer, Expr e) {
  Circuit *circuit = writer->circuit;
  Dag *dag = writer->dag;
  IndexVec order = {0};
  ExprVec children = {0};
  dag_below(dag, dag_scratch(dag), &e, 1, &order);
  Map changed = map_make(circuit->heap);
  for (uint32_t k = 0; k < order.count; k++) {
    Expr old = order.data[k], now = old;
    children.count = 0;
    for (uint32_t c = 0; c < dag_child_count(dag, old); c++)
      vec_push(circuit->heap, &children, map_get(&changed, dag_child(dag, old, c)));
    if (dag_op(dag, old) == OP_VARIABLE) now = in_place_of(writer, old);
    else if (children.count) now = dag_rebuild(dag, old, children.data);
    map_put(&changed, old, now);
  }
  Expr result = map_get(&changed, e);
  map_free(&changed);
  vec_free(circuit->heap, &children);
  vec_free(circuit->heap, &order);
  return result;
}

/* A name that no variable has yet: c1.q, d1.q2. */
static const char *free_name(const Circuit *circuit, const Model *model, Name element, const char *what) {
  const char *text = names_text(circuit->names, element);
  const char *name = arena_printf(circuit->arena, "%s.%s", text, what);
  for (uint32_t k = 2; model_find(model, name) != MAP_NONE; k++)
    name = arena_printf(circuit->arena, "%s.%s%u", text, what, k);
  return name;
}

/* The derivative of a charge or flux; if charges are variables, the derivative of such a variable. */
static Expr rate_of(Writer *writer, const Branch *branch, Expr value, const char *what, const char *unit) {
  if (!writer->circuit->asked->charges) return dag_time_derivative(writer->dag, value);
  uint32_t variable = add_variable(writer->circuit, free_name(writer->circuit, writer->model, branch->name, what), unit,
                                   card_whole(branch->card));
  add_equation(writer->model, model_leaf(writer->model, variable, 0), value, card_whole(branch->card));
  return model_leaf(writer->model, variable, 1);
}

static Expr capacitor_current(Writer *writer, const Branch *branch) {
  bool is_grounded = writer->network->root[LEVEL_C][branch->from] == GROUND;
  if (!branch->is_slope)
    return rate_of(writer, branch, is_grounded ? branch->value : in_states(writer, branch->value), "q", "C");
  Expr from = dag_time_derivative(writer->dag, writer->state[branch->from]);
  Expr to = dag_time_derivative(writer->dag, writer->state[branch->to]);
  return dag_multiply(writer->dag, branch->value, dag_subtract(writer->dag, from, to));
}

/* ---- inductors ---- */

/* The flux of every inductor, with the contributions of those coupled to it. */
static bool couple(Writer *writer) {
  Circuit *circuit = writer->circuit;
  Dag *dag = writer->dag;
  ExprVec shares = {0};
  for (uint32_t k = 0; k < circuit->branches.count; k++) vec_push(circuit->heap, &shares, EXPR_NONE);
  for (uint32_t k = 0; k < circuit->couplings.count; k++) {
    const Coupling *coupling = &circuit->couplings.data[k];
    uint32_t ends[2] = {map_get(&circuit->branch_of, coupling->first), map_get(&circuit->branch_of, coupling->second)};
    for (int e = 0; e < 2; e++)
      if (ends[e] == MAP_NONE || circuit->branches.data[ends[e]].kind != BRANCH_INDUCTOR) {
        card_error(circuit->diags, coupling->card, 0, CARD_END, "%s is not an inductor of this circuit",
                   names_text(circuit->names, e ? coupling->second : coupling->first));
        return false;
      }
    Expr product = dag_multiply(dag, circuit->branches.data[ends[0]].value, circuit->branches.data[ends[1]].value);
    Expr mutual = dag_multiply(dag, coupling->factor, dag_unary(dag, OP_SQRT, product));
    for (int e = 0; e < 2; e++) {
      Expr share =
          dag_multiply(dag, mutual, model_leaf(writer->model, circuit->branches.data[ends[1 - e]].variable, 0));
      Expr *sum = &shares.data[ends[e]];
      *sum = *sum == EXPR_NONE ? share : dag_add(dag, *sum, share);
    }
  }
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    Branch *branch = &circuit->branches.data[b];
    if (branch->kind != BRANCH_INDUCTOR || dag_depends(dag, branch->value, OP_VARIABLE)) continue;
    branch->value = dag_multiply(dag, branch->value, model_leaf(writer->model, branch->variable, 0));
    branch->is_slope = false;
    if (shares.data[b] != EXPR_NONE) branch->value = dag_add(dag, branch->value, shares.data[b]);
  }
  vec_free(circuit->heap, &shares);
  return true;
}

static void write_inductor(Writer *writer, const Branch *branch) {
  Expr voltage = voltage_between(writer->circuit, branch->from, branch->to), rate;
  if (branch->is_slope) rate = dag_multiply(writer->dag, branch->value, model_leaf(writer->model, branch->variable, 1));
  else rate = rate_of(writer, branch, branch->value, "flux", "Wb");
  add_equation(writer->model, rate, voltage, card_whole(branch->card));
}

/* ---- voltage sources ---- */

/* Writes the sum around the loop that the source closes: differences of states within the parts, and the voltages of the other
 * sources. */
static void write_loop(Writer *writer, const Branch *branch) {
  Circuit *circuit = writer->circuit;
  Dag *dag = writer->dag;
  Path path = {0};
  network_path(writer->network, branch->from, branch->to, true, &path);
  Expr sum = writer->state[branch->from];
  for (uint32_t k = 0; k < path.branches.count; k++) {
    const Branch *passed = &circuit->branches.data[path.branches.data[k]];
    bool forward = path.forward.data[k];
    uint32_t in = forward ? passed->from : passed->to, out = forward ? passed->to : passed->from;
    sum = dag_subtract(dag, sum, writer->state[in]);
    sum = forward ? dag_add(dag, sum, passed->value) : dag_subtract(dag, sum, passed->value);
    sum = dag_add(dag, sum, writer->state[out]);
  }
  sum = dag_subtract(dag, sum, writer->state[branch->to]);
  add_equation(writer->model, sum, branch->value, card_whole(branch->card));
  vec_free(circuit->heap, &path.branches);
  vec_free(circuit->heap, &path.forward);
}

static void write_voltage(Writer *writer, uint32_t b) {
  const Branch *branch = &writer->circuit->branches.data[b];
  if (writer->network->closes_loop[b]) write_loop(writer, branch);
  else
    add_equation(writer->model, voltage_between(writer->circuit, branch->from, branch->to), branch->value,
                 card_whole(branch->card));
}

/* ---- Kirchhoff's current law ---- */

/* closed = input > high or pre(closed) and input >= low */
Expr switch_current(Circuit *circuit, Model *model, const Branch *branch) {
  Dag *dag = circuit->dag;
  const Hysteresis *hysteresis = branch->hysteresis;
  const char *name = free_name(circuit, model, branch->name, "closed");
  Variable variable = variable_make(names_add(circuit->names, name, strlen(name)), TYPE_BOOLEAN, ROLE_DISCRETE);
  variable.start = dag_constant(dag, hysteresis->starts_closed);
  variable.span = card_whole(branch->card);
  uint32_t position = model_add_variable(model, variable);
  Expr closed = model_leaf(model, position, 0), before = dag_pre(dag, model->variables.data[position].index);
  Expr above = dag_binary(dag, OP_GREATER, hysteresis->input, hysteresis->high);
  Expr stays = dag_binary(dag, OP_AND, before, dag_binary(dag, OP_GREATER_EQUAL, hysteresis->input, hysteresis->low));
  Expr right = dag_binary(dag, OP_OR, above, stays);
  vec_push(model->heap, &model->discrete_equations,
           (Equation){.left = closed,
                      .right = right,
                      .residual = dag_subtract(dag, closed, right),
                      .span = card_whole(branch->card)});
  Expr conductance = dag_if(dag, closed, hysteresis->closed, hysteresis->open);
  return dag_multiply(dag, conductance, voltage_between(circuit, branch->from, branch->to));
}

static Expr branch_current(Writer *writer, const Branch *branch) {
  if (branch->hysteresis) return switch_current(writer->circuit, writer->model, branch);
  if (branch->variable != MAP_NONE) return model_leaf(writer->model, branch->variable, 0);
  return branch->kind == BRANCH_CAPACITOR ? capacitor_current(writer, branch) : branch->value;
}

/* Some inner nodes of devices have no capacitor or voltage source to another node. Such a node belongs to the terminal to which an
 * ohmic resistance joins it, and the terminal's row is the sum over both. So this resistance occurs only in the inner node's row,
 * and does not hide conductances of 1e-12 siemens in the terminal's row. */
static void find_terminals(Writer *writer) {
  const Circuit *circuit = writer->circuit;
  const uint32_t *root = writer->network->root[LEVEL_CV];
  uint32_t *members = arena_array(circuit->arena, circuit->nodes.count, sizeof *members);
  for (uint32_t n = 0; n < circuit->nodes.count; n++) members[root[n]]++;
  for (uint32_t n = 0; n < circuit->nodes.count; n++) {
    bool is_alone = members[root[n]] == 1 && network_row_level(writer->network, n) == LEVEL_CV;
    writer->terminal[n] = root[is_alone ? circuit->nodes.data[n].outer : n];
  }
}

static void add_to_row(Writer *writer, uint32_t part, Level level, Term term) {
  if (part != GROUND && network_row_level(writer->network, part) == level)
    vec_push(writer->circuit->heap, &writer->rows[part], term);
}

/* Adds a current to the rows of the parts that it leaves and enters. */
static void add_current(Writer *writer, const Branch *branch, Expr current) {
  const uint32_t ends[2] = {branch->from, branch->to};
  for (Level level = LEVEL_NODE; level < LEVELS; level++) {
    const uint32_t *root = writer->network->root[level], *part = level == LEVEL_CV ? writer->terminal : root;
    for (int e = 0; e < 2; e++) {
      Term term = {e ? -1 : 1, current};
      if (part[ends[0]] != part[ends[1]]) add_to_row(writer, part[ends[e]], level, term);
      if (part[ends[e]] != root[ends[e]]) add_to_row(writer, root[ends[e]], level, term);
    }
  }
}

static void write_rows(Writer *writer) {
  for (uint32_t n = 1; n < writer->circuit->nodes.count; n++) {
    Expr sum = dag_sum(writer->dag, 0, writer->rows[n].data, writer->rows[n].count);
    add_equation(writer->model, sum, zero_of(writer), card_whole(writer->circuit->nodes.data[n].card));
    vec_free(writer->circuit->heap, &writer->rows[n]);
  }
}

/* ---- initial values ---- */

static void fix(Writer *writer, uint32_t variable, Expr start) {
  Variable *fixed = &writer->model->variables.data[variable];
  fixed->fixed = FIXED_TRUE;
  fixed->start = start;
}

/* With uic every capacitor begins with the voltage of its IC=, otherwise of .ic, otherwise 0. If loops of capacitors and voltage
 * sources do not allow that, charge flows at once until they do. The sum of charges at each node stays constant. */
typedef struct InitialCharges {
  Writer *writer;
  Expr *node;      /* per node: .ic, otherwise 0 */
  Expr *potential; /* per node: its voltage to the root of its part, along the capacitors on the way */
  NodeSets joined; /* sets of nodes that voltage sources and capacitors join */
  bool *conflicts; /* per node, a root in `joined`: the given voltages contradict each other */
} InitialCharges;

static Expr given_voltage(const InitialCharges *start, const Branch *branch) {
  if (branch->given != EXPR_NONE) return branch->given;
  return dag_subtract(start->writer->dag, start->node[branch->from], start->node[branch->to]);
}

/* Finds a tree of capacitors in each part, those with IC= first. */
static void find_potentials(InitialCharges *start) {
  Writer *writer = start->writer;
  Circuit *circuit = writer->circuit;
  NodeSets tree = sets_make(circuit->arena, circuit->nodes.count, NULL);
  bool *is_chosen = arena_array(circuit->arena, circuit->branches.count, sizeof *is_chosen);
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t b = 0; b < circuit->branches.count; b++) {
      const Branch *branch = &circuit->branches.data[b];
      if (branch->kind == BRANCH_CAPACITOR && (branch->given != EXPR_NONE) == (pass == 0))
        is_chosen[b] = sets_join(&tree, branch->from, branch->to);
    }
  for (uint32_t n = 0; n < circuit->nodes.count; n++)
    start->potential[n] = writer->network->root[LEVEL_C][n] == n ? zero_of(writer) : EXPR_NONE;
  for (bool grows = true; grows;) {
    grows = false;
    for (uint32_t b = 0; b < circuit->branches.count; b++) {
      const Branch *branch = &circuit->branches.data[b];
      Expr *from = &start->potential[branch->from], *to = &start->potential[branch->to];
      if (!is_chosen[b] || (*from == EXPR_NONE) == (*to == EXPR_NONE)) continue;
      Expr voltage = given_voltage(start, branch);
      if (*from == EXPR_NONE) *from = dag_add(writer->dag, *to, voltage);
      else *to = dag_subtract(writer->dag, *from, voltage);
      grows = true;
    }
  }
  /* Charges that depend on further nodes also join parts, without a capacitor between. */
  for (uint32_t n = 0; n < circuit->nodes.count; n++)
    if (start->potential[n] == EXPR_NONE)
      start->potential[n] = dag_subtract(writer->dag, start->node[n], start->node[writer->network->root[LEVEL_C][n]]);
}

/* Does the voltage between the ends differ from the given one, if both are known? */
static bool contradicts(const InitialCharges *start, const Branch *branch, Expr voltage) {
  const Writer *writer = start->writer;
  Expr found = dag_subtract(writer->dag, start->potential[branch->from], start->potential[branch->to]);
  double rest = value_at_start(writer->circuit, dag_subtract(writer->dag, found, voltage));
  return !(fabs(rest) <= 1e-12 * (1 + fabs(value_at_start(writer->circuit, voltage))));
}

/* A voltage source that joins two parts causes no contradiction; one that closes a loop may. */
static void find_conflicts(InitialCharges *start) {
  const Writer *writer = start->writer;
  Circuit *circuit = writer->circuit;
  const uint32_t *root = writer->network->root[LEVEL_C];
  start->joined = sets_make(circuit->arena, circuit->nodes.count, writer->network->root[LEVEL_C]);
  for (uint32_t b = 0; b < circuit->branches.count; b++)
    if (circuit->branches.data[b].kind == BRANCH_VOLTAGE)
      sets_join(&start->joined, circuit->branches.data[b].from, circuit->branches.data[b].to);
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    bool is_capacitor = branch->kind == BRANCH_CAPACITOR, closes = writer->network->closes_loop[b];
    if (!is_capacitor && !closes) continue;
    bool is_within = is_capacitor || root[branch->from] == root[branch->to];
    Expr voltage = is_capacitor ? given_voltage(start, branch) : branch->value;
    if (!is_within || contradicts(start, branch, voltage))
      start->conflicts[sets_find(&start->joined, branch->from)] = true;
  }
}

/* The charge of the branch if the voltage between its ends is `voltage`. */
static Expr charge_at(const Writer *writer, const Branch *branch, Expr voltage) {
  Expr ends[2], values[2], charge = branch->value;
  uint32_t count = 0;
  if (branch->from != GROUND) {
    ends[count] = node_voltage(writer->circuit, branch->from);
    values[count++] = voltage;
  }
  if (branch->to != GROUND) {
    ends[count] = node_voltage(writer->circuit, branch->to);
    values[count++] = branch->from == GROUND ? dag_negate(writer->dag, voltage) : zero_of(writer);
  }
  dag_substitute(writer->dag, ends, values, count, &charge, 1);
  return charge;
}

/* The charge that has moved, divided by the capacitance, so that it is a voltage. */
static Expr moved_charge(const InitialCharges *start, const Branch *branch, double *capacitance) {
  const Writer *writer = start->writer;
  Expr given = given_voltage(start, branch), now = voltage_between(writer->circuit, branch->from, branch->to);
  *capacitance = 0;
  if (branch->is_slope) return dag_multiply(writer->dag, branch->value, dag_subtract(writer->dag, now, given));
  Expr one = dag_constant(writer->dag, 1);
  Expr step = dag_subtract(writer->dag, charge_at(writer, branch, one), charge_at(writer, branch, zero_of(writer)));
  *capacitance = fabs(value_at_start(writer->circuit, step));
  return dag_subtract(writer->dag, branch->value, charge_at(writer, branch, given));
}

/* For each set of nodes joined by voltage sources, except one, the sum of charges is conserved. */
static void conserve_charge(InitialCharges *start) {
  Writer *writer = start->writer;
  Circuit *circuit = writer->circuit;
  NodeSets super = sets_make(circuit->arena, circuit->nodes.count, NULL);
  TermVec *rows = arena_array(circuit->arena, circuit->nodes.count, sizeof *rows);
  double *total = arena_array(circuit->arena, circuit->nodes.count, sizeof *total);
  for (uint32_t b = 0; b < circuit->branches.count; b++)
    if (circuit->branches.data[b].kind == BRANCH_VOLTAGE)
      sets_join(&super, circuit->branches.data[b].from, circuit->branches.data[b].to);
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    uint32_t ends[2] = {sets_find(&super, branch->from), sets_find(&super, branch->to)};
    if (branch->kind != BRANCH_CAPACITOR || !start->conflicts[sets_find(&start->joined, branch->from)]) continue;
    double capacitance;
    Expr charge = moved_charge(start, branch, &capacitance);
    for (int k = 0; k < 2 && ends[0] != ends[1]; k++) {
      vec_push(circuit->heap, &rows[ends[k]], (Term){k ? -1 : 1, charge});
      if (isfinite(capacitance)) total[ends[k]] += capacitance;
    }
  }
  for (uint32_t n = 0; n < circuit->nodes.count; n++) {
    if (!rows[n].count) continue;
    bool is_first = sets_find(&super, sets_find(&start->joined, n)) == n;
    Expr sum =
        dag_scale(writer->dag, total[n] > 0 ? 1 / total[n] : 1, dag_sum(writer->dag, 0, rows[n].data, rows[n].count));
    if (!is_first)
      vec_push(
          writer->model->heap, &writer->model->initial_equations,
          (Equation){
              .left = sum, .right = zero_of(writer), .residual = sum, .span = card_whole(circuit->nodes.data[n].card)});
    vec_free(circuit->heap, &rows[n]);
  }
}

static bool depends_on(Dag *dag, Expr e, Expr leaf) {
  double slope;
  return !dag_is_constant(dag, dag_partial(dag, e, leaf), &slope) || slope != 0;
}

/* At the start a charge may flow through a voltage source within an instant. A source that is controlled by this current does not
 * see that charge: a warning says so. */
static void warn_of_missed_charges(InitialCharges *start) {
  Writer *writer = start->writer;
  Circuit *circuit = writer->circuit;
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind != BRANCH_VOLTAGE || !start->conflicts[sets_find(&start->joined, branch->from)]) continue;
    Expr current = model_leaf(writer->model, branch->variable, 0);
    for (uint32_t c = 0; c < circuit->branches.count; c++) {
      const Branch *other = &circuit->branches.data[c];
      bool is_source = other->kind == BRANCH_VOLTAGE || other->kind == BRANCH_CURRENT;
      if (is_source && !other->is_independent && depends_on(writer->dag, other->value, current))
        card_warning(circuit->diags, other->card, 0, CARD_END,
                     "%s is controlled by the current of %s, but not by the charge that flows through it at once at "
                     "the start: give the capacitors the ic that the sources require",
                     names_text(circuit->names, other->name), names_text(circuit->names, branch->name));
    }
  }
}

static void write_starts(Writer *writer) {
  Circuit *circuit = writer->circuit;
  const Network *network = writer->network;
  uint32_t nodes = circuit->nodes.count;
  InitialCharges start = {.writer = writer,
                          .node = arena_array(circuit->arena, nodes, sizeof(Expr)),
                          .potential = arena_array(circuit->arena, nodes, sizeof(Expr)),
                          .conflicts = arena_array(circuit->arena, nodes, sizeof(bool))};
  for (uint32_t n = 0; n < nodes; n++) start.node[n] = zero_of(writer);
  for (uint32_t k = 0; k < circuit->initial.count; k++)
    start.node[circuit->initial.data[k].node] = circuit->initial.data[k].value;
  for (uint32_t n = 0; n < nodes; n++)
    if (circuit->nodes.data[n].outer != n) start.node[n] = start.node[circuit->nodes.data[n].outer];
  find_potentials(&start);
  if (circuit->uses_initial) {
    find_conflicts(&start);
    conserve_charge(&start);
    warn_of_missed_charges(&start);
  }
  for (uint32_t n = 1; n < nodes; n++) {
    if (!network->is_free[n]) continue;
    if (start.conflicts[circuit->uses_initial ? sets_find(&start.joined, n) : n])
      writer->model->variables.data[writer->variable[n]].start = start.potential[n];
    else fix(writer, writer->variable[n], start.potential[n]);
  }
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind != BRANCH_INDUCTOR || !network->is_free[nodes + b]) continue;
    fix(writer, branch->variable, branch->given == EXPR_NONE ? zero_of(writer) : branch->given);
  }
}

/* ---- the whole ---- */

bool write_transient(Circuit *circuit, const Network *network) {
  uint32_t nodes = circuit->nodes.count;
  Writer writer = {.circuit = circuit,
                   .dag = circuit->dag,
                   .model = circuit->model,
                   .network = network,
                   .state = arena_array(circuit->arena, nodes, sizeof(Expr)),
                   .variable = arena_array(circuit->arena, nodes, sizeof(uint32_t)),
                   .rows = arena_array(circuit->arena, nodes, sizeof *writer.rows),
                   .terminal = arena_array(circuit->arena, nodes, sizeof *writer.terminal)};
  if (!couple(&writer)) return false;
  make_states(&writer);
  find_floating(&writer);
  find_terminals(&writer);
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    add_current(&writer, branch, branch_current(&writer, branch));
    if (branch->kind == BRANCH_VOLTAGE) write_voltage(&writer, b);
    if (branch->kind == BRANCH_INDUCTOR) write_inductor(&writer, branch);
  }
  add_relations(circuit, circuit->model);
  write_rows(&writer);
  write_starts(&writer);
  return true;
}
