/* lang: the front door of the language: text in, flat model out. */
#pragma once

#include "external/external.h"
#include "model/boundary.h"
#include "syntax/ast.h"
#include "syntax/library.h"

/* A value in place of the binding of a component of the model or of one scalar of it (m[2], r.n): its flat name,
 * and an expression in the language. */
typedef struct Modification {
  const char *name, *value;
} Modification;
typedef VEC(Modification) ModificationVec;

/* How a text is read. */
typedef struct LangOptions {
  bool strict;              /* what the language standard does not have is refused */
  bool energy;              /* a model that gives an energy has its balance as variables, too */
  BoundaryOptions boundary; /* what becomes of final equations */
  ExternalRights *rights;   /* of external functions; NULL: none */
  LibraryOptions library;   /* where classes are found that the text does not have */
} LangOptions;

/* Parses and elaborates. `class_name` chooses the model (its name, with or without the packages around it); NULL: the
 * last model in the file. `modifications` may be NULL; the later of two for one variable counts. Returns NULL, with at
 * least one error in `diags`, if the text is not a valid model; else the model, which lives in `heap` (`source` must
 * outlive it). O(length of the text and size of the result). */
Model *lang_load(Heap *heap, Names *names, Source *source, const char *class_name, const ModificationVec *modifications,
                 LangOptions options, Diags *diags);

/* The same for a file that is parsed. The tree may be in another heap, which the model does not need any more. */
Model *lang_load_class(Heap *heap, Ast *ast, Source *source, const char *class_name,
                       const ModificationVec *modifications, LangOptions options, Diags *diags);

/* A flat class and what it refers to, all by full names: functions, records, enumerations and external objects, whose
 * labels are those names; constants of packages. */
typedef struct FlatProgram {
  const AstClass *model;
  LIST(const AstClass *) definitions;
  LIST(const AstElement *) constants;
  LIST(ComponentClass) classes; /* of the components that were instances */
} FlatProgram;

Model *lang_load_program(Heap *heap, Ast *ast, Source *source, const FlatProgram *program,
                         const ModificationVec *modifications, LangOptions options, Diags *diags);

typedef VEC(double) NumberVec;

/* ---- values before the model is whole ---- */

/* Declarations so far, and what can be computed from them. */
typedef struct LangSession LangSession;

LangSession *lang_session(Ast *ast, LangOptions options);
/* Definitions and declarations as in a flat program; the component of a constant or variable gets the number of those
 * declared before. */
void lang_define(LangSession *session, const AstClass *definition);
uint32_t lang_declare(LangSession *session, const AstElement *element, bool is_constant);

typedef enum LangStatus { LANG_VALUE, LANG_UNKNOWN, LANG_ERROR } LangStatus;

/* The numbers of an expression (Boolean: 0 or 1; literals of enumerations: from 1) in order of their subscripts. LANG_UNKNOWN: it depends on what has no
 * value; LANG_ERROR: lang_error has the reason. All parameters that it depends on are marked structural. */
LangStatus lang_evaluate(LangSession *session, AstExpr e, NumberVec *numbers);
/* The value found last is a single Boolean. */
bool lang_is_condition(const LangSession *session);
/* Sizes of a declared component; NULL if they are not known. `count`: how many. */
const uint32_t *lang_sizes(LangSession *session, uint32_t component, uint32_t *count);
bool lang_is_structural(const LangSession *session, uint32_t component);
const Diag *lang_error(const LangSession *session);
