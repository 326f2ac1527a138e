/* narrow: see narrow.h. */
#include "code/narrow.h"

#include "base/bernstein.h"

#include <math.h>
#include <string.h>

/* Ends of the step, and Chebyshev's points between them: a polynomial through these is a good one. */
const double narrow_part[NARROW_SAMPLES] = {0,
                                            0.049515566048790427,
                                            0.18825509907063326,
                                            0.38873953302184280,
                                            0.61126046697815720,
                                            0.81174490092936674,
                                            0.95048443395120957,
                                            1};

/* Powers up to this are polynomials of a low degree. */
static const double LOW_DEGREE = 4;

typedef struct NarrowMode {
  uint32_t mode;
  Enclosure *difference;
  IndexVec place; /* of its variables, among the columns */
  Interval *variables;
} NarrowMode;

struct Narrow {
  const Evaluator *evaluator;
  uint32_t count;
  NarrowMode *modes;
  bool has_opaque;
  IndexVec columns;                  /* that some of them read */
  double (*outline)[NARROW_SAMPLES]; /* of each */
  Interval *box;                     /* of each, around a whole step */
};

/* Can a function of columns that are smooth have pulses, by this operator of it? Polynomials of a low degree turn as slowly as their
 * arguments do. */
static bool makes_pulses(const Dag *dag, Expr e) {
  Expr last = dag_child_count(dag, e) ? dag_child(dag, e, dag_child_count(dag, e) - 1) : e;
  switch (dag_op(dag, e)) {
  case OP_EXP:
  case OP_SIN:
  case OP_COS:
  case OP_TAN:
  case OP_SINH:
  case OP_COSH:
  case OP_TANH: return dag_depends(dag, e, OP_VARIABLE);
  case OP_DIVIDE: return dag_depends(dag, last, OP_VARIABLE);
  case OP_POWER:
    if (dag_op(dag, last) != OP_CONSTANT) return dag_depends(dag, e, OP_VARIABLE);
    return dag_depends(dag, e, OP_VARIABLE) && !(dag_value(dag, last) >= 0 && dag_value(dag, last) <= LOW_DEGREE);
  default: return false;
  }
}

/* Does it call functions of what moves that give discrete values? They jump, and nobody knows where. */
static bool is_opaque(Evaluator *evaluator, Expr difference) {
  const Model *model = evaluator->model;
  Dag *dag = model->dag;
  IndexVec below = {0};
  bool found = false;
  if (dag_depends(dag, difference, OP_VARIABLE) || dag_depends(dag, difference, OP_TIME))
    dag_below(dag, &evaluator->scratch, &difference, 1, &below);
  for (uint32_t k = 0; k < below.count && !found; k++)
    found = dag_op(dag, below.data[k]) == OP_CALL && model_call_type(model, below.data[k]) != TYPE_REAL;
  vec_free(evaluator->scratch.heap, &below);
  return found;
}

static bool is_narrow(Evaluator *evaluator, Expr difference) {
  DagScratch *scratch = &evaluator->scratch;
  const Dag *dag = evaluator->model->dag;
  IndexVec below = {0};
  bool found = false;
  if (!dag_depends(dag, difference, OP_VARIABLE) || !enclosure_possible_of_variables(dag, scratch, difference))
    return false;
  dag_below(dag, scratch, &difference, 1, &below);
  for (uint32_t k = 0; k < below.count && !found; k++) found = makes_pulses(dag, below.data[k]);
  vec_free(scratch->heap, &below);
  return found;
}

/* The place of a column among those that are sampled. */
static uint32_t place_of(Narrow *narrow, Heap *heap, uint32_t column) {
  for (uint32_t k = 0; k < narrow->columns.count; k++)
    if (narrow->columns.data[k] == column) return k;
  vec_push(heap, &narrow->columns, column);
  return narrow->columns.count - 1;
}

/* false: a variable is no column. */
static bool place_variables(Narrow *narrow, Heap *heap, NarrowMode *mode) {
  IndexVec nodes = {0};
  bool are_columns = true;
  enclosure_variables(mode->difference, heap, &nodes);
  for (uint32_t k = 0; k < nodes.count && are_columns; k++) {
    uint32_t column = array_find_column(narrow->evaluator->array, nodes.data[k]);
    are_columns = column != MAP_NONE;
    if (are_columns) vec_push(heap, &mode->place, place_of(narrow, heap, column));
  }
  mode->variables = heap_array(heap, nodes.count, sizeof *mode->variables);
  vec_free(heap, &nodes);
  return are_columns;
}

