/* samples: see samples.h. An undefined value is NAN and counts only if it is used, as in expr/evaluate.c. */
#include "array/samples.h"

#include <float.h>
#include <math.h>

/* A point: its distance in nominal values, from 0 or from the start values. Every second point is on the positive side. Some of
 * the others are opposite to an earlier point, because a function may be flat on one side. Unknown discrete values are random,
 * and at some points all true or all false: equations may be regular only in such modes, like those of a shaft that many brakes
 * can hold. */
typedef struct SamplePoint {
  double spread;
  bool from_zero;
  uint32_t opposite; /* the earlier point; 0 for none */
  double truth;      /* how likely discrete values are true */
} SamplePoint;

static const SamplePoint POINT[SAMPLE_COUNT + 1] = {{0.1, false, 0, 0.5},
                                                    {0.3, false, 0, 0.5},
                                                    {1, false, 0, 0.5},
                                                    {0.03, false, 0, 0},
                                                    {2, true, 0, 0.5},
                                                    {0.5, true, 0, 1},
                                                    {5, true, 4, 0.5},
                                                    {0.01, true, 0, 0.5},
                                                    {20, false, 0, 0.5},
                                                    {1, false, 0, 0.2},
                                                    {20, false, 8, 0.5},
                                                    {1e-3, true, 0, 0.8},
                                                    [SAMPLE_START] = {0.1, false, 0, 0.5}};

enum { LEAST_DEFINED = 3 };
static const double ROUND_OFF = 1e-10;

static double attribute(Model *model, Expr e, const double *parameters, double otherwise) {
  double value;
  return e != EXPR_NONE && model_evaluate(model, dag_scratch(model->dag), e, parameters, &value) && isfinite(value)
             ? value
             : otherwise;
}

/* The modes at every second point, according to their relations. */
static void find_modes(Samples *samples, Arena *arena) {
  uint32_t count = samples->modes->count;
  samples->holding = arena_array(arena, (SAMPLE_COUNT + 1) * (size_t)count, sizeof(double));
  for (uint32_t s = 0; s <= SAMPLE_COUNT && count; s++) {
    double *values = samples->holding + s * count;
    if (s % 2 == 0) samples_evaluate(samples, s, samples->modes->relation, count, values, NULL, NULL);
    for (uint32_t m = 0; m < count && s % 2; m++) values[m] = NAN;
  }
}

/* A relation with time or a variable must not count as false without their values. */
static bool is_over_parameters(Dag *dag, Expr e) {
  return !dag_depends(dag, e, OP_TIME) && !dag_depends(dag, e, OP_VARIABLE) && !dag_depends(dag, e, OP_DISCRETE) &&
         !dag_depends(dag, e, OP_PRE);
}

/* The discrete variables whose equations give their values at these parameter values, like choices in a record. */
static double *known_discretes(Model *model, const double *parameters, Arena *arena) {
  double *known = arena_array(arena, model->discretes.count, sizeof *known);
  for (uint32_t k = 0; k < model->discretes.count; k++) known[k] = NAN;
  for (uint32_t i = 0; i < model->discrete_equations.count; i++) {
    const Equation *equation = &model->discrete_equations.data[i];
    if (!is_over_parameters(model->dag, equation->right)) continue;
    known[dag_index(model->dag, equation->left)] = attribute(model, equation->right, parameters, NAN);
  }
  return known;
}

/* A number in [0, 1) from three integers. */
static double scatter(uint64_t kind, uint64_t index, uint64_t sample) {
  uint64_t mixed = hash_mix((kind << 56) ^ (index << 8) ^ sample);
  return (double)(hash_mix(mixed) >> 11) * 0x1p-53;
}

/* The given values. Parameters that initial equations determine are not known yet: they get some value near the start value,
 * and parameters that are bound to them follow. */
