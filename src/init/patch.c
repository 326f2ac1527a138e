/* patch: see patch.h. Unknowns are z = y / (weight * nominal), rows are divided by their largest scaled
 * entry; the correction solves [I, A^T; A, -slack I] (s, m) = (target - z or 0, -r), or A s = -r when that
 * is square. */
#include "init/patch.h"

#include "base/linear.h"
#include "init/terms.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  ITERATION_LIMIT = 100,
  STAGNATION = 10,      /* iterations in which the squares must fall by a tenth */
  LONG_STAGNATION = 50, /* with short steps, which may cross flat places */
  HALVING_LIMIT = 6,
  HALVING_NEAR = 2,
  BURDEN_LIMIT = 8,
  POLISH_LIMIT = 6,
  SLIDE_LIMIT = 200,
  SLIDE_HALVINGS = 30, /* down to a kink */
  CONTINUATION_LIMIT = 100,
};

static const double CONSISTENT = 1e-10; /* scaled residual of a solution */
static const double FLOOR = 4e-16;      /* step that is lost in round-off */
static const double SLACK = 1e-22, FIRM_SLACK = 1e-14, MOST_SLACK = 1e4;
static const double SHORTEST = 1e-5; /* step of a continuation */
static const double LEAST_BURDEN = 1e-4;
static const double FARTHEST_SLIDE = 64; /* over the step of the linear model */
static const double ASIDE = 1e-4;        /* from a point where nothing draws, in units of the columns */
static const double NOWHERE = 1e-9;      /* distance that is none */
static const double NO_SLIDE = 1e-10;    /* step along the solutions, over the size of a column, that is none */
static const double LINEAR = 1e-16;      /* squares after one step, over those before */
static const double LONGEST = 0.5;       /* careful step, over the size of a column */
static const double UNNOTICED = 1e-3;    /* part of a step, over what counts as round-off in each row */
static const double SINGULAR = 1e11;     /* growth by an inverse that is none */

struct PatchCodes {
  Heap *heap;
  Map by_hash; /* of the words: place in the list; of two that have one hash, the first is found */
  VEC(PatchCode) list;
};

struct Patch {
  InitialSystem *system;
  Heap *heap;
  uint32_t rows, columns;
  const uint32_t *list; /* the rows; NULL: all */
  bool careful;
  const PatchFollower *follower; /* NULL: discrete values stay */
  Workspace *program;
  const Jacobian *jacobian;
  Workspace *entries; /* of the Jacobian */
  double *values, *r;
  double *scale;        /* per row: makes a residual relative to the sizes of all columns */
  double *normal_scale; /* per row: makes its largest entry among the free columns 1, in units of the norm */
  double slack;
  double rest;     /* squares that the last step leaves by its linear model, */
  double after;    /* and in truth */
  double *offset;  /* residual left over by a continuation; NULL: none */
  double *weight;  /* per column */
  double *burden;  /* per column: factor of the weight, below 1 for those that went astray */
  int32_t *number; /* per column: among the free ones, -1 if held */
  int32_t free;
  double *entered;                             /* per column: where the solution began */
  double *step, *trial, *best, *origin, *work; /* per column; work: free + rows */
  Linear *square, *normal;
  int32_t *square_start, *square_row, *normal_start, *normal_row;
  double *square_value, *normal_value;
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

static PatchCode make_code(const InitialSystem *system, const uint32_t *rows, uint32_t count) {
  Heap *heap = system->heap;
  IndexVec positions = {0};
  uint32_t distinct = list_positions(system, rows, count, &positions);
  Expr *roots = heap_array(heap, count, sizeof *roots);
  for (uint32_t k = 0; k < count; k++) roots[k] = system->row[rows[k]];
  PatchCode code = {.words = roots, .count = count};
  code.program = program_new(heap, system->model, &system->layout, roots, count);
  code.jacobian = jacobian_new(heap, system->model, &system->layout, roots, count, positions.data, distinct);
  vec_free(heap, &positions);
  return code;
}

/* The code of rows: the plan's, or made now. */
static PatchCode take_code(const InitialSystem *system, const uint32_t *rows, uint32_t count) {
  bool shareable = true;
  Expr *roots = heap_array(system->heap, count, sizeof *roots);
  for (uint32_t k = 0; k < count; k++) {
    roots[k] = system->row[rows[k]];
    shareable = shareable && patch_is_shareable(system, rows[k]);
  }
  const PatchCode *known = shareable ? patch_codes_find(system->known, roots, count) : NULL;
  heap_free(system->heap, roots);
  if (known) return *known;
  PatchCode code = make_code(system, rows, count);
  if (shareable) patch_codes_add(system->collected, code);
  return code;
}

static void set_code(Patch *patch, const PatchCode *code) {
  patch->program = workspace_new(patch->heap, code->program);
  patch->jacobian = code->jacobian;
  patch->entries = workspace_new(patch->heap, code->jacobian->program);
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
    PatchCode code = take_code(system, rows, count);
    patch->list = heap_copy(heap, rows, count, sizeof *rows);
    patch->rows = count;
    set_code(patch, &code);
  }
  patch->columns = patch->jacobian->columns;
  size_t n = patch->columns, m = patch->rows;
  patch->values = heap_array(heap, patch->jacobian->nonzeros, sizeof(double));
  patch->r = heap_array(heap, m, sizeof(double));
  patch->scale = heap_array(heap, m, sizeof(double));
  patch->normal_scale = heap_array(heap, m, sizeof(double));
  patch->weight = heap_array(heap, n, sizeof(double));
  patch->burden = heap_array(heap, n, sizeof(double));
  patch->number = heap_array(heap, n, sizeof(int32_t));
  patch->step = heap_array(heap, n, sizeof(double));
  patch->trial = heap_array(heap, n, sizeof(double));
  patch->best = heap_array(heap, n, sizeof(double));
  patch->origin = heap_array(heap, n, sizeof(double));
  patch->entered = heap_array(heap, n, sizeof(double));
  patch->work = heap_array(heap, n + m, sizeof(double));
  for (uint32_t k = 0; k < patch->columns; k++) patch->burden[k] = 1;
  return patch;
}

