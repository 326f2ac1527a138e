/* parser: see parser.h. This file parses classes and their elements; tokens, expressions, modifications and statements have
 * separate files. Grammar: Modelica 3.6, appendix A.2, with the extensions in docs/language.md.
 *
 * Invariant: each open class is a frame. Between two elements or statements, all other stacks contain only finished items. */
#include "syntax/parser.h"

#include "syntax/parser_state.h"
#include "syntax/restrict.h"

#include <string.h>

/* ---- elements ---- */

static void push_element(Parser *parser, AstElement element) {
  restrict_element(parser, &element, element.span);
  element.span.end = parser->previous_end;
  vec_push(parser->heap, &parser->elements, element);
}

/* component-declaration = IDENT [ array-subscripts ] [ modification ] [ "if" expression ] comment */
static bool read_component(Parser *parser, AstComponent *component) {
  if (!parse_label(parser, &component->label, "the name of a component")) return false;
  if (!parse_dimensions(parser, &component->dimensions)) return false;
  if (!parse_modification(parser, &component->modification)) return false;
  if (parser_accept(parser, TOKEN_IF) && (component->condition = parse_expression(parser)) == AST_NONE) return false;
  return parse_comment(parser, &component->comment) && parse_annotation(parser, &component->annotation);
}

/* Detects a statement among the elements by the token after its first name. */
static bool check_declaration(Parser *parser) {
  TokenKind kind = parser->token.kind;
  if (kind == TOKEN_EQUALS || kind == TOKEN_LEFT_PAREN || (kind >= TOKEN_PLUS && kind <= TOKEN_NOT_EQUAL))
    return parser_unexpected(parser,
                             "expected the name of a component after its type (equations come after `equation`)");
  if (kind == TOKEN_ASSIGN)
    return parser_unexpected(parser,
                             "expected the name of a component after its type (statements come after `algorithm`)");
  return true;
}

/* component-clause = type-prefix type-specifier [ array-subscripts ] component-declaration { ","
 * component-declaration } */
static bool read_component_clause(Parser *parser, AstElement element) {
  Arena *arena = &parser->ast->arena;
  AstType *type = arena_alloc(arena, sizeof *type);
  element.kind = AST_COMPONENT;
  if (!parse_path(parser, &type->name) || !parse_dimensions(parser, &type->dimensions)) return false;
  if (!check_declaration(parser)) return false;
  do {
    element.component = arena_alloc(arena, sizeof *element.component);
    element.component->type = type;
    element.component->condition = AST_NONE;
    bool ok = read_component(parser, element.component);
    if (ok && !parse_constraint(parser, &element.constraint)) ok = false;
    push_element(parser, element);
    if (!ok) return false;
  } while (parser_accept(parser, TOKEN_COMMA));
  return parser_semicolon(parser);
}

/* extends-clause = "extends" type-specifier [ class-modification ] [ annotation ] */
static bool read_extends(Parser *parser, AstElement element) {
  AstExtends *extends = element.extends = arena_alloc(&parser->ast->arena, sizeof *extends);
  element.kind = AST_EXTENDS;
  parser_advance(parser);
  if (!parse_path(parser, &extends->name)) return false;
  if (parser->token.kind == TOKEN_LEFT_PAREN && !(extends->modification = parse_class_modification(parser)))
    return false;
  if (!parse_annotation(parser, &extends->annotation)) return false;
  push_element(parser, element);
  return parser_semicolon(parser);
}

/* import-list = "{" IDENT { "," IDENT } "}" */
static bool read_import_list(Parser *parser, AstImport *import) {
  VEC(AstLabel) names = {0};
  bool ok = true;
  parser_advance(parser);
  do {
    AstLabel label = {0};
    ok = parse_label(parser, &label, "a name to import");
    vec_push(parser->heap, &names, label);
  } while (ok && parser_accept(parser, TOKEN_COMMA));
  parser_take(parser, &import->names, &names, 0);
  vec_free(parser->heap, &names);
  return ok && parser_expect(parser, TOKEN_RIGHT_BRACE, "after the names to import");
}

