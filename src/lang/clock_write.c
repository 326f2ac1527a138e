/* clock_write: see clock.h. For each clock one when, whose condition is true at its ticks:
 *
 *   when sample(shift, interval) then            periodic; of events, edge(condition), each so many ticks
 *     'sample(u)' = pre(u);                      the left limit
 *     'previous(x)' = if pre(ticks) == 0 then x.start else pre(x);
 *     'hold(x)' = x;
 *     'subSample(y)' = y;
 *     ticks = pre(ticks) + 1;
 *   end when;
 */
#include "lang/clock.h"

#include <string.h>

typedef struct Writer {
  Elaboration *el;
  Dag *dag;
  ClockPartition *partition;
} Writer;

static Clock *clock_of(const Writer *w, uint32_t variable) {
  return &w->partition->clocks.data[w->partition->clock_of[variable]];
}

static Expr number(const Writer *w, double value) { return dag_constant(w->dag, value); }

static Expr leaf(const Writer *w, uint32_t variable) { return model_leaf(w->el->model, variable, 0); }

static void add_equation(Writer *w, uint32_t variable, Expr value, BaseType base, Span span) {
  RawEquation equation = {.left = leaf(w, variable), .right = value, .base = base, .span = span};
  vec_push(w->el->heap, w->el->equations, equation);
}

static void assign(Writer *w, Clock *clock, uint32_t target, Expr value, Span span) {
  Action action = {
      .kind = ACTION_ASSIGN, .guard = EXPR_NONE, .target = target, .value = value, .message = EXPR_NONE, .span = span};
  vec_push(w->el->heap, &clock->actions, action);
}

static const ClockOperator *base_of(const Writer *w, const Clock *clock) {
  return &w->el->clock_operators.data[clock->base];
}

/* ---- ticks ---- */

static double value_of(Fraction fraction) { return (double)fraction.n / (double)fraction.d; }

/* Seconds of a fraction of the base clock's interval: exact where that is one of whole numbers. */
static Expr seconds(const Writer *w, const ClockOperator *base, Fraction ticks) {
  double counter;
  if (base->special == SPECIAL_CLOCK_COUNTED && dag_is_constant(w->dag, base->arguments[0], &counter)) {
    int64_t resolution = base->count > 1 ? (int64_t)dag_value(w->dag, base->arguments[1]) : 1;
    Fraction exact = fraction_multiply(fraction_make((int64_t)counter, resolution), ticks);
    if (exact.d) return number(w, value_of(exact));
  }
  Expr interval = base->arguments[0];
  if (base->special == SPECIAL_CLOCK_COUNTED && base->count > 1)
    interval = dag_divide(w->dag, interval, base->arguments[1]);
  return dag_multiply(w->dag, number(w, value_of(ticks)), interval);
}

/* Number of ticks so far, counted by a variable. */
static Expr ticks_of(Writer *w, Clock *clock) {
  if (clock->ticks == NONE) {
    Elaboration *el = w->el;
    Span span = el->clock_operators.data[clock->clocked].span;
    const char *name = arena_printf(&el->arena, "ticks(%s)", model_name(el->model, clock->witness));
    clock->ticks = clock_variable(w->el, name, TYPE_INTEGER, EXPR_NONE, span);
    Expr before = dag_pre(w->dag, el->model->variables.data[clock->ticks].index);
    assign(w, clock, clock->ticks, dag_add(w->dag, before, number(w, 1)), span);
  }
  return leaf(w, clock->ticks);
}

static Expr ticks_before(Writer *w, Clock *clock) { return dag_pre(w->dag, dag_index(w->dag, ticks_of(w, clock))); }

static Expr is_first(Writer *w, Clock *clock) {
  return dag_binary(w->dag, OP_EQUAL, ticks_before(w, clock), number(w, 0));
}

