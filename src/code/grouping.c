/* grouping: see grouping.h. Linear passes over the nodes below the roots: find the region of every node, find the template of every
 * region, assign phases, make the groups. */
#include "code/grouping.h"

#include <math.h>
#include <string.h>

Grouping grouping_make(Heap *heap, Model *model, const Layout *layout) {
  return (Grouping){.heap = heap, .model = model, .layout = layout};
}

Group *grouping_add_group(Grouping *grouping, uint32_t phase, uint32_t instances, uint32_t slots, uint32_t outputs) {
  Group group = {.phase = phase, .instances = instances, .slots = slots, .outputs = outputs};
  group.roots = heap_array(grouping->heap, outputs, sizeof *group.roots);
  group.stores = heap_array(grouping->heap, (size_t)slots + outputs, sizeof *group.stores);
  group.places = heap_array(grouping->heap, ((size_t)slots + outputs) * instances, sizeof *group.places);
  group.map = (SlotMap){map_make(grouping->heap), map_make(grouping->heap)};
  vec_push(grouping->heap, &grouping->groups, group);
  return &vec_last(&grouping->groups);
}

uint32_t leaf_place(const Layout *layout, const Dag *dag, Expr leaf) {
  switch (dag_op(dag, leaf)) {
  case OP_TIME: return 0;
  case OP_DELAYED: return dag_delayed_leaf(dag, leaf);
  case OP_VARIABLE: return layout->column_start[dag_index(dag, leaf)] + dag_order(dag, leaf);
  default: return dag_index(dag, leaf);
  }
}

/* A node that is the root of a region. */
typedef struct Region {
  uint32_t position;
  uint32_t shape;   /* its template */
  bool is_template; /* it runs as an instance of the template; otherwise as straight code */
  uint32_t first_item, item_count;
  uint32_t level;     /* straight code of a level runs before the templates of the level */
  uint32_t output;    /* first root that is this node; MAP_NONE */
  uint32_t scratch;   /* place; MAP_NONE */
  bool is_read_later; /* a template, or a later level, reads the value */
} Region;

typedef struct Split {
  Grouping *grouping;
  Heap *heap;
  const Dag *dag;
  const Expr *roots;
  uint32_t root_count;
  const uint32_t *places; /* places of the roots among the outputs; NULL: in order */
  Graph graph;
  uint8_t *boundary;                /* per position, see templates.h */
  uint32_t *first_root;             /* per position: the first root that is this node, or MAP_NONE */
  uint32_t copies[STORE_COUNT + 1]; /* roots that are copied, by array */
  uint32_t *region_of;              /* per position of a region's root: the region */
  VEC(Region) regions;              /* in dependency order */
  Templates templates;
  uint32_t number_base; /* where the numbers of the templates begin in grouping->numbers */
} Split;

/* ---- regions ---- */

static bool is_leaf(const Dag *dag, Expr e) {
  Op op = dag_op(dag, e);
  return op_kind(op) == KIND_LEAF || !op_has_value(op);
}

/* owner[p]: the region of node p as its parents determine it; parents come later in the list, so it is swept backwards. */
static void find_regions(Split *split) {
  const uint32_t FREE = 0, SHARED = UINT32_MAX;
  const IndexVec *nodes = &split->graph.nodes;
  uint32_t *owner = heap_array(split->heap, nodes->count, sizeof *owner);
  for (uint32_t p = nodes->count; p-- > 0;) {
    Expr e = nodes->data[p];
    if (is_leaf(split->dag, e)) {
      split->boundary[p] = (uint8_t)(leaf_store(dag_op(split->dag, e)) + 1);
      continue;
    }
    bool is_output = split->first_root[p] != MAP_NONE, is_root = is_output || owner[p] == SHARED;
    if (is_root) split->boundary[p] = (uint8_t)((is_output ? STORE_OUTPUT : STORE_SCRATCH) + 1);
    uint32_t own = is_root ? p + 1 : owner[p];
    uint32_t children;
    const uint32_t *below = graph_below(&split->graph, p, &children);
    for (uint32_t c = 0; c < children; c++) {
      uint32_t *child = &owner[below[c]];
      if (*child == FREE) *child = own;
      else if (*child != own) *child = SHARED;
    }
  }
  heap_free(split->heap, owner);
}