/* name [ ".*" | "." "{" import-list "}" ]: a path that may end in a star or a list. */
static bool read_import_path(Parser *parser, AstImport *import) {
  Ast *ast = parser->ast;
  import->name = (AstPath){.first = ast->parts.count, .span = parser->token.span};
  do {
    if (import->name.count && parser->token.kind == TOKEN_LEFT_BRACE) return read_import_list(parser, import);
    if (parser->token.kind != TOKEN_IDENTIFIER) return parser_unexpected(parser, "expected a name to import");
    vec_push(parser->heap, &ast->parts, (AstPart){.name = parser->token.name, .quoted = parser->token.quoted});
    import->name.count++;
    parser_advance(parser);
    import->name.span.end = parser->previous_end;
  } while (parser_accept(parser, TOKEN_DOT));
  import->is_all = parser_accept(parser, TOKEN_DOT_STAR);
  return true;
}

/* import-clause = "import" ( IDENT "=" name | name [ ".*" | ".{" import-list "}" ] ) comment */
static bool read_import(Parser *parser, AstElement element) {
  AstImport *import = element.import = arena_alloc(&parser->ast->arena, sizeof *import);
  element.kind = AST_IMPORT;
  parser_advance(parser);
  if (parser->token.kind == TOKEN_IDENTIFIER && parser_peek(parser) == TOKEN_EQUALS) {
    if (!parse_label(parser, &import->alias, "a name")) return false;
    parser_advance(parser);
  }
  Name comment;
  AstModification *annotation;
  if (!read_import_path(parser, import) || !parse_comment(parser, &comment)) return false;
  if (!parse_annotation(parser, &annotation)) return false;
  push_element(parser, element);
  return parser_semicolon(parser);
}

/* ---- classes ---- */

/* Ends a class after its semicolon, and adds it to the enclosing class or the file. */
static bool finish_class(Parser *parser, AstElement element) {
  AstClass *definition = element.class_definition;
  bool ok = parse_constraint(parser, &element.constraint) && parser_semicolon(parser);
  definition->span.end = parser->previous_end;
  if (parser->classes.count) push_element(parser, element);
  else {
    restrict_element(parser, &element, element.span);
    vec_push(parser->heap, &parser->roots, definition);
  }
  return ok;
}

/* "der" "(" type-specifier "," IDENT { "," IDENT } ")" */
static bool read_derivative(Parser *parser, AstClass *definition) {
  definition->form = FORM_DERIVATIVE;
  parser_advance(parser);
  if (!parser_expect(parser, TOKEN_LEFT_PAREN, "after `der`") || !parse_path(parser, &definition->base.name))
    return false;
  VEC(AstLiteral) literals = {0};
  bool ok = true;
  while (ok && parser_accept(parser, TOKEN_COMMA)) {
    AstLiteral literal = {0};
    ok = parse_label(parser, &literal.label, "the name of an input");
    vec_push(parser->heap, &literals, literal);
  }
  parser_take(parser, &definition->literals, &literals, 0);
  vec_free(parser->heap, &literals);
  return ok && parser_expect(parser, TOKEN_RIGHT_PAREN, "after the inputs");
}

/* short-class-specifier = IDENT "=" ( base-prefix type-specifier [ array-subscripts ] [ class-modification ]
 * |
 *   "enumeration" ... | "der" ... ) comment */
static bool read_short_class(Parser *parser, AstElement element) {
  AstClass *definition = element.class_definition;
  parser_advance(parser);
  bool ok;
  if (parser->token.kind == TOKEN_ENUMERATION) ok = parse_enumeration(parser, definition);
  else if (parser->token.kind == TOKEN_DER) ok = read_derivative(parser, definition);
  else ok = parse_short_head(parser, definition);
  if (!ok) return false;
  if (parser->token.kind == TOKEN_LEFT_PAREN && definition->form == FORM_SHORT &&
      !(definition->modification = parse_class_modification(parser)))
    return false;
  if (!parse_comment(parser, &definition->comment) || !parse_annotation(parser, &definition->annotation)) return false;
  restrict_class(parser, definition, (Span){0});
  return finish_class(parser, element);
}

