/* minimal: index reduction by minimal extension (Kunkel, Mehrmann 2003, sections 2 and 3).
 *
 * Only equations that couple an algebraic condition to the derivative of a variable in it are differentiated. Each such derivative
 * becomes one new variable, which replaces the derivative everywhere: here, one tie y[q]' = y[q + 1] is given up. The step follows
 * equations (18) to (20). E is the Jacobian of the rows with respect to the derivatives that occur, and Z the left null space of E.
 * The rows of Z^T that stay dependent with respect to the variables without derivatives must be differentiated; this is repeated
 * until none is left. Equations that give derivatives in such a combination are substituted into the others before these are
 * differentiated (section 3.4, the step from (39) on). This is done only if no derivative is left to be determined. Then they need
 * not be differentiated themselves. If the steps end with all differentiations of the structural analysis, the system is the one
 * with dummy derivatives, including the choice of states. */
#include "array/definitions.h"
#include "reduce/dense.h"
#include "reduce/method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If more rows than this must be treated together, the offsets of the structural analysis are used, because ranks are found with
 * dense matrices, one part at a time. Parts are rows that share derivatives, and then rows that share variables without
 * derivatives. */
enum { DENSE_LIMIT = 600 };

static const double RANK_TOLERANCE = 1e-9, ROUNDING = 1e-12;

/* The tie of a variable of an earlier condition is given up only if the variables of later conditions have derivatives smaller
 * by this factor. */
static const double OLD_WEIGHT = 1e-3;

typedef struct MinimalEntry {
  uint32_t column; /* of the array */
  double value;
} MinimalEntry;

typedef VEC(MinimalEntry) MinimalEntries;

/* An equation, differentiated `level` times. */
typedef struct MinimalRow {
  uint32_t equation;
  int32_t level;
  Expr residual;
  MinimalEntries partial;    /* nonzero entries, by columns, scaled */
  MinimalEntries constraint; /* its highest derivatives, without those that were eliminated by means of earlier rows */
  uint32_t given_up;         /* column that this row made a separate variable; MAP_NONE at level 0 */
} MinimalRow;

typedef struct Minimal {
  Reduction near; /* slightly off the initial point, because ranks must be those of a general point */
  Arena arena;
  Definitions definitions;
  int32_t *c, *d; /* offsets of the rows taken so far */
  uint8_t *tie;   /* per column of the array */
  MinimalRow *row;
  uint32_t rows;
  uint32_t *place;  /* per column that occurs only as a derivative: its part of the rows; MAP_NONE for the others */
  double *dense;    /* workspace, per column: zeros */
  uint32_t largest; /* the number of rows that had to be treated together and exceeded DENSE_LIMIT; 0: none */
} Minimal;

static void move_point(Minimal *minimal) {
  const Array *array = minimal->near.array;
  const double *nominal = minimal->near.at.evaluator->nominal, *y = minimal->near.at.y;
  double *moved = arena_array(&minimal->arena, array->columns, sizeof *moved);
  uint64_t seed = 1;
  for (uint32_t q = 0; q < array->columns; q++) {
    seed = hash_mix(seed + q);
    double part = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    moved[q] = y[q] + 1e-3 * part * (fabs(y[q]) + nominal[q]);
  }
  minimal->near.at.y = moved;
}

static int by_column(const void *a, const void *b) {
  uint32_t x = ((const MinimalEntry *)a)->column, y = ((const MinimalEntry *)b)->column;
  return (x > y) - (x < y);
}

static double entry_at(const MinimalEntries *entries, uint32_t column) {
  for (uint32_t k = 0; k < entries->count; k++)
    if (entries->data[k].column == column) return entries->data[k].value;
  return 0;
}

/* Computes the row's partial derivatives; false: one is undefined. */
static bool differentiate_row(Minimal *minimal, MinimalRow *row) {
  const Array *array = minimal->near.array;
  Heap *heap = minimal->near.heap;
  ExprVec leaves = {0}, partials = {0};
  dag_gradient(array->dag, row->residual, &leaves, &partials);
  double largest = 0;
  for (uint32_t k = 0; k < leaves.count; k++) {
    double value = reduction_value(&minimal->near, partials.data[k]);
    if (value != 0) vec_push(heap, &row->partial, ((MinimalEntry){array_column(array, leaves.data[k]), value}));
    largest = isfinite(value) ? fmax(largest, fabs(value)) : value;
  }
  qsort(row->partial.data, row->partial.count, sizeof *row->partial.data, by_column);
  for (uint32_t k = 0; k < row->partial.count; k++) row->partial.data[k].value /= largest;
  vec_free(heap, &leaves, &partials);
  return isfinite(largest);
}

