/* connect_write: connection sets become equations (MLS 3.6, section 9.2). Potential variables of a set are equal. Flow variables
 * sum to zero, with a minus sign for outside connectors. Parameters are asserted to be equal. Consecutive sets with the same
 * variables, whose subscripts advance by constant steps, become one loop, and so do consecutive members of one set.
 *
 * Invariant: equations are in the order of the first variables of their sets. */
#include "instance/connect.h"
#include "instance/lookup.h"

#include <string.h>

/* ---- runs of sets ---- */

/* Consecutive sets of one shape: for each variable, the subscripts in the first set and their steps. */
typedef struct SetRun {
  uint32_t first, count; /* sets */
  uint32_t terms;        /* members of each set */
  IndexVec places;       /* where the subscripts of each term begin, and where those of the last term end */
  IndexVec subscripts;   /* subscripts of all terms, one after the other */
  IntVec steps;
} SetRun;

typedef struct ConnectWriter {
  Connections *connections;
  Name iterator;
  VEC(AstStatement) body; /* body of the current run */
} ConnectWriter;

static const ConnectVariable *term_variable(const Connections *connections, uint32_t set, uint32_t term) {
  const ConnectSets *sets = &connections->sets;
  return member_variable(connections, end_member(sets->members[sets->start[set] + term]));
}

static uint32_t term_end(const Connections *connections, uint32_t set, uint32_t term) {
  return connections->sets.members[connections->sets.start[set] + term];
}

/* Do both sets have the same variables, seen from the same sides? */
static bool same_shape(const Connections *connections, uint32_t a, uint32_t b) {
  const uint32_t *start = connections->sets.start;
  if (start[a + 1] - start[a] != start[b + 1] - start[b]) return false;
  if (connections->is_idle[a] != connections->is_idle[b]) return false;
  for (uint32_t i = 0; i < start[a + 1] - start[a]; i++) {
    uint32_t left = term_end(connections, a, i), right = term_end(connections, b, i);
    if (end_side(left) != end_side(right)) return false;
    const ConnectVariable *variable = member_variable(connections, end_member(left));
    uint32_t member = end_member(right);
    if (member < variable->first || member >= variable->first + variable->count) return false;
  }
  return true;
}

/* The subscripts of all terms of a set, one after the other, and the places where the subscripts of each term begin. */
static void set_subscripts(Connections *connections, uint32_t set, IndexVec *out, IndexVec *places) {
  IndexVec sizes = {0};
  out->count = places->count = 0;
  for (uint32_t i = 0; i < connections->sets.start[set + 1] - connections->sets.start[set]; i++) {
    const ConnectVariable *variable = term_variable(connections, set, i);
    vec_push(connections->heap, places, out->count);
    sizes.count = 0;
    list_sizes(connections, variable->instance, &sizes);
    uint32_t *subscripts = vec_extend(connections->heap, out, sizes.count);
    split_element(&sizes, end_member(term_end(connections, set, i)) - variable->first, subscripts);
  }
  vec_push(connections->heap, places, out->count);
  vec_free(connections->heap, &sizes);
}

static uint32_t last_size(const Instance *instance) {
  for (const Instance *at = instance; at; at = at->parent)
    if (instance_is_component(at) && at->dimensions.count) return at->dimensions.data[at->dimensions.count - 1].size;
  return 1;
}

/* Finds how far the last subscripts of the terms advance from a set to the next one; false: other subscripts change, too. */
static bool last_steps(const Connections *connections, uint32_t set, IntVec *steps) {
  steps->count = 0;
  for (uint32_t i = 0; i < connections->sets.start[set + 1] - connections->sets.start[set]; i++) {
    const ConnectVariable *variable = term_variable(connections, set, i);
    int64_t from = end_member(term_end(connections, set, i)), to = end_member(term_end(connections, set + 1, i));
    uint32_t size = last_size(variable->instance);
    int64_t place = (from - variable->first) % size + to - from;
    if (place < 0 || place >= size) return false;
    vec_push(connections->heap, steps, (int32_t)(to - from));
  }
  return true;
}