/* The full name of a class contains those of all enclosing classes, so the length of all names grows with the square of the
 * depth. */
enum { CLASS_DEPTH_LIMIT = 200 };

static void open_class(Parser *parser, AstElement element) {
  if (parser->classes.count == CLASS_DEPTH_LIMIT)
    diag_error(parser->diags, DIAG_LIMIT, element.class_definition->label.span, "classes are nested deeper than %d",
               CLASS_DEPTH_LIMIT);
  ClassFrame frame = {.definition = element.class_definition, .element = element};
  frame.elements = parser->elements.count;
  frame.sections = parser->sections.count;
  vec_push(parser->heap, &parser->classes, frame);
}

/* class-definition = class-prefixes ( IDENT description-string composition "end" IDENT |
 *   "extends" IDENT [ class-modification ] description-string composition "end" IDENT |
 * short-class-specifier ); the prefixes have been read, and the class's kind. */
static bool begin_class(Parser *parser, AstElement element) {
  AstClass *definition = element.class_definition;
  definition->form = parser_accept(parser, TOKEN_EXTENDS) ? FORM_EXTENDS : FORM_LONG;
  if (!parse_label(parser, &definition->label, "the name of the class")) return false;
  if (definition->form == FORM_LONG && parser->token.kind == TOKEN_EQUALS) return read_short_class(parser, element);
  bool ok = true;
  if (definition->form == FORM_EXTENDS && parser->token.kind == TOKEN_LEFT_PAREN)
    ok = (definition->modification = parse_class_modification(parser)) != NULL;
  ok = ok && parse_comment(parser, &definition->comment);
  open_class(parser, element);
  return ok;
}

/* element = import-clause | extends-clause | [ "redeclare" ] [ "final" ] [ "inner" ] [ "outer" ] [ "replaceable" ] (
 *   class-definition | component-clause ) [ constraining-clause ] */
static bool read_element(Parser *parser) {
  uint32_t visibility = parser->classes.count ? vec_last(&parser->classes).visibility : 0;
  AstElement element = {.span = parser->token.span, .prefixes = visibility};
  element.prefixes |= parse_prefixes(parser);
  if (parser->token.kind == TOKEN_IMPORT) return read_import(parser, element);
  if (parser->token.kind == TOKEN_EXTENDS) return read_extends(parser, element);
  AstClass definition = {.prefixes = element.prefixes, .span = element.span};
  if (parse_class_kind(parser, &definition)) {
    element.kind = AST_CLASS;
    element.class_definition = arena_alloc(&parser->ast->arena, sizeof definition);
    *element.class_definition = definition;
    return begin_class(parser, element);
  }
  if (parser->token.kind == TOKEN_IDENTIFIER || parser->token.kind == TOKEN_DOT)
    return read_component_clause(parser, element);
  return parser_unexpected(parser, "expected a declaration, `equation`, `algorithm` or `end`");
}

/* ---- composition ---- */

static void end_section(Parser *parser) {
  ClassFrame *frame = &vec_last(&parser->classes);
  if (!frame->in_section) return;
  parser_abandon_blocks(parser, 0);
  parser_take(parser, &frame->section.body, &parser->statements, 0);
  vec_push(parser->heap, &parser->sections, frame->section);
  frame->in_section = false;
}

/* [ "initial" ] ( "equation" | "algorithm" ) | "final" "equation" */
static bool begin_section(Parser *parser) {
  end_section(parser);
  ClassFrame *frame = &vec_last(&parser->classes);
  AstSection section = {.span = parser->token.span};
  section.is_initial = parser_accept(parser, TOKEN_INITIAL);
  section.is_final = parser_accept(parser, TOKEN_FINAL);
  section.is_algorithm = parser->token.kind == TOKEN_ALGORITHM;
  parser_advance(parser);
  section.span.end = parser->previous_end;
  frame->section = section;
  frame->in_section = true;
  return true;
}

