/* versions: which versions of libraries a model asks for, and which it gets (Modelica 3.6, section 18.8): the
 * annotations version, uses and conversion(noneFromVersion) of classes at the top. */
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
  VEC(Name) scripts;               /* conversion scripts of libraries that stand in for other versions */
} Versions;

Versions versions_make(const Ast *ast);

/* Reads the annotations of a class at the top. Warns about a library that was requested in a version that it does not replace. */
void versions_read(Versions *versions, const AstClass *definition, Diags *diags);

/* The version of that library that was requested first; NULL if none was. */
const char *versions_asked(const Versions *versions, Name name);
