/* flat: see flat.h. New expressions are appended to the nodes of the syntax tree.
 *
 * Invariant: the nodes of an expression are contiguous. Kids that are not in order at the end of the list are copied there, for
 * example if a file was read after they were made. */
#include "instance/flat.h"

#include <string.h>

static bool stand_together(const Ast *ast, const AstExpr *kids, uint32_t count) {
  bool fits = count == 0 || kids[count - 1] + 1 == ast->nodes.count;
  for (uint32_t i = 1; i < count && fits; i++) fits = kids[i - 1] + 1 == ast_first(ast, kids[i]);
  return fits;
}

static AstExpr append_node(Ast *ast, AstNode node, const AstExpr *kids, uint32_t count) {
  AstExpr self = ast->nodes.count;
  node.kids = ast->kids.count;
  node.kid_count = count;
  node.first = count ? ast_first(ast, kids[0]) : self;
  for (uint32_t i = 0; i < count; i++) vec_push(ast->heap, &ast->kids, kids[i]);
  vec_push(ast->heap, &ast->nodes, node);
  return self;
}

static AstExpr push_node(Tree *tree, AstNode node, const AstExpr *kids, uint32_t count) {
  if (stand_together(tree->ast, kids, count)) return append_node(tree->ast, node, kids, count);
  VEC(AstExpr) copies = {0};
  for (uint32_t i = 0; i < count; i++) vec_push(tree->heap, &copies, flat_copy(tree, kids[i]));
  AstExpr self = append_node(tree->ast, node, copies.data, count);
  vec_free(tree->heap, &copies);
  return self;
}

AstExpr flat_node(Tree *tree, AstNode node, const AstExpr *kids, uint32_t count) {
  return push_node(tree, node, kids, count);
}

AstExpr flat_integer(Tree *tree, int64_t value, Span span) {
  return push_node(tree, (AstNode){.kind = AST_INTEGER, .span = span, .value.integer = value}, NULL, 0);
}

AstExpr flat_real(Tree *tree, double value, Span span) {
  return push_node(tree, (AstNode){.kind = AST_REAL, .span = span, .value.real = value}, NULL, 0);
}

AstExpr flat_boolean(Tree *tree, bool value, Span span) {
  return push_node(tree, (AstNode){.kind = AST_BOOLEAN, .span = span, .value.integer = value}, NULL, 0);
}

AstExpr flat_string(Tree *tree, Name text, Span span) {
  return push_node(tree, (AstNode){.kind = AST_STRING, .span = span, .value.text = text}, NULL, 0);
}

AstExpr flat_colon(Tree *tree, Span span) {
  return push_node(tree, (AstNode){.kind = AST_COLON, .span = span}, NULL, 0);
}

AstPath flat_path(Tree *tree, Name name, Span span) {
  AstPath path = {.first = tree->ast->parts.count, .count = 1, .span = span};
  vec_push(tree->heap, &tree->ast->parts, (AstPart){.name = name});
  return path;
}

AstExpr flat_name(Tree *tree, Name name, const AstExpr *subscripts, uint32_t count, Span span) {
  AstPath path = flat_path(tree, name, span);
  tree->ast->parts.data[path.first].subscripts = count & 0x7fffffffu;
  AstNode node = {.kind = AST_REFERENCE, .span = span, .extra = path.first, .extra_count = 1};
  return push_node(tree, node, subscripts, count);
}

AstExpr flat_literal(Tree *tree, Name enumeration, Name literal, Span span) {
  AstPath path = flat_path(tree, enumeration, span);
  vec_push(tree->heap, &tree->ast->parts, (AstPart){.name = literal});
  return push_node(tree, (AstNode){.kind = AST_REFERENCE, .span = span, .extra = path.first, .extra_count = 2}, NULL,
                   0);
}

AstExpr flat_sum(Tree *tree, const AstExpr *kids, const AstOperator *signs, uint32_t count, Span span) {
  AstNode node = {.kind = AST_SUM, .span = span, .extra = tree->ast->operators.count, .extra_count = count};
  for (uint32_t i = 0; i < count; i++) vec_push(tree->heap, &tree->ast->operators, (uint8_t)signs[i]);
  return push_node(tree, node, kids, count);
}