static Name element_name(const AstElement *element) {
  switch (element->kind) {
  case AST_COMPONENT: return element->component->label.name;
  case AST_CLASS: return element->class_definition->label.name;
  case AST_EXTENDS:
  case AST_IMPORT: break;
  }
  return 0;
}

/* Has an open class, or the file, declared this name so far? */
static bool is_declared(const Parser *parser, Name name) {
  for (uint32_t i = 0; i < parser->elements.count; i++)
    if (element_name(&parser->elements.data[i]) == name) return true;
  for (uint32_t i = 0; i < parser->roots.count; i++)
    if (parser->roots.data[i]->label.name == name) return true;
  return false;
}

/* The energy section that the present word opens. It opens none if the word is declared, within a block, or if it begins an
 * equation or statement: force = m*a. */
static AstEnergy energy_section(Parser *parser) {
  const Token *token = &parser->token;
  if (token->kind != TOKEN_IDENTIFIER || token->quoted || parser->blocks.count) return ENERGY_NONE;
  const char *word = names_text(parser->ast->names, token->name);
  AstEnergy energy = ENERGY_LAGRANGIAN;
  while (energy < ENERGY_COUNT && strcmp(word, ast_energy_words[energy]) != 0) energy++;
  if (energy == ENERGY_COUNT || is_declared(parser, token->name)) return ENERGY_NONE;
  TokenKind next = parser_peek(parser);
  bool is_reference = next == TOKEN_EQUALS || next == TOKEN_ASSIGN || next == TOKEN_DOT || next == TOKEN_LEFT_BRACKET;
  return is_reference ? ENERGY_NONE : energy;
}

/* ( "lagrangian" | "dissipation" | "minimize" | "maximize" ) { expression comment ";" }
 * | ( "force" | "constraint" ) { equation } */
static bool begin_energy(Parser *parser, AstEnergy energy) {
  end_section(parser);
  ClassFrame *frame = &vec_last(&parser->classes);
  frame->section = (AstSection){.energy = energy, .span = parser->token.span};
  frame->in_section = true;
  parser_advance(parser);
  return true;
}

/* Reports a name that is declared after a section that it opens, since it could mean both. */
static void check_energy_words(Parser *parser, const AstClass *definition) {
  for (uint32_t s = 0; s < definition->sections.count; s++) {
    const AstSection *section = &definition->sections.data[s];
    const char *word = ast_energy_words[section->energy];
    Name known = names_find(parser->ast->names, word, strlen(word));
    for (uint32_t i = 0; section->energy && i < definition->elements.count; i++) {
      if (element_name(&definition->elements.data[i]) != known) continue;
      Diag *diag = parser_error(parser, definition->elements.data[i].span,
                                "`%s` is declared after the section of that name; declare it before", word);
      if (diag) diag_note(parser->diags, diag, section->span, "the section");
    }
  }
}

static bool begin_visibility(Parser *parser) {
  end_section(parser);
  vec_last(&parser->classes).visibility = parser->token.kind == TOKEN_PROTECTED ? PREFIX_PROTECTED : 0;
  parser_advance(parser);
  return true;
}

