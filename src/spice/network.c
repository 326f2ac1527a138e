/* network: see network.h. */
#include "spice/network.h"

#include <string.h>

/* ---- parts ---- */

NodeSets sets_make(Arena *arena, uint32_t count, const uint32_t *from) {
  NodeSets parts = {arena_array(arena, count, sizeof *parts.parent)};
  for (uint32_t k = 0; k < count; k++) parts.parent[k] = from ? from[k] : k;
  return parts;
}

uint32_t sets_find(NodeSets *parts, uint32_t node) {
  while (parts->parent[node] != node) {
    parts->parent[node] = parts->parent[parts->parent[node]];
    node = parts->parent[node];
  }
  return node;
}

bool sets_join(NodeSets *parts, uint32_t a, uint32_t b) {
  a = sets_find(parts, a);
  b = sets_find(parts, b);
  if (a < b) parts->parent[b] = a;
  else parts->parent[a] = b;
  return a != b;
}

static uint32_t *sets_roots(NodeSets *parts, Arena *arena, uint32_t count) {
  uint32_t *root = arena_array(arena, count, sizeof *root);
  for (uint32_t k = 0; k < count; k++) root[k] = sets_find(parts, k);
  return root;
}

/* ---- naming elements ---- */

enum { MOST_NAMED = 8 };

/* "c1, c2 and v1" */
static const char *list_names(const Circuit *circuit, const Name *names, uint32_t count) {
  TextVec text = {0};
  for (uint32_t k = 0; k < count && k < MOST_NAMED; k++)
    text_printf(circuit->heap, &text, "%s%s",
                k == 0           ? ""
                : k + 1 == count ? " and "
                                 : ", ",
                names_text(circuit->names, names[k]));
  if (count > MOST_NAMED) text_printf(circuit->heap, &text, " and %u more", count - MOST_NAMED);
  return text.data ? text.data : "";
}

typedef VEC(Name) NameVec;

static void add_name(const Circuit *circuit, NameVec *list, Name name) {
  for (uint32_t k = 0; k < list->count; k++)
    if (list->data[k] == name) return;
  vec_push(circuit->heap, list, name);
}

/* ---- paths ---- */

static bool is_path_branch(const Network *network, uint32_t b, bool only_voltages) {
  const Branch *branch = &network->circuit->branches.data[b];
  if (branch->kind == BRANCH_VOLTAGE) return !network->closes_loop[b];
  return branch->kind == BRANCH_CAPACITOR && !only_voltages;
}

/* Branches by node, for a search. */
typedef struct Adjacency {
  uint32_t *start, *branch;
} Adjacency;

static Adjacency adjacency_make(const Network *network, bool only_voltages, Heap *heap) {
  const Circuit *circuit = network->circuit;
  uint32_t nodes = circuit->nodes.count;
  Adjacency list = {heap_array(heap, nodes + 1, sizeof *list.start), NULL};
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t b = circuit->branches.count; b-- > 0;) {
      if (!is_path_branch(network, b, only_voltages)) continue;
      uint32_t ends[2] = {circuit->branches.data[b].from, circuit->branches.data[b].to};
      for (int k = 0; k < 2; k++) {
        uint32_t at = only_voltages ? network->root[LEVEL_C][ends[k]] : ends[k];
        if (pass == 0) list.start[at]++;
        else list.branch[--list.start[at]] = b;
      }
    }
    if (pass == 1) break;
    for (uint32_t n = 0; n < nodes; n++) list.start[n + 1] += list.start[n];
    list.branch = heap_array(heap, list.start[nodes], sizeof *list.branch);
  }
  return list;
}