uint32_t patch_columns(const Patch *patch, const uint32_t **columns) {
  *columns = patch->jacobian->positions;
  return patch->columns;
}

const double *patch_rows(const Patch *patch) { return patch->r; }
const double *patch_scale(const Patch *patch) { return patch->scale; }

const Jacobian *patch_jacobian(const Patch *patch, const double **values) {
  *values = patch->values;
  return patch->jacobian;
}

void patch_set_careful(Patch *patch, bool careful) { patch->careful = careful; }
void patch_set_follower(Patch *patch, const PatchFollower *follower) { patch->follower = follower; }

static bool follow(const Patch *patch, double t, const double *y) {
  const PatchFollower *follower = patch->follower;
  return !follower || follower->follow(follower->context, t, y);
}

/* ---- the linear systems ---- */

void patch_set_weights(Patch *patch, const double *weights) {
  bool same = patch->square || patch->normal;
  patch->free = 0;
  for (uint32_t k = 0; k < patch->columns; k++) {
    same &= (weights[k] > 0) == (patch->weight[k] > 0);
    patch->weight[k] = weights[k];
    patch->number[k] = weights[k] > 0 ? patch->free++ : -1;
  }
  if (!same) patch->square = patch->normal = NULL;
}

/* The free columns of the matrix as they are. */
static void make_square(Patch *patch) {
  const Jacobian *jacobian = patch->jacobian;
  Heap *heap = patch->heap;
  patch->square_start = heap_array(heap, (size_t)patch->free + 1, sizeof(int32_t));
  patch->square_row = heap_array(heap, jacobian->nonzeros, sizeof(int32_t));
  patch->square_value = heap_array(heap, jacobian->nonzeros, sizeof(double));
  int32_t next = 0;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (patch->number[k] < 0) continue;
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++)
      patch->square_row[next++] = jacobian->row_index[e];
    patch->square_start[patch->number[k] + 1] = next;
  }
  patch->square = linear_new(heap, patch->free, next, false);
  linear_set_pattern(patch->square, patch->square_start, patch->square_row);
}

/* [I, A^T; A, -slack I]: a free column holds its 1 and its entries, then a row its transposed entries and
 * the slack. */