/* external-function-call = [ component-reference "=" ] IDENT "(" [ expression-list ] ")" */
static bool read_external_call(Parser *parser, AstExternal *external) {
  if (parser_peek(parser) != TOKEN_LEFT_PAREN) {
    external->output = parse_expression(parser);
    if (external->output == AST_NONE || !parser_expect(parser, TOKEN_EQUALS, "before the external function"))
      return false;
  }
  if (!parse_label(parser, &external->function, "the name of the external function")) return false;
  if (!parser_expect(parser, TOKEN_LEFT_PAREN, "after the external function")) return false;
  IndexVec arguments = {0};
  bool more = parser->token.kind != TOKEN_RIGHT_PAREN;
  while (more) {
    AstExpr e = parse_expression(parser);
    if (e == AST_NONE) return false;
    vec_push(parser->heap, &arguments, e);
    more = parser_accept(parser, TOKEN_COMMA);
  }
  parser_take(parser, &external->arguments, &arguments, 0);
  vec_free(parser->heap, &arguments);
  return parser_expect(parser, TOKEN_RIGHT_PAREN, "after the arguments");
}

/* "external" [ STRING ] [ external-function-call ] [ annotation ] ";" */
static bool read_external(Parser *parser) {
  end_section(parser);
  AstClass *definition = vec_last(&parser->classes).definition;
  AstExternal *external = arena_alloc(&parser->ast->arena, sizeof *external);
  if (definition->external) parser_error(parser, parser->token.span, "a function may have only one `external`");
  definition->external = external;
  external->output = AST_NONE;
  external->span = parser->token.span;
  parser_advance(parser);
  if (parser->token.kind == TOKEN_STRING) {
    const char *language = names_text(parser->ast->names, parser->token.name);
    external->language = parser->token.name;
    if (strcmp(language, "C") != 0 && strcmp(language, "FORTRAN 77") != 0 && strcmp(language, "builtin") != 0)
      parser_error(parser, parser->token.span,
                   "`%s` is not a language of external functions: they are \"C\" or \"FORTRAN 77\"", language);
    parser_advance(parser);
  }
  bool has_call = parser->token.kind == TOKEN_IDENTIFIER || parser->token.kind == TOKEN_DOT;
  if (has_call && !read_external_call(parser, external)) return false;
  if (!parse_annotation(parser, &external->annotation)) return false;
  external->span.end = parser->previous_end;
  return parser_semicolon(parser);
}

/* The annotation of the class; a second one adds its arguments. */
static bool read_class_annotation(Parser *parser) {
  AstClass *definition = vec_last(&parser->classes).definition;
  AstModification *annotation, *before = definition->annotation;
  parser_abandon_blocks(parser, 0);
  if (!parse_annotation(parser, &annotation)) return false;
  if (before) {
    uint32_t count = before->arguments.count;
    AstArgument *all = arena_array(&parser->ast->arena, count + annotation->arguments.count, sizeof *all);
    if (count) memcpy(all, before->arguments.data, count * sizeof *all);
    if (annotation->arguments.count)
      memcpy(all + count, annotation->arguments.data, annotation->arguments.count * sizeof *all);
    annotation->arguments.data = all;
    annotation->arguments.count += count;
  }
  definition->annotation = annotation;
  return parser_semicolon(parser);
}

/* Pops the innermost class from the stack. */
static AstElement close_class(Parser *parser) {
  end_section(parser);
  ClassFrame frame = vec_pop(&parser->classes);
  parser_take(parser, &frame.definition->elements, &parser->elements, frame.elements);
  parser_take(parser, &frame.definition->sections, &parser->sections, frame.sections);
  frame.definition->span.end = parser->previous_end;
  check_energy_words(parser, frame.definition);
  restrict_class(parser, frame.definition, frame.time);
  return frame.element;
}

/* Reports a wrong name after `end`. If it is the name of an enclosing class, the classes within have no end and are closed. */
static void mend_end(Parser *parser, AstLabel label) {
  const Names *names = parser->ast->names;
  uint32_t open = parser->classes.count;
  while (open && parser->classes.data[open - 1].definition->label.name != label.name) open--;
  AstLabel inner = vec_last(&parser->classes).definition->label;
  Diag *diag;
  if (open) {
    diag = parser_error(parser, label.span, "`end %s;` is missing before this", names_text(names, inner.name));
  } else {
    diag = parser_error(parser, label.span, "wrong name after `end`: expected `%s`, found `%s`",
                        names_text(names, inner.name), names_text(names, label.name));
  }
  if (diag) diag_note(parser->diags, diag, inner.span, "the class that ends here");
  while (open && parser->classes.count > open) push_element(parser, close_class(parser));
}

