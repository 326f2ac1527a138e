/* connect_match: which variables of two connectors match, and whether the connectors may be connected at all (MLS 3.6, section
 * 9.3): names, types, dimensions and prefixes must be equal. */
#include "instance/connect.h"

#include "instance/lookup.h"

typedef struct Matching {
  Connections *connections;
  ConnectMatch *match;
  Span span;
} Matching;

/* Two instances at the same place in both connectors. */
typedef struct MatchPlace {
  Instance *left, *right;
  uint32_t inner;      /* elements in one element of the connectors */
  uint32_t record;     /* the pair of records that contains it; CONNECT_NONE: none */
  uint32_t per_record; /* elements in one record */
} MatchPlace;

typedef VEC(MatchPlace) MatchPlaceVec;

__attribute__((format(printf, 3, 4))) static void refuse(Matching *m, const MatchPlace *place, const char *format,
                                                         ...) {
  Tree *tree = m->connections->tree;
  va_list list;
  va_start(list, format);
  const char *why = arena_vprintf(&tree->arena, format, list);
  va_end(list);
  m->match->fits = false;
  diag_error(tree->diags, DIAG_INPUT, m->span, "`%s` and `%s` cannot be connected: %s",
             instance_text(tree, place->left), instance_text(tree, place->right), why);
}

static const char *kind_text(uint32_t prefixes) {
  if (prefixes & PREFIX_FLOW) return "a flow variable";
  if (prefixes & PREFIX_STREAM) return "a stream variable";
  if (prefixes & PREFIX_CONSTANT) return "a constant";
  if (prefixes & PREFIX_PARAMETER) return "a parameter";
  if (prefixes & (PREFIX_INPUT | PREFIX_OUTPUT)) return "a signal";
  return "a potential variable";
}

static bool kinds_match(Matching *m, const MatchPlace *place) {
  const char *left = kind_text(place->left->prefixes), *right = kind_text(place->right->prefixes);
  bool is_loose = is_expandable(place->left->parent) || is_expandable(place->right->parent);
  if (left == right || is_loose) return true;
  refuse(m, place, "one is %s, the other %s", left, right);
  return false;
}

static bool types_match(Matching *m, const MatchPlace *place) {
  const Instance *left = place->left, *right = place->right;
  if (left->base != right->base) {
    refuse(m, place, "their types differ");
    return false;
  }
  if (left->base == BASE_ENUMERATION && left->enumeration->definition != right->enumeration->definition) {
    refuse(m, place, "their enumerations differ");
    return false;
  }
  return true;
}

/* Compares the dimensions of the two places themselves, not of the arrays that contain them. */
static bool dimensions_match(Matching *m, const MatchPlace *place) {
  Tree *tree = m->connections->tree;
  Instance *left = place->left, *right = place->right;
  if (!instance_sizes(tree, left) || !instance_sizes(tree, right)) return m->match->fits = false;
  bool fits = left->dimensions.count == right->dimensions.count;
  for (uint32_t i = 0; fits && i < left->dimensions.count; i++)
    fits = left->dimensions.data[i].size == right->dimensions.data[i].size;
  if (!fits) refuse(m, place, "their dimensions differ");
  return fits;
}

static void match_record(Matching *m, MatchPlace *place) {
  Connections *connections = m->connections;
  uint32_t left = map_get(&connections->record_of, instance_key(place->left));
  uint32_t right = map_get(&connections->record_of, instance_key(place->right));
  if (left == MAP_NONE || right == MAP_NONE) return;
  place->record = m->match->record_count++;
  place->per_record = connections->records.data[left].width;
  vec_push(connections->heap, &connections->record_pairs,
           (ConnectRecordPair){left, right, place->inner / place->per_record});
}