/* The steps of all subscripts from a set to the next one. */
static void all_steps(Connections *connections, uint32_t set, IntVec *steps) {
  IndexVec before = {0}, now = {0}, places = {0};
  set_subscripts(connections, set, &before, &places);
  set_subscripts(connections, set + 1, &now, &places);
  steps->count = 0;
  for (uint32_t i = 0; i < now.count; i++)
    vec_push(connections->heap, steps, (int32_t)now.data[i] - (int32_t)before.data[i]);
  vec_free(connections->heap, &before, &now, &places);
}

static bool are_equal(const IntVec *a, const IntVec *b) {
  return a->count == b->count && (!a->count || memcmp(a->data, b->data, a->count * sizeof *a->data) == 0);
}

/* The longest run of sets from `first` on with the same shape and steps. */
static SetRun find_run(Connections *connections, uint32_t first) {
  SetRun run = {.first = first, .count = 1};
  IntVec now = {0}, last = {0};
  bool is_last = false;
  run.terms = connections->sets.start[first + 1] - connections->sets.start[first];
  set_subscripts(connections, first, &run.subscripts, &run.places);
  for (uint32_t set = first; set + 1 < connections->sets.set_count && run.subscripts.count; set++, run.count++) {
    if (!same_shape(connections, first, set + 1)) break;
    if (run.count == 1) {
      is_last = last_steps(connections, set, &last);
      all_steps(connections, set, &run.steps);
      continue;
    }
    if (is_last && !last_steps(connections, set, &now)) break;
    if (!is_last) all_steps(connections, set, &now);
    if (!are_equal(&now, is_last ? &last : &run.steps)) break;
  }
  vec_free(connections->heap, &now, &last);
  return run;
}

/* ---- expressions ---- */

/* first + step * (iterator - 1), as `step * iterator + (first - step)`; a number if the step is zero. */
static AstExpr subscript_expression(ConnectWriter *writer, const SetRun *run, uint32_t place, Span span) {
  Tree *tree = writer->connections->tree;
  int64_t first = run->subscripts.data[place], step = run->count > 1 ? run->steps.data[place] : 0;
  if (step == 0) return flat_integer(tree, first, span);
  AstExpr term;
  if (step == 1) term = flat_name(tree, writer->iterator, NULL, 0, span);
  else {
    AstExpr factors[2];
    factors[0] = flat_integer(tree, step, span);
    factors[1] = flat_name(tree, writer->iterator, NULL, 0, span);
    term = flat_product(tree, factors, 2, span);
  }
  if (first == step) return term;
  AstExpr terms[2] = {term, flat_integer(tree, first > step ? first - step : step - first, span)};
  const AstOperator signs[2] = {AST_ADD, first > step ? AST_ADD : AST_SUBTRACT};
  return flat_sum(tree, terms, signs, 2, span);
}

/* Term number `term` of every set in the run. */
static AstExpr term_reference(ConnectWriter *writer, const SetRun *run, uint32_t term, Span span) {
  Connections *connections = writer->connections;
  VEC(AstExpr) subscripts = {0};
  const Instance *instance = term_variable(connections, run->first, term)->instance;
  uint32_t place = run->places.data[term], count = run->places.data[term + 1] - place;
  for (uint32_t i = 0; i < count; i++) {
    AstExpr subscript = subscript_expression(writer, run, place + i, span);
    vec_push(connections->heap, &subscripts, subscript);
  }
  AstExpr reference = flat_name(connections->tree, instance->flat_name, subscripts.data, count, span);
  vec_free(connections->heap, &subscripts);
  return reference;
}

/* ---- origins of equations ---- */

static void append_expression(Connections *connections, TextVec *text, AstExpr e) {
  Span span = ast_span(connections->tree->ast, e);
  text_append(connections->heap, text, source_text(connections->tree->ast->source, span.begin), span.end - span.begin);
}

