/* versions: the versions of libraries that a model requests, and those that it gets (Modelica 3.6, section 18.8). They come from
 * the annotations version, uses and conversion(noneFromVersion) of top-level classes. */
#pragma once

#include "syntax/ast.h"

/* One entry of `uses`: Modelica(version = "4.1.0"). */
typedef struct VersionRequest {
  Name name, version;
  Span span;
} VersionRequest;

typedef struct Versions {
  const Ast *ast;
  VEC(VersionRequest) requests;    /* each name and version once */
  VEC(const AstClass *) libraries; /* the classes read so far */
  VEC(Name) scripts;               /* conversion scripts of libraries that replace other versions */
} Versions;

Versions versions_make(const Ast *ast);

/* Reads the annotations of a top-level class. Warns if another version of a library was requested, and the library does not declare
 * that it replaces that version. */
void versions_read(Versions *versions, const AstClass *definition, Diags *diags);

/* The version of that library that was requested first; NULL: none was. */
const char *versions_asked(const Versions *versions, Name name);
