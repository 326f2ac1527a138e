/* lang: the entry to the language: text in, flat model out. */
#pragma once

#include "external/external.h"
#include "model/boundary.h"
#include "syntax/ast.h"
#include "syntax/library.h"

/* A value that replaces the binding of a component of the model, or of one scalar of it (m[2], r.n): a flat name, and an expression
 * in the language. */
typedef struct Modification {
  const char *name, *value;
} Modification;
typedef VEC(Modification) ModificationVec;

/* Options for reading a text. */
typedef struct LangOptions {
  bool strict;              /* refuse extensions of the language standard */
  bool energy;              /* add the energy balance as variables to a model that gives an energy */
  BoundaryOptions boundary; /* how final equations are treated */
  ExternalRights *rights;   /* rights of external functions; NULL: none */
  LibraryOptions library;   /* where to find classes that the text does not define */
} LangOptions;

/* Parses and elaborates. `class_name` chooses the model (its name, with or without the enclosing packages); NULL: the last model in
 * the file. `modifications` may be NULL; if two are for one variable, the later one counts. Returns the model, which is owned by
 * `heap` (`source` must outlive it). If the text is not a valid model, returns NULL with at least one error in `diags`. O(length of
 * the text and size of the result). */
Model *lang_load(Heap *heap, Names *names, Source *source, const char *class_name, const ModificationVec *modifications,
                 LangOptions options, Diags *diags);

/* Like lang_load, for a file that is already parsed. The tree may be in another heap; the model does not need it afterwards. */
Model *lang_load_class(Heap *heap, Ast *ast, Source *source, const char *class_name,
                       const ModificationVec *modifications, LangOptions options, Diags *diags);

/* A flat class and everything it refers to, by full names: functions, records, enumerations and external objects, which are
 * labelled with those names, and constants of packages. */
typedef struct FlatProgram {
  const AstClass *model;
  LIST(const AstClass *) definitions;
  LIST(const AstElement *) constants;
  LIST(ComponentClass) classes; /* classes of the components that are instances of classes */
} FlatProgram;

Model *lang_load_program(Heap *heap, Ast *ast, Source *source, const FlatProgram *program,
                         const ModificationVec *modifications, LangOptions options, Diags *diags);

typedef VEC(double) NumberVec;

/* ---- values before the model is complete ---- */

/* The declarations so far, from which values can be computed. */
typedef struct LangSession LangSession;

LangSession *lang_session(Ast *ast, LangOptions options);
/* Definitions and declarations as in a flat program. Components are numbered from 0 in order of declaration. */
void lang_define(LangSession *session, const AstClass *definition);
uint32_t lang_declare(LangSession *session, const AstElement *element, bool is_constant);

typedef enum LangStatus { LANG_VALUE, LANG_UNKNOWN, LANG_ERROR } LangStatus;

/* The numbers of an expression (Boolean: 0 or 1; enumeration literals: from 1) in the order of their subscripts. LANG_UNKNOWN: it
 * depends on something without a value; LANG_ERROR: lang_error gives the reason. Marks all parameters that it depends on as
 * structural. */
LangStatus lang_evaluate(LangSession *session, AstExpr e, NumberVec *numbers);
/* Is the last value found a single Boolean? */
bool lang_is_condition(const LangSession *session);
/* Sizes of a declared component; NULL if they are not known. `count`: how many. */
const uint32_t *lang_sizes(LangSession *session, uint32_t component, uint32_t *count);
bool lang_is_structural(const LangSession *session, uint32_t component);
const Diag *lang_error(const LangSession *session);
