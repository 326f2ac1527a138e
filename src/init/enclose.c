/* enclose: see enclose.h. */
#include "init/enclose.h"

#include "code/interval_tape.h"
#include "code/krawczyk.h"

#include <string.h>

enum { BOX_LIMIT = 4000 };           /* boxes examined */
static const double SMALLEST = 1e-9; /* relative to the first box: narrower boxes stay undecided */
static const double SHRUNK = 0.7; /* a box that is still wider than this after pruning, relative to its width before, is
                                      * halved */

typedef struct BoxSearch {
  InitialSystem *system;
  Patch *patch;
  uint32_t n;
  const uint32_t *positions;
  const Interval *first;
  double t;
  IntervalTape *tape;
  uint32_t rows, entries;        /* sections of the tape: residuals, entries of the Jacobian */
  uint32_t *row, *entry, *place; /* places on the tape: of residuals, of entries, of unknowns */
  const Jacobian *jacobian;
  Krawczyk *krawczyk;
  Interval *boxes; /* a stack of boxes, n intervals each */
  uint32_t count;
  bool is_complete;
  double *y, *guess,
      *nearest; /* per column of the system. y: known values; guess: a solution; nearest: the nearest solution so far */
  double distance;
} BoxSearch;

static void set_place(BoxSearch *search, uint32_t place, Interval value) {
  *interval_tape_at(search->tape, place) = (Motion){value, {0, 0}, value};
}

static void set_unknowns(BoxSearch *search, const Interval *box, bool at_middle) {
  for (uint32_t k = 0; k < search->n; k++) {
    set_place(search, search->place[k], at_middle ? interval_point(interval_middle(box[k])) : box[k]);
  }
}

/* Bounds of the residuals over the box, or at its midpoint. Returns false if one residual cannot be zero there. */
static bool bound_rows(BoxSearch *search, const Interval *box, bool at_middle, Interval *g) {
  bool may_vanish = true;
  set_unknowns(search, box, at_middle);
  interval_tape_run(search->tape, search->rows, false);
  for (uint32_t k = 0; k < search->n; k++) {
    g[k] = interval_tape_at(search->tape, search->row[k])->all;
    may_vanish = may_vanish && interval_holds(g[k], 0);
  }
  return may_vanish;
}

/* Bounds of the Jacobian over the box go to Krawczyk's operator. */
static bool set_jacobian(BoxSearch *search, const Interval *box) {
  Interval matrix[ENCLOSE_LIMIT * ENCLOSE_LIMIT] = {0};
  const Jacobian *jacobian = search->jacobian;
  set_unknowns(search, box, false);
  interval_tape_run(search->tape, search->entries, false);
  for (uint32_t q = 0; q < jacobian->columns; q++) {
    uint32_t k = 0;
    while (k < search->n && search->positions[k] != jacobian->positions[q]) k++;
    for (int32_t e = jacobian->column_start[q]; k < search->n && e < jacobian->column_start[q + 1]; e++)
      matrix[(uint32_t)jacobian->row_index[e] * search->n + k] = interval_tape_at(search->tape, search->entry[e])->all;
  }
  return krawczyk_set_jacobian(search->krawczyk, matrix, true);
}

/* Solves within a box that is proven to have a solution, and keeps the solution if it is the nearest so far. */
static void take_solution(BoxSearch *search, const Interval *box) {
  double away = 0;
  memcpy(search->guess, search->y, search->system->columns * sizeof *search->guess);
  for (uint32_t k = 0; k < search->n; k++) search->guess[search->positions[k]] = interval_middle(box[k]);
  if (!patch_solve(search->patch, search->t, search->guess).solved) {
    search->is_complete = false;
    return;
  }
  for (uint32_t k = 0; k < search->n; k++) {
    double way = (search->guess[search->positions[k]] - search->y[search->positions[k]]) /
                 (search->first[k].high - search->first[k].low);
    away += way * way;
  }
  if (!(away < search->distance)) return;
  search->distance = away;
  memcpy(search->nearest, search->guess, search->system->columns * sizeof *search->guess);
}

typedef enum Pruned { PRUNED_AWAY, PRUNED_SMALLER, PRUNED_NOT } Pruned;