/* Joins kids by an operator; sums and products need an operator for the first kid, too. */
static AstExpr joined(Tree *tree, AstKind kind, AstOperator first, AstOperator rest, const AstExpr *kids,
                      uint32_t count, Span span) {
  AstNode node = {.kind = (uint8_t)kind, .span = span, .extra = tree->ast->operators.count, .extra_count = count};
  for (uint32_t i = 0; i < count; i++) vec_push(tree->heap, &tree->ast->operators, (uint8_t)(i ? rest : first));
  return push_node(tree, node, kids, count);
}

AstExpr flat_product(Tree *tree, const AstExpr *kids, uint32_t count, Span span) {
  return joined(tree, AST_PRODUCT, AST_MULTIPLY, AST_MULTIPLY, kids, count, span);
}

AstExpr flat_quotient(Tree *tree, AstExpr left, AstExpr right, Span span) {
  const AstExpr kids[2] = {left, right};
  return joined(tree, AST_PRODUCT, AST_MULTIPLY, AST_DIVIDE, kids, 2, span);
}

AstExpr flat_call(Tree *tree, const char *function, const AstExpr *kids, uint32_t count, Span span) {
  AstPath path = flat_path(tree, names_add(tree->names, function, strlen(function)), span);
  AstNode node = {.kind = AST_CALL, .span = span, .extra = path.first, .extra_count = 1};
  return push_node(tree, node, kids, count);
}

AstExpr flat_range(Tree *tree, uint32_t size, Span span) {
  AstExpr kids[2];
  kids[0] = flat_integer(tree, 1, span);
  kids[1] = flat_integer(tree, size, span);
  return push_node(tree, (AstNode){.kind = AST_RANGE, .span = span}, kids, 2);
}

AstExpr flat_iteration(Tree *tree, AstExpr body, Name iterator, AstExpr range, Span span) {
  AstExpr kids[2] = {body, range};
  AstPath path = flat_path(tree, names_add(tree->names, "array", 5), span);
  AstNode node = {.kind = AST_ITERATION, .span = span, .extra = path.first, .extra_count = 1};
  node.value.labels.first = tree->ast->labels.count;
  node.value.labels.count = 1;
  vec_push(tree->heap, &tree->ast->labels, (AstLabel){iterator, span});
  return push_node(tree, node, kids, 2);
}

AstExpr flat_field(Tree *tree, AstExpr value, Name name, Span span) {
  return push_node(tree, (AstNode){.kind = AST_FIELD, .span = span, .value.text = name}, &value, 1);
}

AstExpr flat_copy(Tree *tree, AstExpr e) {
  Ast *ast = tree->ast;
  AstExpr first = ast_first(ast, e), base = ast->nodes.count;
  for (AstExpr i = first; i <= e; i++) {
    AstNode node = ast->nodes.data[i];
    uint32_t kids = ast->kids.count;
    for (uint32_t k = 0; k < node.kid_count; k++) {
      AstExpr kid = ast->kids.data[node.kids + k];
      vec_push(ast->heap, &ast->kids, kid - first + base);
    }
    node.kids = kids;
    node.first = node.first - first + base;
    vec_push(ast->heap, &ast->nodes, node);
  }
  return base + (e - first);
}

AstExpr flat_extend(Tree *tree, AstExpr reference, const Name *names, uint32_t count) {
  Ast *ast = tree->ast;
  AstNode node = *ast_node(ast, reference);
  uint32_t parts = ast->parts.count;
  VEC(AstExpr) kids = {0};
  for (uint32_t i = 0; i < node.kid_count; i++) {
    AstExpr kid = flat_copy(tree, ast_kid(ast, reference, i));
    vec_push(tree->heap, &kids, kid);
  }
  for (uint32_t i = 0; i < node.extra_count; i++) {
    AstPart part = ast->parts.data[node.extra + i];
    vec_push(tree->heap, &ast->parts, part);
  }
  for (uint32_t i = 0; i < count; i++) vec_push(tree->heap, &ast->parts, (AstPart){.name = names[i]});
  node.extra = parts;
  node.extra_count += count;
  AstExpr made = push_node(tree, node, kids.data, kids.count);
  vec_free(tree->heap, &kids);
  return made;
}

