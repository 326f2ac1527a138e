/* deduce: see deduce.h. New nodes are copies of the old ones, appended after them. */
#include "syntax/deduce.h"

#include <string.h>

enum { MOST_USES = 8 };

/* A part of a reference that has the iterator as a subscript. */
typedef struct Use {
  AstExpr reference;
  uint32_t part, position; /* position: index of the subscript among those of the part */
} Use;

/* ---- nodes ---- */

/* The kids must be the last nodes made, in order. */
static AstExpr make_node(Parser *parser, AstNode node, const AstExpr *kids, uint32_t count) {
  Ast *ast = parser->ast;
  node.kids = ast->kids.count;
  node.kid_count = count;
  node.first = count ? ast->nodes.data[kids[0]].first : ast->nodes.count;
  for (uint32_t i = 0; i < count; i++) vec_push(parser->heap, &ast->kids, kids[i]);
  vec_push(parser->heap, &ast->nodes, node);
  return ast->nodes.count - 1;
}

/* A copy of the expression, with all nodes at `span`. */
static AstExpr copy_expression(Parser *parser, AstExpr e, Span span) {
  Ast *ast = parser->ast;
  AstExpr first = ast_first(ast, e);
  uint32_t shift = ast->nodes.count - first;
  for (AstExpr i = first; i <= e; i++) {
    AstNode node = ast->nodes.data[i];
    uint32_t kids = ast->kids.count;
    for (uint32_t k = 0; k < node.kid_count; k++)
      vec_push(parser->heap, &ast->kids, ast->kids.data[node.kids + k] + shift);
    node.kids = kids;
    node.first += shift;
    node.span = span;
    vec_push(parser->heap, &ast->nodes, node);
  }
  return ast->nodes.count - 1;
}

static AstExpr make_integer(Parser *parser, int64_t value, Span span) {
  return make_node(parser, (AstNode){.kind = AST_INTEGER, .span = span, .value.integer = value}, NULL, 0);
}

static AstExpr make_call(Parser *parser, const char *name, const AstExpr *kids, uint32_t count, Span span) {
  Ast *ast = parser->ast;
  AstNode node = {.kind = AST_CALL, .extra = ast->parts.count, .extra_count = 1, .span = span};
  vec_push(parser->heap, &ast->parts, (AstPart){.name = names_add(ast->names, name, strlen(name))});
  return make_node(parser, node, kids, count);
}

/* ---- uses ---- */

static bool is_iterator(const Ast *ast, AstExpr e, Name name) {
  const AstNode *node = ast_node(ast, e);
  if (node->kind != AST_REFERENCE || node->extra_count != 1 || node->global || node->kid_count) return false;
  const AstPart *part = &ast->parts.data[node->extra];
  return part->name == name && !part->quoted;
}

/* Do both uses have the same array and dimension, by their names? */
static bool is_same(const Ast *ast, Use a, Use b) {
  if (a.part != b.part || a.position != b.position) return false;
  AstPath left = ast_path(ast, a.reference), right = ast_path(ast, b.reference);
  for (uint32_t i = 0; i <= a.part; i++)
    if (ast_part(ast, left, i)->name != ast_part(ast, right, i)->name) return false;
  return true;
}

static uint32_t add_use(const Ast *ast, Use use, Use *uses, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (is_same(ast, uses[i], use)) return count;
  if (count < MOST_USES) uses[count++] = use;
  return count;
}

static uint32_t find_uses(const Ast *ast, Name name, AstExpr begin, AstExpr end, Use *uses) {
  uint32_t count = 0;
  for (AstExpr e = begin; e < end; e++) {
    if (ast_kind(ast, e) != AST_REFERENCE) continue;
    AstPath path = ast_path(ast, e);
    uint32_t kid = 0;
    for (uint32_t part = 0; part < path.count; part++)
      for (uint32_t k = 0; k < ast_part(ast, path, part)->subscripts; k++, kid++)
        if (is_iterator(ast, ast_kid(ast, e, kid), name)) count = add_use(ast, (Use){e, part, k}, uses, count);
  }
  return count;
}

/* ---- ranges ---- */