/* "end" IDENT ";" */
static bool end_class(Parser *parser) {
  parser_abandon_blocks(parser, 0);
  parser_advance(parser);
  AstLabel label = {parser->token.name, parser->token.span};
  const AstClass *inner = vec_last(&parser->classes).definition;
  if (!parser_accept(parser, TOKEN_IDENTIFIER))
    parser_unexpected(parser, "expected the name of the class after `end`, `end %s`",
                      names_text(parser->ast->names, inner->label.name));
  else if (label.name != inner->label.name) mend_end(parser, label);
  return finish_class(parser, close_class(parser));
}

/* Reports that the text ends within a class. */
static void abandon_classes(Parser *parser) {
  AstLabel label = vec_last(&parser->classes).definition->label;
  parser_abandon_blocks(parser, 0);
  Diag *diag = parser_error(parser, parser->token.span, "the file ends before `end %s;`",
                            names_text(parser->ast->names, label.name));
  if (diag) diag_note(parser->diags, diag, label.span, "the class that is not closed");
  while (parser->classes.count) {
    AstElement element = close_class(parser);
    if (parser->classes.count) push_element(parser, element);
    else vec_push(parser->heap, &parser->roots, element.class_definition);
  }
}

/* composition = { element ";" | "public" | "protected" | section | "external" ... | annotation ";" }, one
 * part of it. */
static bool read_part(Parser *parser) {
  ClassFrame *frame = &vec_last(&parser->classes);
  switch (parser->token.kind) {
  case TOKEN_PUBLIC:
  case TOKEN_PROTECTED: return begin_visibility(parser);
  case TOKEN_EQUATION:
  case TOKEN_ALGORITHM: return begin_section(parser);
  case TOKEN_INITIAL: {
    TokenKind next = parser_peek(parser);
    if (next == TOKEN_EQUATION || next == TOKEN_ALGORITHM) return begin_section(parser);
    break;
  }
  case TOKEN_FINAL:
    if (parser_peek(parser) == TOKEN_EQUATION) return begin_section(parser);
    break;
  case TOKEN_EXTERNAL: return read_external(parser);
  case TOKEN_ANNOTATION: return read_class_annotation(parser);
  case TOKEN_END: {
    TokenKind next = parser_peek(parser);
    bool is_block = next == TOKEN_IF || next == TOKEN_FOR || next == TOKEN_WHEN || next == TOKEN_WHILE;
    if (!is_block) return end_class(parser);
    break;
  }
  case TOKEN_IDENTIFIER: {
    AstEnergy energy = energy_section(parser);
    if (energy) return begin_energy(parser, energy);
    break;
  }
  default: break;
  }
  return frame->in_section ? parse_statement(parser, frame->section.is_algorithm) : read_element(parser);
}

/* ---- the file ---- */

/* [ "within" [ name ] ";" ] */
static bool read_within(Parser *parser) {
  parser_advance(parser);
  parser->file->has_within = true;
  if (parser->token.kind == TOKEN_IDENTIFIER && !parse_path(parser, &parser->file->within)) return false;
  return parser_semicolon(parser);
}

static bool at_class(Parser *parser) {
  switch (parser->token.kind) {
  case TOKEN_CLASS:
  case TOKEN_MODEL:
  case TOKEN_BLOCK:
  case TOKEN_RECORD:
  case TOKEN_TYPE:
  case TOKEN_CONNECTOR:
  case TOKEN_PACKAGE:
  case TOKEN_FUNCTION:
  case TOKEN_OPERATOR:
  case TOKEN_ENCAPSULATED:
  case TOKEN_PARTIAL:
  case TOKEN_FINAL:
  case TOKEN_PURE:
  case TOKEN_IMPURE:
  case TOKEN_EXPANDABLE: return true;
  default: return false;
  }
}

