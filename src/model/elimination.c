/* elimination: linear equations inside functions, as LAPACK's dgesv solves them, in the operations of the machine's domain.
 *
 * Invariant: pivots are chosen as dgesv chooses them, the first of the largest in a column. So a function that solves linear
 * equations has exact derivatives, and its sequence of pivots can be recorded. */
#include "model/machine.h"

#include <string.h>

/* The arguments of dgesv, in this order. */
enum { SIZE, SIDES, MATRIX, MATRIX_ROWS, PIVOTS, RIGHT, RIGHT_ROWS, INFO, ARGUMENTS };

typedef struct Elimination {
  Machine *machine;
  const Domain *domain;
  Value list[ARGUMENTS]; /* the arguments; those that are written are copies */
  uint32_t n, sides;
  char *room; /* for the arguments of one operation */
} Elimination;

static char *entry(const Elimination *e, uint32_t which, uint32_t i, uint32_t j) {
  const Value *value = &e->list[which];
  size_t columns = value->type.dimensions > 1 ? value->sizes[1] : 1;
  return value->data + (i * columns + j) * e->domain->size;
}

static bool apply(const Elimination *e, Op op, const char *a, const char *b, char *out) {
  size_t size = e->domain->size;
  memcpy(e->room, a, size);
  if (b) memcpy(e->room + size, b, size);
  return e->domain->apply(e->domain->context, op, e->room, b ? 2 : 1, out) ||
         machine_error(e->machine, "dgesv: result beyond the range of numbers");
}

/* target - factor * entry */
static bool subtract(const Elimination *e, char *target, const char *factor, const char *other) {
  static const uint32_t signs = 2;
  size_t size = e->domain->size;
  char *terms = e->room + 2 * size;
  if (!apply(e, OP_MULTIPLY, factor, other, terms + size)) return false;
  memcpy(terms, target, size);
  e->domain->sum(e->domain->context, terms, &signs, 2, target);
  return true;
}

static void exchange(const Elimination *e, uint32_t which, uint32_t i, uint32_t k, uint32_t columns) {
  for (uint32_t j = 0; i != k && j < columns; j++) {
    char *a = entry(e, which, i, j), *b = entry(e, which, k, j);
    memcpy(e->room, a, e->domain->size);
    memcpy(a, b, e->domain->size);
    memcpy(b, e->room, e->domain->size);
  }
}

/* The row of the pivot of column k; n if all entries are 0. */
static bool choose_pivot(const Elimination *e, uint32_t k, uint32_t *pivot) {
  size_t size = e->domain->size;
  char *largest = e->room + 2 * size, *next = largest + size, *is_larger = next + size;
  e->domain->constant(e->domain->context, 0, largest);
  *pivot = e->n;
  for (uint32_t i = k; i < e->n; i++) {
    double truth;
    if (!apply(e, OP_ABS, entry(e, MATRIX, i, k), NULL, next) || !apply(e, OP_GREATER, next, largest, is_larger))
      return false;
    if (!e->domain->known(e->domain->context, is_larger, &truth))
      return machine_unknown(e->machine, "the pivots of linear equations");
    if (truth == 0) continue;
    *pivot = i;
    memcpy(largest, next, size);
  }
  return true;
}

/* Eliminates column k and stores the multipliers in place of the entries that vanish. */
static bool eliminate(const Elimination *e, uint32_t k) {
  for (uint32_t i = k + 1; i < e->n; i++) {
    char *factor = entry(e, MATRIX, i, k);
    if (!apply(e, OP_DIVIDE, factor, entry(e, MATRIX, k, k), factor)) return false;
    for (uint32_t j = k + 1; j < e->n; j++)
      if (!subtract(e, entry(e, MATRIX, i, j), factor, entry(e, MATRIX, k, j))) return false;
  }
  return true;
}

/* *info: 0, or the number of the first column without pivot. */
static bool factorize(const Elimination *e, uint32_t *info) {
  *info = 0;
  for (uint32_t k = 0; k < e->n; k++) {
    uint32_t pivot;
    if (!choose_pivot(e, k, &pivot)) return false;
    if (pivot == e->n && *info == 0) *info = k + 1;
    if (pivot == e->n) pivot = k;
    e->domain->constant(e->domain->context, pivot + 1, entry(e, PIVOTS, k, 0));
    exchange(e, MATRIX, k, pivot, e->n);
    if (*info != k + 1 && !eliminate(e, k)) return false;
  }
  return true;
}

