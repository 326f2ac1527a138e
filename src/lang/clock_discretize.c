/* clock_discretize: differential equations of a clock with a solver method become difference equations (Modelica Language
 * Specification 3.6, 16.8): der(x) is an unknown of its own, and x steps from tick to tick. At the first tick x is its start
 * value. */
#include "lang/clock.h"

#include <string.h>

typedef enum SolverMethod {
  METHOD_EXPLICIT_EULER,
  METHOD_IMPLICIT_EULER,
  METHOD_IMPLICIT_TRAPEZOID,
  METHOD_COUNT
} SolverMethod;

static const char *const method_names[METHOD_COUNT] = {"ExplicitEuler", "ImplicitEuler", "ImplicitTrapezoid"};

typedef struct Discretizer {
  Elaboration *el;
  Dag *dag;
  const ClockPartition *partition;
  Map rate_of; /* unknown -> position of the variable that is its derivative */
  ExprVec from, to;
} Discretizer;

static Expr operate(Discretizer *d, Special special, BaseType base, const Expr *argument, Span span) {
  Expr out = EXPR_NONE;
  Type type = {.base = base};
  clock_operator(d->el, special, type, argument, argument ? 1 : 0, span, &out);
  return out;
}

static uint32_t add_rate(Discretizer *d, Expr x, Span span) {
  Elaboration *el = d->el;
  const char *name = arena_printf(&el->arena, "der(%s)", model_text(el->model, x, &el->arena));
  Variable rate = variable_make(names_add(el->names, name, strlen(name)), TYPE_REAL, ROLE_UNKNOWN);
  rate.variability = VARIABILITY_CONTINUOUS;
  rate.span = span;
  return model_add_variable(el->model, rate);
}

/* h*(what the method takes for the derivative over the last interval). */
static Expr increment(Discretizer *d, SolverMethod method, Expr rate, Expr interval, Span span) {
  if (method == METHOD_IMPLICIT_EULER) return dag_multiply(d->dag, interval, rate);
  Expr before = operate(d, SPECIAL_PREVIOUS, TYPE_REAL, &rate, span);
  if (method == METHOD_EXPLICIT_EULER) return dag_multiply(d->dag, interval, before);
  Expr sum = dag_add(d->dag, rate, before);
  return dag_multiply(d->dag, interval, dag_scale(d->dag, 0.5, sum));
}

/* x = if firstTick(x) then x.start else previous(x) + increment */
static void add_step(Discretizer *d, SolverMethod method, Expr x, Expr rate, const RawEquation *cause) {
  const Variable *declared = &d->el->model->variables.data[variable_of_leaf(d->el, x)];
  Expr start = declared->start == EXPR_NONE ? dag_constant(d->dag, 0) : declared->start;
  Expr interval = operate(d, SPECIAL_INTERVAL, TYPE_REAL, &x, cause->span);
  Expr before = operate(d, SPECIAL_PREVIOUS, TYPE_REAL, &x, cause->span);
  Expr first = operate(d, SPECIAL_FIRST_TICK, TYPE_BOOLEAN, &x, cause->span);
  Expr next = dag_add(d->dag, before, increment(d, method, rate, interval, cause->span));
  RawEquation step = {.left = x, .right = dag_if(d->dag, first, start, next), .base = TYPE_REAL, .span = cause->span};
  vec_push(d->el->heap, d->el->equations, step);
}

static bool find_method(const Elaboration *el, const Clock *clock, Span span, SolverMethod *method) {
  if (!clock->solver)
    return diag_error(el->diags, DIAG_CLOCK, span,
                      "a differential equation of a clock without a solver method; give one: Clock(c, solverMethod)"),
           false;
  const char *name = names_text(el->names, clock->solver);
  for (*method = 0; *method < METHOD_COUNT; (*method)++)
    if (strcmp(name, method_names[*method]) == 0) return true;
  diag_error(el->diags, DIAG_CLOCK, span,
             "not supported yet: solver method `%s`; there are ExplicitEuler, ImplicitEuler and "
             "ImplicitTrapezoid",
             name);
  return false;
}

/* The variable in place of a derivative, with its step when it is the first time. */
static bool replace_rate(Discretizer *d, Expr derivative, const RawEquation *cause) {
  Elaboration *el = d->el;
  uint32_t unknown = dag_index(d->dag, derivative), position = el->model->unknowns.data[unknown];
  if (map_get(&d->rate_of, unknown) != MAP_NONE) return true;
  SolverMethod method;
  const Clock *clock = &d->partition->clocks.data[d->partition->clock_of[position]];
  if (!find_method(el, clock, cause->span, &method)) return false;
  Expr x = dag_variable(d->dag, unknown, 0);
  uint32_t rate = add_rate(d, x, el->model->variables.data[position].span);
  map_put(&d->rate_of, unknown, rate);
  vec_push(el->heap, &d->from, derivative);
  vec_push(el->heap, &d->to, model_leaf(el->model, rate, 0));
  add_step(d, method, x, model_leaf(el->model, rate, 0), cause);
  return true;
}

static bool replace_rates(Discretizer *d, uint32_t equation) {
  Elaboration *el = d->el;
  ExprVec leaves = {0};
  RawEquation cause = el->equations->data[equation];
  bool fits = true;
  dag_variables(d->dag, dag_scratch(d->dag), cause.left, &leaves);
  dag_variables(d->dag, dag_scratch(d->dag), cause.right, &leaves);
  for (uint32_t k = 0; k < leaves.count && fits; k++) {
    uint32_t order = dag_order(d->dag, leaves.data[k]);
    uint32_t position = el->model->unknowns.data[dag_index(d->dag, leaves.data[k])];
    if (order == 0 || d->partition->clocks.data[d->partition->clock_of[position]].clocked == NONE) continue;
    if (order == 1) fits = replace_rate(d, leaves.data[k], &cause);
    else
      fits = diag_error(el->diags, DIAG_CLOCK, cause.span,
                        "not supported yet: second derivatives in equations of a clock"),
      fits = false;
  }
  vec_free(el->heap, &leaves);
  return fits;
}

bool clocks_discretize(Elaboration *el, const ClockPartition *partition) {
  Discretizer d = {.el = el, .dag = el->dag, .partition = partition, .rate_of = map_make(el->heap)};
  bool fits = true;
  uint32_t count = el->equations->count;
  for (uint32_t i = 0; i < count; i++) fits = replace_rates(&d, i) && fits;
  for (uint32_t i = 0; i < count && d.from.count; i++) {
    RawEquation *equation = &el->equations->data[i];
    Expr sides[2] = {equation->left, equation->right};
    dag_substitute(d.dag, d.from.data, d.to.data, d.from.count, sides, 2);
    equation->left = sides[0];
    equation->right = sides[1];
  }
  map_free(&d.rate_of);
  vec_free(el->heap, &d.from, &d.to);
  return fits;
}