static void list_regions(Split *split) {
  for (uint32_t p = 0; p < split->graph.nodes.count; p++) {
    uint32_t boundary = split->boundary[p];
    if (boundary != STORE_OUTPUT + 1 && boundary != STORE_SCRATCH + 1) continue;
    split->region_of[p] = split->regions.count;
    vec_push(split->heap, &split->regions,
             (Region){.position = p, .output = split->first_root[p], .scratch = MAP_NONE});
  }
}

static void find_templates(Split *split) {
  split->templates = templates_make(split->heap, &split->graph, split->boundary);
  for (uint32_t r = 0; r < split->regions.count; r++) {
    Region *region = &split->regions.data[r];
    region->first_item = split->templates.items.count;
    region->shape = templates_add(&split->templates, split->graph.nodes.data[region->position]);
    region->item_count = split->templates.items.count - region->first_item;
  }
}

static const Template *template_of(const Split *split, const Region *region) {
  return &split->templates.list.data[region->shape];
}

/* ---- phases ---- */

static Store region_store(const Region *region) { return region->output != MAP_NONE ? STORE_OUTPUT : STORE_SCRATCH; }

/* The region that slot s of a region refers to; NULL for leaves and numbers. */
static Region *slot_region(const Split *split, const Region *region, uint32_t s) {
  Store store = split->templates.stores.data[template_of(split, region)->first_store + s];
  if (store != STORE_OUTPUT && store != STORE_SCRATCH) return NULL;
  Expr node = split->templates.items.data[region->first_item + s];
  return &split->regions.data[split->region_of[graph_position(&split->graph, node)]];
}

/* Levels beyond this are straight code: a long chain of dependences has too few instances for templates. */
enum { LEVEL_LIMIT = 16 };

/* Straight code waits only for templates; a template waits for straight code of its level and templates below. */
static void find_levels(Split *split) {
  for (uint32_t r = 0; r < split->regions.count; r++) {
    Region *region = &split->regions.data[r];
    region->level = 0;
    for (uint32_t s = 0; s < region->item_count; s++) {
      const Region *other = slot_region(split, region, s);
      if (!other) continue;
      uint32_t level = other->level + (other->is_template ? 1 : 0);
      if (level > region->level) region->level = level;
    }
    if (region->level > LEVEL_LIMIT) region->is_template = false;
  }
}

/* Instances of one template in one level make a group if all of them are outputs, or none is. */
static uint64_t group_key(const Region *region) {
  return (uint64_t)region->shape << 32 | (uint64_t)region->level << 3 | (uint64_t)region_store(region);
}

static uint32_t least_instances(const Template *template) {
  return template->slots <= SMALL_TEMPLATE_SLOTS ? SMALL_TEMPLATE_MINIMUM : TEMPLATE_MINIMUM;
}

/* Decides which regions run as templates: those in groups that are large enough. */
static void choose_templates(Split *split) {
  for (uint32_t r = 0; r < split->regions.count; r++) {
    Region *region = &split->regions.data[r];
    const Template *template = template_of(split, region);
    region->is_template = template->instances >= least_instances(template);
  }
  find_levels(split);
  Map sizes = map_make(split->heap);
  for (uint32_t r = 0; r < split->regions.count; r++) {
    uint64_t key = group_key(&split->regions.data[r]);
    uint32_t size = map_get(&sizes, key);
    map_put(&sizes, key, size == MAP_NONE ? 1 : size + 1);
  }
  for (uint32_t r = 0; r < split->regions.count; r++) {
    Region *region = &split->regions.data[r];
    if (map_get(&sizes, group_key(region)) < least_instances(template_of(split, region))) region->is_template = false;
  }
  map_free(&sizes);
  find_levels(split);
}

