/* lang: the front door of the language: text in, flat model out. */
#pragma once

#include "external/external.h"
#include "model/model.h"
#include "syntax/library.h"

/* A value in place of the binding of a component of the model or of one scalar of it (m[2], r.n): its flat name,
 * and an expression in the language. */
typedef struct Modification {
  const char *name, *value;
} Modification;
typedef VEC(Modification) ModificationVec;

/* How a text is read. */
typedef struct LangOptions {
  bool strict;                  /* what the language standard does not have is refused */
  bool energy;                  /* a model that gives an energy has its balance as variables, too */
  const ExternalRights *rights; /* of external functions; NULL: those built in that only read */
  LibraryOptions library;       /* where classes are found that the text does not have */
} LangOptions;

/* Parses and elaborates. `class_name` chooses the model (its name, with or without the packages around it); NULL: the
 * last model in the file. `modifications` may be NULL; the later of two for one variable counts. Returns NULL, with at
 * least one error in `diags`, if the text is not a valid model; else the model, which lives in `heap` (`source` must
 * outlive it). O(length of the text and size of the result). */
Model *lang_load(Heap *heap, Names *names, Source *source, const char *class_name, const ModificationVec *modifications,
                 LangOptions options, Diags *diags);
