/* patch: see patch.h. What nonlinear.h calls the unknowns are the columns in the rows of the patch. */
#include "init/patch.h"

#include "init/terms.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct PatchCodes {
  Heap *heap;
  Map by_hash; /* of the words: place in the list; of two that have one hash, the first is found */
  VEC(PatchCode) list;
};

struct Patch {
  InitialSystem *system;
  Heap *heap;
  uint32_t rows, columns;
  const uint32_t *list;          /* the rows; NULL: all */
  const PatchFollower *follower; /* NULL: discrete values stay */
  const Program *code;           /* of the rows; NULL: they are all rows */
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

PatchCodes *patch_codes_new(Heap *heap) {
  PatchCodes *codes = heap_alloc(heap, sizeof *codes);
  *codes = (PatchCodes){.heap = heap, .by_hash = map_make(heap)};
  return codes;
}

const PatchCode *patch_codes_find(const PatchCodes *codes, const uint32_t *words, uint32_t count) {
  uint32_t place = codes ? map_get(&codes->by_hash, hash_bytes(words, count * sizeof *words)) : MAP_NONE;
  if (place == MAP_NONE) return NULL;
  const PatchCode *code = &codes->list.data[place];
  bool is_same = code->count == count && memcmp(code->words, words, count * sizeof *words) == 0;
  return is_same ? code : NULL;
}

void patch_codes_add(PatchCodes *codes, PatchCode code) {
  if (!codes || patch_codes_find(codes, code.words, code.count)) return;
  code.words = heap_copy(codes->heap, code.words, code.count, sizeof *code.words);
  map_put(&codes->by_hash, hash_bytes(code.words, code.count * sizeof *code.words), codes->list.count);
  vec_push(codes->heap, &codes->list, code);
}

bool patch_is_shareable(const InitialSystem *system, uint32_t row) {
  return (system->known || system->collected) && system->row[row] < dag_size(system->evaluator->model->dag);
}

/* The columns in the rows, ascending, each once; how many. */
static uint32_t list_positions(const InitialSystem *system, const uint32_t *rows, uint32_t count, IndexVec *positions) {
  const Pattern *pattern = &system->pattern;
  for (uint32_t k = 0; k < count; k++)
    for (int32_t e = pattern->row_start[rows[k]]; e < pattern->row_start[rows[k] + 1]; e++)
      vec_push(system->heap, positions, (uint32_t)pattern->column[e]);
  index_sort((int32_t *)positions->data, (int32_t)positions->count);
  uint32_t distinct = 0;
  for (uint32_t k = 0; k < positions->count; k++)
    if (!k || positions->data[k] != positions->data[k - 1]) positions->data[distinct++] = positions->data[k];
  return distinct;
}

static Expr *list_roots(const InitialSystem *system, const uint32_t *rows, uint32_t count) {
  Expr *roots = heap_array(system->heap, count, sizeof *roots);
  for (uint32_t k = 0; k < count; k++) roots[k] = system->row[rows ? rows[k] : k];
  return roots;
}

static PatchCode make_code(const InitialSystem *system, const uint32_t *rows, uint32_t count) {
  Heap *heap = system->heap;
  IndexVec positions = {0};
  uint32_t distinct = rows ? list_positions(system, rows, count, &positions) : 0;
  Expr *roots = list_roots(system, rows, count);
  PatchCode code = {.words = roots, .count = count};
  code.program = program_new(heap, system->model, &system->layout, roots, count);
  code.jacobian = jacobian_new(heap, system->model, &system->layout, roots, count, positions.data, distinct);
  vec_free(heap, &positions);
  return code;
}

PatchCode patch_code(const InitialSystem *system, const uint32_t *rows, uint32_t count) {
  bool shareable = true;
  Expr *roots = list_roots(system, rows, count);
  for (uint32_t k = 0; k < count && shareable; k++) shareable = patch_is_shareable(system, rows ? rows[k] : k);
  const PatchCode *known = shareable ? patch_codes_find(system->known, roots, count) : NULL;
  heap_free(system->heap, roots);
  if (known) return *known;
  PatchCode code = make_code(system, rows, count);
  if (shareable) patch_codes_add(system->collected, code);
  return code;
}

static void set_code(Patch *patch, const PatchCode *code) {
  patch->code = code->program;
  patch->program = workspace_new(patch->heap, code->program);
  patch->jacobian = code->jacobian;
  patch->entries = workspace_new(patch->heap, code->jacobian->program);
}

/* ---- points ---- */

/* Columns of the patch become columns of the system; false: discrete values that follow them are not defined there. */
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

/* The rows that are not linear in a free column which ran away. */
static void find_astray(const Patch *patch, const double *x, IndexVec *rows) {
  const Jacobian *jacobian = patch->jacobian;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (!patch->moves[k] || !terms_is_astray(patch->problem.nominal[k], patch->entered[k], x[k])) continue;
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++)
      if (!jacobian->is_constant[e]) vec_push(patch->heap, rows, (uint32_t)jacobian->row_index[e]);
  }
}

/* Their scaled residuals are small, as everything is beside a column that ran away: are they small beside the terms of the rows? */
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
    PatchCode code = patch_code(system, rows, count);
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

/* Takes the columns of the patch from those of the system. */
static void begin(Patch *patch, double t, double *y) {
  patch->t = t;
  patch->y = y;
  for (uint32_t k = 0; k < patch->columns; k++) patch->x[k] = y[patch->jacobian->positions[k]];
}

static void end(const Patch *patch) {
  for (uint32_t k = 0; k < patch->columns; k++) patch->y[patch->jacobian->positions[k]] = patch->x[k];
}

double patch_residual(Patch *patch, double t, const double *y, uint32_t *worst) {
  begin(patch, t, (double *)y); /* no column gets another value */
  return nonlinear_residual(patch->nonlinear, patch->x, worst);
}

/* Code that the plan has made is of a graph that is not the run's. */
static void own_code(Patch *patch) {
  const InitialSystem *system = patch->system;
  if (!patch->list || !system->known) return;
  PatchCode code = make_code(system, patch->list, patch->rows);
  set_code(patch, &code);
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
