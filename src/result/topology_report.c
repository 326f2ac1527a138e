/* topology_report: see topology_report.h. */
#include "result/topology_report.h"

enum { SHOWN = 12, NAMED = 16 };

static const char *name_of(const Analysis *analysis, Name name) {
  return names_text(analysis->problem.model->names, name);
}

static void text_group(const Analysis *analysis, const TopologyGroup *group, const char *form, Heap *heap,
                       TextVec *text) {
  uint32_t count = group->elements.count;
  text_printf(heap, text, "  ");
  for (uint32_t k = 0; k < count && k < NAMED; k++)
    text_printf(heap, text, "%s%s",
                k == 0           ? ""
                : k + 1 == count ? " and "
                                 : ", ",
                name_of(analysis, group->elements.data[k]));
  if (count > NAMED) text_printf(heap, text, " and %u more", count - NAMED);
  text_printf(heap, text, " %s\n", form);
}

static void text_groups(const Analysis *analysis, const TopologyGroupVec *groups, const char *form, Heap *heap,
                        TextVec *text) {
  for (uint32_t k = 0; k < groups->count && k < SHOWN; k++) text_group(analysis, &groups->data[k], form, heap, text);
  if (groups->count > SHOWN) text_printf(heap, text, "  ... and %u more\n", groups->count - SHOWN);
}

/* The index of the rewritten equations if structure misleads; otherwise the structural index. */
static int64_t numerical_index(const Analysis *analysis) {
  return analysis->curable ? analysis->true_index : analysis->structure.structural_index;
}

static bool agrees(const Analysis *analysis) {
  return (int64_t)analysis->topology->index == numerical_index(analysis) &&
         (int32_t)analysis->topology->index == analysis->structure.structural_index;
}

void topology_report_text(const Analysis *analysis, Heap *heap, TextVec *text) {
  const Topology *topology = analysis->topology;
  text_printf(heap, text, "\nCircuit\n  index from topology %u%s\n", topology->index,
              topology->is_certain ? "" : ", if no controlled source adds to it");
  if (topology->gmin > 0) text_printf(heap, text, "  every junction has gmin, %g S, across it\n", topology->gmin);
  text_groups(analysis, &topology->loops, "form a loop: their currents depend on derivatives", heap, text);
  text_groups(analysis, &topology->cutsets, "form a cutset: their voltages depend on derivatives", heap, text);
  if (analysis->structure.status != STRUCTURE_OK) return;
  if (agrees(analysis)) text_printf(heap, text, "  structure and numbers agree\n");
  else
    text_printf(heap, text, "  structural index %d, numerical index %lld: %s\n",
                (int)analysis->structure.structural_index, (long long)numerical_index(analysis),
                topology->has_charges  ? "charges and fluxes are separate variables"
                : topology->is_certain ? "parameter values make the difference"
                                       : "controlled sources or parameter values make the difference");
}

static void json_names(const Analysis *analysis, JsonWriter *json, const char *key, const Name *names, uint32_t count) {
  json_key(json, key);
  json_array_begin(json);
  for (uint32_t k = 0; k < count; k++) json_string(json, name_of(analysis, names[k]));
  json_array_end(json);
}

static void json_groups(const Analysis *analysis, JsonWriter *json, const char *key, const TopologyGroupVec *groups) {
  json_key(json, key);
  json_array_begin(json);
  for (uint32_t k = 0; k < groups->count; k++) {
    const TopologyGroup *group = &groups->data[k];
    json_object_begin(json);
    json_names(analysis, json, "elements", group->elements.data, group->elements.count);
    json_key(json, "signs");
    json_array_begin(json);
    for (uint32_t e = 0; e < group->signs.count; e++) json_integer(json, group->signs.data[e]);
    json_array_end(json);
    if (group->nodes.count) json_names(analysis, json, "nodes", group->nodes.data, group->nodes.count);
    json_object_end(json);
  }
  json_array_end(json);
}

/* The entry of a name in a group: the sign of an element, 1 for a node. */
static int64_t entry_of(const TopologyGroup *group, Name name, bool by_node) {
  uint32_t count = by_node ? group->nodes.count : group->elements.count;
  const Name *names = by_node ? group->nodes.data : group->elements.data;
  for (uint32_t k = 0; k < count; k++)
    if (names[k] == name) return by_node ? 1 : group->signs.data[k];
  return 0;
}

/* A row for each name, a column for each group. */
static void json_projector(JsonWriter *json, const char *key, const Name *names, uint32_t count,
                           const TopologyGroupVec *groups, bool by_node) {
  json_key(json, key);
  json_array_begin(json);
  for (uint32_t n = 0; n < count && groups->count; n++) {
    json_array_begin(json);
    for (uint32_t k = 0; k < groups->count; k++) json_integer(json, entry_of(&groups->data[k], names[n], by_node));
    json_array_end(json);
  }
  json_array_end(json);
}

void topology_report_json(const Analysis *analysis, JsonWriter *json) {
  const Topology *topology = analysis->topology;
  json_object_begin(json);
  json_key_integer(json, "index", topology->index);
  json_key_bool(json, "certain", topology->is_certain);
  json_key_bool(json, "agrees", analysis->structure.status == STRUCTURE_OK && agrees(analysis));
  json_key_number(json, "gmin", topology->gmin);
  json_names(analysis, json, "nodes", topology->nodes.data, topology->nodes.count);
  json_names(analysis, json, "voltage_sources", topology->voltage_sources.data, topology->voltage_sources.count);
  json_groups(analysis, json, "loops", &topology->loops);
  json_groups(analysis, json, "cutsets", &topology->cutsets);
  json_projector(json, "q_crv", topology->nodes.data, topology->nodes.count, &topology->cutsets, true);
  json_projector(json, "q_v_c", topology->voltage_sources.data, topology->voltage_sources.count, &topology->loops,
                 false);
  json_object_end(json);
}