static void make_normal(Patch *patch) {
  const Jacobian *jacobian = patch->jacobian;
  Heap *heap = patch->heap;
  size_t size = (size_t)patch->free + patch->rows, room = 2 * (size_t)jacobian->nonzeros + size;
  patch->normal_start = heap_array(heap, size + 1, sizeof(int32_t));
  patch->normal_row = heap_array(heap, room, sizeof(int32_t));
  patch->normal_value = heap_array(heap, room, sizeof(double));
  int32_t *fill = heap_array(heap, (size_t)patch->rows + 1, sizeof *fill), next = 0;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (patch->number[k] < 0) continue;
    patch->normal_start[patch->number[k]] = next;
    patch->normal_row[next++] = patch->number[k];
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++) {
      patch->normal_row[next++] = patch->free + jacobian->row_index[e];
      fill[jacobian->row_index[e]]++;
    }
  }
  for (uint32_t i = 0; i < patch->rows; i++) {
    patch->normal_start[patch->free + (int32_t)i] = next;
    next += fill[i] + 1;
    fill[i] = patch->normal_start[patch->free + (int32_t)i];
  }
  patch->normal_start[size] = next;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (patch->number[k] < 0) continue;
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++)
      patch->normal_row[fill[jacobian->row_index[e]]++] = patch->number[k];
  }
  for (uint32_t i = 0; i < patch->rows; i++) patch->normal_row[fill[i]] = patch->free + (int32_t)i;
  heap_free(heap, fill);
  patch->normal = linear_new(heap, (int32_t)size, next, false);
  linear_set_pattern(patch->normal, patch->normal_start, patch->normal_row);
}

/* Unit of a column in the norm. */
static double column_unit(const Patch *patch, uint32_t k) {
  return patch->weight[k] * patch->burden[k] * patch->system->nominal[patch->jacobian->positions[k]];
}

/* Size of a column at y, for residuals and for steps lost in round-off. */
static double column_size(const Patch *patch, uint32_t k, const double *y) {
  uint32_t q = patch->jacobian->positions[k];
  return patch->system->nominal[q] + fabs(y[q]);
}

/* A factored system for steps at y. Square ones keep their own weights out: the step does not depend on
 * them. */
static bool factor_square(Patch *patch, const double *y) {
  if (!patch->square) make_square(patch);
  int32_t next = 0;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (patch->number[k] < 0) continue;
    double size = column_size(patch, k, y);
    for (int32_t e = patch->jacobian->column_start[k]; e < patch->jacobian->column_start[k + 1]; e++)
      patch->square_value[next++] = patch->values[e] * patch->scale[patch->jacobian->row_index[e]] * size;
  }
  return linear_factor(patch->square, patch->square_value);
}

static bool factor_normal(Patch *patch) {
  if (!patch->normal) make_normal(patch);
  Heap *heap = patch->heap;
  double *value = patch->normal_value;
  int32_t *fill = heap_array(heap, (size_t)patch->rows + 1, sizeof *fill), next = 0;
  for (uint32_t i = 0; i < patch->rows; i++) fill[i] = patch->normal_start[patch->free + (int32_t)i];
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (patch->number[k] < 0) continue;
    double size = column_unit(patch, k);
    value[next++] = 1;
    for (int32_t e = patch->jacobian->column_start[k]; e < patch->jacobian->column_start[k + 1]; e++) {
      int32_t i = patch->jacobian->row_index[e];
      value[next] = patch->values[e] * patch->normal_scale[i] * size;
      value[fill[i]++] = value[next++];
    }
  }
  for (uint32_t i = 0; i < patch->rows; i++) value[fill[i]] = -patch->slack;
  heap_free(heap, fill);
  return linear_factor(patch->normal, value);
}

/* ---- points ---- */

static bool evaluate(Patch *patch, double t, const double *y, double *squares) {
  if (!follow(patch, t, y)) return false;
  Point point = system_point(patch->system, t, y);
  patch->system->evaluator->row_evaluations += patch->rows;
  if (workspace_run(patch->program, &point, patch->r) != EVAL_OK) return false;
  *squares = 0;
  for (uint32_t i = 0; i < patch->rows; i++) {
    if (patch->offset) patch->r[i] -= patch->offset[i];
    double size = patch->r[i] * patch->normal_scale[i];
    *squares += size * size;
  }
  return isfinite(*squares);
}

/* Entries of free columns count for the norm's scale, those of held ones a thousandth: a row that hardly
 * depends on what is free must not outweigh the others. */