/* motor: connect(p, resistor.p) */
static void append_source(Connections *connections, TextVec *text, uint32_t number) {
  const ConnectSource *source = &connections->sources.data[number];
  const AstStatement *statement = source->clause->statement;
  if (text->count) text_printf(connections->heap, text, ", ");
  if (source->instance->flat_name)
    text_printf(connections->heap, text, "%s: ", names_text(connections->tree->names, source->instance->flat_name));
  text_printf(connections->heap, text, "connect(");
  append_expression(connections, text, statement->left);
  text_printf(connections->heap, text, ", ");
  append_expression(connections, text, statement->right);
  text_printf(connections->heap, text, ")");
}

/* The clauses that made a set, each once, at most three of them. */
static Name set_comment(Connections *connections, uint32_t set, Span *span) {
  enum { MOST = 3 };
  const AstStatement *named[MOST];
  uint32_t count = 0;
  TextVec text = {0};
  *span = (Span){0};
  for (uint32_t i = connections->sets.start[set]; i < connections->sets.start[set + 1]; i++) {
    uint32_t source = connections->source_of[connections->sets.members[i]];
    if (source == CONNECT_NONE) continue;
    const AstStatement *statement = connections->sources.data[source].clause->statement;
    bool is_named = false;
    for (uint32_t k = 0; k < count; k++) is_named |= named[k] == statement;
    if (is_named) continue;
    if (count == MOST) {
      text_printf(connections->heap, &text, ", ...");
      break;
    }
    named[count++] = statement;
    if (count == 1) *span = statement->span;
    append_source(connections, &text, source);
  }
  Name name = names_add(connections->tree->names, text.data ? text.data : "", text.count);
  vec_free(connections->heap, &text);
  return name;
}

/* ---- equations ---- */

static void push_equation(ConnectWriter *writer, AstExpr left, AstExpr right, Name comment, Span span) {
  vec_push(writer->connections->heap, &writer->body,
           (AstStatement){.kind = AST_EQUALITY, .left = left, .right = right, .comment = comment, .span = span});
}

/* The signed sum of all terms is zero. */
static void write_flow(ConnectWriter *writer, const SetRun *run, Name comment, Span span) {
  Connections *connections = writer->connections;
  Tree *tree = connections->tree;
  VEC(AstExpr) terms = {0};
  VEC(AstOperator) signs = {0};
  bool is_flipped = end_side(term_end(connections, run->first, 0)) == SIDE_OUTSIDE;
  for (uint32_t i = 0; i < run->terms; i++) {
    bool is_outside = end_side(term_end(connections, run->first, i)) == SIDE_OUTSIDE;
    vec_push(connections->heap, &signs, is_outside == is_flipped ? AST_ADD : AST_SUBTRACT);
    AstExpr term = term_reference(writer, run, i, span);
    vec_push(connections->heap, &terms, term);
  }
  AstExpr sum = run->terms == 1 ? terms.data[0] : flat_sum(tree, terms.data, signs.data, run->terms, span);
  push_equation(writer, sum, flat_integer(tree, 0, span), comment, span);
  vec_free(connections->heap, &terms, &signs);
}

/* assert(left == right, "...") */
static void write_assertion(ConnectWriter *writer, const SetRun *run, uint32_t term, Name comment, Span span) {
  Tree *tree = writer->connections->tree;
  static const char message[] = "connected parameters differ";
  bool is_real = term_variable(writer->connections, run->first, term)->instance->base == BASE_REAL;
  AstExpr sides[2], call[2];
  sides[0] = term_reference(writer, run, 0, span);
  sides[1] = term_reference(writer, run, term, span);
  if (is_real) {
    const AstOperator signs[2] = {AST_ADD, AST_SUBTRACT};
    AstExpr difference = flat_sum(tree, sides, signs, 2, span);
    sides[0] = flat_call(tree, "abs", &difference, 1, span);
    sides[1] = flat_integer(tree, 0, span);
  }
  AstNode relation = {.kind = AST_RELATION, .operation = is_real ? AST_LESS_EQUAL : AST_EQUAL, .span = span};
  call[0] = flat_node(tree, relation, sides, 2);
  call[1] = flat_string(tree, names_add(tree->names, message, sizeof message - 1), span);
  AstExpr invoked = flat_call(tree, "assert", call, 2, span);
  vec_push(tree->heap, &writer->body,
           (AstStatement){.kind = AST_INVOKE, .left = invoked, .right = AST_NONE, .comment = comment, .span = span});
}