/* Adds a row. Derivatives that first occur in it are linked to the derivatives of one order less. */
static bool add_row(Minimal *minimal, uint32_t equation, int32_t level, Expr residual) {
  const Array *array = minimal->near.array;
  MinimalRow row = {.equation = equation, .level = level, .residual = residual, .given_up = MAP_NONE};
  if (!differentiate_row(minimal, &row)) return false;
  ExprVec leaves = {0};
  dag_variables(array->dag, dag_scratch(array->dag), residual, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t q = array_column(array, leaves.data[k]), j = array->column_unknown[q];
    for (; minimal->d[j] < (int32_t)array_order(array, q); minimal->d[j]++)
      minimal->tie[array->column_start[j] + (uint32_t)minimal->d[j]] = TIE_DERIVATIVE;
  }
  vec_free(minimal->near.heap, &leaves);
  minimal->c[equation] = level;
  minimal->row[minimal->rows++] = row;
  return true;
}

/* Does the column occur only as a derivative, or is it a column that is not differentiated? */
static bool is_rate(const Minimal *minimal, uint32_t q) {
  bool tied = array_order(minimal->near.array, q) > 0 && minimal->tie[q - 1] != TIE_NONE;
  return tied && minimal->tie[q] == TIE_NONE;
}

static bool is_algebraic(const Minimal *minimal, uint32_t q) {
  return minimal->tie[q] == TIE_NONE && !is_rate(minimal, q);
}

/* ---- parts ---- */

/* Elements that belong together because they share a column. Each element points to an earlier element of its set, or to
 * itself. */
typedef struct ElementSets {
  uint32_t *root, *first; /* first: per column, a row that contains it; MAP_NONE: none yet */
} ElementSets;

static uint32_t part_of(const ElementSets *parts, uint32_t k) {
  while (parts->root[k] != k) k = parts->root[k] = parts->root[parts->root[k]];
  return k;
}

static ElementSets parts_make(uint32_t count, uint32_t columns, Arena *arena) {
  ElementSets parts = {arena_array(arena, count + 1, sizeof(uint32_t)),
                       arena_array(arena, columns + 1, sizeof(uint32_t))};
  for (uint32_t k = 0; k < count; k++) parts.root[k] = k;
  for (uint32_t q = 0; q < columns; q++) parts.first[q] = MAP_NONE;
  return parts;
}

static void parts_share(ElementSets *parts, uint32_t k, uint32_t column) {
  uint32_t other = parts->first[column] == MAP_NONE ? k : parts->first[column];
  uint32_t a = part_of(parts, k), b = part_of(parts, other);
  parts->first[column] = other;
  if (a < b) parts->root[b] = a;
  else parts->root[a] = b;
}

/* Lists the members of each part, one part after another: start[parts + 1]. Returns the number of parts. */
static uint32_t parts_list(const ElementSets *parts, uint32_t count, uint32_t **start, uint32_t **member,
                           Arena *arena) {
  uint32_t *number = arena_array(arena, count + 1, sizeof *number), found = 0;
  *start = arena_array(arena, count + 2, sizeof **start);
  *member = arena_array(arena, count + 1, sizeof **member);
  for (uint32_t k = 0; k < count; k++)
    if (part_of(parts, k) == k) number[k] = found++;
  for (uint32_t k = 0; k < count; k++) (*start)[number[part_of(parts, k)] + 1]++;
  for (uint32_t p = 0; p < found; p++) (*start)[p + 1] += (*start)[p];
  uint32_t *next = arena_copy_array(arena, *start, found + 1, sizeof *next);
  for (uint32_t k = 0; k < count; k++) (*member)[next[number[part_of(parts, k)]]++] = k;
  return found;
}

/* ---- couplings ---- */

/* Rows that share derivatives, with the left and the right null vectors of E in these rows. */
typedef struct RatePart {
  const uint32_t *row; /* the rows of the part */
  uint32_t rows, rates, rank, free;
  uint32_t *rate; /* columns */
  double *z;      /* the left null vectors, one after the other: `free` of them */
  Svd svd;        /* of E */
} RatePart;

