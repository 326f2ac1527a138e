/* jump: see jump.h. */
#include "core/jump.h"

#include "base/linear.h"
#include "core/corrector.h"

#include <math.h>
#include <string.h>

struct Jump {
  JumpPlan plan;
  const JumpHost *methods;
  void *host;
  Linear *linear; /* for the leading coefficients */
  /* leading coefficients by unknown: their equation, and their place among the entries of the Jacobian */
  int *start, *row, *entry;
  double *values, *first; /* the leading coefficients, now and before the jump */
  double *entries, *rows; /* entries of the Jacobian; values of all rows */
  double *b, *moved, *size;
  double *y;       /* per column */
  double t, total; /* t: time of the event; total: sum of the largest changes so far */
  int column;      /* column of the last change */
  bool is_first;   /* nothing has moved yet */
};

static void list_leading(Jump *jump) {
  const JumpPlan *plan = &jump->plan;
  int count = 0;
  for (int j = 0; j < plan->unknowns; j++) {
    int q = plan->column_start[j] + plan->d[j];
    for (int e = plan->jacobian_start[q]; e < plan->jacobian_start[q + 1]; e++) {
      int r = plan->jacobian_row[e], i = plan->row_equation[r];
      if (r - plan->row_start[i] != plan->c[i]) continue;
      jump->row[count] = i;
      jump->entry[count++] = e;
    }
    jump->start[j + 1] = count;
  }
}

Jump *jump_new(Heap *heap, const JumpPlan *plan, const JumpHost *methods, void *host) {
  Jump *jump = heap_alloc(heap, sizeof *jump);
  size_t n = (size_t)plan->unknowns, nonzeros = (size_t)plan->nonzeros;
  *jump = (Jump){.plan = *plan, .methods = methods, .host = host};
  jump->start = heap_array(heap, n + 1, sizeof *jump->start);
  jump->row = heap_array(heap, nonzeros, sizeof *jump->row);
  jump->entry = heap_array(heap, nonzeros, sizeof *jump->entry);
  list_leading(jump);
  jump->linear = linear_new(heap, (int32_t)n, jump->start[n], false);
  jump_forget(jump);
  heap_numbers(heap, (size_t)jump->start[n], &jump->values, &jump->first);
  heap_numbers(heap, n, &jump->b, &jump->moved, &jump->size);
  jump->entries = heap_array(heap, nonzeros, sizeof(double));
  jump->rows = heap_array(heap, (size_t)plan->rows, sizeof(double));
  jump->y = heap_array(heap, (size_t)plan->columns, sizeof(double));
  return jump;
}

void jump_forget(Jump *jump) { linear_set_pattern(jump->linear, jump->start, jump->row); }

/* b: the residuals of the rows of level c - 1, and the effect of the jump so far on the integrated rows with c = 0. */
static bool evaluate(Jump *jump, double t) {
  const JumpPlan *plan = &jump->plan;
  if (!jump->methods->rows(jump->host, t, jump->y, jump->rows)) return false;
  if (!jump->methods->entries(jump->host, t, jump->y, jump->entries)) return false;
  for (int i = 0; i < plan->unknowns; i++)
    jump->b[i] = plan->c[i] ? -jump->rows[plan->row_start[i] + plan->c[i] - 1] : 0;
  for (int j = 0; j < plan->unknowns; j++)
    for (int e = jump->start[j]; e < jump->start[j + 1]; e++) {
      jump->values[e] = jump->entries[jump->entry[e]];
      if (!plan->c[jump->row[e]]) jump->b[jump->row[e]] -= jump->values[e] * jump->moved[j];
    }
  return true;
}

/* Moves the columns of order d - 1 by the solution. Returns the largest scaled change, and its column. */
static double move(Jump *jump, const double *by, int *column) {
  const JumpPlan *plan = &jump->plan;
  double largest = 0;
  for (int j = 0; j < plan->unknowns; j++) {
    jump->moved[j] += by[j];
    if (!plan->d[j]) continue;
    int q = plan->column_start[j] + plan->d[j] - 1;
    double change = fabs(by[j]) / fmax(plan->nominal[q], fabs(jump->y[q]));
    jump->y[q] += by[j];
    if (!(change > largest)) continue;
    largest = change;
    *column = q;
  }
  return largest;
}

