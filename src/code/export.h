/* export: a model as self-contained C99: residual, sparse Jacobian, names, values, and a driver that shows them. It needs only the
 * C library and libm, and computes the same numbers as the tape. */
#pragma once

#include "code/program.h"

/* Names and values of one kind of quantity. */
typedef struct ExportList {
  uint32_t count;
  const char *const *names;
  const double *values; /* NULL for rows */
} ExportList;

typedef struct ExportInput {
  const char *name;   /* name of the model, for comments */
  const char *method; /* description of the rows, one line for comments; may be NULL */
  const Model *model;
  const Program *rows;
  const Jacobian *jacobian; /* of the rows */
  double time;
  ExportList columns, row_list, parameters, discretes;
  const double *pre; /* values of pre(), as many as there are discretes */
} ExportInput;

typedef struct ExportFile {
  const char *name; /* model.h, model.c, main.c, Makefile; static text */
  TextVec text;
} ExportFile;

typedef VEC(ExportFile) ExportFiles;

/* The files. false: the model calls a function that cannot be written as C (cfunctions.h); an error is in
 * diags. In the heap; O(text). */
bool export_c(Heap *heap, const ExportInput *input, ExportFiles *files, Diags *diags);