static RatePart rate_part(Minimal *minimal, const uint32_t *row, uint32_t rows, Arena *arena) {
  RatePart part = {.row = row, .rows = rows};
  uint32_t entries = 0;
  for (uint32_t i = 0; i < rows; i++) entries += minimal->row[row[i]].partial.count;
  part.rate = arena_array(arena, entries + 1, sizeof *part.rate);
  for (uint32_t i = 0; i < rows; i++) {
    const MinimalEntries *partial = &minimal->row[row[i]].partial;
    for (uint32_t k = 0; k < partial->count; k++) {
      uint32_t q = partial->data[k].column;
      if (!is_rate(minimal, q) || minimal->place[q] != MAP_NONE) continue;
      minimal->place[q] = part.rates;
      part.rate[part.rates++] = q;
    }
  }
  double *e = arena_array(arena, (size_t)rows * part.rates + 1, sizeof *e);
  for (uint32_t i = 0; i < rows; i++) {
    const MinimalEntries *partial = &minimal->row[row[i]].partial;
    for (uint32_t k = 0; k < partial->count; k++)
      if (is_rate(minimal, partial->data[k].column))
        e[i + (size_t)minimal->place[partial->data[k].column] * rows] = partial->data[k].value;
  }
  part.svd = dense_svd(e, (int32_t)rows, (int32_t)part.rates, RANK_TOLERANCE, arena);
  part.rank = (uint32_t)part.svd.rank;
  part.free = rows - part.rank;
  part.z = part.svd.u + (size_t)part.rank * rows;
  return part;
}

/* A column of N = Z^T A T: T is the unit vectors of columns without derivative, and the null space of E for those with one. */
typedef struct NullColumn {
  uint32_t column;      /* column of the array; MAP_NONE: the null vector below */
  const RatePart *part; /* of E */
  uint32_t null;
} NullColumn;

/* The row of A in the direction. */
static double along(const Minimal *minimal, const MinimalRow *row, const NullColumn *direction) {
  const RatePart *part = direction->part;
  double sum = 0;
  if (direction->column != MAP_NONE) return entry_at(&row->partial, direction->column);
  for (uint32_t k = 0; k < row->partial.count; k++) {
    uint32_t q = row->partial.data[k].column + 1;
    if (q >= minimal->near.array->columns || !is_rate(minimal, q)) continue;
    for (uint32_t c = 0; c < part->rates; c++)
      if (part->rate[c] == q)
        sum += part->svd.vt[direction->null + (size_t)c * part->rates] * row->partial.data[k].value;
  }
  return sum;
}

/* Is the row in a left null vector of its part? */
static bool takes_part(const RatePart *part, uint32_t i) {
  for (uint32_t k = 0; k < part->free; k++)
    if (fabs(part->z[(size_t)k * part->rows + i]) > ROUNDING) return true;
  return false;
}

/* Lists the directions in which some row of these parts of E is not zero. `of`: for each rate, its part of E, if that
 * part leaves a rate free. */
static NullColumn *list_directions(Minimal *minimal, const RatePart *parts, const uint32_t *member, uint32_t members,
                                   const uint32_t *of, uint32_t *count, Arena *arena) {
  VEC(NullColumn) list = {0};
  Heap *heap = minimal->near.heap;
  IndexVec seen = {0};
  *count = 0;
  for (uint32_t p = 0; p < members; p++)
    for (uint32_t i = 0; i < parts[member[p]].rows; i++) {
      const MinimalEntries *partial = &minimal->row[parts[member[p]].row[i]].partial;
      for (uint32_t k = 0; k < partial->count && takes_part(&parts[member[p]], i); k++) {
        uint32_t q = partial->data[k].column, rate = q + 1;
        if (is_algebraic(minimal, q) && minimal->dense[q] == 0) {
          vec_push(heap, &list, ((NullColumn){.column = q}));
          vec_push(heap, &seen, q);
          minimal->dense[q] = 1;
        }
        if (rate >= minimal->near.array->columns || !is_rate(minimal, rate) || of[rate] == MAP_NONE) continue;
        const RatePart *free = &parts[of[rate]];
        if (minimal->dense[free->rate[0]] != 0) continue;
        for (uint32_t f = free->rank; f < free->rates; f++)
          vec_push(heap, &list, ((NullColumn){.column = MAP_NONE, .part = free, .null = f}));
        vec_push(heap, &seen, free->rate[0]);
        minimal->dense[free->rate[0]] = 1;
      }
    }
  for (uint32_t k = 0; k < seen.count; k++) minimal->dense[seen.data[k]] = 0;
  NullColumn *kept = arena_copy_array(arena, list.data, list.count, sizeof *kept);
  *count = list.count;
  vec_free(heap, &list, &seen);
  return kept;
}

