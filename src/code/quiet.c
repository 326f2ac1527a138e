/* quiet: see quiet.h. */
#include "code/quiet.h"

#include "model/input.h"

#include <math.h>

/* Of the way to the edge, that a difference may have gone in the steps since its close look and, at its speed, within one. */
static const double NEAR = 0.5;

/* A column with its coefficient. */
typedef struct ColumnTerm {
  uint32_t column;
  double coefficient;
} ColumnTerm;

/* A value that stays as it is between close looks. */
typedef struct HeldTerm {
  const double *value;
  double coefficient;
} HeldTerm;

/* Most sums vary by one column, which is apart from further ones. */
typedef struct Sum {
  double fixed;      /* the constant with all that was held at the close look */
  ColumnTerm column; /* of the coefficient 0 where there is none */
  double constant, per_time;
  uint32_t columns_begin, columns_end, held_begin, held_end;
} Sum;

typedef struct QuietMode {
  Sum moved, rate;     /* of the difference; moved: since the close look */
  bool varies_more;    /* by the time or by further columns */
  double speed, reach; /* of the close look; reach: how far the difference may move, negative as long as not known */
} QuietMode;

struct Quiet {
  QuietMode *modes, *end; /* that are not timed */
  VEC(ColumnTerm) columns;
  VEC(HeldTerm) held;
  uint32_t *place; /* per mode: among these; MAP_NONE */
  bool has_rates;  /* all rates are sums */
};

/* The first column of a sum is its own. */
static void add_column(Quiet *quiet, Heap *heap, Sum *sum, ColumnTerm term) {
  if (sum->column.coefficient == 0) sum->column = term;
  else vec_push(heap, &quiet->columns, term);
}

/* Adds a term to a sum. false: it may change at any time, and is no column. */
static bool add_term(Quiet *quiet, Heap *heap, const Evaluator *evaluator, const Term *term, Sum *sum) {
  const Dag *dag = evaluator->model->dag;
  const double *value;
  uint32_t index;
  switch (dag_op(dag, term->node)) {
  case OP_TIME: sum->per_time += term->coefficient; return true;
  case OP_VARIABLE:
    index = array_find_column(evaluator->array, term->node);
    if (index == MAP_NONE) return false;
    add_column(quiet, heap, sum, (ColumnTerm){index, term->coefficient});
    return true;
  case OP_PARAMETER:
    index = dag_index(dag, term->node);
    if (model_input_at(evaluator->model, index)) return false;
    value = &evaluator->parameters[index];
    break;
  case OP_DISCRETE:
    if (evaluator->past) return false; /* it may be a delayed value */
    value = &evaluator->discretes[dag_index(dag, term->node)];
    break;
  default: return false;
  }
  vec_push(heap, &quiet->held, (HeldTerm){value, term->coefficient});
  return true;
}

static bool varies_more(const Sum *sum) { return sum->per_time != 0 || sum->columns_end > sum->columns_begin; }

static bool read_sum(Quiet *quiet, Heap *heap, const Evaluator *evaluator, Expr e, Sum *sum) {
  const Dag *dag = evaluator->model->dag;
  Term alone = {.node = e, .coefficient = 1};
  const Term *terms = &alone;
  uint32_t count = 1;
  *sum = (Sum){.columns_begin = quiet->columns.count, .held_begin = quiet->held.count};
  if (dag_op(dag, e) == OP_CONSTANT) sum->constant = dag_value(dag, e), count = 0;
  if (dag_op(dag, e) == OP_SUM) count = dag_terms(dag, e, &sum->constant, &terms);
  for (uint32_t k = 0; k < count; k++)
    if (!add_term(quiet, heap, evaluator, &terms[k], sum)) return false;
  sum->columns_end = quiet->columns.count;
  sum->held_end = quiet->held.count;
  return true;
}

Quiet *quiet_new(Heap *heap, const Evaluator *evaluator) {
  const Modes *modes = evaluator->code->modes;
  if (modes->count && !evaluator->array->columns) return NULL; /* nothing to compare */
  Quiet *quiet = heap_alloc(heap, sizeof *quiet);
  quiet->place = heap_array(heap, modes->count, sizeof *quiet->place);
  quiet->modes = quiet->end = heap_array(heap, modes->count, sizeof *quiet->modes);
  quiet->has_rates = true;
  for (uint32_t m = 0; m < modes->count; m++) {
    QuietMode *mode = quiet->end;
    quiet->place[m] = modes->timed[m] ? MAP_NONE : (uint32_t)(mode - quiet->modes);
    if (modes->timed[m]) continue;
    if (!read_sum(quiet, heap, evaluator, modes->difference[m], &mode->moved)) return NULL;
    quiet->has_rates = quiet->has_rates && read_sum(quiet, heap, evaluator, modes->rate[m], &mode->rate);
    mode->varies_more = varies_more(&mode->moved) || varies_more(&mode->rate);
    quiet->end++;
  }
  quiet_forget(quiet);
  return quiet;
}

/* What a sum has that is held now. */
static double held_part(const Quiet *quiet, const Sum *sum) {
  double value = sum->constant;
  for (uint32_t k = sum->held_begin; k < sum->held_end; k++)
    value += quiet->held.data[k].coefficient * *quiet->held.data[k].value;
  return value;
}

void quiet_set(Quiet *quiet, uint32_t m, double difference, double margin, double speed) {
  if (!quiet->has_rates || quiet->place[m] == MAP_NONE) return;
  QuietMode *mode = &quiet->modes[quiet->place[m]];
  mode->moved.fixed = held_part(quiet, &mode->moved) - difference;
  mode->rate.fixed = held_part(quiet, &mode->rate);
  mode->speed = speed;
  mode->reach = NEAR * margin;
}

void quiet_forget(Quiet *quiet) {
  for (QuietMode *mode = quiet->modes; mode < quiet->end; mode++) mode->reach = -1;
}

/* With its own column. */
static inline double first_part(const Sum *sum, const double *y) {
  return sum->fixed + sum->column.coefficient * y[sum->column.column];
}

static double further_part(const Quiet *quiet, const Sum *sum, double t, const double *y) {
  double value = sum->per_time * t;
  for (uint32_t k = sum->columns_begin; k < sum->columns_end; k++)
    value += quiet->columns.data[k].coefficient * y[quiet->columns.data[k].column];
  return value;
}

bool quiet_holds(const Quiet *quiet, double t, const double *y, double step) {
  if (!quiet->has_rates) return false;
  for (const QuietMode *mode = quiet->modes, *end = quiet->end; mode < end; mode++) {
    double moved = first_part(&mode->moved, y), rate = first_part(&mode->rate, y);
    if (mode->varies_more) {
      moved += further_part(quiet, &mode->moved, t, y);
      rate += further_part(quiet, &mode->rate, t, y);
    }
    double speed = fabs(rate) > mode->speed ? fabs(rate) : mode->speed;
    if (!(fabs(moved) + step * speed < mode->reach)) return false;
  }
  return true;
}