static void find_scratch(Split *split) {
  for (uint32_t r = 0; r < split->regions.count; r++) {
    const Region *region = &split->regions.data[r];
    for (uint32_t s = 0; s < region->item_count; s++) {
      Region *other = slot_region(split, region, s);
      if (!other || (!region->is_template && !other->is_template && other->level == region->level)) continue;
      if (other->output == MAP_NONE && other->scratch == MAP_NONE) other->scratch = split->grouping->scratch++;
      other->is_read_later = true;
    }
  }
}

/* ---- groups ---- */

static uint32_t output_place(const Split *split, uint32_t root) { return split->places ? split->places[root] : root; }

static uint32_t region_place(const Split *split, const Region *region) {
  return region->output != MAP_NONE ? output_place(split, region->output) : region->scratch;
}

static uint32_t item_place(const Split *split, Store store, uint32_t item) {
  if (store == STORE_CONSTANT) return split->number_base + item;
  if (store != STORE_OUTPUT && store != STORE_SCRATCH) return leaf_place(split->grouping->layout, split->dag, item);
  return region_place(split, &split->regions.data[split->region_of[graph_position(&split->graph, item)]]);
}

static void fill_slots(Split *split, Group *group, const Region *region) {
  const Template *template = template_of(split, region);
  const Templates *templates = &split->templates;
  for (uint32_t s = 0; s < group->slots; s++) {
    uint32_t item = templates->items.data[region->first_item + s];
    group->stores[s] = templates->stores.data[template->first_store + s];
    if (group->stores[s] == STORE_CONSTANT) map_put(&group->map.numbers, number_key(templates->numbers.data[item]), s);
    else map_put(&group->map.nodes, item, s);
  }
  group->stores[group->slots] = region_store(region);
  group->roots[0] = split->graph.nodes.data[region->position];
}

static void fill_instance(Split *split, Group *group, const Region *region, uint32_t instance) {
  for (uint32_t s = 0; s < group->slots; s++)
    group->places[(size_t)s * group->instances + instance] =
        item_place(split, group->stores[s], split->templates.items.data[region->first_item + s]);
  group->places[(size_t)group->slots * group->instances + instance] = region_place(split, region);
}

/* Groups of templates, in the order of their first regions. */
static void add_template_groups(Split *split) {
  Map number_of = map_make(split->heap);
  IndexVec group_of = {0}, sizes = {0}, firsts = {0};
  for (uint32_t r = 0; r < split->regions.count; r++) {
    const Region *region = &split->regions.data[r];
    uint32_t number = MAP_NONE;
    if (region->is_template) {
      number = map_get(&number_of, group_key(region));
      if (number >= sizes.count) {
        number = sizes.count;
        map_put(&number_of, group_key(region), number);
        vec_push(split->heap, &sizes, 0);
        vec_push(split->heap, &firsts, r);
      }
      sizes.data[number]++;
    }
    vec_push(split->heap, &group_of, number);
  }
  uint32_t base = split->grouping->groups.count;
  for (uint32_t g = 0; g < sizes.count; g++) {
    const Region *region = &split->regions.data[firsts.data[g]];
    Group *group = grouping_add_group(split->grouping, 2 * region->level + 1, sizes.data[g], region->item_count, 1);
    fill_slots(split, group, region);
    sizes.data[g] = 0;
  }
  for (uint32_t r = 0; r < split->regions.count; r++)
    if (group_of.data[r] != MAP_NONE)
      fill_instance(split, &split->grouping->groups.data[base + group_of.data[r]], &split->regions.data[r],
                    sizes.data[group_of.data[r]]++);
  vec_free(split->heap, &group_of, &sizes, &firsts);
  map_free(&number_of);
}

/* ---- outputs that only copy: leaves, numbers, and outputs that occur twice ---- */