static const double *sample_parameters(Model *model, const double *given, Arena *arena) {
  uint32_t count = model->parameters.count;
  bool *is_sought = arena_array(arena, count, sizeof *is_sought);
  if (!model_sought_parameters(model, dag_scratch(model->dag), is_sought)) return given;
  double *values = arena_array(arena, count, sizeof *values), *known = arena_array(arena, count, sizeof *known);
  for (uint32_t p = 0; p < count; p++) {
    const Variable *variable = &model->variables.data[model->parameters.data[p]];
    bool is_number = variable_is_sought(variable) && variable->type == TYPE_REAL;
    known[p] = is_number ? given[p] + 0.5 + scatter(253, p, 0) : is_sought[p] ? NAN : given[p];
  }
  Diags quiet = diags_make(model->heap);
  model_parameter_values(model, model->heap, known, values, &quiet);
  diags_clear(&quiet);
  return values;
}

Samples samples_make(Model *model, const double *parameters, const Modes *modes, Arena *arena) {
  uint32_t n = model->unknowns.count;
  parameters = sample_parameters(model, parameters, arena);
  Samples samples = {.model = model, .parameters = parameters, .length = 1, .modes = modes};
  samples.slot = arena_alloc(arena, sizeof *samples.slot);
  samples.start = arena_array(arena, n, sizeof(double));
  samples.nominal = arena_array(arena, n, sizeof(double));
  samples.given = arena_array(arena, n, sizeof(bool));
  samples.is_zero = arena_array(arena, n, sizeof(bool));
  for (uint32_t j = 0; j < n; j++) {
    const Variable *variable = &model->variables.data[model->unknowns.data[j]];
    samples.given[j] = variable->start != EXPR_NONE;
    samples.start[j] = attribute(model, variable->start, parameters, 0);
    samples.nominal[j] = fabs(attribute(model, variable->nominal, parameters, 1));
    if (!(samples.nominal[j] > 0)) samples.nominal[j] = 1;
  }
  const Experiment *experiment = &model->experiment;
  if (experiment->has_start) samples.begin = experiment->start;
  if (experiment->has_stop && experiment->stop > samples.begin) samples.length = experiment->stop - samples.begin;
  samples.known = known_discretes(model, parameters, arena);
  find_modes(&samples, arena);
  return samples;
}

void samples_free(Samples *samples) { vec_free(samples->model->heap, samples->slot, &samples->zero_by); }

static double variable_value(const Samples *samples, uint32_t index, uint32_t order, uint32_t sample) {
  if (samples->is_zero[index]) return 0;
  const SamplePoint *point = &POINT[sample];
  double chance = scatter(order + 1, index, point->opposite ? point->opposite : sample);
  double start = order || point->from_zero ? 0 : samples->start[index];
  double away = point->spread * samples->nominal[index] * (point->opposite ? -1 : 1);
  if (sample % 2) return fabs(start) + away * (0.3 + chance);
  return start + away * (chance < 0.5 ? -1 + chance : chance);
}

static double start_value(const Samples *samples, const Dag *dag, Expr leaf) {
  uint32_t index = dag_index(dag, leaf), order = dag_order(dag, leaf);
  return order == 0 && samples->given[index] && !samples->is_zero[index] ? samples->start[index]
                                                                         : variable_value(samples, index, order, 0);
}

/* The value of a discrete variable or mode. */
static double discrete_value(const Samples *samples, uint32_t index, uint32_t sample) {
  const Modes *modes = samples->modes;
  bool is_mode = index >= modes->first && index < modes->first + modes->count;
  double value = is_mode ? samples->holding[sample * modes->count + index - modes->first]
                 : index < samples->model->discretes.count ? samples->known[index]
                                                           : NAN;
  return isnan(value) ? scatter(255, index, sample) < POINT[sample].truth : value;
}