static void match_variable(Matching *m, const MatchPlace *place) {
  Connections *connections = m->connections;
  uint32_t left = map_get(&connections->variable_of, instance_key(place->left));
  uint32_t right = map_get(&connections->variable_of, instance_key(place->right));
  if (left == MAP_NONE || right == MAP_NONE || !types_match(m, place) || !kinds_match(m, place)) return;
  m->match->pair_count++;
  vec_push(connections->heap, &connections->pairs,
           (ConnectPair){left, right, place->inner, place->record, place->per_record});
}

/* The element of the same name; reports an error and returns NULL if there is none. */
static Instance *counterpart(Matching *m, const MatchPlace *place, Instance *kid, Instance *other) {
  Tree *tree = m->connections->tree;
  Instance *found = instance_element(tree, other, kid->name);
  if (found && instance_is_component(found) && instance_is_present(tree, found)) return found;
  refuse(m, place, "`%s` has no element `%s`", instance_text(tree, other), names_text(tree->names, kid->name));
  return NULL;
}

/* Pairs the elements of the left connector with those of the right; for expandable connectors, only elements that both have. */
static void push_elements(Matching *m, const MatchPlace *place, MatchPlaceVec *stack) {
  Tree *tree = m->connections->tree;
  bool is_loose = is_expandable(place->left) || is_expandable(place->right);
  uint32_t begin = stack->count, left_count = 0, right_count = 0;
  for (uint32_t i = 0; i < place->left->elements.count; i++) {
    Instance *left = instance_component(tree, place->left, i);
    if (!left) continue;
    left_count++;
    if (is_loose && !instance_element(tree, place->right, left->name)) continue;
    Instance *right = counterpart(m, place, left, place->right);
    if (!right) continue;
    MatchPlace kid = {left, right, place->inner, place->record, place->per_record};
    if (!dimensions_match(m, &kid)) continue;
    kid.inner *= instance_count(left);
    kid.per_record *= instance_count(left);
    vec_push(m->connections->heap, stack, kid);
  }
  for (uint32_t i = 0; i < place->right->elements.count; i++)
    if (instance_component(tree, place->right, i)) right_count++;
  if (!is_loose && right_count > left_count && m->match->fits)
    for (uint32_t i = 0; i < place->right->elements.count; i++) {
      Instance *right = instance_component(tree, place->right, i);
      if (right) counterpart(m, place, right, place->left);
    }
  for (uint32_t low = begin, high = stack->count; low + 1 < high; low++) {
    MatchPlace swap = stack->data[low];
    stack->data[low] = stack->data[--high];
    stack->data[high] = swap;
  }
}

static void match_places(Matching *m) {
  Heap *heap = m->connections->heap;
  MatchPlaceVec stack = {0};
  vec_push(heap, &stack, (MatchPlace){m->match->left, m->match->right, 1, CONNECT_NONE, 1});
  while (stack.count) {
    MatchPlace place = vec_pop(&stack);
    match_record(m, &place);
    bool is_left_leaf = instance_is_leaf(place.left), is_right_leaf = instance_is_leaf(place.right);
    if (is_left_leaf && is_right_leaf) match_variable(m, &place);
    else if (is_left_leaf || is_right_leaf) refuse(m, &place, "one is a variable, the other has elements");
    else if (is_expandable(place.left) != is_expandable(place.right)) refuse(m, &place, "only one is expandable");
    else push_elements(m, &place, &stack);
  }
  vec_free(heap, &stack);
}

uint32_t connect_match(Connections *connections, Instance *left, Instance *right, Span span) {
  uint64_t high = map_get(&connections->connector_of, instance_key(left));
  uint64_t key = high << 32 | map_get(&connections->connector_of, instance_key(right));
  uint32_t found = map_get(&connections->match_of, key);
  if (found != MAP_NONE) return found;
  ConnectMatch match = {.left = left,
                        .right = right,
                        .pairs = connections->pairs.count,
                        .records = connections->record_pairs.count,
                        .fits = true};
  Matching matching = {.connections = connections, .match = &match, .span = span};
  match_places(&matching);
  map_put(&connections->match_of, key, connections->matches.count);
  vec_push(connections->heap, &connections->matches, match);
  return connections->matches.count - 1;
}