/* The array that root r is copied from; STORE_COUNT if it is computed. */
static Store copied_store(const Split *split, uint32_t r) {
  uint32_t position = graph_position(&split->graph, split->roots[r]);
  if (split->boundary[position] != STORE_OUTPUT + 1) return (Store)(split->boundary[position] - 1);
  return split->first_root[position] == r ? STORE_COUNT : STORE_OUTPUT;
}

static void count_copies(Split *split) {
  for (uint32_t r = 0; r < split->root_count; r++) split->copies[copied_store(split, r)]++;
}

/* A few copies are done by straight code: the level of root r, MAP_NONE if it is not such a copy. */
static uint32_t straight_copy_level(const Split *split, uint32_t r) {
  Store store = copied_store(split, r);
  if (store == STORE_COUNT || split->copies[store] >= TEMPLATE_MINIMUM) return MAP_NONE;
  if (store != STORE_OUTPUT) return 0;
  const Region *region = &split->regions.data[split->region_of[graph_position(&split->graph, split->roots[r])]];
  return region->is_template ? MAP_NONE : region->level;
}

static uint32_t copied_place(Split *split, Store store, Expr root) {
  if (store == STORE_OUTPUT) return output_place(split, split->first_root[graph_position(&split->graph, root)]);
  if (store != STORE_CONSTANT) return leaf_place(split->grouping->layout, split->dag, root);
  return split->number_base + templates_number(&split->templates, node_number(split->dag, root));
}

static bool is_group_copy(const Split *split, uint32_t r, Store store) {
  return copied_store(split, r) == store && straight_copy_level(split, r) == MAP_NONE;
}

static void add_copies(Split *split, Store store, uint32_t phase) {
  uint32_t count = 0;
  for (uint32_t r = 0; split->copies[store] && r < split->root_count; r++) count += is_group_copy(split, r, store);
  if (!count) return;
  Group *group = grouping_add_group(split->grouping, phase, count, 1, 1);
  group->stores[0] = store;
  group->stores[1] = STORE_OUTPUT;
  for (uint32_t r = 0, i = 0; r < split->root_count; r++) {
    if (!is_group_copy(split, r, store)) continue;
    if (i == 0) {
      group->roots[0] = split->roots[r];
      map_put(&group->map.nodes, split->roots[r], 0);
    }
    group->places[i] = copied_place(split, store, split->roots[r]);
    group->places[count + i] = output_place(split, r);
    i++;
  }
}

/* ---- straight code ---- */

typedef struct StraightOutput {
  Expr root;
  Store store;
  uint32_t place;
} StraightOutput;

typedef struct Straight {
  IndexVec nodes; /* slots */
  VEC(Store) stores;
  Map index; /* node -> slot */
  VEC(StraightOutput) outputs;
} Straight;

static void add_slot(Split *split, Straight *straight, Expr node, Store store) {
  if (store == STORE_CONSTANT || map_get(&straight->index, node) != MAP_NONE) return;
  map_put(&straight->index, node, straight->nodes.count);
  vec_push(split->heap, &straight->nodes, node);
  vec_push(split->heap, &straight->stores, store);
}

/* Is this slot of a straight region computed within the same straight code? */
static bool is_inner(const Split *split, const Region *region, uint32_t s) {
  const Region *other = slot_region(split, region, s);
  return other && !other->is_template && other->level == region->level;
}

static void add_straight_region(Split *split, Straight *straight, const Region *region) {
  for (uint32_t s = 0; s < region->item_count; s++)
    if (!is_inner(split, region, s))
      add_slot(split, straight, split->templates.items.data[region->first_item + s],
               split->templates.stores.data[template_of(split, region)->first_store + s]);
  if (region->output != MAP_NONE || region->is_read_later)
    vec_push(
        split->heap, &straight->outputs,
        (StraightOutput){split->graph.nodes.data[region->position], region_store(region), region_place(split, region)});
}