/* Breadth-first search over nodes or, if only voltage sources are followed, over the parts that capacitors join. */
bool network_path(const Network *network, uint32_t a, uint32_t b, bool only_voltages, Path *path) {
  const Circuit *circuit = network->circuit;
  Heap *heap = circuit->heap;
  const uint32_t *label = network->root[only_voltages ? LEVEL_C : LEVEL_NODE];
  uint32_t nodes = circuit->nodes.count, head = 0;
  Adjacency list = adjacency_make(network, only_voltages, heap);
  uint32_t *by = heap_array(heap, nodes, sizeof *by);
  for (uint32_t n = 0; n < nodes; n++) by[n] = MAP_NONE;
  IndexVec queue = {0};
  uint32_t begin = label[b], end = label[a];
  vec_push(heap, &queue, begin);
  for (; head < queue.count && begin != end && by[end] == MAP_NONE; head++) {
    uint32_t at = queue.data[head];
    for (uint32_t k = list.start[at]; k < list.start[at + 1]; k++) {
      const Branch *branch = &circuit->branches.data[list.branch[k]];
      uint32_t from = label[branch->from], to = label[branch->to], other = from == at ? to : from;
      if (other == begin || by[other] != MAP_NONE || from == to) continue;
      by[other] = list.branch[k];
      vec_push(heap, &queue, other);
    }
  }
  bool found = begin == end || by[end] != MAP_NONE;
  for (uint32_t at = end; found && at != begin;) {
    const Branch *branch = &circuit->branches.data[by[at]];
    bool forward = label[branch->from] == at;
    vec_push(heap, &path->branches, by[at]);
    vec_push(heap, &path->forward, forward);
    at = forward ? label[branch->to] : label[branch->from];
  }
  vec_free(heap, &queue);
  heap_free(heap, by);
  heap_free(heap, list.start);
  heap_free(heap, list.branch);
  return found;
}

/* ---- refusals ---- */

/* Refuses a loop of voltage sources without a capacitor. */
static bool refuse_voltage_loops(Network *network, Circuit *circuit) {
  NodeSets parts = sets_make(circuit->arena, circuit->nodes.count, NULL);
  bool fine = true;
  for (uint32_t b = 0; b < circuit->branches.count && fine; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind != BRANCH_VOLTAGE || sets_join(&parts, branch->from, branch->to)) continue;
    /* The path between its ends along the voltage sources before it. */
    bool *kept = network->closes_loop;
    network->closes_loop = arena_array(circuit->arena, circuit->branches.count, sizeof *kept);
    for (uint32_t k = b; k < circuit->branches.count; k++) network->closes_loop[k] = true;
    uint32_t *root = network->root[LEVEL_C];
    network->root[LEVEL_C] = network->root[LEVEL_NODE];
    Path path = {0};
    NameVec names = {0};
    network_path(network, branch->from, branch->to, true, &path);
    for (uint32_t k = 0; k < path.branches.count; k++)
      add_name(circuit, &names, circuit->branches.data[path.branches.data[k]].name);
    add_name(circuit, &names, branch->name);
    network->closes_loop = kept;
    network->root[LEVEL_C] = root;
    Diag *diag = diag_error(circuit->diags, DIAG_CIRCUIT, card_whole(branch->card),
                            names.count > 1 ? "%s form a loop of voltage sources: their currents are not determined"
                                            : "the voltage source %s is shorted: its current is not determined",
                            list_names(circuit, names.data, names.count));
    diag_note(circuit->diags, diag, (Span){0}, "put a resistor in series with one of them, or leave one out");
    fine = false;
  }
  return fine;
}

/* Reports the part of `root` among the nodes, and the current sources that leave it. */
static void refuse_part(Circuit *circuit, NodeSets *parts, uint32_t root) {
  NameVec nodes = {0}, sources = {0};
  bool is_independent = true;
  const Card *card = circuit->nodes.data[root].card;
  for (uint32_t n = 0; n < circuit->nodes.count; n++)
    if (sets_find(parts, n) == root) vec_push(circuit->heap, &nodes, circuit->nodes.data[n].name);
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if ((sets_find(parts, branch->from) == root) == (sets_find(parts, branch->to) == root)) continue;
    is_independent = is_independent && branch->is_independent;
    add_name(circuit, &sources, branch->name);
  }
  if (!is_independent) return;
  Span span = card_whole(card);
  const char *list = list_names(circuit, nodes.data, nodes.count), *plural = nodes.count > 1 ? "s" : "";
  Diag *diag;
  if (sources.count)
    diag = diag_error(circuit->diags, DIAG_CIRCUIT, span,
                      "only the current sources %s lead to node%s %s: the voltage there is not determined",
                      list_names(circuit, sources.data, sources.count), plural, list);
  else
    diag = diag_error(circuit->diags, DIAG_CIRCUIT, span, "node%s %s %s not connected to ground", plural, list,
                      nodes.count > 1 ? "are" : "is");
  diag_note(circuit->diags, diag, (Span){0}, "add a resistor from %s to ground, for example of 1G",
            names_text(circuit->names, nodes.data[0]));
}

