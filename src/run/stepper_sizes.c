/* stepper_sizes: absolute tolerances of states without a nominal value.
 *
 * The size of a state is its largest value so far, and at most 1, because larger values use the relative tolerance. A state that
 * should be zero contains the errors of other columns, and steps must not follow these. So its size is at least the change that its
 * rate and the sizes of other states cause within a step. Its absolute tolerance is at least the error that Newton's method leaves
 * in the columns coupled with it. Where steps fail, all sizes are 1: the rate of a state may jump, and the shortest step must be
 * within the tolerance. */
#include "core/constants.h"
#include "run/stepper_internal.h"

#include "base/copy.h"

#include <math.h>

struct Sizes {
  /* derivatives of the rates by the states: sizes of the nonzero entries; NULL: there is none, or there are too many states */
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
  double *decay;    /* [columns] derivative of the rate of a state by the state itself */
};

static int32_t find_group(int32_t *group, int32_t c) {
  while (group[c] != c) c = group[c] = group[group[c]];
  return c;
}

/* Columns of one row are coupled, and so are those of a variable and its derivatives. */
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

void stepper_make_sizes(Stepper *stepper) {
  const System *system = &stepper->view->system;
  size_t columns = (size_t)system->columns, links = (size_t)system->links;
  Sizes *sizes = stepper->sizes = heap_alloc(stepper->heap, sizeof *sizes);
  *sizes = (Sizes){.links = system->links, .group = heap_array(stepper->heap, columns, sizeof(int32_t))};
  heap_numbers(stepper->heap, columns, &sizes->largest, &sizes->solved, &sizes->seen, &sizes->floor, &sizes->near,
               &sizes->decay);
  couple_columns(sizes, system, stepper->heap);
  if (system->rates_jacobian && links <= DENSE_ROWS) {
    sizes->jacobian = heap_array(stepper->heap, links * links, sizeof(double));
    sizes->place = heap_array(stepper->heap, links * links, sizeof *sizes->place);
  }
}

void stepper_begin_sizes(Stepper *stepper) {
  stepper->sizes->age = stepper->sizes->due = 0;
  stepper->sizes->is_known = false;
}

/* The size of a state; it falls with a state that keeps one sign, by its min or max. */
static double seen_of(const Stepper *stepper, int32_t l, double elapsed, const double *y) {
  const View *view = stepper->view;
  int32_t c = view->system.link_from[l];
  if (!view->evaluator->is_sized[c]) return view->size[c];
  if (!view->evaluator->is_signed[c]) return view->seen[c];
  return fmin(fmax(fabs(y[c]), elapsed * fabs(y[view->system.link_to[l]])), view->seen[c]);
}

/* Finds the largest values in each group; columns that Newton's method solves count in addition with their nominal values. */
static void note_largest(Stepper *stepper, const double *y) {
  const System *system = &stepper->view->system;
  Sizes *sizes = stepper->sizes;
  for (int32_t c = 0; c < system->columns; c++) sizes->largest[c] = sizes->solved[c] = sizes->floor[c] = 0;
  for (int32_t l = 0; l < system->links; l++) sizes->floor[system->link_from[l]] = 1;
  for (int32_t c = 0; c < system->columns; c++) {
    bool is_solved = system->given && !system->given[c] && !sizes->floor[c];
    double *largest = &sizes->largest[sizes->group[c]], *solved = &sizes->solved[sizes->group[c]];
    double value = fmax(stepper->view->seen[c], fabs(y[c])) + (is_solved ? system->nominal[c] : 0);
    *largest = fmax(*largest, value);
    if (is_solved) *solved = fmax(*solved, value);
  }
}

/* At a start all columns of a group may be zero by chance: the values a little later show more. */
static const double *look_near(Stepper *stepper, double t, double step, const double *y) {
  const System *system = &stepper->view->system;
  Sizes *sizes = stepper->sizes;
  bool any = false;
  for (int32_t l = 0; l < system->links; l++) any = any || sizes->largest[sizes->group[system->link_from[l]]] == 0;
  if (!any || t > stepper->before || !system->complete || !isfinite(step)) return y;
  copy_numbers(sizes->near, y, (size_t)system->columns);
  if (system->complete(system->context, t + step, sizes->near) != EVAL_OK) return y;
  note_largest(stepper, sizes->near);
  return sizes->near;
}

/* Returns true if some states have been small so far. */
static bool note_seen(Stepper *stepper, double t, const double *y) {
  const System *system = &stepper->view->system;
  bool any = false;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t c = system->link_from[l];
    double seen = stepper->sizes->seen[c] = seen_of(stepper, l, t - stepper->options.start, y);
    any = any || (stepper->view->evaluator->is_sized[c] && seen < GOOD_PART);
  }
  return any;
}