/* The rows of N for parts of E, `algebraic` of them. */
static double *dependence_matrix(const Minimal *minimal, const RatePart *parts, const uint32_t *member,
                                 uint32_t members, uint32_t algebraic, const NullColumn *direction, uint32_t columns,
                                 Arena *arena) {
  double *n = arena_array(arena, (size_t)algebraic * columns + 1, sizeof *n);
  uint32_t a = 0;
  for (uint32_t p = 0; p < members; p++) {
    const RatePart *part = &parts[member[p]];
    for (uint32_t k = 0; k < part->free; k++, a++)
      for (uint32_t i = 0; i < part->rows; i++)
        for (uint32_t c = 0; c < columns; c++)
          n[a + (size_t)c * algebraic] +=
              part->z[(size_t)k * part->rows + i] * along(minimal, &minimal->row[part->row[i]], &direction[c]);
  }
  for (size_t k = 0; k < (size_t)algebraic * columns; k++)
    if (fabs(n[k]) < ROUNDING) n[k] = 0;
  return n;
}

/* For connected parts of E: how much each row contributes to a combination that must be differentiated. Returns the number of
 * combinations. */
static uint32_t weigh_couplings(Minimal *minimal, const RatePart *parts, const uint32_t *member, uint32_t members,
                                const uint32_t *of, double *weight, Arena *arena) {
  uint32_t algebraic = 0, columns, count;
  for (uint32_t p = 0; p < members; p++) algebraic += parts[member[p]].free;
  if (!algebraic) return 0;
  const NullColumn *direction = list_directions(minimal, parts, member, members, of, &columns, arena);
  double *n = dependence_matrix(minimal, parts, member, members, algebraic, direction, columns, arena);
  Svd dependence = dense_svd(n, (int32_t)algebraic, (int32_t)columns, RANK_TOLERANCE, arena);
  count = algebraic - (uint32_t)dependence.rank;
  for (uint32_t s = 0; s < count; s++) {
    const double *vector = dependence.u + ((size_t)dependence.rank + s) * algebraic;
    for (uint32_t p = 0; p < members; vector += parts[member[p++]].free) {
      const RatePart *part = &parts[member[p]];
      for (uint32_t i = 0; i < part->rows; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < part->free; k++) sum += vector[k] * part->z[(size_t)k * part->rows + i];
        weight[part->row[i]] = fmax(weight[part->row[i]], fabs(sum));
      }
    }
  }
  return count;
}

/* The column that represents a direction shared by parts: all directions that one part of E leaves free go together. */
static uint32_t direction_column(const NullColumn *direction) {
  return direction->column != MAP_NONE ? direction->column : direction->part->rate[0];
}

/* The directions of a part of E. owners: for each column that represents a direction, the number of parts that have it, to
 * which `change` is added. */
static void count_owners(Minimal *minimal, const RatePart *parts, uint32_t p, const uint32_t *of, int change,
                         uint32_t *owners, Arena *arena) {
  uint32_t columns;
  const NullColumn *direction = list_directions(minimal, parts, &p, 1, of, &columns, arena);
  for (uint32_t c = 0; c < columns; c++)
    if (c == 0 || direction_column(&direction[c]) != direction_column(&direction[c - 1]))
      owners[direction_column(&direction[c])] += (uint32_t)change;
}

/* A combination must vanish in the directions that no other part has. Keeps the left null vectors of a part that vanish
 * there. false: all left null vectors vanish there. */