/* Do leading coefficients of rows that take part in the jump depend on it? Coefficients of columns that do not jump may
 * change. */
static bool coefficients_changed(Jump *jump) {
  const JumpPlan *plan = &jump->plan;
  double *change = jump->b, *size = jump->size;
  memset(change, 0, (size_t)plan->unknowns * sizeof *change);
  memset(size, 0, (size_t)plan->unknowns * sizeof *size);
  for (int j = 0; j < plan->unknowns; j++)
    for (int e = jump->start[j]; e < jump->start[j + 1]; e++) {
      int i = jump->row[e];
      change[i] += (jump->values[e] - jump->first[e]) * jump->moved[j];
      size[i] = fmax(size[i], fabs(jump->first[e] * jump->moved[j]));
    }
  for (int i = 0; i < plan->unknowns; i++)
    if (!plan->c[i] && fabs(change[i]) > JUMPED * size[i]) return true;
  return false;
}

/* Would columns of order d - `below` have to jump, because of rows of level c - `below`? Their coefficients are the leading ones,
 * too. */
static bool jumps_below(Jump *jump, int below, int *column) {
  const JumpPlan *plan = &jump->plan;
  for (int i = 0; i < plan->unknowns; i++)
    jump->b[i] = plan->c[i] >= below ? -jump->rows[plan->row_start[i] + plan->c[i] - below] : 0;
  linear_solve(jump->linear, jump->b);
  for (int j = 0; j < plan->unknowns; j++) {
    if (plan->d[j] < below) continue;
    *column = plan->column_start[j] + plan->d[j] - below;
    if (fabs(jump->b[j]) > JUMPED * fmax(plan->nominal[*column], fabs(jump->y[*column]))) return true;
  }
  return false;
}

/* Would columns of any order below d - 1 have to jump? */
static bool lower_jumps(Jump *jump, int *column) {
  int most = 0;
  for (int i = 0; i < jump->plan.unknowns; i++) most = jump->plan.c[i] > most ? jump->plan.c[i] : most;
  for (int below = 2; below <= most; below++)
    if (jumps_below(jump, below, column)) return true;
  return false;
}

static double correct(void *context, bool *renew) {
  Jump *jump = context;
  int n = jump->plan.unknowns;
  *renew = true;
  if (!evaluate(jump, jump->t) || !linear_factor(jump->linear, jump->values)) return HUGE_VAL;
  if (jump->is_first) memcpy(jump->first, jump->values, (size_t)jump->start[n] * sizeof(double));
  jump->is_first = false;
  linear_solve(jump->linear, jump->b);
  double change = move(jump, jump->b, &jump->column);
  jump->total += change;
  return change;
}

bool jump_solve(Jump *jump, double t, double *y, uint32_t *column) {
  size_t columns = (size_t)jump->plan.columns;
  int lower;
  jump->t = t;
  jump->total = 0;
  jump->column = 0;
  jump->is_first = true;
  memcpy(jump->y, y, columns * sizeof *y);
  memset(jump->moved, 0, (size_t)jump->plan.unknowns * sizeof(double));
  CorrectorEnd end = corrector_run(correct, jump, REACH_ANY, false, CORRECTOR_ROUND_OFF);
  *column = (uint32_t)jump->column;
  if (end == CORRECTOR_UNDEFINED) return true; /* the state-space form reports this */
  if (lower_jumps(jump, &lower)) {
    *column = (uint32_t)lower;
    return false;
  }
  if (jump->total > JUMPED && (end == CORRECTOR_SLOW || coefficients_changed(jump))) return false;
  memcpy(y, jump->y, columns * sizeof *y);
  return true;
}
