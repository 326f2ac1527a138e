/* clock_discretize: differential equations of a clock with a solver method become difference equations (Modelica Language
 * Specification 3.6, 16.8). The index is reduced first (C. C. Pantelides 1988; S. E. Mattsson, G. Söderlind 1993): equations are
 * differentiated, each derivative is a separate unknown, and those that no constraint determines are states. A state steps from
 * tick to tick; at the first tick it has its start value. */
#include "lang/clock.h"

#include "structure/structure.h"

#include <string.h>

typedef enum SolverMethod {
  METHOD_EXPLICIT_EULER,
  METHOD_IMPLICIT_EULER,
  METHOD_IMPLICIT_TRAPEZOID,
  METHOD_COUNT
} SolverMethod;

static const char *const method_names[METHOD_COUNT] = {"ExplicitEuler", "ImplicitEuler", "ImplicitTrapezoid"};

/* The unknowns of all clocks with differential equations, and these equations. */
typedef struct Discretizer {
  Elaboration *el;
  Dag *dag;
  Arena arena;
  const ClockPartition *partition;
  bool *is_differential;  /* per clock */
  IndexVec rows, columns; /* equations, unknowns */
  Map column_of;          /* unknown -> column */
  IntVec row_start, column, order;
  const int32_t *c, *d;
  bool *is_dummy;   /* per column: is not a state at the last stage examined */
  ExprVec from, to; /* derivatives, and the variables that replace them */
  Map place;        /* derivative -> its index in `from` */
} Discretizer;

/* ---- the problem ---- */

static uint32_t clock_number_of(const Discretizer *d, Expr variable) {
  return d->partition->clock_of[d->el->model->unknowns.data[dag_index(d->dag, variable)]];
}

static void equation_leaves(Discretizer *d, const RawEquation *equation, ExprVec *leaves) {
  leaves->count = 0;
  dag_variables(d->dag, dag_scratch(d->dag), equation->left, leaves);
  dag_variables(d->dag, dag_scratch(d->dag), equation->right, leaves);
}

static bool find_differential(Discretizer *d) {
  ExprVec leaves = {0};
  bool any = false;
  for (uint32_t i = 0; i < d->el->equations->count; i++) {
    equation_leaves(d, &d->el->equations->data[i], &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t clock = clock_number_of(d, leaves.data[k]);
      if (dag_order(d->dag, leaves.data[k]) == 0 || d->partition->clocks.data[clock].clocked == NONE) continue;
      any = d->is_differential[clock] = true;
    }
  }
  vec_free(d->el->heap, &leaves);
  return any;
}

static int32_t column(Discretizer *d, uint32_t unknown) {
  uint32_t found = map_get(&d->column_of, unknown);
  if (found != MAP_NONE) return (int32_t)found;
  map_put(&d->column_of, unknown, d->columns.count);
  vec_push(d->el->heap, &d->columns, unknown);
  return (int32_t)d->columns.count - 1;
}

static void list_rows(Discretizer *d) {
  Heap *heap = d->el->heap;
  ExprVec leaves = {0};
  for (uint32_t i = 0; i < d->el->equations->count; i++) {
    equation_leaves(d, &d->el->equations->data[i], &leaves);
    if (leaves.count == 0 || !d->is_differential[clock_number_of(d, leaves.data[0])]) continue;
    vec_push(heap, &d->rows, i);
    vec_push(heap, &d->row_start, (int32_t)d->column.count);
    for (uint32_t k = 0; k < leaves.count; k++) {
      vec_push(heap, &d->column, column(d, dag_index(d->dag, leaves.data[k])));
      vec_push(heap, &d->order, (int32_t)dag_order(d->dag, leaves.data[k]));
    }
  }
  vec_push(heap, &d->row_start, (int32_t)d->column.count);
  vec_free(heap, &leaves);
}

/* If the system is structurally singular, nothing is differentiated; the analysis of the model reports it later. */
static void find_offsets(Discretizer *d) {
  Incidence incidence = {(int32_t)d->rows.count, (int32_t)d->columns.count, d->row_start.data, d->column.data,
                         d->order.data};
  Structure structure = structure_run(&d->arena, &incidence);
  if (structure.status == STRUCTURE_OK) {
    d->c = structure.c;
    d->d = structure.d;
    return;
  }
  int32_t *highest = index_zeros(&d->arena, incidence.n_variables);
  for (uint32_t e = 0; e < d->column.count; e++)
    if (d->order.data[e] > highest[d->column.data[e]]) highest[d->column.data[e]] = d->order.data[e];
  d->c = index_zeros(&d->arena, incidence.n_equations);
  d->d = highest;
}

/* ---- derivatives ---- */

