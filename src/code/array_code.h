/* array_code: the derivative array as programs: all rows, their Jacobian, the conditions of its modes, and everything else that is
 * evaluated at its columns. Made once for a plan and never changed afterwards; runs evaluate it (evaluator.h). */
#pragma once

#include "array/modes.h"
#include "code/program.h"

struct BlockShape;

typedef struct ArrayCode {
  Heap *heap;
  Model *model;
  Array *array;
  const Modes *modes;
  Layout layout;
  Program *rows;
  bool is_rough;      /* not smooth by construction: rows call functions, contain exponentials or read varying delays */
  Jacobian *jacobian; /* all rows against all columns */
  Program *conditions; /* differences of all modes, then their sizes; NULL without modes */
  Program *written;    /* the differences as written, then their sizes */
  Program *rates;      /* rates of the differences; 0 if has_rate is false, because a derivative is not a column */
  bool *has_rate;      /* per mode */
  Program *kinks;      /* the arguments of all kinks, then their rates as above; NULL without kinks */
  Program *kink_sizes;
  Program *divisors; /* divisors of rewritten equations that the written ones do not have; NULL: none */
  ExprVec divisor;
  Program *poles; /* the factors of divisors: an equation is undefined where one of its factors is zero; NULL: none */
  ExprVec pole;
  /* constant differences by which equations divide, each followed by the size of its terms; NULL: there are none */
  Program *held_divisors;
  bool has_residue;       /* equations divide by the round-off of constants */
  Program **levels;       /* values of the steps of the logic, by level */
  Program **idle_levels;  /* the same values, valid while no guard of the level holds; NULL: the level has no guards */
  IndexVec *guards;       /* by level: leaves of whens; while none of them fires, functions need not be called */
  Program *initial_steps; /* initial steps of the logic; NULL without them */
  Program *lefts;         /* left limits of the logic; NULL without them */
  Program *actions;       /* actions of the logic: whether each fires, then its value; NULL without them */
  Program *idle_actions;  /* like idle_levels */
  IndexVec action_guards;
  Program *delayed;     /* delayed values and inflows of pipes; NULL without them */
  Program *delay_times; /* delay times, then the longest, then 0; for pipes: x, whether the flow is positive, der(x) */
  uint8_t *matters;     /* per discrete leaf: how rows and initial equations depend on it, MATTERS_... */
  bool *remembered;     /* per discrete leaf: a change has an effect that is stored, such as an assignment in a when */
  struct BlockShape **shapes; /* per block: made when first needed (block_shape.h); NULL until then */
  VEC(Program *) programs;    /* all programs, to be compiled together */
} ArrayCode;

/* Programs for all rows, their Jacobian and the modes. Lives in the heap. O(size of the rows). */
ArrayCode *array_code_new(Heap *heap, Array *array, const Modes *modes);

/* A program over the columns of the array, in the list; a Jacobian of rows against all columns. */
Program *array_code_program(ArrayCode *code, const Expr *roots, uint32_t count);
Jacobian *array_code_jacobian(ArrayCode *code, const Expr *rows, uint32_t count);

/* Pushes the factors of the node's divisor, or of the argument of its logarithm; for tan(x) that is cos(x). */
void array_code_pole_factors(Dag *dag, Expr node, Heap *heap, ExprVec *factors);

/* Adds machine code to all programs made so far. false: an error is in diags. */
bool array_code_compile(ArrayCode *code, Diags *diags);