static void scale_rows(Patch *patch, const double *y) {
  const Jacobian *jacobian = patch->jacobian;
  memset(patch->scale, 0, patch->rows * sizeof *patch->scale);
  memset(patch->normal_scale, 0, patch->rows * sizeof *patch->normal_scale);
  for (uint32_t k = 0; k < patch->columns; k++) {
    double size = column_size(patch, k, y);
    double unit = patch->number[k] < 0 ? 1e-3 * patch->system->nominal[jacobian->positions[k]] : column_unit(patch, k);
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++) {
      int32_t i = jacobian->row_index[e];
      patch->scale[i] = fmax(patch->scale[i], fabs(patch->values[e]) * size);
      patch->normal_scale[i] = fmax(patch->normal_scale[i], fabs(patch->values[e]) * unit);
    }
  }
  for (uint32_t i = 0; i < patch->rows; i++) {
    patch->scale[i] = patch->scale[i] > 0 ? 1 / patch->scale[i] : 1;
    patch->normal_scale[i] = patch->normal_scale[i] > 0 ? 1 / patch->normal_scale[i] : 1;
  }
}

/* Entries of columns that stay may be infinite, as that of sqrt(u) is where u is known to be 0. */
static bool drop_infinite(Patch *patch) {
  for (uint32_t k = 0; k < patch->columns; k++)
    for (int32_t e = patch->jacobian->column_start[k]; e < patch->jacobian->column_start[k + 1]; e++) {
      if (isfinite(patch->values[e])) continue;
      if (patch->number[k] >= 0) return false;
      patch->values[e] = 0;
    }
  return true;
}

/* The matrix at y, and the scales of the rows. */
static bool linearize(Patch *patch, double t, const double *y) {
  if (!follow(patch, t, y)) return false;
  Point point = system_point(patch->system, t, y);
  patch->system->evaluator->entry_evaluations += patch->jacobian->nonzeros;
  if (workspace_run(patch->entries, &point, patch->values) != EVAL_OK && !drop_infinite(patch)) return false;
  scale_rows(patch, y);
  return true;
}

static double largest_residual(const Patch *patch, uint32_t *worst) {
  double largest = 0;
  *worst = 0;
  for (uint32_t i = 0; i < patch->rows; i++) {
    double size = fabs(patch->r[i]) * patch->scale[i];
    if (size > largest) largest = size, *worst = i;
  }
  return largest;
}

double patch_residual(Patch *patch, double t, const double *y, uint32_t *worst) {
  double squares;
  *worst = 0;
  if (!linearize(patch, t, y) || !evaluate(patch, t, y, &squares)) return HUGE_VAL;
  return largest_residual(patch, worst);
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

/* ---- steps ---- */

static bool take_step(Patch *patch, const double *y, bool square) {
  double largest = 0;
  for (uint32_t k = 0; k < patch->columns; k++) {
    double size = square ? column_size(patch, k, y) : column_unit(patch, k);
    patch->step[k] = patch->number[k] < 0 ? 0 : patch->work[patch->number[k]] * size;
    if (!(fabs(patch->step[k]) <= largest)) largest = fabs(patch->step[k]);
  }
  return isfinite(largest);
}

/* False when the matrix is singular as far as this right-hand side shows: rows and columns are scaled, so
 * its inverse should not be much larger than 1. */
static bool solve_square(Patch *patch, const double *y) {
  double asked = 0, found = 0;
  if (!factor_square(patch, y)) return false;
  for (uint32_t i = 0; i < patch->rows; i++) {
    patch->work[i] = -patch->r[i] * patch->scale[i];
    asked = fmax(asked, fabs(patch->work[i]));
  }
  linear_solve(patch->square, patch->work);
  patch->rest = 0;
  for (uint32_t i = 0; i < patch->rows; i++) found = fmax(found, fabs(patch->work[i]));
  return found <= SINGULAR * asked && take_step(patch, y, true);
}

/* The correction of least norm, or with `target` the one that ends nearest to it. */
static bool solve_normal(Patch *patch, const double *y, const double *target) {
  if (!factor_normal(patch)) return false;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (patch->number[k] < 0) continue;
    double away = target ? target[k] - y[patch->jacobian->positions[k]] : 0;
    patch->work[patch->number[k]] = away / column_unit(patch, k);
  }
  for (uint32_t i = 0; i < patch->rows; i++)
    patch->work[patch->free + (int32_t)i] = -patch->r[i] * patch->normal_scale[i];
  linear_solve(patch->normal, patch->work);
  patch->rest = 0;
  for (uint32_t i = 0; i < patch->rows; i++) {
    double left = patch->slack * patch->work[patch->free + (int32_t)i];
    patch->rest += left * left;
  }
  return take_step(patch, y, false);
}

