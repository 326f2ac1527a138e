/* program_internal: the internals of a program, for the files of src/code only. */
#pragma once

#include "code/calls.h"
#include "code/grouping.h"
#include "code/tape.h"

/* A step: the prologue of a kernel, or one of its blocks. */
typedef struct ProgramStep {
  uint32_t kernel;
  uint32_t block; /* STEP_BEGIN: the prologue */
  uint32_t done;  /* outputs below this are final after the step */
} ProgramStep;

#define STEP_BEGIN UINT32_MAX

struct Compiled;

struct Program {
  Heap *heap;
  const Model *model;
  const Layout *layout;
  uint32_t outputs;
  double *numbers;
  uint32_t number_count, scratch_count;
  Kernel *kernels;
  uint32_t *phases; /* per kernel */
  Tape **tapes;
  uint32_t kernel_count;
  ProgramStep *steps;
  uint32_t step_count;
  bool calls; /* functions of the model */

  /* Compiled code in place of the tapes (compile.h); NULL: the tapes run. Returns whether all outputs are finite. */
  bool (*compiled)(const struct Compiled *code, const Arrays *arrays, double *work);
  const struct Compiled *code;
  uint32_t compiled_work; /* size of its work space, in numbers */

  /* For blame: output k is expression roots[k]. In the program of a Jacobian it is entry k, a derivative of roots[its row]. */
  Expr *roots;
  const Jacobian *entries; /* NULL: not of a Jacobian */
};

struct Workspace {
  Heap *heap;
  const Program *program;
  Arrays arrays;         /* where the tapes read and write; the parts that belong to a point are set in each run */
  double *wide_scratch;  /* scratch of several points; NULL until needed */
  Registers **registers; /* per kernel; NULL if compiled code runs */
  Caller *caller;        /* NULL: no function is called */
  double *compiled_work;
};

/* Outputs are checked for values that are not finite as soon as this many are final, while they are in the cache. */
enum { FINITE_CHUNK = 1024 };