static bool keep_vanishing(Minimal *minimal, RatePart *parts, uint32_t p, const uint32_t *of, uint32_t *owners,
                           Arena *arena) {
  RatePart *part = &parts[p];
  uint32_t columns, own = 0, rows = part->rows;
  NullColumn *direction = list_directions(minimal, parts, &p, 1, of, &columns, arena);
  for (uint32_t c = 0; c < columns; c++)
    if (owners[direction_column(&direction[c])] == 1) direction[own++] = direction[c];
  double *n = dependence_matrix(minimal, parts, &p, 1, part->free, direction, own, arena);
  Svd svd = dense_svd(n, (int32_t)part->free, (int32_t)own, RANK_TOLERANCE, arena);
  uint32_t rank = (uint32_t)svd.rank, left = part->free - rank;
  if (!rank) return false;
  double *z = arena_array(arena, (size_t)left * rows + 1, sizeof *z);
  for (uint32_t k = 0; k < left; k++)
    for (uint32_t v = 0; v < part->free; v++)
      for (uint32_t i = 0; i < rows; i++)
        z[(size_t)k * rows + i] += svd.u[v + (size_t)(rank + k) * part->free] * part->z[(size_t)v * rows + i];
  count_owners(minimal, parts, p, of, -1, owners, arena);
  memcpy(part->z, z, (size_t)left * rows * sizeof *z);
  part->free = left;
  if (left) count_owners(minimal, parts, p, of, 1, owners, arena);
  return true;
}

/* Repeatedly removes members that are in no combination. If parts depend on each other in one direction only, as in a chain, all
 * are removed. */
static void leave_independent(Minimal *minimal, RatePart *parts, uint32_t count, const uint32_t *of, Arena *arena) {
  uint32_t *owners = arena_array(arena, (size_t)minimal->near.array->columns + 1, sizeof *owners);
  bool any = true;
  for (uint32_t p = 0; p < count; p++)
    if (parts[p].free) count_owners(minimal, parts, p, of, 1, owners, arena);
  while (any) {
    any = false;
    for (uint32_t k = 0; k < 2 * count; k++) { /* forwards, then backwards, because a chain may have either direction */
      uint32_t p = k < count ? k : 2 * count - 1 - k;
      Arena trial = arena_make(arena->heap);
      any = (parts[p].free && keep_vanishing(minimal, parts, p, of, owners, &trial)) || any;
      arena_free(&trial);
    }
  }
}

/* Is any part too large to be treated together? `rows`: the rows of each member; NULL: 1. */
static bool is_too_large(Minimal *minimal, const uint32_t *start, uint32_t parts, const uint32_t *member,
                         const RatePart *of) {
  for (uint32_t p = 0; p < parts; p++) {
    uint32_t rows = 0;
    for (uint32_t k = start[p]; k < start[p + 1]; k++) rows += of ? of[member[k]].free : 1;
    if (rows > DENSE_LIMIT && rows > minimal->largest) minimal->largest = rows;
  }
  return minimal->largest > 0;
}

/* How much each row contributes to the combinations of rows that must be differentiated; *count: their number. false: too many rows
 * are connected. */
static bool find_couplings(Minimal *minimal, double *weight, uint32_t *count, Arena *arena) {
  uint32_t columns = minimal->near.array->columns, *start, *member, *row_start, *row;
  ElementSets rows = parts_make(minimal->rows, columns, arena);
  *count = 0;
  for (uint32_t q = 0; q < columns; q++) minimal->place[q] = MAP_NONE;
  for (uint32_t r = 0; r < minimal->rows; r++)
    for (uint32_t k = 0; k < minimal->row[r].partial.count; k++)
      if (is_rate(minimal, minimal->row[r].partial.data[k].column))
        parts_share(&rows, r, minimal->row[r].partial.data[k].column);
  uint32_t parts = parts_list(&rows, minimal->rows, &row_start, &row, arena);
  if (is_too_large(minimal, row_start, parts, row, NULL)) return false;
  RatePart *part = arena_array(arena, parts + 1, sizeof *part);
  uint32_t *of = arena_array(arena, columns + 1, sizeof *of);
  for (uint32_t q = 0; q < columns; q++) of[q] = MAP_NONE;
  for (uint32_t p = 0; p < parts; p++) {
    part[p] = rate_part(minimal, row + row_start[p], row_start[p + 1] - row_start[p], arena);
    for (uint32_t k = 0; k < part[p].rates && part[p].rank < part[p].rates; k++) of[part[p].rate[k]] = p;
  }
  leave_independent(minimal, part, parts, of, arena);
  ElementSets together = parts_make(parts, columns, arena);
  for (uint32_t p = 0; p < parts; p++)
    for (uint32_t i = 0; i < part[p].rows && part[p].free; i++) {
      const MinimalEntries *partial = &minimal->row[part[p].row[i]].partial;
      for (uint32_t k = 0; k < partial->count && takes_part(&part[p], i); k++) {
        uint32_t q = partial->data[k].column;
        if (is_algebraic(minimal, q)) parts_share(&together, p, q);
        if (q + 1 < columns && is_rate(minimal, q + 1) && of[q + 1] != MAP_NONE)
          parts_share(&together, p, part[of[q + 1]].rate[0]);
      }
    }
  uint32_t groups = parts_list(&together, parts, &start, &member, arena);
  if (is_too_large(minimal, start, groups, member, part)) return false;
  for (uint32_t g = 0; g < groups; g++)
    *count += weigh_couplings(minimal, part, member + start[g], start[g + 1] - start[g], of, weight, arena);
  return true;
}