static bool find_step(Patch *patch, const double *y, double slack) {
  patch->slack = slack;
  if (patch->free == 0) return false;
  if (slack == SLACK && patch->free == (int32_t)patch->rows && solve_square(patch, y)) return true;
  return solve_normal(patch, y, NULL);
}

static double step_size(const Patch *patch, const double *y) {
  double largest = 0;
  for (uint32_t k = 0; k < patch->columns; k++) {
    double size = fabs(patch->step[k]) / column_size(patch, k, y);
    if (size > largest) largest = size;
  }
  return largest;
}

static void save(const Patch *patch, const double *y, double *copy) {
  for (uint32_t k = 0; k < patch->columns; k++) copy[k] = y[patch->jacobian->positions[k]];
}

static void restore(const Patch *patch, const double *copy, double fraction, double *y) {
  for (uint32_t k = 0; k < patch->columns; k++)
    y[patch->jacobian->positions[k]] = fraction == 0 ? copy[k] : copy[k] + fraction * patch->step[k];
}

/* A careful step keeps its direction only. */
static void shorten(Patch *patch, const double *y, double squares) {
  double size = step_size(patch, y), fraction = LONGEST / size;
  if (!patch->careful || size <= LONGEST) return;
  for (uint32_t k = 0; k < patch->columns; k++) patch->step[k] *= fraction;
  patch->rest = squares - fraction * (squares - patch->rest);
}

/* Where a step leads over a flat place: nothing is gained, but nothing lost either. */
static bool is_level(const Patch *patch, double squares, double before) {
  return patch->careful && squares <= before * (1 + 1e-12);
}

/* Halves the step until the rows are defined and smaller; leaves y there, or as it was. Returns the fraction
 * taken. */
static double search_line(Patch *patch, double t, double *y, double before, int limit) {
  double fraction = 1, squares;
  save(patch, y, patch->trial);
  for (int halving = 0; halving < limit; halving++, fraction /= 2) {
    restore(patch, patch->trial, fraction, y);
    if (!evaluate(patch, t, y, &squares)) continue;
    if (squares > before - 0.25 * fraction * (before - patch->rest) && !is_level(patch, squares, before)) continue;
    patch->after = squares;
    return fraction;
  }
  restore(patch, patch->trial, 0, y);
  return 0;
}

/* A little slack for rows that depend on each other, then more for steps that go too far. */
static double more_slack(double slack) {
  return slack == SLACK ? FIRM_SLACK : slack == FIRM_SLACK ? 1e-6 : 100 * slack;
}

/* Makes the columns heavier that the last step would move farthest, measured by their size: that is where
 * its linear model fails first. False if all move alike. */
static bool burden(Patch *patch, const double *y) {
  double largest = step_size(patch, y);
  uint32_t burdened = 0;
  if (patch->free <= (int32_t)patch->rows || largest < 0.1) return false;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (patch->number[k] < 0 || fabs(patch->step[k]) < 0.3 * largest * column_size(patch, k, y)) continue;
    if (patch->burden[k] < LEAST_BURDEN) continue;
    patch->burden[k] *= 0.1;
    burdened++;
  }
  return burdened > 0 && burdened < (uint32_t)patch->free;
}

static void unburden(Patch *patch) {
  for (uint32_t k = 0; k < patch->columns; k++) patch->burden[k] = 1;
}

/* After a full step the columns become lighter again. */
static void relieve(Patch *patch) {
  for (uint32_t k = 0; k < patch->columns; k++) patch->burden[k] = fmin(1, 10 * patch->burden[k]);
}

/* One iteration: a step that makes the rows smaller. Where only a small fraction of it does, those columns
 * are made heavier that move too far; then the rows are asked to hold less exactly, which shortens the step
 * (Levenberg, Marquardt). */