static double leaf_value(const Samples *samples, const Dag *dag, Expr leaf, uint32_t sample) {
  uint32_t index = dag_op(dag, leaf) == OP_TIME ? 0 : dag_index(dag, leaf);
  if (sample == SAMPLE_START && dag_op(dag, leaf) == OP_TIME) return samples->begin;
  if (sample == SAMPLE_START && dag_op(dag, leaf) == OP_VARIABLE) return start_value(samples, dag, leaf);
  switch (dag_op(dag, leaf)) {
  case OP_TIME: return samples->begin + samples->length * (0.1 + 0.8 * scatter(0, 0, sample));
  case OP_PARAMETER: return samples->parameters[index];
  case OP_VARIABLE: return variable_value(samples, index, dag_order(dag, leaf), sample);
  default: return discrete_value(samples, index, sample);
  }
}

double sample_product_size(double a, double a_size, double b, double b_size) {
  return fabs(a) * b_size + fabs(b) * a_size;
}

/* A value and the size of its terms: its round-off is relative to that, as in a running error analysis (Wilkinson). Sizes of
 * products do not multiply: after a chain of pivots any value would be small compared with them. */
typedef struct Sized {
  double value, size, absorbed;
} Sized;

static const Sized UNDEFINED = {NAN, 0, 0};

/* Terms below this fraction of a sum count as lost in the sum: they are not much more than its round-off. */
static const double ABSORBED = 1e-12;

static Sized sized(double value) { return (Sized){value, fabs(value), 0}; }

static Sized sum_value(const Dag *dag, Expr e, const uint32_t *slot, const Sized *values) {
  const Term *terms;
  double constant;
  uint32_t count = dag_terms(dag, e, &constant, &terms);
  Sized sum = sized(constant);
  for (uint32_t k = 0; k < count; k++) {
    sum.value += terms[k].coefficient * values[slot[terms[k].node]].value;
    sum.size += fabs(terms[k].coefficient) * values[slot[terms[k].node]].size;
    sum.absorbed += fabs(terms[k].coefficient) * values[slot[terms[k].node]].absorbed;
  }
  for (uint32_t k = 0; k < count; k++) {
    double term = fabs(terms[k].coefficient * values[slot[terms[k].node]].value);
    if (term <= ABSORBED * sum.size) sum.absorbed += term;
  }
  return sum;
}

/* `if`, `and` and `or` use their second part only if the first part requires it. */
static Sized lazy_value(const Dag *dag, Expr e, const uint32_t *slot, const Sized *values) {
  Op op = dag_op(dag, e);
  double first = values[slot[dag_child(dag, e, 0)]].value;
  if (isnan(first)) return UNDEFINED;
  if (op == OP_IF) return values[slot[dag_child(dag, e, first != 0 ? 1 : 2)]];
  if ((first != 0) == (op == OP_OR)) return sized(first != 0);
  return values[slot[dag_child(dag, e, 1)]];
}

static Sized operator_value(const Dag *dag, Expr e, const uint32_t *slot, const Sized *values) {
  double x[3], value;
  Op op = dag_op(dag, e);
  uint32_t count = dag_child_count(dag, e);
  if (count > 3) return UNDEFINED;
  for (uint32_t k = 0; k < count; k++) {
    x[k] = values[slot[dag_child(dag, e, k)]].value;
    if (isnan(x[k])) return UNDEFINED;
  }
  if (!op_evaluate(op, x, &value) || !isfinite(value)) return UNDEFINED;
  Sized result = sized(value);
  const Sized *a = count ? &values[slot[dag_child(dag, e, 0)]] : NULL;
  const Sized *b = count > 1 ? &values[slot[dag_child(dag, e, 1)]] : NULL;
  if (op == OP_MULTIPLY) {
    result.size = sample_product_size(a->value, a->size, b->value, b->size);
    result.absorbed = sample_product_size(a->value, a->absorbed, b->value, b->absorbed);
  }
  if (op == OP_DIVIDE) {
    result.size = (a->size + fabs(value) * b->size) / fabs(b->value);
    result.absorbed = (a->absorbed + fabs(value) * b->absorbed) / fabs(b->value);
  }
  bool has_underflowed =
      op == OP_EXP || (op == OP_MULTIPLY && a->value != 0 && b->value != 0) || (op == OP_DIVIDE && a->value != 0);
  if (value == 0 && has_underflowed) result.absorbed += DBL_MIN;
  return result;
}

