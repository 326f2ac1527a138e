/* program_internal: the insides of a program, for the files of src/code only. */
#ifndef DAEDAL_CODE_PROGRAM_INTERNAL_H
#define DAEDAL_CODE_PROGRAM_INTERNAL_H

#include "code/plan.h"
#include "code/tape.h"

/* What is done next: the prologue of a kernel, or one of its blocks. */
typedef struct ProgramStep {
  uint32_t kernel;
  uint32_t block; /* STEP_BEGIN: the prologue */
} ProgramStep;

#define STEP_BEGIN UINT32_MAX

/* Compiled code in place of the tape; the arrays are those of Arrays. */
typedef void (*CompiledCode)(const double *const *read, double *const *write, void *callback_context);

struct Program {
  Heap *heap;
  Model *model;
  const Layout *layout;
  uint32_t outputs;
  double *numbers, *scratch;
  uint32_t number_count, scratch_count;
  Kernel *kernels;
  uint32_t *phases; /* per kernel */
  Tape **tapes;
  uint32_t kernel_count;
  ProgramStep *steps;
  uint32_t step_count;
  Caller *caller;
  CompiledCode compiled; /* NULL: the tape runs */

  /* For blame: output k is expression roots[k], differentiated by leaf leaves[k] unless that is EXPR_NONE. leaves
   * may be NULL. */
  Expr *roots, *leaves;
};

#endif
