/* clock_write: see clock.h. Each clock becomes one when, whose condition is true at its ticks:
 *
 *   when sample(shift, interval) then            a periodic clock; edge(condition), every n ticks, for events
 *     'sample(u)' = pre(u);                      the left limit
 *     'previous(x)' = if pre(ticks) == 0 then x.start else pre(x);
 *     'hold(x)' = x;
 *     'subSample(y)' = y;
 *     ticks = pre(ticks) + 1;
 *   end when;
 */
#include "lang/clock.h"
#include "lang/state_machine.h"

#include <string.h>

/* ---- values ---- */

static Expr left_limit(const ClockWriter *w, Expr e) {
  if (dag_op(w->dag, e) == OP_DISCRETE) return dag_pre(w->dag, dag_index(w->dag, e));
  return dag_op(w->dag, e) == OP_VARIABLE ? dag_unary(w->dag, OP_LEFT, e) : e;
}

/* May its left limit differ from its value? */
static bool may_jump(const ClockWriter *w, Expr e) {
  return dag_depends(w->dag, e, OP_VARIABLE) || dag_depends(w->dag, e, OP_DISCRETE) || dag_has_event(w->dag, e);
}

/* The sampled value. An expression first gets a variable, which has a left limit. */
static Expr sampled(ClockWriter *w, const ClockOperator *use) {
  Expr e = use->arguments[0];
  Elaboration *el = w->el;
  bool is_leaf = dag_op(w->dag, e) == OP_DISCRETE || (dag_op(w->dag, e) == OP_VARIABLE && !dag_order(w->dag, e));
  if (is_leaf || !may_jump(w, e)) return left_limit(w, e);
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
  clock_add_equation(w, variable, e, (BaseType)use->type.base, use->span);
  return left_limit(w, clock_leaf(w, variable));
}

/* The latest value of the argument; its start value before the clock's first tick, or if the clock never ticks. */
static Expr latest(ClockWriter *w, const ClockOperator *use) {
  Expr e = use->arguments[0];
  uint32_t variable = variable_of_leaf(w->el, e);
  if (variable == NONE || use->special == SPECIAL_SUB_SAMPLE || use->special == SPECIAL_SUPER_SAMPLE) return e;
  if (!clock_of_variable(w, variable)->is_known) return clock_start(w, e);
  Expr has_ticked = dag_binary(w->dag, OP_GREATER, clock_ticks(w, clock_of_variable(w, variable)), clock_number(w, 0));
  return dag_if(w->dag, has_ticked, e, clock_start(w, e));
}

/* The value of interval() at the first tick of an irregular clock. */
static Expr first_interval(const ClockWriter *w, const ClockOperator *base) {
  if (base->special == SPECIAL_CLOCK_EVENT) return base->count > 1 ? base->arguments[1] : clock_number(w, 0);
  Expr start = clock_start(w, base->arguments[0]);
  return base->special == SPECIAL_CLOCK_COUNTED && base->count > 1 ? dag_divide(w->dag, start, base->arguments[1])
                                                                   : start;
}

/* Time since the previous tick. */
static void write_interval(ClockWriter *w, Clock *clock, const ClockOperator *use) {
  const ClockOperator *base = clock_base(w, clock);
  if (!clock_is_irregular(w->el, base)) {
    clock_add_equation(w, use->result, clock_seconds(w, base, clock->rate), TYPE_REAL, use->span);
    return;
  }
  Expr start = first_interval(w, base);
  uint32_t last = clock_variable(w->el, arena_printf(&w->el->arena, "last(%s)", model_name(w->el->model, use->result)),
                                 TYPE_REAL, EXPR_NONE, use->span);
  Expr before = dag_pre(w->dag, w->el->model->variables.data[last].index);
  w->el->model->variables.data[use->result].start = start;
  clock_assign(w, clock, use->result,
               dag_if(w->dag, clock_is_first(w, clock), start, dag_subtract(w->dag, dag_time(w->dag), before)),
               use->span);
  clock_assign(w, clock, last, dag_time(w->dag), use->span);
}

