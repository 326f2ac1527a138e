/* sizes: see sizes.h. */
#include "segment/sizes.h"

#include "base/copy.h"
#include "core/constants.h"

#include <math.h>
#include <string.h>

struct Sizes {
  const System *system;
  const bool *is_sized, *is_signed; /* [columns] */
  double *size;                     /* [columns] */
  double *known;                    /* [columns] largest values so far */
  /* derivatives of the rates with respect to the states: sizes of the nonzero entries; NULL: there is none, or there are too many
   * states */
  double *jacobian;
  int32_t *place; /* place of each entry in the dense matrix */
  int32_t entries;
  int32_t links;    /* number of links for which there is room */
  int32_t age, due; /* steps since the start, and when the Jacobian is made again */
  bool is_known;    /* the Jacobian could be computed */
  bool is_wide;     /* steps have failed: all sizes are 1 */
  int32_t *group;   /* [columns] coupled columns have the same group */
  double *largest;  /* [columns] largest value in a group */
  double *solved;   /* [columns] the same for columns that Newton's method solves */
  double *seen;     /* [columns] largest value of a state */
  double *floor;    /* [columns] smallest allowed size of a state */
  double *near;     /* [columns] values a little later */
  double *decay;    /* [columns] derivative of the rate of a state with respect to the state itself */
};

/* Like fmax and fmin if the first number is defined, but without a call, because they are used for all columns in each step. */
static inline double larger(double a, double b) { return b > a ? b : a; }
static inline double smaller(double a, double b) { return b < a ? b : a; }

static int32_t find_group(int32_t *group, int32_t c) {
  while (group[c] != c) c = group[c] = group[group[c]];
  return c;
}

/* Columns of one row are coupled, and so are a variable and its derivatives. */
static void couple_columns(Sizes *sizes, const System *system, Heap *heap) {
  int32_t *first = heap_array(heap, (size_t)system->rows, sizeof *first), *group = sizes->group;
  for (int32_t r = 0; r < system->rows; r++) first[r] = -1;
  for (int32_t c = 0; c < system->columns; c++) group[c] = c;
  for (int32_t c = 0; c < system->columns; c++) {
    if (system->successor && system->successor[c] >= 0)
      group[find_group(group, c)] = find_group(group, system->successor[c]);
    for (int32_t k = system->column_start[c]; k < system->column_start[c + 1]; k++) {
      int32_t *other = &first[system->row_index[k]];
      if (*other < 0) *other = c;
      group[find_group(group, c)] = find_group(group, *other);
    }
  }
  for (int32_t c = 0; c < system->columns; c++) group[c] = find_group(group, c);
}

Sizes *sizes_new(Heap *heap, const System *system, const bool *is_sized, const bool *is_signed, double *size,
                 double *known) {
  size_t columns = (size_t)system->columns, links = (size_t)system->links;
  Sizes *sizes = heap_alloc(heap, sizeof *sizes);
  *sizes = (Sizes){.system = system, .is_sized = is_sized, .is_signed = is_signed, .size = size, .known = known};
  sizes->links = system->links;
  sizes->group = heap_array(heap, columns, sizeof *sizes->group);
  heap_numbers(heap, columns, &sizes->largest, &sizes->solved, &sizes->seen, &sizes->floor, &sizes->near,
               &sizes->decay);
  couple_columns(sizes, system, heap);
  if (system->rates_jacobian && links <= DENSE_ROWS) {
    sizes->jacobian = heap_array(heap, links * links, sizeof(double));
    sizes->place = heap_array(heap, links * links, sizeof *sizes->place);
  }
  return sizes;
}

void sizes_begin(Sizes *sizes) {
  sizes->age = sizes->due = 0;
  sizes->is_known = false;
}

/* The size of a state. If its min or max keeps the state to one sign, the size falls with the state. */
static double seen_of(const Sizes *sizes, int32_t l, double elapsed, const double *y) {
  const System *system = sizes->system;
  int32_t c = system->link_from[l];
  if (!sizes->is_sized[c]) return sizes->size[c];
  if (!sizes->is_signed[c]) return sizes->known[c];
  return smaller(larger(fabs(y[c]), elapsed * fabs(y[system->link_to[l]])), sizes->known[c]);
}

/* Finds the largest values in each group; columns that Newton's method solves count in addition with their nominal values. */
static void note_largest(Sizes *sizes, const double *y) {
  const System *system = sizes->system;
  size_t columns = (size_t)system->columns;
  bool solves = system->given && memchr(system->given, false, columns);
  memset(sizes->largest, 0, columns * sizeof *sizes->largest);
  memset(sizes->solved, 0, solves ? columns * sizeof *sizes->solved : 0); /* all zero if nothing is ever solved */
  memset(sizes->floor, 0, solves ? columns * sizeof *sizes->floor : 0);
  for (int32_t l = 0; l < system->links && solves; l++) sizes->floor[system->link_from[l]] = 1;
  for (int32_t c = 0; c < system->columns; c++) {
    bool is_solved = solves && !system->given[c] && sizes->floor[c] == 0;
    double *largest = &sizes->largest[sizes->group[c]], *solved = &sizes->solved[sizes->group[c]];
    double value = larger(sizes->known[c], fabs(y[c])) + (is_solved ? system->nominal[c] : 0);
    *largest = larger(*largest, value);
    if (is_solved) *solved = larger(*solved, value);
  }
}