static bool advance(Patch *patch, double t, double *y, double squares, double *slack, bool near) {
  for (int tries = 0; *slack <= MOST_SLACK; tries++) {
    bool found = find_step(patch, y, *slack);
    if (patch->free == 0 || (found && step_size(patch, y) <= FLOOR)) return false;
    if (found) shorten(patch, y, squares);
    double fraction = found ? search_line(patch, t, y, squares, near ? HALVING_NEAR : HALVING_LIMIT) : 0;
    if (fraction == 1) {
      *slack = *slack <= 1e-6 ? SLACK : *slack / 100;
      relieve(patch);
    }
    if (fraction >= 0.25 || (fraction > 0 && tries >= BURDEN_LIMIT)) return true;
    if (near) return fraction > 0; /* round-off */
    if (fraction > 0) {
      restore(patch, patch->trial, 0, y);
      if (!evaluate(patch, t, y, &squares)) return false;
    }
    if (!found || tries >= BURDEN_LIMIT || !burden(patch, y)) *slack = more_slack(*slack), tries = BURDEN_LIMIT;
  }
  return false;
}

/* The rows that are not linear in a free column which ran away. */
static void find_astray(const Patch *patch, const double *y, IndexVec *rows) {
  const Jacobian *jacobian = patch->jacobian;
  for (uint32_t k = 0; k < patch->columns; k++) {
    uint32_t q = jacobian->positions[k];
    if (patch->number[k] < 0 || !terms_is_astray(patch->system->nominal[q], patch->entered[k], y[q])) continue;
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++)
      if (!jacobian->is_constant[e]) vec_push(patch->heap, rows, (uint32_t)jacobian->row_index[e]);
  }
}

/* Their scaled residuals are small, as everything is beside a column that ran away: are they small beside the terms of the rows? */
static bool astray_hold(Patch *patch, double t, const double *y) {
  const InitialSystem *system = patch->system;
  Heap *heap = patch->heap;
  IndexVec rows = {0};
  ExprVec roots = {0};
  double squares;
  find_astray(patch, y, &rows);
  if (!rows.count) return true;
  bool hold = evaluate(patch, t, y, &squares);
  for (uint32_t k = 0; k < rows.count; k++)
    vec_push(heap, &roots, system->row[patch->list ? patch->list[rows.data[k]] : rows.data[k]]);
  double *sizes = heap_array(heap, rows.count, sizeof *sizes);
  Point point = system_point(system, t, y);
  terms_sizes(heap, system->model, &system->layout, roots.data, roots.count, &point, sizes);
  for (uint32_t k = 0; k < rows.count && hold; k++) hold = !(fabs(patch->r[rows.data[k]]) > CONSISTENT * sizes[k]);
  heap_free(heap, sizes);
  vec_free(heap, &rows, &roots);
  return hold;
}

/* What measures the residuals of the rows where the patch was linearized. */
static void measure_rows(const Patch *patch, const double *y, RowSize *size) {
  const Jacobian *jacobian = patch->jacobian;
  memset(size, 0, patch->rows * sizeof *size);
  for (uint32_t k = 0; k < patch->columns; k++) {
    uint32_t q = jacobian->positions[k];
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++)
      row_size_add(&size[jacobian->row_index[e]], patch->values[e], y[q], patch->system->nominal[q]);
  }
}

static double largest_excess(const Patch *patch, const RowSize *size) {
  double largest = 0;
  for (uint32_t i = 0; i < patch->rows; i++) largest = fmax(largest, row_excess(patch->r[i], &size[i]));
  return largest;
}

/* Leaves out of the step what no row notices: such a part may lead out of the domain of a row, as from u = 0 in u^1.5. */
static void drop_unnoticed(Patch *patch, const RowSize *size) {
  const Jacobian *jacobian = patch->jacobian;
  for (uint32_t k = 0; k < patch->columns; k++) {
    double most = 0;
    for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1]; e++)
      most = fmax(most, row_excess(patch->values[e] * patch->step[k], &size[jacobian->row_index[e]]));
    if (most < UNNOTICED) patch->step[k] = 0;
  }
}

/* Where residuals are round-off in units of nominal, they need not be beside the terms of their rows (terms.h): columns may be small beside
 * their nominal values. Full steps, as long as the largest excess shrinks. Do the rows hold then? */
static bool polish(Patch *patch, double t, double *y) {
  double squares, excess = HUGE_VAL;
  RowSize *size = heap_array(patch->heap, patch->rows, sizeof *size);
  save(patch, y, patch->trial);
  for (int k = 0; k < POLISH_LIMIT && linearize(patch, t, y) && evaluate(patch, t, y, &squares); k++) {
    measure_rows(patch, y, size);
    double now = largest_excess(patch, size);
    if (!(now < excess)) break;
    excess = now;
    save(patch, y, patch->trial);
    if (now <= 1 || !find_step(patch, y, SLACK)) break;
    drop_unnoticed(patch, size);
    restore(patch, patch->trial, 1, y);
  }
  restore(patch, patch->trial, 0, y);
  heap_free(patch->heap, size);
  return excess <= 1;
}