/* Reads a definition of the file; skips anything else up to the next definition. */
static bool read_definition(Parser *parser) {
  if (at_class(parser)) return read_element(parser);
  parser_unexpected(parser, "expected a class, as in `model M ... end M;`");
  while (parser->token.kind != TOKEN_FINISH && !at_class(parser)) parser_advance(parser);
  return true;
}

/* stored-definition = [ "within" [ name ] ";" ] { [ "final" ] class-definition ";" } */
static void read_file(Parser *parser) {
  if (parser->token.kind == TOKEN_WITHIN && !read_within(parser)) parser_recover(parser, parser->token.span.begin);
  while (parser->token.kind != TOKEN_FINISH || parser->classes.count) {
    uint32_t begin = parser->token.span.begin;
    if (parser->token.kind == TOKEN_FINISH) abandon_classes(parser);
    else if (!(parser->classes.count ? read_part(parser) : read_definition(parser))) parser_recover(parser, begin);
  }
}

static void parser_free(Parser *parser) {
  Heap *heap = parser->heap;
  lexer_free(&parser->lexer);
  vec_free(heap, &parser->operands, &parser->frames, &parser->operators, &parser->parts, &parser->labels,
           &parser->modifications);
  vec_free(heap, &parser->arguments, &parser->blocks, &parser->statements, &parser->branches, &parser->iterators,
           &parser->classes);
  vec_free(heap, &parser->elements, &parser->sections, &parser->roots, &parser->list);
}

const AstFile *parse_file(Ast *ast, uint32_t number, Diags *diags) {
  AstFile *file = arena_alloc(&ast->arena, sizeof *file);
  Parser parser = {.heap = ast->heap, .ast = ast, .file = file, .diags = diags, .first_diag = diags->list.count};
  uint32_t errors = diags->errors, begin = ast->source->files.data[number].begin;
  parser.lexer = lexer_make(ast->heap, ast->names, &ast->source->files.data[number], diags);
  parser.time = names_add(ast->names, "time", 4);
  parser_advance(&parser);
  read_file(&parser);
  parser_take(&parser, &file->classes, &parser.roots, 0);
  file->version = parser.lexer.version;
  if (!file->classes.count && diags->errors == errors)
    diag_error(diags, DIAG_SYNTAX, (Span){begin, begin + 1},
               "the file is empty: expected a class, as in `model M ... end M;`");
  parser_free(&parser);
  return file;
}

Ast *parse(Heap *heap, Names *names, const Source *source, Diags *diags) {
  Ast *ast = heap_alloc(heap, sizeof *ast);
  *ast = (Ast){.heap = heap, .arena = arena_make(heap), .names = names, .source = source};
  ast->main = source_main(source)->path ? parse_file(ast, 0, diags) : arena_alloc(&ast->arena, sizeof *ast->main);
  return ast;
}

AstExpr parse_value(Ast *ast, const char *text, Diags *diags) {
  const Source *outer = ast->source;
  Source source = source_make(ast->heap, "", text, (uint32_t)strlen(text));
  Diags own = diags_make(ast->heap);
  Parser parser = {.heap = ast->heap, .ast = ast, .diags = &own};
  uint32_t first = ast->nodes.count;
  ast->source = &source;
  parser.lexer = lexer_make(ast->heap, ast->names, source_main(&source), &own);
  parser_advance(&parser);
  AstExpr e = parse_expression(&parser);
  if (e != AST_NONE) parser_expect(&parser, TOKEN_FINISH, NULL);
  if (own.errors) diag_error(diags, DIAG_SYNTAX, (Span){0}, "`%s`: %s", text, own.list.data[0].message);
  for (uint32_t i = first; i < ast->nodes.count; i++) ast->nodes.data[i].span = (Span){0};
  parser_free(&parser);
  ast->source = outer;
  return own.errors ? AST_NONE : e;
}
