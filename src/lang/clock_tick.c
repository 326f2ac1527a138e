/* clock_tick: see clock.h. Periodic clocks become samples. Their times are fractions of whole numbers of seconds, rounded once.
 * Other clocks are counted from tick to tick. */
#include "lang/clock.h"

#include <string.h>

Clock *clock_of_variable(const ClockWriter *w, uint32_t variable) {
  return &w->partition->clocks.data[w->partition->clock_of[variable]];
}

Expr clock_number(const ClockWriter *w, double value) { return dag_constant(w->dag, value); }

Expr clock_leaf(const ClockWriter *w, uint32_t variable) { return model_leaf(w->el->model, variable, 0); }

void clock_add_equation(ClockWriter *w, uint32_t variable, Expr value, BaseType base, Span span) {
  RawEquation equation = {.left = clock_leaf(w, variable), .right = value, .base = base, .span = span, .is_made = true};
  vec_push(w->el->heap, w->el->equations, equation);
}

void clock_assign(ClockWriter *w, Clock *clock, uint32_t target, Expr value, Span span) {
  Action action = {
      .kind = ACTION_ASSIGN, .guard = EXPR_NONE, .target = target, .value = value, .message = EXPR_NONE, .span = span};
  vec_push(w->el->heap, &clock->actions, action);
}

const ClockOperator *clock_base(const ClockWriter *w, const Clock *clock) {
  return &w->el->clock_operators.data[clock->base];
}

/* ---- ticks ---- */

static double value_of(Fraction fraction) { return (double)fraction.n / (double)fraction.d; }

/* A multiple of the base clock's interval in seconds; exact if that interval is a fraction of whole numbers. */
Expr clock_seconds(const ClockWriter *w, const ClockOperator *base, Fraction ticks) {
  double counter;
  if (base->special == SPECIAL_CLOCK_COUNTED && dag_is_constant(w->dag, base->arguments[0], &counter)) {
    int64_t resolution = base->count > 1 ? (int64_t)dag_value(w->dag, base->arguments[1]) : 1;
    Fraction exact = fraction_multiply(fraction_make((int64_t)counter, resolution), ticks);
    if (exact.d) return clock_number(w, value_of(exact));
  }
  Expr interval = base->arguments[0];
  if (base->special == SPECIAL_CLOCK_COUNTED && base->count > 1)
    interval = dag_divide(w->dag, interval, base->arguments[1]);
  return dag_multiply(w->dag, clock_number(w, value_of(ticks)), interval);
}

/* Number of ticks so far, counted by a variable. */
Expr clock_ticks(ClockWriter *w, Clock *clock) {
  if (clock->ticks == NONE) {
    Elaboration *el = w->el;
    Span span = el->clock_operators.data[clock->clocked].span;
    const char *name = arena_printf(&el->arena, "ticks(%s)", model_name(el->model, clock->witness));
    clock->ticks = clock_variable(w->el, name, TYPE_INTEGER, EXPR_NONE, span);
    Expr before = dag_pre(w->dag, el->model->variables.data[clock->ticks].index);
    clock_assign(w, clock, clock->ticks, dag_add(w->dag, before, clock_number(w, 1)), span);
  }
  return clock_leaf(w, clock->ticks);
}

static Expr ticks_before(ClockWriter *w, Clock *clock) {
  return dag_pre(w->dag, dag_index(w->dag, clock_ticks(w, clock)));
}

Expr clock_is_first(ClockWriter *w, Clock *clock) {
  return dag_binary(w->dag, OP_EQUAL, ticks_before(w, clock), clock_number(w, 0));
}

/* Is this tick of an irregular base clock a tick of this clock? */
static Expr counted_tick(ClockWriter *w, const Clock *clock, Expr base_tick) {
  Clock *base = clock_of_variable(w, clock_base(w, clock)->result);
  if (clock->rate.n == 1 && clock->shift.n == 0) return base_tick;
  Expr behind = dag_subtract(w->dag, ticks_before(w, base), clock_number(w, (double)clock->shift.n));
  Expr phase = dag_binary(w->dag, OP_MOD, behind, clock_number(w, (double)clock->rate.n));
  Expr is_due = dag_binary(w->dag, OP_AND, dag_binary(w->dag, OP_GREATER_EQUAL, behind, clock_number(w, 0)),
                           dag_binary(w->dag, OP_EQUAL, phase, clock_number(w, 0)));
  return dag_binary(w->dag, OP_AND, base_tick, is_due);
}

Expr clock_tick(ClockWriter *w, Clock *clock) {
  const ClockOperator *base = clock_base(w, clock);
  if (clock->tick != EXPR_NONE) return clock->tick;
  if (clock_is_irregular(w->el, base)) {
    clock->tick = counted_tick(w, clock, clock_leaf(w, base->result));
  } else {
    Expr first = dag_add(w->dag, clock_number(w, w->el->model->experiment.start), clock_seconds(w, base, clock->shift));
    clock->tick = dag_binary(w->dag, OP_SAMPLE, first, clock_seconds(w, base, clock->rate));
  }
  return clock->tick;
}

enum { NEVER = 1 << 30 };

/* True only at the start of the run. */
static Expr at_start(const ClockWriter *w) {
  return dag_binary(w->dag, OP_SAMPLE, clock_number(w, w->el->model->experiment.start), clock_number(w, NEVER));
}

/* A condition that is true at the start becomes true there, after initialization. */
static Expr event_tick(const ClockWriter *w, Expr condition) {
  Expr is_running = dag_unary(w->dag, OP_NOT, dag_nary(w->dag, OP_INITIAL, NULL, 0));
  return dag_binary(w->dag, OP_OR, dag_binary(w->dag, OP_AND, is_running, dag_unary(w->dag, OP_EDGE, condition)),
                    dag_binary(w->dag, OP_AND, at_start(w), condition));
}

/* The next tick of a clock whose interval varies, at a time that each tick sets. */
static Expr varying_tick(ClockWriter *w, const ClockOperator *base) {
  Clock *clock = clock_of_variable(w, base->result);
  uint32_t next = clock_variable(w->el, arena_printf(&w->el->arena, "next(%s)", model_name(w->el->model, base->result)),
                                 TYPE_REAL, clock_number(w, NEVER), base->span);
  Expr time = dag_time(w->dag), due = dag_pre(w->dag, w->el->model->variables.data[next].index);
  clock_assign(w, clock, next, dag_add(w->dag, time, clock_seconds(w, base, (Fraction){1, 1})), base->span);
  return dag_binary(w->dag, OP_OR, at_start(w), dag_binary(w->dag, OP_GREATER_EQUAL, time, due));
}

/* The variable of an irregular clock's constructor is true at the clock's ticks; any other variable follows its clock. */
Expr clock_value(ClockWriter *w, uint32_t variable) {
  Clock *clock = clock_of_variable(w, variable);
  const ClockOperator *base = clock_base(w, clock);
  if (variable != base->result || !clock_is_irregular(w->el, base)) return clock_tick(w, clock);
  if (base->special == SPECIAL_CLOCK_EVENT) return event_tick(w, base->arguments[0]);
  return varying_tick(w, base);
}

Expr clock_start(const ClockWriter *w, Expr e) {
  uint32_t variable = variable_of_leaf(w->el, e);
  if (variable == NONE) return clock_number(w, 0);
  Variable *declared = &w->el->model->variables.data[variable];
  declared->has_fixed_start = true;
  if (declared->start != EXPR_NONE) return declared->start;
  return clock_number(w, declared->type == TYPE_ENUMERATION);
}