/* Is the entry the highest derivative of its unknown in the row? */
static bool is_highest(const Minimal *minimal, const MinimalRow *row, uint32_t k) {
  const Array *array = minimal->near.array;
  uint32_t q = row->partial.data[k].column;
  bool is_last =
      k + 1 == row->partial.count || array->column_unknown[row->partial.data[k + 1].column] != array->column_unknown[q];
  return array_order(array, q) > 0 && is_last;
}

/* Computes the row's highest derivatives, after the derivatives that earlier rows gave up are eliminated. */
static void fill_constraint(Minimal *minimal, MinimalRow *row) {
  Heap *heap = minimal->near.heap;
  double *dense = minimal->dense;
  IndexVec used = {0};
  for (uint32_t k = 0; k < row->partial.count; k++) {
    if (!is_highest(minimal, row, k)) continue;
    dense[row->partial.data[k].column] = row->partial.data[k].value;
    vec_push(heap, &used, row->partial.data[k].column);
  }
  for (const MinimalRow *before = minimal->row; before < row; before++) {
    if (before->given_up == MAP_NONE || dense[before->given_up] == 0) continue;
    double factor = dense[before->given_up] / entry_at(&before->constraint, before->given_up);
    for (uint32_t k = 0; k < before->constraint.count; k++) {
      uint32_t q = before->constraint.data[k].column;
      if (dense[q] == 0) vec_push(heap, &used, q);
      dense[q] -= factor * before->constraint.data[k].value;
    }
    dense[before->given_up] = 0;
  }
  for (uint32_t k = 0; k < used.count; k++) {
    uint32_t q = used.data[k];
    if (dense[q] != 0) vec_push(heap, &row->constraint, ((MinimalEntry){q, dense[q]}));
    dense[q] = 0;
  }
  qsort(row->constraint.data, row->constraint.count, sizeof *row->constraint.data, by_column);
  vec_free(heap, &used);
}

/* The weight of a derivative when a tie is given up. As in (39), a row gives up a tie of a variable that no earlier row of its
 * equation contains, if it has one. */
static double column_weight(const Minimal *minimal, const MinimalRow *row, uint32_t q) {
  if (array_order(minimal->near.array, q) == 0 || minimal->tie[q - 1] == TIE_NONE) return 0;
  for (const MinimalRow *before = minimal->row; before < row; before++)
    if (before->equation == row->equation && before->level > 0 && entry_at(&before->constraint, q) != 0)
      return OLD_WEIGHT;
  return 1;
}

/* Gives up one tie for the row, that of the largest derivative. Together the rows then determine all derivatives whose ties
 * were given up. */
static bool give_up_tie(Minimal *minimal, MinimalRow *row) {
  double largest = RANK_TOLERANCE;
  fill_constraint(minimal, row);
  for (uint32_t k = 0; k < row->constraint.count; k++) {
    uint32_t q = row->constraint.data[k].column;
    double size = fabs(row->constraint.data[k].value) * column_weight(minimal, row, q);
    if (size > largest) largest = size, row->given_up = q;
  }
  if (row->given_up == MAP_NONE) return false;
  minimal->tie[row->given_up - 1] = TIE_NONE;
  return true;
}