static bool refuse_floating(Network *network, Circuit *circuit) {
  NodeSets parts = sets_make(circuit->arena, circuit->nodes.count, network->root[LEVEL_CVR]);
  uint32_t errors = circuit->diags->errors;
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind == BRANCH_INDUCTOR) sets_join(&parts, branch->from, branch->to);
  }
  for (uint32_t n = 1; n < circuit->nodes.count && circuit->diags->errors == errors; n++)
    if (sets_find(&parts, n) == n) refuse_part(circuit, &parts, n);
  return circuit->diags->errors == errors;
}

/* ---- contraction ---- */

/* A charge may depend on nodes other than the ends of its branch: their voltages are differentiated, too. */
static void join_charge(Circuit *circuit, NodeSets *parts, const uint32_t *node_of_unknown, const Branch *branch) {
  ExprVec variables = {0};
  sets_join(parts, branch->from, branch->to);
  if (!branch->is_slope) dag_variables(circuit->dag, dag_scratch(circuit->dag), branch->value, &variables);
  for (uint32_t k = 0; k < variables.count; k++) {
    uint32_t node = node_of_unknown[dag_index(circuit->dag, variables.data[k])];
    if (node != MAP_NONE) sets_join(parts, branch->from, node);
  }
  vec_free(dag_scratch(circuit->dag)->heap, &variables);
}

static void contract_capacitors(Network *network, Circuit *circuit) {
  uint32_t nodes = circuit->nodes.count, unknowns = circuit->model->unknowns.count;
  uint32_t *node_of = arena_array(circuit->arena, unknowns, sizeof *node_of);
  for (uint32_t k = 0; k < unknowns; k++) node_of[k] = MAP_NONE;
  for (uint32_t n = 1; n < nodes; n++)
    node_of[circuit->model->variables.data[circuit->nodes.data[n].variable].index] = n;
  NodeSets parts = sets_make(circuit->arena, nodes, NULL);
  network->root[LEVEL_NODE] = sets_roots(&parts, circuit->arena, nodes);
  for (uint32_t b = 0; b < circuit->branches.count; b++)
    if (circuit->branches.data[b].kind == BRANCH_CAPACITOR)
      join_charge(circuit, &parts, node_of, &circuit->branches.data[b]);
  network->root[LEVEL_C] = sets_roots(&parts, circuit->arena, nodes);
}

static void contract_kind(Network *network, Circuit *circuit, Level level, BranchKind kind) {
  NodeSets parts = sets_make(circuit->arena, circuit->nodes.count, network->root[level - 1]);
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind != kind) continue;
    bool joins = sets_join(&parts, branch->from, branch->to);
    if (level == LEVEL_CV) network->closes_loop[b] = !joins;
  }
  network->root[level] = sets_roots(&parts, circuit->arena, circuit->nodes.count);
}

/* States that may start anywhere. Nodes that capacitors join make a part; the voltages from its nodes to its root are such states
 * if voltage sources do not determine them. The currents of inductors that close loops when everything else is contracted are such
 * states, too. */
static void find_free(Network *network, Circuit *circuit) {
  uint32_t nodes = circuit->nodes.count;
  NodeSets voltages = sets_make(circuit->arena, nodes, NULL);
  NodeSets currents = sets_make(circuit->arena, nodes, network->root[LEVEL_CVR]);
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->kind == BRANCH_VOLTAGE) sets_join(&voltages, branch->from, branch->to);
    if (branch->kind == BRANCH_INDUCTOR) network->is_free[nodes + b] = !sets_join(&currents, branch->from, branch->to);
  }
  for (uint32_t n = 1; n < nodes; n++) network->is_free[n] = sets_join(&voltages, n, network->root[LEVEL_C][n]);
}

