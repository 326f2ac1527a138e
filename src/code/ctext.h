/* ctext: a program as C99 text, made from the same kernels as its tape, so with the same operations in the same order.
 *
 * The text has one function for each piece of straight code and one for each loop. Differences between blocks (the starts of lanes,
 * the length of the loop) are data, so the text grows with the shapes, not with the equations. Loops of one phase that run side by
 * side through memory are one loop in C. The caller calls the functions in the order of the steps. Each returns a sum of the
 * outputs it wrote, which is not finite if one of them is not. */
#pragma once

#include "code/program_internal.h"

/* One call of a function of the text. */
typedef struct CTextStep {
  uint32_t function;
  uint32_t count;  /* of loops: instances */
  uint32_t first;  /* for loops with tables: the first instance */
  uint32_t starts; /* for loops: offset of its starts in CText.starts */
} CTextStep;

/* The arrays of an evaluation as the text sees them; the text has the same struct. */
typedef struct CTextRun {
  const double *const *read;
  double *const *write;
  double *work;
  const uint32_t *const *tables;
} CTextRun;

typedef double (*CTextFunction)(const CTextRun *run, const uint32_t *starts, uint32_t count, uint32_t first);

/* A call of a function of the model: site number -> kernel and call site. The text passes entry `site number`
 * of the table <name>_sites to call_site (cfunctions.h). */
typedef struct CTextCall {
  uint32_t kernel, site;
} CTextCall;

typedef struct CText {
  TextVec text; /* definitions; ends with the table of functions */
  VEC(CTextStep) steps;
  IndexVec starts;
  VEC(const Lane *) tables; /* lanes with tables, in the order of CTextRun.tables */
  IndexVec table_sizes;
  VEC(CTextCall) calls;
  uint32_t work; /* size of CTextRun.work */
} CText;

/* The text of a program. Its functions are in the table <name>_functions, static unless `is_external`. All
 * of it lives in the heap. O(text). */
CText ctext_make(Heap *heap, const Program *program, const char *name, bool is_external);

/* The header that texts of ctext_make need once: includes, types, and the functions of expr/op_math.h
 * that occur in `texts`. */
void ctext_header(Heap *heap, TextVec *out, const TextVec *const *texts, uint32_t count);

/* A number as a C expression that reads back exactly. */
void ctext_number(Heap *heap, TextVec *out, double number);