/* A part of a connector may be declared `output` although no equation determines it, for example if the connector leads to several
 * parts inside. Only the complete model shows whether all values are determined. */
static void report_sources(Tree *tree, const Instance *one, const Instance *other, Span span) {
  static const char message[] = "`%s` and `%s` are connected, and both give the value";
  bool is_part = one->parent && one->parent->restriction == CLASS_CONNECTOR && other->parent &&
                 other->parent->restriction == CLASS_CONNECTOR;
  if (is_part)
    tree_tolerate(tree, DIAG_INPUT, span, NULL, message, instance_text(tree, one), instance_text(tree, other));
  else tree_error(tree, span, NULL, message, instance_text(tree, one), instance_text(tree, other));
}

/* The term that gives the value; the first one if none does. Several such terms are an error. */
static uint32_t find_source(ConnectWriter *writer, uint32_t set, uint32_t terms, Span span) {
  Connections *connections = writer->connections;
  Tree *tree = connections->tree;
  uint32_t found = CONNECT_NONE;
  for (uint32_t i = 0; i < terms; i++) {
    uint32_t end = term_end(connections, set, i);
    if (!is_source(connections, end) || in_expandable(connections, end)) continue;
    if (found != CONNECT_NONE)
      report_sources(tree, term_variable(connections, set, found)->instance,
                     term_variable(connections, set, i)->instance, span);
    found = i;
  }
  return found == CONNECT_NONE ? 0 : found;
}

/* Writes the body of a run as it is, or in a loop. */
static void write_body(ConnectWriter *writer, const SetRun *run, Span span) {
  Connections *connections = writer->connections;
  Tree *tree = connections->tree;
  AstStatement loop = {.kind = AST_FOR_BLOCK, .left = AST_NONE, .right = AST_NONE, .span = span};
  if (run->count == 1)
    for (uint32_t i = 0; i < writer->body.count; i++)
      vec_push(connections->heap, &connections->flat->connections, writer->body.data[i]);
  else if (writer->body.count) {
    AstIterator iterator = {.label = {writer->iterator, span}, .range = flat_range(tree, run->count, span)};
    AstBranch branch = {.condition = AST_NONE, .span = span};
    branch.body.data = arena_copy_array(&tree->arena, writer->body.data, writer->body.count, sizeof *writer->body.data);
    branch.body.count = writer->body.count;
    loop.iterators.data = arena_copy_array(&tree->arena, &iterator, 1, sizeof iterator);
    loop.branches.data = arena_copy_array(&tree->arena, &branch, 1, sizeof branch);
    loop.iterators.count = loop.branches.count = 1;
    vec_push(connections->heap, &connections->flat->connections, loop);
  }
  writer->body.count = 0;
}

/* Counts the terms of the set, from `first` to `end` at most, that are elements of one variable whose last subscripts advance by
 * `step`. */
static uint32_t count_row(const Connections *connections, uint32_t set, uint32_t first, uint32_t end, int32_t *step) {
  const ConnectVariable *variable = term_variable(connections, set, first);
  int64_t size = last_size(variable->instance), from = end_member(term_end(connections, set, first));
  uint32_t count = 1;
  for (; first + count < end; count++) {
    int64_t to = end_member(term_end(connections, set, first + count));
    int64_t place = (from - variable->first) % size + to - from;
    if (count == 1) *step = (int32_t)(to - from);
    if (to >= (int64_t)variable->first + variable->count || place < 0 || place >= size || to - from != *step) break;
    from = to;
  }
  return count;
}

