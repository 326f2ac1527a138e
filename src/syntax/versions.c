/* versions: see versions.h. */
#include "syntax/versions.h"

Versions versions_make(const Ast *ast) { return (Versions){.ast = ast}; }

/* The text of an argument name = "text"; 0: none. */
static Name text_value(const Ast *ast, const AstModification *modification, const char *name) {
  const AstArgument *argument = ast_argument(ast, modification, name);
  const AstModification *value = argument ? argument->modification : NULL;
  if (!value || value->value == AST_NONE || ast_kind(ast, value->value) != AST_STRING) return 0;
  return ast_node(ast, value->value)->value.text;
}

/* Can the library replace that version unchanged: conversion(noneFromVersion = "4.0.0", ...)? */
static bool stands_in(const Ast *ast, const AstClass *library, Name version) {
  const AstArgument *conversion = ast_argument(ast, library->annotation, "conversion");
  const AstModification *list = conversion ? conversion->modification : NULL;
  for (uint32_t i = 0; list && i < list->arguments.count; i++) {
    const AstArgument *argument = &list->arguments.data[i];
    const AstModification *value = argument->modification;
    if (!ast_path_is(ast, argument->name, "noneFromVersion") || !value || value->value == AST_NONE) continue;
    if (ast_kind(ast, value->value) == AST_STRING && ast_node(ast, value->value)->value.text == version) return true;
  }
  return false;
}

/* Adds the scripts of conversion(from(version = ..., script = "...")), which describe the changes of the library since
 * then. */
static void add_scripts(Versions *versions, const AstClass *library) {
  const Ast *ast = versions->ast;
  const AstArgument *conversion = ast_argument(ast, library->annotation, "conversion");
  const AstModification *list = conversion ? conversion->modification : NULL;
  for (uint32_t i = 0; list && i < list->arguments.count; i++) {
    const AstArgument *argument = &list->arguments.data[i];
    Name script = ast_path_is(ast, argument->name, "from") ? text_value(ast, argument->modification, "script") : 0;
    if (script) vec_push(ast->heap, &versions->scripts, script);
  }
}

static void check_request(Versions *versions, const VersionRequest *request, const AstClass *library, Diags *diags) {
  const Ast *ast = versions->ast;
  Name version = text_value(ast, library->annotation, "version");
  if (version == request->version || stands_in(ast, library, request->version)) return;
  add_scripts(versions, library);
  const char *name = names_text(ast->names, request->name), *asked = names_text(ast->names, request->version);
  Diag *diag = version ? diag_warning(diags, DIAG_WARNING_OTHER, request->span,
                                      "version %s of %s is requested, version %s is used", asked, name,
                                      names_text(ast->names, version))
                       : diag_warning(diags, DIAG_WARNING_OTHER, request->span,
                                      "version %s of %s is requested, one without a version is used", asked, name);
  diag_note(diags, diag, library->label.span, "the library that is used");
}

static void add_request(Versions *versions, VersionRequest request, Diags *diags) {
  for (uint32_t i = 0; i < versions->requests.count; i++)
    if (versions->requests.data[i].name == request.name && versions->requests.data[i].version == request.version)
      return;
  vec_push(versions->ast->heap, &versions->requests, request);
  for (uint32_t i = 0; i < versions->libraries.count; i++)
    if (versions->libraries.data[i]->label.name == request.name)
      check_request(versions, &request, versions->libraries.data[i], diags);
}

void versions_read(Versions *versions, const AstClass *definition, Diags *diags) {
  const Ast *ast = versions->ast;
  for (uint32_t i = 0; i < versions->requests.count; i++)
    if (versions->requests.data[i].name == definition->label.name)
      check_request(versions, &versions->requests.data[i], definition, diags);
  vec_push(ast->heap, &versions->libraries, definition);
  const AstArgument *uses = ast_argument(ast, definition->annotation, "uses");
  const AstModification *list = uses ? uses->modification : NULL;
  for (uint32_t i = 0; list && i < list->arguments.count; i++) {
    const AstArgument *argument = &list->arguments.data[i];
    Name version = text_value(ast, argument->modification, "version");
    if (version && argument->name.count == 1)
      add_request(versions, (VersionRequest){ast_part(ast, argument->name, 0)->name, version, argument->span}, diags);
  }
}

const char *versions_asked(const Versions *versions, Name name) {
  for (uint32_t i = 0; i < versions->requests.count; i++)
    if (versions->requests.data[i].name == name)
      return names_text(versions->ast->names, versions->requests.data[i].version);
  return NULL;
}
