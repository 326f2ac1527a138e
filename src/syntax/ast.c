/* ast: see ast.h. Names as text, and a walk with an explicit stack. */
#include "syntax/ast.h"

#include <string.h>

const char *const ast_energy_words[ENERGY_COUNT] = {[ENERGY_NONE] = "",
                                                    [ENERGY_LAGRANGIAN] = "lagrangian",
                                                    [ENERGY_DISSIPATION] = "dissipation",
                                                    [ENERGY_FORCE] = "force",
                                                    [ENERGY_MINIMIZE] = "minimize",
                                                    [ENERGY_MAXIMIZE] = "maximize",
                                                    [ENERGY_CONSTRAINT] = "constraint"};

const char *const ast_class_words[] = {
    [CLASS_CLASS] = "class",     [CLASS_MODEL] = "model",       [CLASS_BLOCK] = "block",
    [CLASS_RECORD] = "record",   [CLASS_TYPE] = "type",         [CLASS_CONNECTOR] = "connector",
    [CLASS_PACKAGE] = "package", [CLASS_FUNCTION] = "function", [CLASS_OPERATOR] = "operator"};

bool ast_path_is(const Ast *ast, AstPath path, const char *name) {
  if (path.count != 1) return false;
  const AstPart *part = ast_part(ast, path, 0);
  return !part->quoted && !part->subscripts && !strcmp(names_text(ast->names, part->name), name);
}

static const char *const prefix_words[] = {"protected",   "final",  "inner",      "outer",        "redeclare",
                                           "replaceable", "flow",   "stream",     "discrete",     "parameter",
                                           "constant",    "input",  "output",     "encapsulated", "partial",
                                           "pure",        "impure", "expandable", "operator"};
_Static_assert(PREFIX_OPERATOR == 1 << (sizeof prefix_words / sizeof *prefix_words - 1), "one word a prefix");

const char *ast_prefix_text(uint32_t prefixes) {
  uint32_t bit = 0;
  while (!(prefixes >> bit & 1)) bit++;
  return prefix_words[bit];
}

const AstArgument *ast_argument(const Ast *ast, const AstModification *modification, const char *name) {
  for (uint32_t i = 0; modification && i < modification->arguments.count; i++)
    if (ast_path_is(ast, modification->arguments.data[i].name, name)) return &modification->arguments.data[i];
  return NULL;
}

bool ast_annotation(const Ast *ast, const AstModification *annotation, const char *name, bool otherwise) {
  const AstArgument *argument = ast_argument(ast, annotation, name);
  AstExpr value = argument && argument->modification ? argument->modification->value : AST_NONE;
  if (value == AST_NONE || ast_kind(ast, value) != AST_BOOLEAN) return otherwise;
  return ast_node(ast, value)->value.integer;
}

bool ast_hides_result(const Ast *ast, const AstElement *element) {
  return ast_annotation(ast, element->component->annotation, "HideResult", element->prefixes & PREFIX_PROTECTED);
}

const char *ast_path_text(const Ast *ast, AstPath path, Arena *arena) {
  if (path.count == 1 && !path.global) return names_text(ast->names, ast_part(ast, path, 0)->name);
  size_t length = path.global ? 1 : 0;
  for (uint32_t i = 0; i < path.count; i++) length += names_length(ast->names, ast_part(ast, path, i)->name) + (i > 0);
  char *text = arena_alloc(arena, length + 1);
  char *end = text;
  for (uint32_t i = 0; i < path.count; i++) {
    Name name = ast_part(ast, path, i)->name;
    if (i > 0 || path.global) *end++ = '.';
    memcpy(end, names_text(ast->names, name), names_length(ast->names, name));
    end += names_length(ast->names, name);
  }
  return text;
}

AstLabel ast_element_label(const AstElement *element) {
  switch (element->kind) {
  case AST_COMPONENT: return element->component->label;
  case AST_CLASS: return element->class_definition->label;
  case AST_EXTENDS:
  case AST_IMPORT: break;
  }
  return (AstLabel){0};
}