/* Shrinks the box by Krawczyk's operator. PRUNED_AWAY: the box has no solution, or its solution was found. */
static Pruned prune(BoxSearch *search, Interval *box) {
  Interval g[ENCLOSE_LIMIT], around[ENCLOSE_LIMIT], image[ENCLOSE_LIMIT];
  bool is_smaller = false;
  if (!bound_rows(search, box, false, g)) return PRUNED_AWAY;
  if (!set_jacobian(search, box)) return PRUNED_NOT;
  bound_rows(search, box, true, g);
  for (uint32_t k = 0; k < search->n; k++)
    around[k] = interval_subtract(box[k], interval_point(interval_middle(box[k])));
  krawczyk_image(search->krawczyk, g, around, image);
  for (uint32_t k = 0; k < search->n; k++)
    if (!(image[k].low <= around[k].high && image[k].high >= around[k].low)) return PRUNED_AWAY;
  if (krawczyk_proves(search->krawczyk, around, image)) {
    take_solution(search, box);
    return PRUNED_AWAY;
  }
  for (uint32_t k = 0; k < search->n; k++) {
    Interval left = interval_add(interval_meet(around[k], image[k]), interval_point(interval_middle(box[k])));
    double before = box[k].high - box[k].low;
    box[k] = interval_meet(box[k], left);
    is_smaller |= box[k].high - box[k].low < SHRUNK * before;
  }
  return is_smaller ? PRUNED_SMALLER : PRUNED_NOT;
}

/* Halves the box along the side that is widest relative to the first box. False: the box is too small, or there are too many. */
static bool halve(BoxSearch *search, const Interval *box) {
  double widest = 0;
  uint32_t side = 0;
  for (uint32_t k = 0; k < search->n; k++) {
    double width = (box[k].high - box[k].low) / (search->first[k].high - search->first[k].low);
    if (width > widest) widest = width, side = k;
  }
  if (!(widest > SMALLEST) || search->count + 2 > BOX_LIMIT) return false;
  for (int half = 0; half < 2; half++) {
    Interval *part = search->boxes + (size_t)search->count++ * search->n;
    memcpy(part, box, search->n * sizeof *part);
    if (half) part[side].low = interval_middle(box[side]);
    else part[side].high = interval_middle(box[side]);
  }
  return true;
}

static void look_into(BoxSearch *search, Interval *box) {
  Pruned pruned;
  do pruned = prune(search, box);
  while (pruned == PRUNED_SMALLER);
  if (pruned == PRUNED_NOT && !halve(search, box)) search->is_complete = false;
}

static void make_tape(BoxSearch *search, Heap *heap, const double *y) {
  search->tape = interval_tape_new(heap, search->system->evaluator);
  search->row = heap_array(heap, search->n, sizeof(uint32_t));
  search->place = heap_array(heap, search->n, sizeof(uint32_t));
  search->entry = heap_array(heap, search->jacobian->nonzeros, sizeof(uint32_t));
  search->rows = interval_tape_add(search->tape, patch_program(search->patch), NULL, search->row);
  search->entries = interval_tape_add(search->tape, search->jacobian->program, NULL, search->entry);
  for (uint32_t k = 0; k < search->n; k++) search->place[k] = interval_tape_column(search->tape, search->positions[k]);
  interval_tape_hold(search->tape);
  interval_tape_set_stretch(search->tape, search->t, search->t);
  for (uint32_t q = 0; q < search->jacobian->columns; q++) {
    uint32_t position = search->jacobian->positions[q];
    set_place(search, interval_tape_column(search->tape, position), interval_point(y[position]));
  }
}

EncloseEnd enclose_search(InitialSystem *system, Patch *patch, const uint32_t *positions, const Interval *box, double t,
                          double *y) {
  const double *values;
  const Jacobian *jacobian = patch_jacobian(patch, &values);
  uint32_t n = jacobian->rows;
  if (!system_is_plain(system) || system->evaluator->past || n > ENCLOSE_LIMIT || !patch_program(patch))
    return ENCLOSE_UNKNOWN;
  void *ticket = NULL;
  Heap *heap = heap_within(system->heap, &ticket);
  BoxSearch search = {.system = system,
                      .patch = patch,
                      .n = n,
                      .positions = positions,
                      .first = box,
                      .t = t,
                      .jacobian = jacobian,
                      .krawczyk = krawczyk_new(heap, (int32_t)n),
                      .boxes = heap_array(heap, (size_t)BOX_LIMIT * n, sizeof(Interval)),
                      .is_complete = true,
                      .y = y,
                      .distance = HUGE_VAL};
  heap_numbers(heap, system->columns, &search.guess, &search.nearest);
  make_tape(&search, heap, y);
  memcpy(search.boxes, box, n * sizeof *box);
  search.count = 1;
  for (int looks = 0; search.count && looks < BOX_LIMIT; looks++) {
    Interval now[ENCLOSE_LIMIT];
    memcpy(now, search.boxes + (size_t)--search.count * n, n * sizeof *now);
    look_into(&search, now);
  }
  bool is_complete = search.is_complete && search.count == 0, found = search.distance < HUGE_VAL;
  if (found) memcpy(y, search.nearest, system->columns * sizeof *y);
  heap_release(system->heap, ticket);
  return found ? ENCLOSE_FOUND : is_complete ? ENCLOSE_NONE : ENCLOSE_UNKNOWN;
}