static Sized node_value(const Samples *samples, uint32_t sample, Expr e, const uint32_t *slot, const Sized *values) {
  const Dag *dag = samples->model->dag;
  switch (dag_op(dag, e)) {
  case OP_CONSTANT: return sized(dag_value(dag, e));
  case OP_TIME:
  case OP_PARAMETER:
  case OP_VARIABLE:
  case OP_DISCRETE:
  case OP_PRE: return sized(leaf_value(samples, dag, e, sample));
  case OP_DELAYED: return sized(scatter(254, dag_delayed_leaf(dag, e), sample));
  case OP_STRING: return UNDEFINED;
  case OP_SUM: return sum_value(dag, e, slot, values);
  case OP_IF:
  case OP_AND:
  case OP_OR: return lazy_value(dag, e, slot, values);
  default: return operator_value(dag, e, slot, values);
  }
}

/* Values, sizes and absorbed sizes of some roots; the last two may be NULL. */
static void evaluate_roots(const Samples *samples, uint32_t sample, const Expr *roots, uint32_t count, double *values,
                           double *sizes, double *absorbed) {
  Dag *dag = samples->model->dag;
  Heap *heap = samples->model->heap;
  IndexVec order = {0};
  dag_below(dag, dag_scratch(dag), roots, count, &order);
  vec_reserve(heap, samples->slot, dag_size(dag));
  uint32_t *slot = samples->slot->data; /* the list is not cleared: only nodes of `order` are looked up in it */
  Sized *found = heap_array(heap, order.count, sizeof *found);
  for (uint32_t k = 0; k < order.count; k++) {
    slot[order.data[k]] = k;
    found[k] = node_value(samples, sample, order.data[k], slot, found);
  }
  for (uint32_t r = 0; r < count; r++) {
    values[r] = found[slot[roots[r]]].value;
    if (sizes) sizes[r] = found[slot[roots[r]]].size;
    if (absorbed) absorbed[r] = found[slot[roots[r]]].absorbed;
  }
  heap_free(heap, found);
  vec_free(heap, &order);
}

/* The common parts of two batches are evaluated twice, but only one batch is in memory. */
void samples_evaluate(const Samples *samples, uint32_t sample, const Expr *roots, uint32_t count, double *values,
                      double *sizes, double *absorbed) {
  for (uint32_t first = 0; first < count; first += SAMPLES_BATCH) {
    uint32_t rest = count - first;
    evaluate_roots(samples, sample, roots + first, rest < SAMPLES_BATCH ? rest : SAMPLES_BATCH, values + first,
                   sizes ? sizes + first : NULL, absorbed ? absorbed + first : NULL);
  }
}

bool sample_is_zero(double value, double size) { return fabs(value) <= ROUND_OFF * size; }

bool samples_vanish(const Samples *samples, Expr e) {
  int defined = 0;
  double constant, value, size;
  if (dag_is_constant(samples->model->dag, e, &constant)) return constant == 0;
  for (uint32_t s = 0; s < SAMPLE_COUNT; s++) {
    samples_evaluate(samples, s, &e, 1, &value, &size, NULL);
    if (isnan(value)) continue;
    defined++;
    if (!sample_is_zero(value, size)) return false;
  }
  return defined >= LEAST_DEFINED;
}

/* ---- unknowns that are zero ---- */

enum { ZERO_PASSES = 20 };

/* The unknown that is the only nonzero term of the sum at a point; MAP_NONE: there is none. */
static uint32_t only_unknown(const Dag *dag, const Term *terms, uint32_t count, const double *values) {
  uint32_t found = MAP_NONE;
  for (uint32_t k = 0; k < count; k++) {
    if (values[k] == 0) continue;
    bool is_unknown = dag_op(dag, terms[k].node) == OP_VARIABLE && dag_order(dag, terms[k].node) == 0;
    if (found != MAP_NONE || !is_unknown) return MAP_NONE;
    found = dag_index(dag, terms[k].node);
  }
  return found;
}