/* The row with other equations substituted, if the derivatives of everything in it already occur in the system: then it is
 * an algebraic condition. EXPR_NONE: they do not all occur. */
static Expr put_in(Minimal *minimal, const MinimalRow *row) {
  const Array *array = minimal->near.array;
  Expr condition = definitions_put_in(&minimal->definitions, row->residual, minimal->near.heap);
  ExprVec leaves = {0};
  dag_variables(array->dag, dag_scratch(array->dag), condition, &leaves);
  for (uint32_t k = 0; k < leaves.count && condition != EXPR_NONE; k++) {
    uint32_t q = array_column(array, leaves.data[k]);
    if ((int32_t)array_order(array, q) >= minimal->d[array->column_unknown[q]]) condition = EXPR_NONE;
  }
  vec_free(minimal->near.heap, &leaves);
  return condition;
}

/* Lists the rows of the combinations that have not been differentiated yet. */
static uint32_t list_coupled(const Minimal *minimal, const double *weight, uint32_t *coupled) {
  uint32_t found = 0;
  for (uint32_t r = 0; r < minimal->rows; r++)
    if (weight[r] >= 1e-6 && minimal->row[r].level == minimal->c[minimal->row[r].equation]) coupled[found++] = r;
  return found;
}

/* The coupled rows that must be differentiated. If possible, these are only the rows that give no derivative, with the
 * others substituted in them; otherwise every row unchanged. */
static uint32_t choose_conditions(Minimal *minimal, uint32_t *coupled, uint32_t found, Expr *condition) {
  uint32_t count = 0, *kept = arena_array(&minimal->arena, found, sizeof *kept);
  bool possible = true;
  for (uint32_t k = 0; k < found && possible; k++) {
    const MinimalRow *row = &minimal->row[coupled[k]];
    if (row->level == 0 && minimal->definitions.defines[row->equation]) continue;
    condition[count] = put_in(minimal, row);
    possible = condition[count] != EXPR_NONE;
    kept[count++] = coupled[k];
  }
  if (count > 0 && possible) {
    memcpy(coupled, kept, count * sizeof *kept);
    return count;
  }
  for (uint32_t k = 0; k < found; k++) condition[k] = minimal->row[coupled[k]].residual;
  return found;
}

/* One step: false if it is impossible within the offsets of the structural analysis. *done: nothing is left to do. */
static bool extend(Minimal *minimal, bool *done) {
  const Array *array = minimal->near.array;
  uint32_t count, found;
  Arena matrices = arena_make(minimal->near.heap);
  double *weight = arena_array(&minimal->arena, minimal->rows, sizeof *weight);
  bool is_found = find_couplings(minimal, weight, &count, &matrices);
  arena_free(&matrices);
  if (!is_found) return false;
  *done = count == 0;
  if (*done) return true;
  uint32_t *coupled = arena_array(&minimal->arena, minimal->rows, sizeof *coupled);
  Expr *condition = arena_array(&minimal->arena, minimal->rows, sizeof *condition);
  found = list_coupled(minimal, weight, coupled);
  if (!found) return false;
  found = choose_conditions(minimal, coupled, found, condition);
  for (uint32_t k = 0; k < found; k++) {
    const MinimalRow *row = &minimal->row[coupled[k]];
    if (row->level == array->c[row->equation]) return false;
    Expr residual = dag_time_derivative(array->dag, condition[k]);
    if (!add_row(minimal, row->equation, row->level + 1, residual)) return false;
    if (!give_up_tie(minimal, &minimal->row[minimal->rows - 1])) return false;
  }
  return true;
}

/* Finds the smallest offsets. false: the offsets of the structural analysis must be used, or are already the smallest. */
static bool find_offsets(Minimal *minimal) {
  const Array *array = minimal->near.array;
  move_point(minimal);
  minimal->definitions = definitions_find(array->problem, minimal->near.structure, true, &minimal->arena);
  minimal->row = arena_array(&minimal->arena, array->rows, sizeof *minimal->row);
  minimal->place = arena_array(&minimal->arena, array->columns, sizeof *minimal->place);
  minimal->dense = arena_array(&minimal->arena, array->columns, sizeof *minimal->dense);
  for (uint32_t i = 0; i < array->problem->equations; i++)
    if (!add_row(minimal, i, 0, array->problem->residual[i])) return false;
  for (bool done = false; !done;)
    if (!extend(minimal, &done)) return false;
  return memcmp(minimal->c, array->c, array->problem->equations * sizeof *minimal->c) != 0;
}