/* Of ticks of a base clock that comes as it likes, those that this clock counts. */
static Expr counted_tick(Writer *w, const Clock *clock, Expr base_tick) {
  Clock *base = clock_of(w, base_of(w, clock)->result);
  if (clock->rate.n == 1 && clock->shift.n == 0) return base_tick;
  Expr behind = dag_subtract(w->dag, ticks_before(w, base), number(w, (double)clock->shift.n));
  Expr phase = dag_binary(w->dag, OP_MOD, behind, number(w, (double)clock->rate.n));
  Expr is_due = dag_binary(w->dag, OP_AND, dag_binary(w->dag, OP_GREATER_EQUAL, behind, number(w, 0)),
                           dag_binary(w->dag, OP_EQUAL, phase, number(w, 0)));
  return dag_binary(w->dag, OP_AND, base_tick, is_due);
}

static Expr tick_of(Writer *w, Clock *clock) {
  const ClockOperator *base = base_of(w, clock);
  if (clock->tick != EXPR_NONE) return clock->tick;
  if (clock_is_irregular(w->el, base)) {
    clock->tick = counted_tick(w, clock, leaf(w, base->result));
  } else {
    Expr first = dag_add(w->dag, number(w, w->el->model->experiment.start), seconds(w, base, clock->shift));
    clock->tick = dag_binary(w->dag, OP_SAMPLE, first, seconds(w, base, clock->rate));
  }
  return clock->tick;
}

enum { NEVER = 1 << 30 };

/* True at the start of the run alone. */
static Expr at_start(const Writer *w) {
  return dag_binary(w->dag, OP_SAMPLE, number(w, w->el->model->experiment.start), number(w, NEVER));
}

/* A condition that is true at the start has become so there, after initialization. */
static Expr event_tick(const Writer *w, Expr condition) {
  Expr is_running = dag_unary(w->dag, OP_NOT, dag_nary(w->dag, OP_INITIAL, NULL, 0));
  return dag_binary(w->dag, OP_OR, dag_binary(w->dag, OP_AND, is_running, dag_unary(w->dag, OP_EDGE, condition)),
                    dag_binary(w->dag, OP_AND, at_start(w), condition));
}

/* When a clock whose interval varies ticks next: a time that each tick sets. */
static Expr varying_tick(Writer *w, const ClockOperator *base) {
  Clock *clock = clock_of(w, base->result);
  uint32_t next = clock_variable(w->el, arena_printf(&w->el->arena, "next(%s)", model_name(w->el->model, base->result)),
                                 TYPE_REAL, number(w, NEVER), base->span);
  Expr time = dag_time(w->dag), due = dag_pre(w->dag, w->el->model->variables.data[next].index);
  assign(w, clock, next, dag_add(w->dag, time, seconds(w, base, (Fraction){1, 1})), base->span);
  return dag_binary(w->dag, OP_OR, at_start(w), dag_binary(w->dag, OP_GREATER_EQUAL, time, due));
}

/* The variable of a constructor of an irregular clock is true at its ticks; any other one follows its clock. */
static Expr clock_value(Writer *w, uint32_t variable) {
  Clock *clock = clock_of(w, variable);
  if (!clock->is_known) return number(w, 0);
  const ClockOperator *base = base_of(w, clock);
  if (variable != base->result || !clock_is_irregular(w->el, base)) return tick_of(w, clock);
  if (base->special == SPECIAL_CLOCK_EVENT) return event_tick(w, base->arguments[0]);
  return varying_tick(w, base);
}

/* ---- values ---- */

static Expr start_of(const Writer *w, Expr e) {
  uint32_t variable = variable_of_leaf(w->el, e);
  if (variable == NONE) return number(w, 0);
  const Variable *declared = &w->el->model->variables.data[variable];
  if (declared->start != EXPR_NONE) return declared->start;
  return number(w, declared->type == TYPE_ENUMERATION);
}

static Expr left_limit(const Writer *w, Expr e) {
  if (dag_op(w->dag, e) == OP_DISCRETE) return dag_pre(w->dag, dag_index(w->dag, e));
  return dag_op(w->dag, e) == OP_VARIABLE ? dag_unary(w->dag, OP_LEFT, e) : e;
}

static bool is_moving(const Writer *w, Expr e) {
  return dag_depends(w->dag, e, OP_VARIABLE) || dag_depends(w->dag, e, OP_DISCRETE);
}