/* Copies the reference up to the part, without the subscripts of that part. */
static AstExpr copy_array(Parser *parser, Use use, Span span) {
  Ast *ast = parser->ast;
  AstNode node = *ast_node(ast, use.reference);
  AstPath path = ast_path(ast, use.reference);
  VEC(AstExpr) kids = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < use.part; i++) count += ast_part(ast, path, i)->subscripts;
  for (uint32_t i = 0; i < count; i++) {
    AstExpr copy = copy_expression(parser, ast_kid(ast, use.reference, i), span);
    vec_push(parser->heap, &kids, copy);
  }
  node.span = span;
  node.extra = ast->parts.count;
  node.extra_count = use.part + 1;
  for (uint32_t i = 0; i <= use.part; i++) {
    AstPart part = *ast_part(ast, path, i);
    if (i == use.part) part.subscripts = 0;
    vec_push(parser->heap, &ast->parts, part);
  }
  AstExpr made = make_node(parser, node, kids.data, kids.count);
  vec_free(parser->heap, &kids);
  return made;
}

static AstExpr make_size(Parser *parser, Use use, Span span) {
  AstExpr kids[2];
  kids[0] = copy_array(parser, use, span);
  kids[1] = make_integer(parser, use.position + 1, span);
  return make_call(parser, "size", kids, 2, span);
}

/* 1:size(x, 1), or 1:max({size(x, 1), size(y, 2)}) */
static AstExpr make_range(Parser *parser, const Use *uses, uint32_t count, Span span) {
  AstExpr range[2], sizes[MOST_USES];
  range[0] = make_integer(parser, 1, span);
  for (uint32_t i = 0; i < count; i++) sizes[i] = make_size(parser, uses[i], span);
  range[1] = sizes[0];
  if (count > 1) {
    AstExpr all = make_node(parser, (AstNode){.kind = AST_ARRAY, .span = span}, sizes, count);
    range[1] = make_call(parser, "max", &all, 1, span);
  }
  return make_node(parser, (AstNode){.kind = AST_RANGE, .span = span}, range, 2);
}

/* ---- types as dimensions ---- */

/* The dimension of a component that one of the open classes declares; AST_NONE if it is not known here. */
static AstExpr declared_dimension(const Parser *parser, Use use) {
  AstPath path = ast_path(parser->ast, use.reference);
  if (use.part > 0) return AST_NONE;
  for (uint32_t i = parser->elements.count; i-- > vec_last(&parser->classes).elements;) {
    const AstElement *element = &parser->elements.data[i];
    if (element->kind != AST_COMPONENT || element->component->label.name != ast_part(parser->ast, path, 0)->name)
      continue;
    const AstComponent *component = element->component;
    uint32_t own = component->dimensions.count;
    if (use.position < own) return component->dimensions.data[use.position];
    uint32_t k = use.position - own;
    return k < component->type->dimensions.count ? component->type->dimensions.data[k] : AST_NONE;
  }
  return AST_NONE;
}

static bool is_enumeration(const Parser *parser, Name name) {
  for (uint32_t i = 0; i < parser->elements.count; i++) {
    const AstElement *element = &parser->elements.data[i];
    if (element->kind == AST_CLASS && element->class_definition->form == FORM_ENUMERATION &&
        element->class_definition->label.name == name)
      return true;
  }
  return false;
}

/* Is the dimension a type: Boolean, or an enumeration declared here? */
static bool is_type(const Parser *parser, AstExpr dimension) {
  const Ast *ast = parser->ast;
  if (dimension == AST_NONE || ast_kind(ast, dimension) != AST_REFERENCE) return false;
  AstPath path = ast_path(ast, dimension);
  return ast_path_is(ast, path, "Boolean") || (path.count == 1 && is_enumeration(parser, ast_part(ast, path, 0)->name));
}

AstExpr deduce_range(Parser *parser, AstLabel iterator, AstExpr begin, AstExpr end) {
  Use uses[MOST_USES];
  uint32_t count = find_uses(parser->ast, iterator.name, begin, end, uses);
  for (uint32_t i = 0; i < count && parser->classes.count; i++) {
    AstExpr dimension = declared_dimension(parser, uses[i]);
    if (is_type(parser, dimension)) return copy_expression(parser, dimension, iterator.span);
  }
  if (count) return make_range(parser, uses, count, iterator.span);
  parser_error(parser, iterator.span, "the range of `%s` is not known: it is not used as a subscript",
               names_text(parser->ast->names, iterator.name));
  return AST_NONE;
}