/* Computes the Jacobian of the rates here. In large systems most entries are zero, and steps use it often. */
static void make_jacobian(Stepper *stepper, double t, const double *y) {
  Sizes *sizes = stepper->sizes;
  const System *system = &stepper->view->system;
  sizes->is_known = system->rates_jacobian(system->context, t, y, sizes->jacobian) == EVAL_OK;
  sizes->entries = 0;
  for (int32_t k = 0; sizes->is_known && k < system->links * system->links; k++) {
    if (sizes->jacobian[k] == 0) continue;
    sizes->place[sizes->entries] = k;
    sizes->jacobian[sizes->entries++] = fabs(sizes->jacobian[k]);
  }
}

/* Estimates how much the rates, and other states as large as their sizes, move the states within this time. The effect
 * of a disturbance on a decaying state, and of that state on others, lasts only as long as the decay. */
static void find_floors(const Stepper *stepper, double time, const double *y) {
  const Sizes *sizes = stepper->sizes;
  const System *system = &stepper->view->system;
  const int32_t *from = system->link_from, n = system->links, entries = sizes->is_known ? sizes->entries : 0;
  for (int32_t i = 0; i < n; i++) sizes->decay[from[i]] = 0;
  for (int32_t k = 0; k < entries; k++)
    if (sizes->place[k] % n == sizes->place[k] / n) sizes->decay[from[sizes->place[k] / n]] = sizes->jacobian[k];
  for (int32_t i = 0; i < n; i++)
    sizes->floor[from[i]] = fabs(y[system->link_to[i]]) * time / (1 + time * sizes->decay[from[i]]);
  for (int32_t k = 0; k < entries; k++) {
    int32_t i = from[sizes->place[k] % n], j = from[sizes->place[k] / n];
    if (i != j)
      sizes->floor[i] +=
          sizes->jacobian[k] * stepper->view->size[j] * time / (1 + time * (sizes->decay[i] + sizes->decay[j]));
  }
}

/* Raises sizes to their floors, and to the possible round-off of a rate whose terms cancel. */
static void raise_sizes(Stepper *stepper, const double *size) {
  const System *system = &stepper->view->system;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t c = system->link_from[l];
    if (stepper->view->evaluator->is_sized[c])
      stepper->view->size[c] = fmin(fmax(fmax(size[c], PRESENT), stepper->sizes->floor[c]), 1);
  }
}

/* Newton's method leaves a relative error in the columns that it solves. Without a Jacobian, a value smaller than the largest
 * column of its group may be an error of that column. A state that nothing has moved so far has the size 1. */
static void find_least(Stepper *stepper) {
  const System *system = &stepper->view->system;
  Sizes *sizes = stepper->sizes;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t c = system->link_from[l], group = sizes->group[c];
    double least = sizes->is_known ? SOLVED / stepper->options.tolerance * sizes->solved[group] : sizes->largest[group];
    sizes->floor[c] = sizes->largest[group] > 0 ? least : 1;
  }
}

/* The sizes of states, from their own values so far and those that they depend on. */
static void follow_sizes(Stepper *stepper, double t, const double *y) {
  Sizes *sizes = stepper->sizes;
  const System *system = &stepper->view->system;
  double step = fmax(t - stepper->before, SLIVER * stepper_span(stepper));
  note_largest(stepper, y);
  const double *near = look_near(stepper, t, step, y);
  bool any = note_seen(stepper, t, y);
  if (any && sizes->jacobian && system->links <= sizes->links && sizes->age >= sizes->due) {
    make_jacobian(stepper, t, y);
    sizes->due += sizes->due < MANY ? sizes->due + 1 : MANY;
  }
  find_least(stepper);
  raise_sizes(stepper, sizes->seen);
  for (int hop = 0; any && hop < 2; hop++) { /* errors spread from state to state */
    find_floors(stepper, step, near);
    raise_sizes(stepper, stepper->view->size);
  }
}

void stepper_note_sizes(Stepper *stepper, double t, const double *y) {
  View *view = stepper->view;
  bool any = false;
  for (int32_t c = 0; c < view->system.columns; c++) {
    view->seen[c] = fmax(view->seen[c], fabs(y[c]));
    if (!view->evaluator->is_sized[c]) continue;
    view->size[c] = 1; /* also for former states */
    any = true;
  }
  /* While the solution slides, the rates of both sides cancel: sizes are 1 then. */
  if (any && !stepper->sizes->is_wide && !stepper_is_sliding(stepper)) follow_sizes(stepper, t, y);
  stepper->sizes->age++;
  copy_numbers(view->evaluator->size, view->size, (size_t)view->system.columns);
}

bool stepper_widen_sizes(Stepper *stepper) {
  if (stepper->sizes->is_wide || stepper->integrator->explicit_form) return false;
  stepper->sizes->is_wide = true;
  stepper_note_sizes(stepper, stepper->before, stepper->begin);
  return true;
}