/* At a start all columns of a group may be zero by chance: the values a little later show more. */
static const double *look_near(Sizes *sizes, const SizesStep *step, double size, const double *y) {
  const System *system = sizes->system;
  if (step->end > step->begin || !system->complete || !isfinite(size)) return y;
  bool any = false;
  for (int32_t l = 0; l < system->links; l++) any = any || sizes->largest[sizes->group[system->link_from[l]]] == 0;
  if (!any) return y;
  copy_numbers(sizes->near, y, (size_t)system->columns);
  if (system->complete(system->context, step->end + size, sizes->near) != EVAL_OK) return y;
  note_largest(sizes, sizes->near);
  return sizes->near;
}

/* Returns true if some states have been small so far. */
static bool note_seen(Sizes *sizes, double elapsed, const double *y) {
  const System *system = sizes->system;
  bool any = false;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t c = system->link_from[l];
    double seen = sizes->seen[c] = seen_of(sizes, l, elapsed, y);
    any = any || (sizes->is_sized[c] && seen < GOOD_PART);
  }
  return any;
}

/* Computes the Jacobian of the rates here. In large systems most entries are zero, and steps use the Jacobian often. */
static void make_jacobian(Sizes *sizes, double t, const double *y) {
  const System *system = sizes->system;
  sizes->is_known = system->rates_jacobian(system->context, t, y, sizes->jacobian) == EVAL_OK;
  sizes->entries = 0;
  for (int32_t k = 0; sizes->is_known && k < system->links * system->links; k++) {
    if (sizes->jacobian[k] == 0) continue;
    sizes->place[sizes->entries] = k;
    sizes->jacobian[sizes->entries++] = fabs(sizes->jacobian[k]);
  }
}

/* Raises a size to a floor, and to the possible round-off of a rate whose terms cancel. */
static inline void raise_size(Sizes *sizes, int32_t c, double size, double floor) {
  if (sizes->is_sized[c]) sizes->size[c] = smaller(larger(larger(size, PRESENT), floor), 1);
}

/* Raises sizes to an estimate of how much the rates move the states within this time. */
static void raise_by_rates(Sizes *sizes, double time, const double *y) {
  const System *system = sizes->system;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t c = system->link_from[l];
    raise_size(sizes, c, sizes->size[c], fabs(y[system->link_to[l]]) * time);
  }
}

/* Raises sizes to an estimate of how much a state moves within this time, by its present rate and by changes of the other states
 * that are as large as their sizes. If a state decays, only the changes within its decay time count. */
static void raise_to_floors(Sizes *sizes, double time, const double *y) {
  const System *system = sizes->system;
  const int32_t *from = system->link_from, n = system->links, entries = sizes->entries;
  for (int32_t i = 0; i < n; i++) sizes->decay[from[i]] = 0;
  for (int32_t k = 0; k < entries; k++)
    if (sizes->place[k] % n == sizes->place[k] / n) sizes->decay[from[sizes->place[k] / n]] = sizes->jacobian[k];
  for (int32_t i = 0; i < n; i++)
    sizes->floor[from[i]] = fabs(y[system->link_to[i]]) * time / (1 + time * sizes->decay[from[i]]);
  for (int32_t k = 0; k < entries; k++) {
    int32_t i = from[sizes->place[k] % n], j = from[sizes->place[k] / n];
    if (i != j)
      sizes->floor[i] += sizes->jacobian[k] * sizes->size[j] * time / (1 + time * (sizes->decay[i] + sizes->decay[j]));
  }
  for (int32_t i = 0; i < n; i++) raise_size(sizes, from[i], sizes->size[from[i]], sizes->floor[from[i]]);
}

/* Newton's method leaves a relative error in the columns that it solves. Without a Jacobian, a value smaller than the largest
 * column of its group may be an error of that column. A state that nothing has moved so far has the size 1. */
static void raise_to_least(Sizes *sizes, double tolerance) {
  const System *system = sizes->system;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t c = system->link_from[l], group = sizes->group[c];
    double least = sizes->is_known ? SOLVED / tolerance * sizes->solved[group] : sizes->largest[group];
    raise_size(sizes, c, sizes->seen[c], sizes->largest[group] > 0 ? least : 1);
  }
}

/* The sizes of states, from their own values so far and the values that they depend on. */
static void follow_sizes(Sizes *sizes, const SizesStep *step, const double *y) {
  const System *system = sizes->system;
  double size = fmax(step->end - step->begin, SLIVER * step->span);
  note_largest(sizes, y);
  const double *near = look_near(sizes, step, size, y);
  bool any = note_seen(sizes, step->end - step->start, y);
  if (any && sizes->jacobian && system->links <= sizes->links && sizes->age >= sizes->due) {
    make_jacobian(sizes, step->end, y);
    sizes->due += sizes->due < MANY ? sizes->due + 1 : MANY;
  }
  raise_to_least(sizes, step->tolerance);
  if (any && !sizes->is_known) raise_by_rates(sizes, size, near);
  for (int pass = 0; any && sizes->is_known && pass < 2; pass++) /* errors spread from state to state */
    raise_to_floors(sizes, size, near);
}

void sizes_note(Sizes *sizes, const SizesStep *step, const double *y) {
  bool any = false;
  for (int32_t c = 0; c < sizes->system->columns; c++) {
    sizes->known[c] = larger(sizes->known[c], fabs(y[c]));
    if (!sizes->is_sized[c]) continue;
    sizes->size[c] = 1; /* columns that were states before also have sizes */
    any = true;
  }
  if (any && !sizes->is_wide && !step->is_sliding) follow_sizes(sizes, step, y);
  sizes->age++;
}

bool sizes_widen(Sizes *sizes) {
  bool was_wide = sizes->is_wide;
  sizes->is_wide = true;
  return !was_wide;
}