/* The equations of a single set. Equations of successive elements become a loop. */
static void write_rows(ConnectWriter *writer, const SetRun *run, uint32_t source, Name comment, Span span) {
  enum { SHORTEST_ROW = 4 };
  Connections *connections = writer->connections;
  SetRun row = *run;
  uint32_t count = 1;
  row.steps = (IntVec){0};
  for (uint32_t i = 0; i < run->subscripts.count; i++) vec_push(connections->heap, &row.steps, 0);
  for (uint32_t i = 0; i < run->terms; i += count) {
    int32_t step = 0;
    count = i == source ? 1 : count_row(connections, run->first, i, i < source ? source : run->terms, &step);
    if (i == source) continue;
    row.count = count < SHORTEST_ROW ? 1 : count;
    count = row.count;
    if (count > 1) row.steps.data[run->places.data[i + 1] - 1] = step;
    AstExpr left = term_reference(writer, &row, i, span);
    if (count > 1) row.steps.data[run->places.data[i + 1] - 1] = 0;
    push_equation(writer, left, term_reference(writer, &row, source, span), comment, span);
    write_body(writer, &row, span);
  }
  vec_free(connections->heap, &row.steps);
}

static void write_potential(ConnectWriter *writer, const SetRun *run, Name comment, Span span) {
  uint32_t source = find_source(writer, run->first, run->terms, span);
  if (run->count == 1) {
    write_rows(writer, run, source, comment, span);
    return;
  }
  for (uint32_t i = 0; i < run->terms; i++) {
    if (i == source) continue;
    AstExpr left = term_reference(writer, run, i, span);
    push_equation(writer, left, term_reference(writer, run, source, span), comment, span);
  }
}

static void write_run(ConnectWriter *writer, const SetRun *run) {
  Connections *connections = writer->connections;
  Span span;
  uint32_t prefixes = term_variable(connections, run->first, 0)->instance->prefixes;
  if (prefixes & PREFIX_STREAM) return;
  Name comment = set_comment(connections, run->first, &span);
  if (prefixes & PREFIX_FLOW) write_flow(writer, run, comment, span);
  else if (prefixes & (PREFIX_PARAMETER | PREFIX_CONSTANT))
    for (uint32_t i = 1; i < run->terms; i++) write_assertion(writer, run, i, comment, span);
  else write_potential(writer, run, comment, span);
  write_body(writer, run, span);
}

static bool is_alive(const Connections *connections, uint32_t set) {
  return set != CONNECT_NONE && !connections->is_idle[set];
}

/* Elements of expandable connectors exist only if something is connected to them. */
static void declare_expanded(Connections *connections) {
  for (uint32_t i = 0; i < connections->variables.count; i++) {
    const ConnectVariable *variable = &connections->variables.data[i];
    uint32_t end = connect_end(variable->first, SIDE_INSIDE), last = end + 2 * variable->count;
    if (!in_expandable(connections, end)) continue;
    while (end < last && !is_alive(connections, connections->sets.set_of[end])) end++;
    const AstElement *element = end < last ? flat_component(connections->tree, variable->instance) : NULL;
    if (element) vec_push(connections->heap, &connections->flat->components, *element);
  }
}

void connect_write_sets(Connections *connections) {
  declare_expanded(connections);
  static const char iterator[] = "$k";
  ConnectWriter writer = {.connections = connections, .iterator = names_add(connections->tree->names, iterator, 2)};
  for (uint32_t set = 0; set < connections->sets.set_count;) {
    SetRun run = find_run(connections, set);
    if (!connections->is_idle[set]) write_run(&writer, &run);
    set += run.count;
    vec_free(connections->heap, &run.places, &run.subscripts, &run.steps);
  }
  vec_free(connections->heap, &writer.body);
}
