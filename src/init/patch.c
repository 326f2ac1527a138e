/* patch: see patch.h. The unknowns in the sense of nonlinear.h are the columns in the rows of the patch. */
#include "init/patch.h"

#include "init/terms.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct Patch {
  InitialSystem *system;
  Heap *heap;
  uint32_t rows, columns;
  const uint32_t *list;          /* the rows; NULL: all */
  const PatchFollower *follower; /* NULL: discrete values stay */
  const Program *code;           /* code of the rows; NULL: they are all rows */
  Workspace *program;
  const Jacobian *jacobian;
  Workspace *entries; /* of the Jacobian */
  NonlinearProblem problem;
  Nonlinear *nonlinear;
  bool *moves;     /* per column */
  double *entered; /* per column: where the solution began */
  double *x;       /* per column */
  double t, *y;    /* the point: all columns of the system */
};

/* ---- code ---- */

static void set_code(Patch *patch, const InitialCode *code) {
  patch->code = code->program;
  patch->program = workspace_new(patch->heap, code->program);
  patch->jacobian = code->jacobian;
  patch->entries = workspace_new(patch->heap, code->jacobian->program);
}

/* ---- points ---- */

/* Copies columns of the patch to columns of the system; false: discrete values that follow them are undefined there. */
static bool set_point(const Patch *patch, const double *x) {
  const PatchFollower *follower = patch->follower;
  for (uint32_t k = 0; k < patch->columns; k++) patch->y[patch->jacobian->positions[k]] = x[k];
  return !follower || follower->follow(follower->context, patch->t, patch->y);
}

static bool evaluate_rows(void *context, const double *x, double *r) {
  Patch *patch = context;
  if (!set_point(patch, x)) return false;
  Point point = system_point(patch->system, patch->t, patch->y);
  patch->system->evaluator->row_evaluations += patch->rows;
  return workspace_run(patch->program, &point, r) == EVAL_OK;
}

static bool evaluate_entries(void *context, const double *x, double *entries) {
  Patch *patch = context;
  bool is_followed = set_point(patch, x);
  Point point = system_point(patch->system, patch->t, patch->y);
  patch->system->evaluator->entry_evaluations += patch->jacobian->nonzeros;
  if (is_followed) return workspace_run(patch->entries, &point, entries) == EVAL_OK;
  for (uint32_t e = 0; e < patch->jacobian->nonzeros; e++) entries[e] = NAN;
  return false;
}

/* Finds the rows that are nonlinear in a free column that diverged. */
static void find_astray(const Patch *patch, const double *x, IndexVec *rows) {
  const Jacobian *jacobian = patch->jacobian;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (!patch->moves[k] || !terms_is_astray(patch->problem.nominal[k], patch->entered[k], x[k])) continue;
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++)
      if (!jacobian->is_constant[e]) vec_push(patch->heap, rows, (uint32_t)jacobian->row_index[e]);
  }
}

/* Their scaled residuals are small, because everything is small compared with a column that diverged. Are they small compared
 * with the terms of the rows? */
static bool astray_hold(void *context, const double *x, const double *r) {
  Patch *patch = context;
  const InitialSystem *system = patch->system;
  Heap *heap = patch->heap;
  IndexVec rows = {0};
  ExprVec roots = {0};
  bool hold = true;
  find_astray(patch, x, &rows);
  if (!rows.count) return true;
  for (uint32_t k = 0; k < rows.count; k++)
    vec_push(heap, &roots, system->row[patch->list ? patch->list[rows.data[k]] : rows.data[k]]);
  double *sizes = heap_array(heap, rows.count, sizeof *sizes);
  Point point = system_point(system, patch->t, patch->y);
  terms_sizes(heap, system->model, &system->layout, roots.data, roots.count, &point, sizes);
  for (uint32_t k = 0; k < rows.count && hold; k++) hold = !(fabs(r[rows.data[k]]) > TERMS_CONSISTENT * sizes[k]);
  heap_free(heap, sizes);
  vec_free(heap, &rows, &roots);
  return hold;
}

/* ---- the patch ---- */

static void make_problem(Patch *patch) {
  const Jacobian *jacobian = patch->jacobian;
  double *nominal = heap_array(patch->heap, patch->columns, sizeof *nominal);
  for (uint32_t k = 0; k < patch->columns; k++) nominal[k] = patch->system->nominal[jacobian->positions[k]];
  patch->problem = (NonlinearProblem){.context = patch,
                                      .rows = (int32_t)patch->rows,
                                      .columns = (int32_t)patch->columns,
                                      .column_start = jacobian->column_start,
                                      .row_index = jacobian->row_index,
                                      .nominal = nominal,
                                      .residual = evaluate_rows,
                                      .jacobian = evaluate_entries,
                                      .confirm = astray_hold};
  patch->nonlinear = nonlinear_new(patch->heap, &patch->problem);
}

