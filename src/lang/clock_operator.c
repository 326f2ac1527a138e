/* clock_operator: see clock.h. Uses of previous(x), hold(x) and the like share one variable for each x. Every other use gets a
 * separate variable, because the clock of sample(u), interval() or superSample(u) is that of the equation that contains it. */
#include "lang/clock.h"

#include <string.h>

enum { NAME_LIMIT = 80 };

bool clock_is_constructor(Special special) {
  return special == SPECIAL_CLOCK || special == SPECIAL_CLOCK_COUNTED || special == SPECIAL_CLOCK_TIMED ||
         special == SPECIAL_CLOCK_EVENT || special == SPECIAL_CLOCK_SOLVER;
}

bool clock_is_conversion(Special special) {
  return special == SPECIAL_SUB_SAMPLE || special == SPECIAL_SUPER_SAMPLE || special == SPECIAL_SHIFT_SAMPLE ||
         special == SPECIAL_BACK_SAMPLE || special == SPECIAL_NO_CLOCK;
}

static const char *operator_name(Special special) {
  static const char *const names[SPECIAL_COUNT] = {
#define SPECIAL(id, name, ...) [SPECIAL_##id] = name,
#include "model/specials.def"
  };
  return names[special];
}

/* ---- variables ---- */

uint32_t clock_variable(Elaboration *el, const char *name, BaseType type, Expr start, Span span) {
  Name first = names_add(el->names, name, strlen(name)), label = first;
  while (model_named(el->model, label) != MAP_NONE) {
    uint32_t last = map_get(&el->clock_names, first), number = last == MAP_NONE ? 2 : last + 1;
    const char *text = arena_printf(&el->arena, "%s#%u", name, number);
    label = names_add(el->names, text, strlen(text));
    map_put(&el->clock_names, first, number);
  }
  Variable variable = variable_make(label, type, ROLE_DISCRETE);
  variable.variability = VARIABILITY_DISCRETE;
  variable.start = start;
  variable.span = span;
  return model_add_variable(el->model, variable);
}

static const char *result_name(Elaboration *el, const ClockOperator *use) {
  TextVec text = {0};
  uint32_t shown = use->special == SPECIAL_SAMPLED ? 1 : use->count; /* a sampled value has the clock of the when */
  text_printf(el->heap, &text, "%s(", operator_name(use->special));
  for (uint32_t i = 0; i < shown; i++)
    text_printf(el->heap, &text, "%s%s", i ? ", " : "", model_text(el->model, use->arguments[i], &el->arena));
  text_printf(el->heap, &text, ")");
  if (text.count <= NAME_LIMIT) return text_keep(el->heap, &text, &el->arena);
  vec_free(el->heap, &text);
  return arena_printf(&el->arena, "%s()", operator_name(use->special));
}

/* ---- recording ---- */

/* Does its value depend only on the argument? */
static bool is_shared(const ClockOperator *use) {
  return use->count == 1 && (use->special == SPECIAL_HOLD || use->special == SPECIAL_PREVIOUS ||
                             use->special == SPECIAL_INTERVAL || use->special == SPECIAL_FIRST_TICK);
}

static Expr record(Elaboration *el, ClockOperator *use) {
  uint64_t key = (uint64_t)use->special << 32 | use->arguments[0];
  uint32_t found = is_shared(use) ? map_get(&el->clock_operator_of, key) : MAP_NONE;
  if (found != MAP_NONE) return model_leaf(el->model, el->clock_operators.data[found].result, 0);
  use->result = clock_variable(el, result_name(el, use), (BaseType)use->type.base, EXPR_NONE, use->span);
  el->model->variables.data[use->result].enumeration = use->type.definition;
  if (is_shared(use)) map_put(&el->clock_operator_of, key, el->clock_operators.count);
  vec_push(el->heap, &el->clock_operators, *use);
  return model_leaf(el->model, use->result, 0);
}

/* ---- checks ---- */

static bool is_variable(const Elaboration *el, Expr e) {
  Op op = dag_op(el->dag, e);
  return op == OP_DISCRETE || (op == OP_VARIABLE && dag_order(el->dag, e) == 0);
}

/* Factors, counters and resolutions must be known numbers. Divisors, and all numbers of a counted clock, must be at least 1; others
 * may be 0. */
static ExecuteStatus check_numbers(Elaboration *el, const ClockOperator *use, Span span) {
  bool has_numbers = clock_is_conversion(use->special) || use->special == SPECIAL_CLOCK_COUNTED;
  for (uint32_t i = clock_is_conversion(use->special); has_numbers && i < use->count; i++) {
    double number;
    bool may_vary = use->special == SPECIAL_CLOCK_COUNTED && i == 0;
    if (may_vary && dag_depends(el->dag, use->arguments[0], OP_DISCRETE)) continue;
    if (!dag_is_constant(el->dag, use->arguments[i], &number)) return EXECUTE_UNKNOWN;
    bool is_divisor = (i == 2 && clock_is_conversion(use->special)) || use->special == SPECIAL_CLOCK_COUNTED;
    if (number >= is_divisor && number <= 0x1p53) continue;
    diag_error(el->diags, DIAG_CLOCK, span, "argument %u of `%s` is %.15g, expected %s", i + 1,
               operator_name(use->special), number, is_divisor ? "at least 1" : "0 or more");
    return EXECUTE_ERROR;
  }
  return EXECUTE_OK;
}

static bool needs_variable(Special special) {
  return special == SPECIAL_HOLD || special == SPECIAL_PREVIOUS || special == SPECIAL_BACK_SAMPLE ||
         special == SPECIAL_NO_CLOCK;
}

static bool is_fixed(const Elaboration *el, Expr e) {
  Op op = dag_op(el->dag, e);
  return op == OP_CONSTANT || op == OP_PARAMETER || op == OP_STRING;
}

ExecuteStatus clock_operator(Elaboration *el, Special special, Type type, const Expr *arguments, uint32_t count,
                             Span span, Expr *out) {
  ClockOperator use = {.special = special,
                       .type = {.base = type.base, .definition = type.definition},
                       .count = count,
                       .arguments = {EXPR_NONE, EXPR_NONE, EXPR_NONE},
                       .span = span};
  if (el->mode == LOAD_SHAPES) return *out = count ? arguments[0] : dag_constant(el->dag, 0), EXECUTE_OK;
  if (el->mode != LOAD_LEAVES) return EXECUTE_UNKNOWN;
  if (count) memcpy(use.arguments, arguments, count * sizeof *arguments);
  ExecuteStatus status = check_numbers(el, &use, span);
  if (status != EXECUTE_OK) return status;
  if (needs_variable(special) && is_fixed(el, arguments[0])) return *out = arguments[0], EXECUTE_OK;
  if (needs_variable(special) && !is_variable(el, arguments[0])) {
    diag_error(el->diags, DIAG_CLOCK, span, "%s needs a variable, not an expression", operator_name(special));
    return EXECUTE_ERROR;
  }
  if (el->when || el->is_initial) {
    diag_error(el->diags, DIAG_CLOCK, span, "`%s` is not allowed in %s", operator_name(special),
               el->when ? "a when that has no clock" : "an initial section");
    return EXECUTE_ERROR;
  }
  *out = record(el, &use);
  return EXECUTE_OK;
}
