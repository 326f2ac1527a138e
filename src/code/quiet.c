/* quiet: see quiet.h. */
#include "code/quiet.h"

#include <math.h>

/* Of the way to the edge, that a difference may have gone in the steps since its close look and, at its speed, within one. */
static const double NEAR = 0.5;

typedef enum TermKind { TERM_COLUMN, TERM_PARAMETER, TERM_DISCRETE, TERM_TIME } TermKind;

typedef struct QuietTerm {
  TermKind kind;
  uint32_t index;
  double coefficient;
} QuietTerm;

/* A sum: a constant and terms [begin, end). */
typedef struct Sum {
  double constant;
  uint32_t begin, end;
} Sum;

typedef struct QuietMode {
  Sum difference, rate;
  double at, margin, speed; /* at the last close look */
} QuietMode;

struct Quiet {
  const Evaluator *evaluator;
  VEC(QuietTerm) terms;
  VEC(QuietMode) modes;
};

/* A leaf as a term. false: it is none. */
static bool read_leaf(const Evaluator *evaluator, const Dag *dag, Expr e, QuietTerm *term) {
  switch (dag_op(dag, e)) {
  case OP_VARIABLE:
    term->kind = TERM_COLUMN;
    term->index = array_find_column(evaluator->array, e);
    return term->index != MAP_NONE;
  case OP_PARAMETER: *term = (QuietTerm){TERM_PARAMETER, dag_index(dag, e), 1}; return true;
  case OP_DISCRETE: *term = (QuietTerm){TERM_DISCRETE, dag_index(dag, e), 1}; return true;
  case OP_TIME: *term = (QuietTerm){.kind = TERM_TIME, .coefficient = 1}; return true;
  default: return false;
  }
}

static bool read_sum(Quiet *quiet, Heap *heap, Expr e, Sum *sum) {
  const Evaluator *evaluator = quiet->evaluator;
  const Dag *dag = evaluator->model->dag;
  const Term *terms;
  Term alone = {.node = e, .coefficient = 1};
  uint32_t count = 1;
  *sum = (Sum){.begin = quiet->terms.count};
  if (dag_op(dag, e) == OP_CONSTANT) return sum->constant = dag_value(dag, e), sum->end = sum->begin, true;
  if (dag_op(dag, e) == OP_SUM) count = dag_terms(dag, e, &sum->constant, &terms);
  else terms = &alone;
  for (uint32_t k = 0; k < count; k++) {
    QuietTerm term;
    if (!read_leaf(evaluator, dag, terms[k].node, &term)) return false;
    term.coefficient = terms[k].coefficient;
    vec_push(heap, &quiet->terms, term);
  }
  sum->end = quiet->terms.count;
  return true;
}

Quiet *quiet_new(Heap *heap, Evaluator *evaluator) {
  const Modes *modes = evaluator->code->modes;
  Quiet *quiet = heap_alloc(heap, sizeof *quiet);
  quiet->evaluator = evaluator;
  for (uint32_t m = 0; m < modes->count; m++) {
    QuietMode mode = {.margin = INFINITY};
    bool is_known = modes->timed[m] || (read_sum(quiet, heap, modes->difference[m], &mode.difference) &&
                                        read_sum(quiet, heap, modes->rate[m], &mode.rate));
    if (!is_known) return NULL;
    vec_push(heap, &quiet->modes, mode);
  }
  return quiet;
}

void quiet_set(Quiet *quiet, uint32_t m, double difference, double margin, double speed) {
  QuietMode *mode = &quiet->modes.data[m];
  mode->at = difference;
  mode->margin = margin;
  mode->speed = speed;
}

static double value_of(const Quiet *quiet, const Sum *sum, double t, const double *y) {
  const Evaluator *evaluator = quiet->evaluator;
  double value = sum->constant;
  for (const QuietTerm *term = &quiet->terms.data[sum->begin], *end = &quiet->terms.data[sum->end]; term < end;
       term++) {
    double leaf = term->kind == TERM_COLUMN      ? y[term->index]
                  : term->kind == TERM_PARAMETER ? evaluator->parameters[term->index]
                  : term->kind == TERM_DISCRETE  ? evaluator->discretes[term->index]
                                                 : t;
    value += term->coefficient * leaf;
  }
  return value;
}

bool quiet_holds(const Quiet *quiet, double t, const double *y, double step) {
  for (uint32_t m = 0; m < quiet->modes.count; m++) {
    const QuietMode *mode = &quiet->modes.data[m];
    if (mode->margin == INFINITY) continue;
    double moved = fabs(value_of(quiet, &mode->difference, t, y) - mode->at),
           speed = fabs(value_of(quiet, &mode->rate, t, y));
    if (!(moved + step * (speed > mode->speed ? speed : mode->speed) < NEAR * mode->margin)) return false;
  }
  return true;
}