Patch *patch_new(InitialSystem *system, const uint32_t *rows, uint32_t count) {
  Heap *heap = system->heap;
  Patch *patch = heap_alloc(heap, sizeof *patch);
  patch->system = system;
  patch->heap = heap;
  if (!rows) {
    system_compile(system);
    patch->rows = system->rows;
    patch->program = system->program;
    patch->jacobian = system->jacobian;
    patch->entries = system->entries;
  } else {
    InitialCode code = codes_take(system, rows, count);
    patch->list = heap_copy(heap, rows, count, sizeof *rows);
    patch->rows = count;
    set_code(patch, &code);
  }
  patch->columns = patch->jacobian->columns;
  patch->moves = heap_array(heap, patch->columns, sizeof(bool));
  heap_numbers(heap, patch->columns, &patch->entered, &patch->x);
  make_problem(patch);
  return patch;
}

uint32_t patch_columns(const Patch *patch, const uint32_t **columns) {
  *columns = patch->jacobian->positions;
  return patch->columns;
}

const double *patch_rows(const Patch *patch) { return nonlinear_rows(patch->nonlinear); }
const double *patch_scale(const Patch *patch) { return nonlinear_scale(patch->nonlinear); }

const Program *patch_program(const Patch *patch) { return patch->code; }

const Jacobian *patch_jacobian(const Patch *patch, const double **values) {
  *values = nonlinear_entries(patch->nonlinear);
  return patch->jacobian;
}

void patch_set_careful(Patch *patch, bool careful) { nonlinear_set_careful(patch->nonlinear, careful); }
void patch_set_follower(Patch *patch, const PatchFollower *follower) { patch->follower = follower; }

void patch_set_weights(Patch *patch, const double *weights) {
  for (uint32_t k = 0; k < patch->columns; k++) patch->moves[k] = weights[k] > 0;
  nonlinear_set_weights(patch->nonlinear, weights);
}

/* Copies the columns of the patch from the columns of the system. */
static void begin(Patch *patch, double t, double *y) {
  patch->t = t;
  patch->y = y;
  for (uint32_t k = 0; k < patch->columns; k++) patch->x[k] = y[patch->jacobian->positions[k]];
}

static void end(const Patch *patch) {
  for (uint32_t k = 0; k < patch->columns; k++) patch->y[patch->jacobian->positions[k]] = patch->x[k];
}

double patch_residual(Patch *patch, double t, const double *y, uint32_t *worst) {
  begin(patch, t, (double *)y); /* no column changes */
  return nonlinear_residual(patch->nonlinear, patch->x, worst);
}

/* Code from the plan belongs to another graph than the run's. */
static void own_code(Patch *patch) {
  const InitialSystem *system = patch->system;
  if (!system->known || (!patch->list && system_is_plain(system))) return;
  InitialCode code = codes_make(system, patch->list, patch->rows);
  set_code(patch, &code);
  if (!patch->list) patch->code = NULL;
}

bool patch_blame(Patch *patch, double t, const double *y, Blame *blame) {
  Dag *dag = patch->system->model->dag;
  Point point = system_point(patch->system, t, y);
  own_code(patch);
  if (workspace_blame(patch->program, dag, &point, blame)) return true;
  if (!workspace_blame(patch->entries, dag, &point, blame)) return false;
  blame->output = (uint32_t)patch->jacobian->row_index[blame->output];
  return true;
}

/* ---- solutions ---- */

static PatchResult solve(Patch *patch, double t, double *y, NonlinearResult (*by)(Nonlinear *, double *)) {
  begin(patch, t, y);
  memcpy(patch->entered, patch->x, patch->columns * sizeof *patch->x);
  PatchResult result = by(patch->nonlinear, patch->x);
  end(patch);
  return result;
}

PatchResult patch_solve(Patch *patch, double t, double *y) { return solve(patch, t, y, nonlinear_solve); }

PatchResult patch_correct(Patch *patch, double t, double *y) { return solve(patch, t, y, nonlinear_correct); }

PatchResult patch_continue(Patch *patch, double t, double *y) { return solve(patch, t, y, nonlinear_continue); }

PatchResult patch_trace(Patch *patch, double t, uint32_t position, double goal, double *y) {
  uint32_t column = 0;
  while (column < patch->columns && patch->jacobian->positions[column] != position) column++;
  if (column == patch->columns) return (PatchResult){0};
  begin(patch, t, y);
  memcpy(patch->entered, patch->x, patch->columns * sizeof *patch->x);
  PatchResult result = nonlinear_trace(patch->nonlinear, (int32_t)column, goal, patch->x);
  end(patch);
  return result;
}

void patch_approach(Patch *patch, double t, const double *origin, double *y, PatchResult *result) {
  begin(patch, t, y);
  nonlinear_approach(patch->nonlinear, origin, patch->x, result);
  end(patch);
}