/* What is sampled: an expression gets a variable first, which has a left limit. */
static Expr sampled(Writer *w, const ClockOperator *use) {
  Expr e = use->arguments[0];
  Elaboration *el = w->el;
  bool is_leaf = dag_op(w->dag, e) == OP_DISCRETE || (dag_op(w->dag, e) == OP_VARIABLE && !dag_order(w->dag, e));
  if (is_leaf || !is_moving(w, e)) return left_limit(w, e);
  const char *name = arena_printf(&el->arena, "u of %s", model_name(el->model, use->result));
  uint32_t variable;
  if (use->type.base == TYPE_REAL) {
    Name label = names_add(el->names, name, strlen(name));
    Variable unknown = variable_make(label, TYPE_REAL, ROLE_UNKNOWN);
    unknown.variability = VARIABILITY_CONTINUOUS;
    unknown.span = use->span;
    variable = model_add_variable(el->model, unknown);
  } else {
    variable = clock_variable(w->el, name, (BaseType)use->type.base, EXPR_NONE, use->span);
    el->model->variables.data[variable].enumeration = use->type.definition;
  }
  add_equation(w, variable, e, (BaseType)use->type.base, use->span);
  return left_limit(w, leaf(w, variable));
}

/* The latest value of the argument; its start value before the first. */
static Expr latest(Writer *w, const ClockOperator *use) {
  Expr e = use->arguments[0];
  uint32_t variable = variable_of_leaf(w->el, e);
  if (variable == NONE || use->special == SPECIAL_SUB_SAMPLE || use->special == SPECIAL_SUPER_SAMPLE) return e;
  Expr has_ticked = dag_binary(w->dag, OP_GREATER, ticks_of(w, clock_of(w, variable)), number(w, 0));
  return dag_if(w->dag, has_ticked, e, start_of(w, e));
}

/* Time since the tick before. */
static void write_interval(Writer *w, Clock *clock, const ClockOperator *use) {
  const ClockOperator *base = base_of(w, clock);
  if (!clock_is_irregular(w->el, base)) {
    add_equation(w, use->result, seconds(w, base, clock->rate), TYPE_REAL, use->span);
    return;
  }
  Expr start = base->special == SPECIAL_CLOCK_EVENT && base->count > 1 ? base->arguments[1] : number(w, 0);
  uint32_t last = clock_variable(w->el, arena_printf(&w->el->arena, "last(%s)", model_name(w->el->model, use->result)),
                                 TYPE_REAL, EXPR_NONE, use->span);
  Expr before = dag_pre(w->dag, w->el->model->variables.data[last].index);
  w->el->model->variables.data[use->result].start = start;
  assign(w, clock, use->result,
         dag_if(w->dag, is_first(w, clock), start, dag_subtract(w->dag, dag_time(w->dag), before)), use->span);
  assign(w, clock, last, dag_time(w->dag), use->span);
}

static void write_operator(Writer *w, const ClockOperator *use) {
  Clock *clock = clock_of(w, use->result);
  Expr e = use->arguments[0];
  Variable *result = &w->el->model->variables.data[use->result];
  switch (use->special) {
  case SPECIAL_HOLD:
    result->start = start_of(w, e);
    clock = clock_of(w, variable_of_leaf(w->el, e));
    if (clock->is_known) assign(w, clock, use->result, e, use->span);
    return;
  case SPECIAL_PREVIOUS:
    result->start = start_of(w, e);
    if (clock->is_known)
      assign(w, clock, use->result, dag_if(w->dag, is_first(w, clock), start_of(w, e), left_limit(w, e)), use->span);
    return;
  case SPECIAL_SAMPLED:
    if (clock->is_known) assign(w, clock, use->result, sampled(w, use), use->span);
    return;
  case SPECIAL_INTERVAL:
    if (clock->is_known) write_interval(w, clock, use);
    return;
  case SPECIAL_FIRST_TICK:
    result->start = number(w, 1);
    if (clock->is_known) assign(w, clock, use->result, is_first(w, clock), use->span);
    return;
  default:
    if (clock_is_conversion(use->special) && use->type.base != TYPE_CLOCK && clock->is_known)
      assign(w, clock, use->result, latest(w, use), use->span);
  }
}

/* ---- equations ---- */