/* When does previous() give the start value? At the first tick, and when a state that contains the variable is reset. */
static Expr begins(ClockWriter *w, Clock *clock, Expr e) {
  uint32_t reset = state_reset_of(w->el, variable_of_leaf(w->el, e));
  Expr is_first = clock_is_first(w, clock);
  return reset == NONE ? is_first : dag_binary(w->dag, OP_OR, is_first, clock_leaf(w, reset));
}

static void write_operator(ClockWriter *w, const ClockOperator *use) {
  Clock *clock = clock_of_variable(w, use->result);
  Expr e = use->arguments[0];
  Variable *result = &w->el->model->variables.data[use->result];
  switch (use->special) {
  case SPECIAL_HOLD:
    result->start = clock_start(w, e);
    clock = clock_of_variable(w, variable_of_leaf(w->el, e));
    if (clock->is_known) clock_assign(w, clock, use->result, e, use->span);
    return;
  case SPECIAL_PREVIOUS:
    result->start = clock_start(w, e);
    if (clock->is_known)
      clock_assign(w, clock, use->result, dag_if(w->dag, begins(w, clock, e), clock_start(w, e), left_limit(w, e)),
                   use->span);
    return;
  case SPECIAL_SAMPLED:
    if (clock->is_known) clock_assign(w, clock, use->result, sampled(w, use), use->span);
    return;
  case SPECIAL_INTERVAL:
    if (clock->is_known) write_interval(w, clock, use);
    return;
  case SPECIAL_FIRST_TICK:
    result->start = clock_number(w, 1);
    if (clock->is_known) clock_assign(w, clock, use->result, clock_is_first(w, clock), use->span);
    return;
  default:
    if (clock_is_conversion(use->special) && use->type.base != TYPE_CLOCK && clock->is_known)
      clock_assign(w, clock, use->result, latest(w, use), use->span);
  }
}

/* The start value of a clocked variable belongs to previous(); initialization need not satisfy it. */
static void release_starts(ClockWriter *w, uint32_t variables) {
  for (uint32_t v = 0; v < variables; v++)
    if (clock_of_variable(w, v)->clocked != NONE) w->el->model->variables.data[v].fixed = FIXED_UNSET;
}

/* Does the clock compute anything? If not, it causes no events. */
static bool is_used(const ClockWriter *w, uint32_t variable) {
  const Clock *clock = clock_of_variable(w, variable);
  if (!clock->is_known) return false;
  const ClockOperator *base = clock_base(w, clock);
  return clock->actions.count || (base->result == variable && clock_is_irregular(w->el, base));
}

static void write_clock_variables(ClockWriter *w, uint32_t variables) {
  for (uint32_t v = 0; v < variables; v++) {
    if (w->el->model->variables.data[v].type != TYPE_CLOCK) continue;
    w->el->model->variables.data[v].type = TYPE_BOOLEAN;
    Expr value = is_used(w, v) ? clock_value(w, v) : clock_number(w, 0);
    clock_add_equation(w, v, value, TYPE_BOOLEAN, w->el->model->variables.data[v].span);
  }
}

static void write_whens(ClockWriter *w) {
  for (uint32_t c = 0; c < w->partition->clocks.count; c++) {
    Clock *clock = &w->partition->clocks.data[c];
    if (!clock->actions.count) continue;
    When when = {.span = w->el->clock_operators.data[clock->clocked].span};
    WhenBranch branch = {0};
    vec_push(w->el->heap, &branch.conditions, clock_tick(w, clock));
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

/* A first inference finds the differential equations of clocks; the equations that replace them take part in a second. */
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
  ClockWriter w = {el, el->dag, &partition};
  if (infer(el, &partition)) {
    uint32_t variables = el->model->variables.count;
    clocks_guard(&w);
    release_starts(&w, variables);
    for (uint32_t i = 0; i < el->clock_operators.count; i++) write_operator(&w, &el->clock_operators.data[i]);
    write_clock_variables(&w, variables);
    write_whens(&w);
  }
  partition_free(el, &partition);
}