bool network_make(Network *network, Circuit *circuit) {
  *network =
      (Network){.circuit = circuit,
                .closes_loop = arena_array(circuit->arena, circuit->branches.count, sizeof(bool)),
                .is_free = arena_array(circuit->arena, circuit->nodes.count + circuit->branches.count, sizeof(bool))};
  contract_capacitors(network, circuit);
  contract_kind(network, circuit, LEVEL_CV, BRANCH_VOLTAGE);
  contract_kind(network, circuit, LEVEL_CVR, BRANCH_RESISTIVE);
  find_free(network, circuit);
  return refuse_voltage_loops(network, circuit) && refuse_floating(network, circuit);
}

Level network_row_level(const Network *network, uint32_t node) {
  Level level = LEVEL_NODE;
  while (level + 1 < LEVELS && network->root[level + 1][node] == node) level++;
  return level;
}

/* ---- the report ---- */

static void add_member(const Circuit *circuit, TopologyGroup *group, Name name, int sign) {
  vec_push(circuit->heap, &group->elements, name);
  vec_push(circuit->heap, &group->signs, (int8_t)sign);
}

/* The loop that voltage source b closes. */
static TopologyGroup describe_loop(const Network *network, uint32_t b) {
  const Circuit *circuit = network->circuit;
  const Branch *branch = &circuit->branches.data[b];
  TopologyGroup group = {0};
  Path path = {0};
  network_path(network, branch->from, branch->to, false, &path);
  for (uint32_t k = 0; k < path.branches.count; k++)
    add_member(circuit, &group, circuit->branches.data[path.branches.data[k]].name, path.forward.data[k] ? -1 : 1);
  add_member(circuit, &group, branch->name, 1);
  vec_free(circuit->heap, &path.branches);
  vec_free(circuit->heap, &path.forward);
  return group;
}

/* The inductors and current sources that leave each part without ground. */
static void describe_cutsets(const Network *network, Topology *topology) {
  const Circuit *circuit = network->circuit;
  const uint32_t *root = network->root[LEVEL_CVR];
  uint32_t *cutset = arena_array(circuit->arena, circuit->nodes.count, sizeof *cutset);
  for (uint32_t n = 1; n < circuit->nodes.count; n++) {
    if (root[n] == GROUND) continue;
    if (root[n] == n) {
      cutset[n] = topology->cutsets.count;
      vec_push(circuit->heap, &topology->cutsets, (TopologyGroup){0});
    }
    vec_push(circuit->heap, &topology->cutsets.data[cutset[root[n]]].nodes, circuit->nodes.data[n].name);
  }
  for (uint32_t b = 0; b < circuit->branches.count && topology->cutsets.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    uint32_t from = root[branch->from], to = root[branch->to];
    if (from == to) continue;
    if (from != GROUND) add_member(circuit, &topology->cutsets.data[cutset[from]], branch->name, 1);
    if (to != GROUND) add_member(circuit, &topology->cutsets.data[cutset[to]], branch->name, -1);
  }
}

Topology *network_topology(const Network *network) {
  const Circuit *circuit = network->circuit;
  Topology *topology = heap_alloc(circuit->heap, sizeof *topology);
  bool has_voltages = false, all_joined = true;
  topology->is_certain = true;
  topology->has_charges = circuit->asked->charges;
  for (uint32_t n = 1; n < circuit->nodes.count; n++) {
    vec_push(circuit->heap, &topology->nodes, circuit->nodes.data[n].name);
    all_joined = all_joined && network->root[LEVEL_C][n] == GROUND;
  }
  for (uint32_t b = 0; b < circuit->branches.count; b++) {
    const Branch *branch = &circuit->branches.data[b];
    if (branch->has_junction) topology->gmin = circuit->options.gmin;
    bool is_source = branch->kind == BRANCH_VOLTAGE || branch->kind == BRANCH_CURRENT;
    if (is_source && !branch->is_independent && dag_depends(circuit->dag, branch->value, OP_VARIABLE))
      topology->is_certain = false;
    if (branch->kind != BRANCH_VOLTAGE) continue;
    has_voltages = true;
    vec_push(circuit->heap, &topology->voltage_sources, branch->name);
    if (network->closes_loop[b]) vec_push(circuit->heap, &topology->loops, describe_loop(network, b));
  }
  describe_cutsets(network, topology);
  topology->index = topology->loops.count || topology->cutsets.count ? 2 : has_voltages || !all_joined ? 1 : 0;
  return topology;
}