/* ---- elements of values ---- */

/* name[i, :] with further subscripts in place of those that select all. AST_NONE if that is not certain. */
static AstExpr pick_of_name(Tree *tree, AstExpr e, const uint32_t *picks, uint32_t count) {
  const Ast *ast = tree->ast;
  AstNode node = *ast_node(ast, e);
  Span span = node.span;
  VEC(AstExpr) kids = {0};
  uint32_t used = 0;
  bool fits = node.extra_count == 1;
  for (uint32_t i = 0; i < node.kid_count && fits; i++) {
    AstExpr kid = ast_kid(ast, e, i);
    bool is_all = ast_kind(ast, kid) == AST_COLON;
    fits = is_all || ast_kind(ast, kid) == AST_INTEGER ||
           (ast_kind(ast, kid) == AST_REFERENCE &&
            *names_text(tree->names, ast_part(ast, ast_path(ast, kid), 0)->name) == '$');
    AstExpr made = is_all && used < count && picks[used] ? flat_integer(tree, picks[used], span) : flat_copy(tree, kid);
    used += is_all;
    vec_push(tree->heap, &kids, made);
  }
  for (; used < count; used++) {
    AstExpr made = picks[used] ? flat_integer(tree, picks[used], span) : flat_colon(tree, span);
    vec_push(tree->heap, &kids, made);
  }
  Name name = ast_part(ast, ast_path(ast, e), 0)->name;
  AstExpr made = fits ? flat_name(tree, name, kids.data, kids.count, span) : AST_NONE;
  vec_free(tree->heap, &kids);
  return made;
}

static AstExpr pick_of_value(Tree *tree, AstExpr e, const uint32_t *picks, uint32_t count) {
  Span span = ast_span(tree->ast, e);
  VEC(AstExpr) kids = {0};
  vec_push(tree->heap, &kids, e);
  for (uint32_t i = 0; i < count; i++) {
    AstExpr made = picks[i] ? flat_integer(tree, picks[i], span) : flat_colon(tree, span);
    vec_push(tree->heap, &kids, made);
  }
  AstExpr made = flat_node(tree, (AstNode){.kind = AST_SUBSCRIPT, .span = span}, kids.data, kids.count);
  vec_free(tree->heap, &kids);
  return made;
}

/* A copy of the node, with the picked parts in place of the kids from number `begin` on in steps of `step`, and of the last kid.
 * Depth is bounded by the depth of the text. */
static AstExpr pick_of_kids(Tree *tree, AstExpr e, uint32_t begin, uint32_t step, const uint32_t *picks,
                            uint32_t count) {
  AstNode node = *ast_node(tree->ast, e);
  VEC(AstExpr) kids = {0};
  for (uint32_t i = 0; i < node.kid_count; i++) {
    bool is_value = i + 1 == node.kid_count || (i >= begin && (i - begin) % step == 0);
    AstExpr kid = ast_kid(tree->ast, e, i), made = is_value ? flat_pick(tree, kid, picks, count) : kid;
    vec_push(tree->heap, &kids, made);
  }
  AstExpr made = flat_node(tree, node, kids.data, kids.count);
  vec_free(tree->heap, &kids);
  return made;
}

/* Is the reference the name alone? */
static bool is_plain_name(const Ast *ast, AstExpr e, Name name) {
  return ast_kind(ast, e) == AST_REFERENCE && ast_path(ast, e).count == 1 && !ast_kid_count(ast, e) &&
         ast_part(ast, ast_path(ast, e), 0)->name == name;
}

