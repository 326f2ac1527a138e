/* signs: see signs.h. */
#include "run/signs.h"

#include "base/copy.h"

#include <math.h>

enum { LOOKS = 4 };

typedef struct Looks {
  double time[LOOKS], value[LOOKS]; /* the last nonzero determinants, the newest first; a value of 0: none yet */
  bool is_blind;                    /* the determinant depends on columns that the view does not have */
} Looks;

struct Signs {
  View *view;
  Determinants determinants;
  Looks *looks;  /* per block */
  double *other; /* columns, with other values for those that the view does not have */
  bool has_begun;
};

Signs *signs_new(Heap *heap, View *view, const DeterminantPlan *plan) {
  Signs *signs = heap_alloc(heap, sizeof *signs);
  signs->view = view;
  signs->determinants = determinants_new(heap, view->original, plan);
  signs->looks = heap_array(heap, plan->blocks.count, sizeof *signs->looks);
  signs->other = heap_array(heap, view->original->array->columns, sizeof(double));
  return signs;
}

/* Which blocks depend on columns that the view does not have? It lacks derivatives of the highest order, and few entries contain
 * them. */
static void begin(Signs *signs, double t, const double *y) {
  Determinants *determinants = &signs->determinants;
  uint32_t columns = signs->view->original->array->columns;
  copy_numbers(signs->other, y, columns);
  for (uint32_t q = 0; q < columns; q++)
    if (signs->view->source[q] == MAP_NONE) signs->other[q] = 1 + (double)q / columns;
  for (uint32_t b = 0; b < determinants->blocks.count; b++) {
    bool known = determinants_evaluate(determinants, t, y);
    double value = known ? determinants_value(determinants, b) : NAN;
    known = known && determinants_evaluate(determinants, t, signs->other);
    signs->looks[b].is_blind = !known || determinants_value(determinants, b) != value;
  }
  signs->has_begun = true;
}

static void add_look(Looks *looks, double t, double value) {
  for (int k = LOOKS - 1; k > 0; k--) looks->time[k] = looks->time[k - 1], looks->value[k] = looks->value[k - 1];
  looks->time[0] = t;
  looks->value[0] = value;
}

static bool crosses(const Looks *looks, double *time) {
  double now = looks->value[0], before = looks->value[1];
  if (now * before >= 0) return false;
  *time = looks->time[1] + (looks->time[0] - looks->time[1]) * before / (before - now);
  return true;
}

/* The time at which the line through the square roots of two determinants is zero. */
static double root_of_line(const Looks *looks, int k) {
  double first = sqrt(fabs(looks->value[k + 1])), second = sqrt(fabs(looks->value[k]));
  return looks->time[k] + (looks->time[k] - looks->time[k + 1]) * second / (first - second);
}

/* Detects a double zero between the second and the third evaluation. The square root of the determinant is a straight line
 * before and after the zero. Both lines are zero at the same time between the evaluations, up to a tenth of the distance. A
 * determinant that turns back just before zero passes this test, too. */
static bool touches(const Looks *looks, double *time) {
  double low = looks->time[2], high = looks->time[1];
  if (!(looks->value[3] * looks->value[0] > 0)) return false;
  double before = root_of_line(looks, 2), behind = root_of_line(looks, 0);
  *time = (before + behind) / 2;
  return before >= low && before <= high && behind >= low && behind <= high &&
         fabs(before - behind) <= (high - low) / 10;
}

bool signs_look(Signs *signs, double t, const double *y, SignChange *change) {
  Determinants *determinants = &signs->determinants;
  bool has_changed = false;
  view_set_original(signs->view);
  if (!signs->has_begun) begin(signs, t, y);
  if (!determinants_evaluate(determinants, t, y)) return false;
  for (uint32_t b = 0; b < determinants->blocks.count && !has_changed; b++) {
    Looks *looks = &signs->looks[b];
    double value = determinants_value(determinants, b);
    if (looks->is_blind || value == 0 || isnan(value)) continue;
    add_look(looks, t, value);
    has_changed = crosses(looks, &change->time) || touches(looks, &change->time);
    change->block = determinants->blocks.data[b].block;
  }
  return has_changed;
}