/* Derivative k of a column: the unknown itself, or the variable that replaces the derivative. */
static Expr derivative(Discretizer *d, uint32_t number, uint32_t order) {
  Elaboration *el = d->el;
  Expr leaf = dag_variable(d->dag, d->columns.data[number], order);
  if (order == 0) return leaf;
  uint32_t place = map_get(&d->place, leaf);
  if (place != MAP_NONE) return d->to.data[place];
  map_put(&d->place, leaf, d->from.count);
  const char *name = model_text(el->model, leaf, &el->arena);
  Variable rate = variable_make(names_add(el->names, name, strlen(name)), TYPE_REAL, ROLE_UNKNOWN);
  rate.variability = VARIABILITY_CONTINUOUS;
  rate.span = el->model->variables.data[el->model->unknowns.data[d->columns.data[number]]].span;
  vec_push(el->heap, &d->from, leaf);
  vec_push(el->heap, &d->to, model_leaf(el->model, model_add_variable(el->model, rate), 0));
  return vec_last(&d->to);
}

static bool holds_sampled(const Discretizer *d, Expr e) {
  IndexVec below = {0};
  bool found = false;
  dag_below(d->dag, dag_scratch(d->dag), &e, 1, &below);
  for (uint32_t k = 0; k < below.count && !found; k++)
    found = dag_op(d->dag, below.data[k]) == OP_DISCRETE &&
            d->el->model->variables.data[variable_of_leaf(d->el, below.data[k])].type == TYPE_REAL;
  vec_free(d->el->heap, &below);
  return found;
}

static bool differentiate(Discretizer *d) {
  Elaboration *el = d->el;
  for (uint32_t i = 0; i < d->rows.count; i++) {
    RawEquation equation = el->equations->data[d->rows.data[i]];
    Expr residual = dag_subtract(d->dag, equation.left, equation.right);
    equation.right = dag_constant(d->dag, 0);
    for (int32_t l = 1; l <= d->c[i]; l++) {
      if (holds_sampled(d, residual))
        return diag_error(el->diags, DIAG_CLOCK, equation.span,
                          "the discretization needs the derivative of this equation, which contains values of the "
                          "clock, which have no derivative"),
               false;
      equation.left = residual = dag_time_derivative(d->dag, residual);
      vec_push(el->heap, el->equations, equation);
    }
  }
  return true;
}

static void put_in_derivatives(Discretizer *d) {
  for (uint32_t j = 0; j < d->columns.count; j++)
    for (int32_t k = 1; k <= d->d[j]; k++) derivative(d, j, (uint32_t)k);
  for (uint32_t i = 0; i < d->el->equations->count && d->from.count; i++) {
    RawEquation *equation = &d->el->equations->data[i];
    Expr sides[2] = {equation->left, equation->right};
    dag_substitute(d->dag, d->from.data, d->to.data, d->from.count, sides, 2);
    equation->left = sides[0];
    equation->right = sides[1];
  }
}

/* ---- states ---- */

static const Variable *declared(const Discretizer *d, uint32_t number) {
  return &d->el->model->variables.data[d->el->model->unknowns.data[d->columns.data[number]]];
}

/* The degree to which the model prefers the variable as a state. */
static int preference(const Discretizer *d, uint32_t number) {
  const Variable *variable = declared(d, number);
  if (variable->select > SELECT_DEFAULT) return 2 + (variable->select == SELECT_ALWAYS);
  return variable->select == SELECT_DEFAULT && variable->fixed == FIXED_TRUE;
}

/* The entries by which constraints of a stage can determine columns of at most this preference. */
static Pattern stage_pattern(Discretizer *d, int32_t stage, int most) {
  int32_t *start = index_zeros(&d->arena, (int32_t)d->rows.count + 1), *entry, count = 0;
  entry = index_zeros(&d->arena, (int32_t)d->column.count);
  for (uint32_t i = 0; i < d->rows.count; i++) {
    start[i] = count;
    for (int32_t e = d->row_start.data[i]; e < d->row_start.data[i + 1] && d->c[i] >= stage; e++) {
      int32_t j = d->column.data[e];
      bool is_highest = d->order.data[e] + d->c[i] == d->d[j];
      if (is_highest && d->d[j] >= stage && d->is_dummy[j] && preference(d, (uint32_t)j) <= most) entry[count++] = j;
    }
  }
  start[d->rows.count] = count;
  return (Pattern){(int32_t)d->rows.count, (int32_t)d->columns.count, start, entry};
}

/* Chooses dummies among the dummies of the stage before. A column is a dummy if a constraint determines its derivative
 * of order d - stage. */
static void choose_dummies(Discretizer *d, int32_t stage) {
  Matching matching = matching_empty(&d->arena, (int32_t)d->rows.count, (int32_t)d->columns.count);
  int32_t *rows = index_zeros(&d->arena, (int32_t)d->rows.count), count = 0;
  for (uint32_t i = 0; i < d->rows.count; i++)
    if (d->c[i] >= stage) rows[count++] = (int32_t)i;
  for (int most = 0; most <= 3; most++) {
    Pattern pattern = stage_pattern(d, stage, most);
    Matcher matcher = matcher_make(&d->arena, &pattern, &matching);
    matcher_grow(&matcher, rows, count, false);
  }
  for (uint32_t j = 0; j < d->columns.count; j++) d->is_dummy[j] = matching.row_of_column[j] != STRUCTURE_NONE;
}