/* Relations in a clocked equation make no events: what they compare changes at ticks only. */
static Expr without_events(const Writer *w, Expr e) {
  return dag_has_event(w->dag, e) ? dag_unary(w->dag, OP_NOEVENT, e) : e;
}

static Clock *equation_clock(const Writer *w, const RawEquation *equation) {
  const Dag *dag = w->dag;
  const Model *model = w->el->model;
  IndexVec below = {0};
  uint32_t found = NONE;
  dag_below(dag, dag_scratch(w->dag), (const Expr[]){equation->left, equation->right}, 2, &below);
  for (uint32_t k = 0; k < below.count && found == NONE; k++) {
    Op op = dag_op(dag, below.data[k]);
    if (op == OP_VARIABLE) found = model->unknowns.data[dag_index(dag, below.data[k])];
    if (op == OP_DISCRETE) found = model->discretes.data[dag_index(dag, below.data[k])];
  }
  vec_free(w->el->heap, &below);
  return found == NONE ? NULL : clock_of(w, found);
}

/* Equations between clocks are gone: they are known. */
static void rewrite_equations(Writer *w) {
  EquationVec *equations = w->el->equations;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < equations->count; i++) {
    RawEquation equation = equations->data[i];
    if (equation.base == TYPE_CLOCK) continue;
    const Clock *clock = equation_clock(w, &equation);
    if (clock && clock->clocked != NONE) {
      equation.left = without_events(w, equation.left);
      equation.right = without_events(w, equation.right);
    }
    equations->data[kept++] = equation;
  }
  equations->count = kept;
}

/* A start value of a clocked variable is that of previous(), not one that initialization must meet. */
static void release_starts(Writer *w, uint32_t variables) {
  for (uint32_t v = 0; v < variables; v++)
    if (clock_of(w, v)->clocked != NONE) w->el->model->variables.data[v].fixed = FIXED_UNSET;
}

static void write_clock_variables(Writer *w, uint32_t variables) {
  for (uint32_t v = 0; v < variables; v++) {
    if (w->el->model->variables.data[v].type != TYPE_CLOCK) continue;
    w->el->model->variables.data[v].type = TYPE_BOOLEAN;
    add_equation(w, v, clock_value(w, v), TYPE_BOOLEAN, w->el->model->variables.data[v].span);
  }
}

static void write_whens(Writer *w) {
  for (uint32_t c = 0; c < w->partition->clocks.count; c++) {
    Clock *clock = &w->partition->clocks.data[c];
    if (!clock->actions.count) continue;
    When when = {.span = w->el->clock_operators.data[clock->clocked].span};
    WhenBranch branch = {0};
    vec_push(w->el->heap, &branch.conditions, tick_of(w, clock));
    branch.actions.data = clock->actions.data;
    branch.actions.count = clock->actions.count;
    branch.actions.capacity = clock->actions.capacity;
    vec_push(w->el->heap, &when.branches, branch);
    vec_push(w->el->heap, &w->el->model->whens, when);
  }
}

static bool has_clocks(const Elaboration *el) {
  if (el->clock_operators.count) return true;
  for (uint32_t v = 0; v < el->model->variables.count; v++)
    if (el->model->variables.data[v].type == TYPE_CLOCK) return true;
  return false;
}

/* Differential equations of clocks are found by a first inference; what stands in their place takes part in a second. */
static bool infer(Elaboration *el, ClockPartition *partition) {
  if (!clocks_infer(el, partition)) return false;
  uint32_t uses = el->clock_operators.count;
  if (!clocks_discretize(el, partition)) return false;
  if (el->clock_operators.count == uses) return true;
  partition_free(el, partition);
  return clocks_infer(el, partition);
}

void clocks_elaborate(Elaboration *el) {
  ClockPartition partition = {0};
  if (!has_clocks(el)) return;
  Writer w = {el, el->dag, &partition};
  if (infer(el, &partition)) {
    uint32_t variables = el->model->variables.count;
    rewrite_equations(&w);
    release_starts(&w, variables);
    for (uint32_t i = 0; i < el->clock_operators.count; i++) write_operator(&w, &el->clock_operators.data[i]);
    write_clock_variables(&w, variables);
    write_whens(&w);
  }
  partition_free(el, &partition);
}
