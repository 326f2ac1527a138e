/* program: numeric code for a list of expressions. A program maps a point (values of all leaves) to the values of its outputs.
 * Residual rows, Jacobian entries and event functions are all programs. Which rows a view needs is decided by building a program
 * for them, never inside one.
 *
 * A program never changes once it is made, so runs and threads share it; an evaluation writes only to a workspace, one for each
 * run. Two evaluators run the same program and give the same numbers: a register tape (default, starts at once), and C compiled by
 * the system's compiler and loaded (compile.h). Only calls of functions may differ in rounding (trace.h). Outputs share a template
 * if their expressions have the same shape and differ only in their leaves. The instances of a template run in blocks, so one
 * decoded instruction computes a vector. */
#pragma once

#include "core/point.h"
#include "model/model.h"

/* Position of column (j, k) in y is column_start[j] + k. */
typedef struct Layout {
  uint32_t unknowns, columns;
  const uint32_t *column_start;
} Layout;

typedef struct Program Program;
typedef struct Workspace Workspace;

/* Code for `count` outputs. The program lives in `heap`; model, layout and roots must outlive it (roots are
 * copied). Cost grows with the number of shapes plus the number of leaves. */
Program *program_new(Heap *heap, Model *model, const Layout *layout, const Expr *roots, uint32_t count);

uint32_t program_outputs(const Program *program);

/* The work memory of a run of the program, in `heap`. O(registers). */
Workspace *workspace_new(Heap *heap, const Program *program);

/* All outputs at the point. EVAL_DOMAIN if some output is not finite; workspace_blame then says why. */
EvalStatus workspace_run(Workspace *workspace, const Point *point, double *out);

/* Like workspace_run at several points, each with its own outputs; cheaper than one call per point. EVAL_DOMAIN if some
 * output at some point is not finite. */
EvalStatus workspace_run_points(Workspace *workspace, uint32_t count, const Point *points, double *const *outs);

/* After EVAL_DOMAIN at this point: the output concerned, and the node and its argument that left the domain. The output really uses
 * this node: branches of an if that are not taken are ignored. */
typedef struct Blame {
  uint32_t output;
  Expr node;          /* e.g. the log(x), in the graph given */
  const char *reason; /* "logarithm of a number that is not positive"; valid until the program runs again */
  double argument;    /* offending value */
} Blame;

/* dag: the caller's own graph over that of the program's model; derivatives are made in it. */
bool workspace_blame(Workspace *workspace, Dag *dag, const Point *point, Blame *blame);

/* Finds why this output is not finite at the point. */
bool workspace_blame_output(Workspace *workspace, Dag *dag, const Point *point, uint32_t output, Blame *blame);

/* Statistics for reports and tests. */
typedef struct ProgramSize {
  uint32_t templates, instances, instructions, registers;
  uint64_t lines; /* instructions that one evaluation runs, counted for each instance of a template */
} ProgramSize;
ProgramSize program_size(const Program *program);

/* ---- sparse Jacobians (jacobian.c) ---- */

/* d rows / d columns in compressed columns, exact. `positions` lists the columns wanted (positions in y), in the order
 * in which they are columns of the matrix; NULL: all of the layout. Entries that are identically zero are absent. */
typedef struct Jacobian {
  uint32_t rows, columns, nonzeros;
  int32_t *column_start; /* columns + 1 */
  int32_t *row_index;    /* ascending within a column */
  bool *is_constant;     /* entry depends on parameters at most, not on time, columns or discrete variables */
  uint32_t *positions;   /* per column of the matrix: its position in y */
  Program *program;      /* outputs: the nonzeros in this order */
} Jacobian;

Jacobian *jacobian_new(Heap *heap, Model *model, const Layout *layout, const Expr *rows, uint32_t count,
                       const uint32_t *positions, uint32_t position_count);