static void take_rows(Reduction *reduction, const Minimal *minimal) {
  Form *form = &reduction->form;
  uint32_t *place = arena_array(reduction->arena, reduction->array->problem->equations, sizeof *place);
  form->rows.count = 0;
  for (uint32_t i = 0; i < reduction->array->problem->equations; i++) {
    place[i] = form->rows.count;
    for (int32_t l = 0; l <= minimal->c[i]; l++) form_add(reduction, i, l);
  }
  for (uint32_t r = 0; r < minimal->rows; r++) {
    FormRow *row = &form->rows.data[place[minimal->row[r].equation] + (uint32_t)minimal->row[r].level];
    if (minimal->row[r].residual != form_residual(reduction, row)) row->residual = minimal->row[r].residual;
  }
}

/* The solution is determined by the start values of the states of dummy derivatives or, if this choice has as many states, of its
 * own states. */
static void take_ties(Reduction *reduction, const Minimal *minimal) {
  const Array *array = reduction->array;
  Form *form = &reduction->form;
  uint32_t ties = 0;
  for (uint32_t q = 0; q < array->columns; q++) {
    form->tie[q] = minimal->tie[q];
    ties += form->tie[q] != TIE_NONE;
    if ((int32_t)array_order(array, q) > minimal->d[array->column_unknown[q]]) form->fixed[q] = false;
  }
  for (uint32_t q = 0; q < array->columns && ties == reduction->structure->dof; q++)
    form->fixed[q] = form->tie[q] != TIE_NONE;
}

/* Counted as in the paper's Example 1. */
static void count_variables(Reduction *reduction, const int32_t *c, const int32_t *d) {
  const Array *array = reduction->array;
  ReductionCounts *counts = &reduction->counts;
  uint32_t dummies = 0;
  counts->first_order = array->problem->equations;
  for (uint32_t i = 0; i < array->problem->equations; i++) {
    counts->new_variables += (uint32_t)c[i];
    dummies += (uint32_t)array->c[i];
  }
  counts->first_order += counts->new_variables;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) counts->first_order += d[j] > 1 ? (uint32_t)d[j] - 1 : 0;
  if (counts->new_variables == dummies)
    reduction->remark = arena_printf(reduction->arena, "%u new variables, as many as dummy derivatives", dummies);
  else
    reduction->remark = arena_printf(
        reduction->arena, "%u new variables instead of %u dummy derivatives; %u first-order equations instead of %u",
        counts->new_variables, dummies, counts->first_order, counts->dummy_first_order);
}

static bool apply(Reduction *reduction) {
  const Array *array = reduction->array;
  Minimal minimal = {.near = *reduction, .arena = arena_make(reduction->heap)};
  minimal.c = arena_array(reduction->arena, array->problem->equations, sizeof(int32_t));
  minimal.d = arena_array(reduction->arena, array->problem->unknowns, sizeof(int32_t));
  minimal.tie = arena_array(reduction->arena, array->columns + 1, sizeof(uint8_t));
  int32_t *least = arena_array(&minimal.arena, array->problem->unknowns, sizeof *least);
  form_use_dummies(reduction);
  reduction->counts.dummy_first_order = form_first_order(reduction, &reduction->form);
  if (find_offsets(&minimal) && !problem_least_orders(array->problem, minimal.d, least)) {
    count_variables(reduction, minimal.c, minimal.d);
    take_rows(reduction, &minimal);
    take_ties(reduction, &minimal);
    reduction_shrink(reduction, minimal.c, minimal.d, minimal.tie);
  } else {
    count_variables(reduction, array->c, array->d);
    if (minimal.largest)
      reduction->remark = arena_printf(
          reduction->arena, "%s: ranks are found for up to %d equations that share derivatives, and here there are %u",
          reduction->remark, DENSE_LIMIT, minimal.largest);
    reduction_keep(reduction);
  }
  arena_free(&minimal.arena);
  return true;
}

const Method method_minimal = {
    .name = "minimal",
    .description = "minimal extension (Kunkel, Mehrmann): new variables only if a coupling is removed",
    .enforces_all = true,
    .chooses = true,
    .needs_values = true,
    .apply = apply,
};