/* Do all rows hold beside their terms, where the patch was linearized and evaluated? */
static bool rows_hold(const Patch *patch, const double *y) {
  RowSize *size = heap_array(patch->heap, patch->rows, sizeof *size);
  measure_rows(patch, y, size);
  bool hold = largest_excess(patch, size) <= 1;
  heap_free(patch->heap, size);
  return hold;
}

static PatchResult iterate(Patch *patch, double t, double *y) {
  PatchResult result = {.residual = HUGE_VAL};
  double squares, slack = SLACK, before = HUGE_VAL;
  uint32_t worst, stagnation = patch->careful ? LONG_STAGNATION : STAGNATION;
  bool hold = false;
  while (linearize(patch, t, y) && evaluate(patch, t, y, &squares)) {
    result.defined = true;
    result.residual = largest_residual(patch, &worst);
    hold = result.residual <= CONSISTENT && rows_hold(patch, y);
    if (squares == 0 || result.iterations++ >= ITERATION_LIMIT) break;
    if (result.iterations % stagnation == 0) {
      if (squares > 0.9 * before) break;
      before = squares;
    }
    if (!advance(patch, t, y, squares, &slack, result.residual <= CONSISTENT)) break;
    if (result.iterations == 1) result.linear = patch->after <= LINEAR * squares;
  }
  bool near = result.defined && result.residual <= CONSISTENT;
  if (near && !hold && !patch->offset) near = polish(patch, t, y);
  result.solved = near && astray_hold(patch, t, y);
  return result;
}

/* ---- the nearest solution ---- */

static double distance(const Patch *patch, const double *y) {
  double squares = 0;
  for (uint32_t k = 0; k < patch->columns; k++) {
    if (patch->number[k] < 0) continue;
    uint32_t q = patch->jacobian->positions[k];
    double away = (y[q] - patch->origin[k]) / column_unit(patch, k);
    squares += away * away;
  }
  return sqrt(squares);
}

/* The square of the step in the norm. */
static double step_squares(const Patch *patch) {
  double squares = 0;
  for (uint32_t k = 0; k < patch->columns; k++) {
    double part = patch->number[k] < 0 ? 0 : patch->step[k] / column_unit(patch, k);
    squares += part * part;
  }
  return squares;
}

/* The step along the solutions, as near to a target as their linear model allows. */
static bool solve_slide(Patch *patch, const double *y, const double *target) {
  patch->slack = SLACK;
  return solve_normal(patch, y, target);
}

/* Do no rows depend on a free column where the patch was linearized? Then nothing draws it, as at the top of a bell. */
static bool is_undrawn(const Patch *patch, uint32_t k) {
  const Jacobian *jacobian = patch->jacobian;
  bool is = patch->number[k] >= 0;
  for (int32_t e = jacobian->column_start[k]; e < jacobian->column_start[k + 1] && is; e++)
    is = fabs(patch->values[e] * patch->normal_scale[jacobian->row_index[e]] * column_unit(patch, k)) <= NO_SLIDE;
  return is;
}

/* A place a little aside of y: in the columns that nothing draws, or in all of them. false: there are none. */
static bool place_aside(const Patch *patch, const double *y, bool only_undrawn, double *place) {
  bool any = false;
  for (uint32_t k = 0; k < patch->columns; k++) {
    bool moves = !only_undrawn || is_undrawn(patch, k);
    place[k] = y[patch->jacobian->positions[k]] + (moves ? ASIDE * column_unit(patch, k) : 0);
    any |= moves;
  }
  return any;
}

/* Whether a little step aside along the solutions leads nearer to the origin; y then is there. A point where they run across the way to it may be
 * the farthest of its neighbours, as the top of a bell seen from below. */