/* ---- steps ---- */

static bool find_method(const Discretizer *d, uint32_t number, SolverMethod *method, Span span) {
  const Elaboration *el = d->el;
  const Clock *clock = &d->partition->clocks.data[clock_number_of(d, dag_variable(d->dag, d->columns.data[number], 0))];
  if (!clock->solver)
    return diag_error(el->diags, DIAG_CLOCK, span,
                      "`%s` has a differential equation and a clock without a solver method; give one: Clock(c, "
                      "solverMethod)",
                      names_text(el->names, declared(d, number)->name)),
           false;
  const char *name = names_text(el->names, clock->solver);
  for (*method = 0; *method < METHOD_COUNT; (*method)++)
    if (strcmp(name, method_names[*method]) == 0) return true;
  return diag_error(
             el->diags, DIAG_CLOCK, span,
             "not supported yet: solver method `%s`; there are ExplicitEuler, ImplicitEuler and ImplicitTrapezoid",
             name),
         false;
}

static Expr operate(Discretizer *d, Special special, BaseType base, Expr argument, Span span) {
  Expr out = EXPR_NONE;
  clock_operator(d->el, special, (Type){.base = (uint8_t)base}, &argument, 1, span, &out);
  return out;
}

/* The increment of a state over an interval, by the method. */
static Expr increment(Discretizer *d, SolverMethod method, Expr rate, Expr interval, Span span) {
  if (method == METHOD_IMPLICIT_EULER) return dag_multiply(d->dag, interval, rate);
  Expr before = operate(d, SPECIAL_PREVIOUS, TYPE_REAL, rate, span);
  if (method == METHOD_EXPLICIT_EULER) return dag_multiply(d->dag, interval, before);
  return dag_multiply(d->dag, interval, dag_scale(d->dag, 0.5, dag_add(d->dag, rate, before)));
}

/* x = if firstTick(x) then x.start else previous(x) + increment */
static void add_step(Discretizer *d, SolverMethod method, Expr x, Expr rate, Span span) {
  Variable *state = &d->el->model->variables.data[variable_of_leaf(d->el, x)];
  state->has_fixed_start = true;
  Expr start = state->start == EXPR_NONE ? dag_constant(d->dag, 0) : state->start;
  Expr interval = operate(d, SPECIAL_INTERVAL, TYPE_REAL, x, span);
  Expr before = operate(d, SPECIAL_PREVIOUS, TYPE_REAL, x, span);
  Expr first = operate(d, SPECIAL_FIRST_TICK, TYPE_BOOLEAN, x, span);
  Expr next = dag_add(d->dag, before, increment(d, method, rate, interval, span));
  RawEquation step = {.left = x, .right = dag_if(d->dag, first, start, next), .base = TYPE_REAL, .span = span};
  vec_push(d->el->heap, d->el->equations, step);
}

static bool add_steps(Discretizer *d) {
  bool is_open = true;
  for (uint32_t j = 0; j < d->columns.count; j++) d->is_dummy[j] = true;
  for (int32_t stage = 1; is_open; stage++) {
    bool *before = arena_copy_array(&d->arena, d->is_dummy, d->columns.count, sizeof *before);
    choose_dummies(d, stage);
    is_open = false;
    for (uint32_t j = 0; j < d->columns.count; j++) {
      SolverMethod method;
      Span span = declared(d, j)->span;
      if (d->d[j] < stage) continue;
      is_open = is_open || d->d[j] > stage;
      if (d->is_dummy[j] && before[j]) continue;
      if (!find_method(d, j, &method, span)) return false;
      uint32_t order = (uint32_t)(d->d[j] - stage);
      add_step(d, method, derivative(d, j, order), derivative(d, j, order + 1), span);
    }
  }
  return true;
}

bool clocks_discretize(Elaboration *el, const ClockPartition *partition) {
  Discretizer d = {.el = el, .dag = el->dag, .partition = partition, .arena = arena_make(el->heap)};
  d.is_differential = arena_array(&d.arena, partition->clocks.count, sizeof *d.is_differential);
  bool fits = true;
  if (find_differential(&d)) {
    d.column_of = map_make(el->heap);
    d.place = map_make(el->heap);
    list_rows(&d);
    find_offsets(&d);
    d.is_dummy = arena_array(&d.arena, d.columns.count, sizeof *d.is_dummy);
    fits = differentiate(&d);
    if (fits) {
      put_in_derivatives(&d);
      fits = add_steps(&d);
    }
    map_free(&d.column_of);
    map_free(&d.place);
  }
  arena_free(&d.arena);
  vec_free(el->heap, &d.rows, &d.columns, &d.from, &d.to);
  vec_free(el->heap, &d.row_start, &d.column, &d.order);
  return fits;
}