/* A variable or parameter that is not 0 at random points. */
static bool is_living_leaf(const Samples *samples, Expr e) {
  const Dag *dag = samples->model->dag;
  if (dag_op(dag, e) == OP_VARIABLE) return !samples->is_zero[dag_index(dag, e)];
  return dag_op(dag, e) == OP_PARAMETER && samples->parameters[dag_index(dag, e)] != 0;
}

/* A variable or parameter that is not 0 at random points, or a product of two such leaves. */
static bool is_living(const Samples *samples, Expr e) {
  const Dag *dag = samples->model->dag;
  if (dag_op(dag, e) != OP_MULTIPLY) return is_living_leaf(samples, e);
  return is_living_leaf(samples, dag_child(dag, e, 0)) && is_living_leaf(samples, dag_child(dag, e, 1));
}

/* Is the residual a sum without a constant, in which at most one unknown can be left? */
static bool may_leave_one(const Samples *samples, Expr residual) {
  const Dag *dag = samples->model->dag;
  const Term *terms;
  double constant;
  if (dag_op(dag, residual) != OP_SUM) return false;
  uint32_t count = dag_terms(dag, residual, &constant, &terms), unknowns = 0, living = 0;
  for (uint32_t k = 0; k < count && living < 2; k++) {
    if (!is_living(samples, terms[k].node)) continue;
    living++;
    unknowns += dag_op(dag, terms[k].node) == OP_VARIABLE && dag_order(dag, terms[k].node) == 0;
  }
  return constant == 0 && living == 1 && unknowns == 1;
}

/* Is the same unknown the only nonzero term of the sum at every point? */
static bool is_left_alone(const Samples *samples, const Term *terms, uint32_t count, uint32_t unknown) {
  const Dag *dag = samples->model->dag;
  Heap *heap = samples->model->heap;
  Expr *nodes = heap_array(heap, count, sizeof *nodes);
  double *values = heap_array(heap, count, sizeof *values);
  bool is_alone = true;
  for (uint32_t k = 0; k < count; k++) nodes[k] = terms[k].node;
  for (uint32_t s = 0; s < SAMPLE_COUNT && is_alone; s++) {
    samples_evaluate(samples, s, nodes, count, values, NULL, NULL);
    is_alone = only_unknown(dag, terms, count, values) == unknown;
  }
  heap_free_all(heap, nodes, values);
  return is_alone;
}

/* Checks all rows at one point, and then checks more closely the rows in which only one unknown is left. */
static bool find_more_zeros(Samples *samples, const Expr *residual, uint32_t count) {
  const Dag *dag = samples->model->dag;
  Heap *heap = samples->model->heap;
  ExprVec nodes = {0}, rows = {0};
  const Term *terms;
  double constant;
  uint32_t length, first = 0;
  bool found = false;
  for (uint32_t i = 0; i < count; i++) {
    if (!may_leave_one(samples, residual[i])) continue;
    vec_push(heap, &rows, residual[i]);
    length = dag_terms(dag, residual[i], &constant, &terms);
    for (uint32_t k = 0; k < length; k++) vec_push(heap, &nodes, terms[k].node);
  }
  double *values = heap_array(heap, nodes.count, sizeof *values);
  samples_evaluate(samples, 0, nodes.data, nodes.count, values, NULL, NULL);
  for (uint32_t r = 0; r < rows.count; r++) {
    length = dag_terms(dag, rows.data[r], &constant, &terms);
    uint32_t unknown = only_unknown(dag, terms, length, values + first);
    first += length;
    if (unknown == MAP_NONE || !is_left_alone(samples, terms, length, unknown)) continue;
    samples->is_zero[unknown] = found = true;
    vec_push(heap, &samples->zero_by, rows.data[r]);
  }
  heap_free(heap, values);
  vec_free(heap, &nodes, &rows);
  return found;
}

void samples_find_zeros(Samples *samples, const Expr *residual, uint32_t count) {
  for (int pass = 0; pass < ZERO_PASSES && find_more_zeros(samples, residual, count); pass++) continue;
}