static bool step_aside(Patch *patch, double t, double *y, bool only_undrawn) {
  double away = distance(patch, y), squares;
  double *held = heap_array(patch->heap, patch->columns, sizeof *held);
  double *target = heap_array(patch->heap, patch->columns, sizeof *target);
  save(patch, y, held);
  bool is_nearer = linearize(patch, t, y) && evaluate(patch, t, y, &squares) &&
                   place_aside(patch, y, only_undrawn, target) && solve_slide(patch, y, target);
  if (is_nearer) {
    restore(patch, held, 1, y);
    PatchResult back = iterate(patch, t, y);
    is_nearer = back.solved && distance(patch, y) < away * (1 - DBL_EPSILON / ASIDE);
  }
  if (!is_nearer) restore(patch, held, 0, y);
  heap_free_all(patch->heap, held, target);
  return is_nearer;
}

/* Steps along the solutions towards the origin, each followed by corrections back onto them, while they
 * shorten the distance. */
static void slide(Patch *patch, double t, double *y, PatchResult *result) {
  double fraction = 1, away = distance(patch, y);
  double *tangent = heap_array(patch->heap, patch->columns, sizeof *tangent);
  double *held = heap_array(patch->heap, patch->columns, sizeof *held);
  for (int k = 0; k < SLIDE_LIMIT && away > NOWHERE; k++) {
    double squares;
    if (!linearize(patch, t, y) || !evaluate(patch, t, y, &squares) || !solve_slide(patch, y, patch->origin)) break;
    if (step_size(patch, y) < NO_SLIDE) break;
    memcpy(tangent, patch->step, patch->columns * sizeof *tangent);
    save(patch, y, held);
    double gain = step_squares(patch); /* the slope of half the squared distance */
    bool nearer = false;
    double next = away;
    for (int halving = 0; halving < SLIDE_HALVINGS && !nearer; halving++, fraction /= 2) {
      memcpy(patch->step, tangent, patch->columns * sizeof *tangent);
      restore(patch, held, fraction, y);
      PatchResult back = iterate(patch, t, y);
      result->iterations += back.iterations;
      next = distance(patch, y);
      nearer = back.solved && next * next < away * away - 0.5 * fraction * gain;
      if (nearer) result->residual = back.residual;
    }
    if (!nearer) {
      restore(patch, held, 0, y);
      break;
    }
    fraction =
        fmin(4 * fraction, FARTHEST_SLIDE); /* twice what was taken: far from its curve the origin draws weakly */
    if (away - next < 1e-12 * away) break;
    away = next;
  }
  heap_free_all(patch->heap, tangent, held);
}

void patch_approach(Patch *patch, double t, const double *origin, double *y, PatchResult *result) {
  if (patch->free <= (int32_t)patch->rows) return;
  memcpy(patch->origin, origin, patch->columns * sizeof *origin);
  unburden(patch);
  slide(patch, t, y, result);
  if (distance(patch, y) <= NOWHERE) return;
  if (step_aside(patch, t, y, true) || step_aside(patch, t, y, false)) slide(patch, t, y, result);
}

PatchResult patch_solve(Patch *patch, double t, double *y) {
  unburden(patch);
  save(patch, y, patch->entered);
  return iterate(patch, t, y);
}

/* ---- continuation ---- */

PatchResult patch_continue(Patch *patch, double t, double *y) {
  PatchResult result = {.residual = HUGE_VAL};
  double squares, at = 0, step = 0.25;
  unburden(patch);
  if (!linearize(patch, t, y) || !evaluate(patch, t, y, &squares)) return result;
  double *first = heap_array(patch->heap, patch->rows, sizeof *first);
  double *left = heap_array(patch->heap, patch->rows, sizeof *left);
  memcpy(first, patch->r, patch->rows * sizeof *first);
  save(patch, y, patch->best);
  save(patch, y, patch->entered);
  for (int k = 0; k < CONTINUATION_LIMIT && at < 1 && step > SHORTEST; k++) {
    double next = at + step < 1 ? at + step : 1;
    for (uint32_t i = 0; i < patch->rows; i++) left[i] = (1 - next) * first[i];
    patch->offset = next < 1 ? left : NULL;
    PatchResult part = iterate(patch, t, y);
    result.iterations += part.iterations;
    result.defined = part.defined;
    if (part.solved) {
      at = next;
      step *= 2;
      save(patch, y, patch->best);
      result.residual = part.residual;
    } else {
      restore(patch, patch->best, 0, y);
      step /= 4;
    }
  }
  patch->offset = NULL;
  heap_free_all(patch->heap, first, left);
  result.solved = at >= 1;
  return result;
}