static void add_straight_copy(Split *split, Straight *straight, uint32_t r) {
  Store store = copied_store(split, r);
  if (store != STORE_OUTPUT) add_slot(split, straight, split->roots[r], store);
  vec_push(split->heap, &straight->outputs, (StraightOutput){split->roots[r], STORE_OUTPUT, output_place(split, r)});
}

static void fill_straight_group(Split *split, Straight *straight, uint32_t level) {
  uint32_t slots = straight->nodes.count, outputs = straight->outputs.count;
  Group *group = grouping_add_group(split->grouping, 2 * level, 1, slots, outputs);
  for (uint32_t s = 0; s < slots; s++) {
    group->stores[s] = straight->stores.data[s];
    group->places[s] = item_place(split, straight->stores.data[s], straight->nodes.data[s]);
    map_put(&group->map.nodes, straight->nodes.data[s], s);
  }
  for (uint32_t o = 0; o < outputs; o++) {
    group->stores[slots + o] = straight->outputs.data[o].store;
    group->places[slots + o] = straight->outputs.data[o].place;
    group->roots[o] = straight->outputs.data[o].root;
  }
}

/* All straight code of a level is one group with one instance. */
static void add_straight_group(Split *split, uint32_t level) {
  Straight straight = {.index = map_make(split->heap)};
  for (uint32_t r = 0; r < split->regions.count; r++) {
    const Region *region = &split->regions.data[r];
    if (region->level == level && !region->is_template) add_straight_region(split, &straight, region);
  }
  for (uint32_t r = 0; r < split->root_count; r++)
    if (straight_copy_level(split, r) == level) add_straight_copy(split, &straight, r);
  if (straight.outputs.count) fill_straight_group(split, &straight, level);
  vec_free(split->heap, &straight.nodes, &straight.stores, &straight.outputs);
  map_free(&straight.index);
}

static uint32_t last_level(const Split *split) {
  uint32_t last = 0;
  for (uint32_t r = 0; r < split->regions.count; r++)
    if (split->regions.data[r].level > last) last = split->regions.data[r].level;
  return last;
}

/* ---- all together ---- */

static uint32_t *find_first_roots(const Split *split) {
  uint32_t *first = heap_array(split->heap, split->graph.nodes.count, sizeof *first);
  memset(first, 0xff, split->graph.nodes.count * sizeof *first);
  for (uint32_t r = split->root_count; r-- > 0;) first[graph_position(&split->graph, split->roots[r])] = r;
  return first;
}

static void free_split(Split *split) {
  graph_free(&split->graph);
  templates_free(&split->templates);
  vec_free(split->heap, &split->regions);
  heap_free_all(split->heap, split->boundary, split->region_of, split->first_root);
}

void grouping_add_roots(Grouping *grouping, const Expr *roots, uint32_t count, const uint32_t *places) {
  Split split = {.grouping = grouping,
                 .heap = grouping->heap,
                 .dag = grouping->model->dag,
                 .roots = roots,
                 .root_count = count,
                 .places = places,
                 .number_base = grouping->numbers.count};
  split.graph = graph_make(grouping->heap, split.dag, roots, count, NULL);
  split.boundary = heap_array(grouping->heap, split.graph.nodes.count, sizeof *split.boundary);
  split.region_of = heap_array(grouping->heap, split.graph.nodes.count, sizeof *split.region_of);
  split.first_root = find_first_roots(&split);
  find_regions(&split);
  list_regions(&split);
  count_copies(&split);
  find_templates(&split);
  choose_templates(&split);
  find_scratch(&split);
  uint32_t levels = last_level(&split) + 1;
  for (uint32_t level = 0; level < levels; level++) add_straight_group(&split, level);
  add_template_groups(&split);
  for (uint32_t store = 0; store < STORE_COUNT; store++)
    add_copies(&split, (Store)store, store == STORE_OUTPUT ? 2 * levels : 1);
  for (uint32_t n = 0; n < split.templates.numbers.count; n++)
    vec_push(grouping->heap, &grouping->numbers, split.templates.numbers.data[n]);
  free_split(&split);
}