/* A copy with `value` in place of an iterator. AST_NONE if an iteration inside has an iterator of the same name. */
static AstExpr substitute(Tree *tree, AstExpr e, Name iterator, AstExpr value) {
  Ast *ast = tree->ast;
  AstExpr first = ast_first(ast, e), made = AST_NONE;
  AstExpr *map = heap_array(tree->heap, e - first + 1, sizeof *map);
  VEC(AstExpr) kids = {0};
  bool fits = true;
  for (AstExpr i = first; i <= e && fits; i++) {
    for (uint32_t k = 0; ast_kind(ast, i) == AST_ITERATION && k < ast_label_count(ast, i); k++)
      fits = fits && ast_label(ast, i, k).name != iterator;
    kids.count = 0;
    for (uint32_t k = 0; k < ast_kid_count(ast, i); k++) vec_push(tree->heap, &kids, map[ast_kid(ast, i, k) - first]);
    if (is_plain_name(ast, i, iterator)) made = flat_copy(tree, value);
    else made = flat_node(tree, *ast_node(ast, i), kids.data, kids.count);
    map[i - first] = made;
  }
  heap_free(tree->heap, map);
  vec_free(tree->heap, &kids);
  return fits ? made : AST_NONE;
}

/* Element `pick` of {e for i in first:last}. AST_NONE if the iteration has another form. */
static AstExpr pick_of_iteration(Tree *tree, AstExpr e, uint32_t pick) {
  const Ast *ast = tree->ast;
  bool is_array = ast_label_count(ast, e) == 1 && ast_path_is(ast, ast_path(ast, e), "array");
  AstExpr range = is_array ? ast_kid(ast, e, 1) : AST_NONE;
  if (!is_array || ast_kind(ast, range) != AST_RANGE || ast_kid_count(ast, range) != 2) return AST_NONE;
  if (ast_kind(ast, ast_kid(ast, range, 0)) != AST_INTEGER) return AST_NONE;
  int64_t begin = ast_node(ast, ast_kid(ast, range, 0))->value.integer;
  AstExpr value = flat_integer(tree, begin + pick - 1, ast_span(ast, range));
  return substitute(tree, ast_kid(ast, e, 0), ast_label(ast, e, 0).name, value);
}

AstExpr flat_pick(Tree *tree, AstExpr e, const uint32_t *picks, uint32_t count) {
  AstExpr made = AST_NONE;
  while (count && picks[count - 1] == 0) count--;
  if (count == 0) return e;
  switch (ast_kind(tree->ast, e)) {
  case AST_ARRAY:
    if (picks[0] == 0) return pick_of_kids(tree, e, 0, 1, picks + 1, count - 1);
    if (picks[0] > ast_kid_count(tree->ast, e)) break;
    return flat_pick(tree, ast_kid(tree->ast, e, picks[0] - 1), picks + 1, count - 1);
  case AST_IF: return pick_of_kids(tree, e, 1, 2, picks, count);
  case AST_ITERATION:
    if (picks[0]) made = pick_of_iteration(tree, e, picks[0]);
    if (made != AST_NONE) return flat_pick(tree, made, picks + 1, count - 1);
    break;
  case AST_REFERENCE: made = pick_of_name(tree, e, picks, count); break;
  default: break;
  }
  return made == AST_NONE ? pick_of_value(tree, e, picks, count) : made;
}

/* ---- dimensions from the model down to an instance ---- */

uint32_t chain_count(const Instance *instance) {
  uint32_t count = 0;
  for (; instance; instance = instance->parent)
    if (instance->kind == INSTANCE_COMPONENT) count += instance->dimensions.count;
  return count;
}

Name chain_iterator(Tree *tree, uint32_t position) {
  char text[16];
  int length = 0;
  text[length++] = '$';
  for (uint32_t digits = position + 1, unit = 1000000; unit; unit /= 10)
    if (digits >= unit || unit == 1) text[length++] = (char)('0' + digits / unit % 10);
  return names_add(tree->names, text, (size_t)length);
}

AstExpr flat_variable(Tree *tree, const Instance *instance, const AstExpr *subscripts, uint32_t count, Span span) {
  return flat_name(tree, instance->flat_name, subscripts, count, span);
}

void flat_connection(Flat *flat, AstExpr left, AstExpr right, Name comment, Span span) {
  vec_push(flat->tree->heap, &flat->connections,
           (AstStatement){.kind = AST_EQUALITY, .left = left, .right = right, .comment = comment, .span = span});
}