Narrow *narrow_new(Heap *heap, Evaluator *evaluator) {
  const Modes *modes = evaluator->code->modes;
  if (evaluator->past || evaluator->inputs) return NULL; /* values that are held elsewhere change within steps */
  Narrow *narrow = heap_alloc(heap, sizeof *narrow);
  narrow->evaluator = evaluator;
  narrow->modes = heap_array(heap, modes->count, sizeof *narrow->modes);
  for (uint32_t m = 0; m < modes->count; m++) {
    if (modes->timed[m] || modes->meets[m]) continue;
    narrow->has_opaque = narrow->has_opaque || is_opaque(evaluator, modes->difference[m]);
    if (!is_narrow(evaluator, modes->difference[m])) continue;
    NarrowMode *mode = &narrow->modes[narrow->count];
    mode->mode = m;
    mode->difference = enclosure_new(heap, evaluator->model->dag, &evaluator->scratch, modes->difference[m]);
    if (place_variables(narrow, heap, mode)) narrow->count++;
    else *mode = (NarrowMode){0};
  }
  narrow->outline = heap_array(heap, narrow->columns.count, sizeof *narrow->outline);
  narrow->box = heap_array(heap, narrow->columns.count, sizeof *narrow->box);
  return narrow->count || narrow->has_opaque ? narrow : NULL;
}

bool narrow_has_opaque(const Narrow *narrow) { return narrow->has_opaque; }

uint32_t narrow_count(const Narrow *narrow) { return narrow->count; }

uint32_t narrow_mode(const Narrow *narrow, uint32_t k) { return narrow->modes[k].mode; }

void narrow_sample(Narrow *narrow, int i, const double *y) {
  for (uint32_t k = 0; k < narrow->columns.count; k++) {
    narrow->outline[k][i] = y[narrow->columns.data[k]];
    if (i == NARROW_SAMPLES - 1) bernstein_from_values(NARROW_SAMPLES, narrow_part, narrow->outline[k]);
  }
}

static Interval bounds_of(const double *outline, Interval part) {
  double value[NARROW_SAMPLES];
  memcpy(value, outline, sizeof value);
  if (part.high < 1) bernstein_keep_before(NARROW_SAMPLES, value, part.high);
  if (part.low > 0) bernstein_keep_behind(NARROW_SAMPLES, value, part.low / part.high);
  Interval bounds = {value[0], value[0]};
  for (int i = 1; i < NARROW_SAMPLES; i++) {
    bounds.low = fmin(bounds.low, value[i]);
    bounds.high = fmax(bounds.high, value[i]);
  }
  return bounds;
}

/* Bounds of the difference of a mode, those of its variables being set. */
static Interval bounds_of_mode(const Narrow *narrow, const NarrowMode *mode, Interval time) {
  const Evaluator *evaluator = narrow->evaluator;
  HeldValues held = {evaluator->parameters, evaluator->discretes, evaluator->pre, mode->variables};
  return enclosure_bounds(mode->difference, time, held);
}

Interval narrow_bounds(Narrow *narrow, uint32_t k, Interval part, double before, double step) {
  const NarrowMode *mode = &narrow->modes[k];
  for (uint32_t v = 0; v < mode->place.count; v++)
    mode->variables[v] = bounds_of(narrow->outline[mode->place.data[v]], part);
  return bounds_of_mode(narrow, mode, (Interval){before + part.low * step, before + part.high * step});
}

/* ---- far from edges ---- */

/* Around Hermite's cubic, by its coefficients in Bernstein's basis; half as wide again, for what it misses. */
static Interval box_around(double left, double left_way, double right, double right_way) {
  double inner[2] = {left + left_way / 3, right - right_way / 3};
  double low = fmin(fmin(left, right), fmin(inner[0], inner[1])),
         high = fmax(fmax(left, right), fmax(inner[0], inner[1])), more = (high - low) / 4;
  return (Interval){low - more, high + more};
}

/* false: the rate of a column is not known. */
static bool make_boxes(Narrow *narrow, const int32_t *successor, const double *begin, double step, const double *end) {
  for (uint32_t k = 0; k < narrow->columns.count; k++) {
    uint32_t q = narrow->columns.data[k];
    int32_t rate = successor ? successor[q] : -1;
    if (rate < 0) return false;
    narrow->box[k] = box_around(begin[q], step * begin[rate], end[q], step * end[rate]);
  }
  return true;
}

bool narrow_is_far(Narrow *narrow, const int32_t *successor, double before, const double *begin, double step,
                   const double *end, NarrowMargin *margin, const void *context) {
  bool is_far = !narrow->has_opaque && make_boxes(narrow, successor, begin, step, end);
  for (uint32_t k = 0; k < narrow->count && is_far; k++) {
    const NarrowMode *mode = &narrow->modes[k];
    for (uint32_t v = 0; v < mode->place.count; v++) mode->variables[v] = narrow->box[mode->place.data[v]];
    is_far = margin(context, mode->mode, bounds_of_mode(narrow, mode, (Interval){before, before + step})) >= 0;
  }
  return is_far;
}