static bool substitute(const Elimination *e) {
  double pivot = 0;
  for (uint32_t k = 0; k < e->n; k++) {
    e->domain->known(e->domain->context, entry(e, PIVOTS, k, 0), &pivot);
    exchange(e, RIGHT, k, (uint32_t)pivot - 1, e->sides);
  }
  for (uint32_t s = 0; s < e->sides; s++) {
    for (uint32_t i = 0; i < e->n; i++)
      for (uint32_t j = 0; j < i; j++)
        if (!subtract(e, entry(e, RIGHT, i, s), entry(e, MATRIX, i, j), entry(e, RIGHT, j, s))) return false;
    for (uint32_t i = e->n; i-- > 0;) {
      char *x = entry(e, RIGHT, i, s);
      for (uint32_t j = i + 1; j < e->n; j++)
        if (!subtract(e, x, entry(e, MATRIX, i, j), entry(e, RIGHT, j, s))) return false;
      if (!apply(e, OP_DIVIDE, x, entry(e, MATRIX, i, i), x)) return false;
    }
  }
  return true;
}

static bool read_count(Elimination *e, uint32_t which, int64_t most, uint32_t *out) {
  int64_t value;
  if (!value_integer(e->machine, &e->list[which], &value)) return false;
  if (value < 0 || value > most)
    return machine_error(e->machine, "argument %u of `dgesv` is %lld: that is not a size of these arrays", which + 1,
                         (long long)value);
  *out = (uint32_t)value;
  return true;
}

/* The leading dimension of an array, at least 1. */
static int64_t leading(const Value *array) { return array->sizes[0] ? array->sizes[0] : 1; }

/* Reads the sizes and checks that they fit the arrays. */
static bool read_sizes(Elimination *e) {
  uint32_t rows;
  const Value *a = &e->list[MATRIX], *b = &e->list[RIGHT];
  bool is_matrix = a->type.dimensions == 2 && b->type.dimensions >= 1 && b->type.dimensions <= 2;
  if (!is_matrix || e->list[PIVOTS].type.dimensions != 1 || e->list[INFO].type.dimensions != 0)
    return machine_error(e->machine, "these are not the arguments that `dgesv` takes");
  uint32_t order = a->sizes[0] < a->sizes[1] ? a->sizes[0] : a->sizes[1];
  if (order > b->sizes[0]) order = b->sizes[0];
  if (order > e->list[PIVOTS].count) order = e->list[PIVOTS].count;
  return read_count(e, SIZE, order, &e->n) &&
         read_count(e, SIDES, b->type.dimensions > 1 ? b->sizes[1] : 1, &e->sides) &&
         read_count(e, MATRIX_ROWS, leading(a), &rows) && read_count(e, RIGHT_ROWS, leading(b), &rows);
}

bool eliminate_linear(Machine *machine, uint32_t count, const uint32_t *places) {
  Elimination e = {.machine = machine, .domain = machine->domain};
  uint32_t info;
  if (count != ARGUMENTS) return machine_error(machine, "`dgesv` has %u arguments, not %u", ARGUMENTS, count);
  memcpy(e.list, machine_top(machine, count), sizeof e.list);
  for (uint32_t i = 0; i < count; i++)
    if (i == MATRIX || i == PIVOTS || i == RIGHT || i == INFO) e.list[i] = value_copy(machine, &e.list[i]);
  e.room = machine_alloc(machine, 5 * (size_t)e.domain->size);
  if (!read_sizes(&e) || !machine_charge(machine, (uint64_t)e.n * e.n * (e.n + e.sides))) return false;
  if (!factorize(&e, &info) || (info == 0 && !substitute(&e))) return false;
  e.domain->constant(e.domain->context, info, e.list[INFO].data);
  for (uint32_t i = 0; i < count; i++)
    if (places[1 + i] != UINT32_MAX) value_assign(machine, &frame_top(machine)->slots[places[1 + i]], &e.list[i]);
  machine->stack.count -= count;
  return true;
}
