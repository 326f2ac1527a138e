/* clock_guard: see clock.h. Before its first tick a clock has computed nothing, and its equations need not have a solution. So a
 * matching assigns each equation, unless it is an alias, to the variable x that it determines:
 *
 *   x = f             becomes   x = if ticks > 0 then f else x.start
 *   l = r             becomes   (if ticks > 0 then l - r else x - x.start) = 0
 *
 * A clock that ticks at the start needs this only if f may be undefined. */
#include "lang/clock.h"

#include "structure/matching.h"

typedef struct Guard {
  ClockWriter *w;
  IndexVec rows;      /* the clocked equations that contain unknowns */
  IndexVec columns;   /* unknowns */
  Map column_of;      /* unknown -> column */
  IndexVec row_start; /* where the unknowns of each row begin */
  IndexVec entries;
  uint32_t *determines; /* per equation: position of the variable that it determines; NONE: not known */
} Guard;

/* ---- which equation determines which variable ---- */

static bool is_variable(const ClockWriter *w, Expr e) { return variable_of_leaf(w->el, e) != NONE; }

/* x or -x */
static bool is_plain(const ClockWriter *w, Expr e) {
  const Term *terms;
  double constant;
  if (is_variable(w, e) || dag_op(w->dag, e) == OP_CONSTANT) return true;
  if (dag_op(w->dag, e) == OP_NOT) return is_variable(w, dag_child(w->dag, e, 0));
  return dag_op(w->dag, e) == OP_SUM && dag_terms(w->dag, e, &constant, &terms) == 1 && constant == 0 &&
         is_variable(w, terms[0].node);
}

static bool is_alias(const ClockWriter *w, const RawEquation *equation) {
  return is_plain(w, equation->left) && is_plain(w, equation->right);
}

static uint32_t column(Guard *g, uint32_t unknown) {
  uint32_t found = map_get(&g->column_of, unknown);
  if (found != MAP_NONE) return found;
  map_put(&g->column_of, unknown, g->columns.count);
  vec_push(g->w->el->heap, &g->columns, unknown);
  return g->columns.count - 1;
}

static void add_row(Guard *g, uint32_t number) {
  const ClockWriter *w = g->w;
  const RawEquation *equation = &w->el->equations->data[number];
  ExprVec leaves = {0};
  dag_variables(w->dag, dag_scratch(w->dag), equation->left, &leaves);
  dag_variables(w->dag, dag_scratch(w->dag), equation->right, &leaves);
  if (leaves.count) {
    vec_push(w->el->heap, &g->rows, number);
    vec_push(w->el->heap, &g->row_start, g->entries.count);
    for (uint32_t k = 0; k < leaves.count; k++)
      vec_push(w->el->heap, &g->entries, column(g, dag_index(w->dag, leaves.data[k])));
  }
  vec_free(w->el->heap, &leaves);
}

/* The entries of variables that stand alone on one side of their equation. */
static Pattern lone_pattern(Guard *g, Arena *arena) {
  const ClockWriter *w = g->w;
  int32_t *start = arena_array(arena, g->rows.count + 1, sizeof *start), count = 0;
  int32_t *entry = arena_array(arena, 2 * (size_t)g->rows.count + 1, sizeof *entry);
  for (uint32_t i = 0; i < g->rows.count; i++) {
    const RawEquation *equation = &w->el->equations->data[g->rows.data[i]];
    start[i] = count;
    for (int side = 0; side < 2; side++) {
      Expr e = side ? equation->right : equation->left;
      if (dag_op(w->dag, e) == OP_VARIABLE) entry[count++] = (int32_t)column(g, dag_index(w->dag, e));
    }
  }
  start[g->rows.count] = count;
  return (Pattern){(int32_t)g->rows.count, (int32_t)g->columns.count, start, entry};
}

static Pattern whole_pattern(const Guard *g, Arena *arena) {
  int32_t *start = arena_array(arena, g->rows.count + 1, sizeof *start);
  int32_t *entry = arena_array(arena, g->entries.count + 1, sizeof *entry);
  for (uint32_t i = 0; i < g->rows.count; i++) start[i] = (int32_t)g->row_start.data[i];
  for (uint32_t k = 0; k < g->entries.count; k++) entry[k] = (int32_t)g->entries.data[k];
  start[g->rows.count] = (int32_t)g->entries.count;
  return (Pattern){(int32_t)g->rows.count, (int32_t)g->columns.count, start, entry};
}

/* Variables that are one whole side of an equation are matched first. */
static void match(Guard *g) {
  Arena arena = arena_make(g->w->el->heap);
  int32_t count = (int32_t)g->rows.count;
  Pattern lone = lone_pattern(g, &arena), whole = whole_pattern(g, &arena);
  Matching matching = matching_empty(&arena, count, (int32_t)g->columns.count);
  int32_t *rows = arena_array(&arena, g->rows.count + 1, sizeof *rows);
  for (int32_t i = 0; i < count; i++) rows[i] = i;
  Matcher first = matcher_make(&arena, &lone, &matching);
  matcher_grow(&first, rows, count, false);
  Matcher second = matcher_make(&arena, &whole, &matching);
  matcher_grow(&second, rows, count, false);
  for (int32_t i = 0; i < count; i++)
    if (matching.column_of_row[i] != STRUCTURE_NONE)
      g->determines[g->rows.data[i]] = g->w->el->model->unknowns.data[g->columns.data[matching.column_of_row[i]]];
  arena_free(&arena);
}

static Clock *equation_clock(const ClockWriter *w, const RawEquation *equation) {
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
  return found == NONE ? NULL : clock_of_variable(w, found);
}

/* ---- guards ---- */

/* Relations in a clocked equation cause no events: the compared values change only at ticks. */
static Expr without_events(const ClockWriter *w, Expr e) {
  return dag_has_event(w->dag, e) && dag_depends(w->dag, e, OP_VARIABLE) ? dag_unary(w->dag, OP_NOEVENT, e) : e;
}

/* Can the expression be undefined for some arguments? */
static bool may_fail(const ClockWriter *w, Expr e) {
  static const Op partial[] = {OP_DIVIDE, OP_POWER, OP_SQRT, OP_LOG, OP_LOG10, OP_ASIN, OP_ACOS,
                               OP_ACOSH,  OP_ATANH, OP_DIV,  OP_MOD, OP_REM,   OP_CALL};
  for (size_t k = 0; k < sizeof partial / sizeof *partial; k++)
    if (dag_contains(w->dag, dag_scratch(w->dag), e, partial[k])) return true;
  return false;
}

static bool ticks_at_start(const ClockWriter *w, const Clock *clock) {
  return clock->shift.n == 0 && !clock_is_irregular(w->el, clock_base(w, clock));
}

static Expr after_first(ClockWriter *w, Clock *clock, Expr value, Expr before) {
  Expr has_ticked = dag_binary(w->dag, OP_GREATER, clock_ticks(w, clock), clock_number(w, 0));
  return dag_if(w->dag, has_ticked, value, before);
}

/* x = f, or f = x. */
static void guard_explicit(ClockWriter *w, Clock *clock, RawEquation *equation, Expr x) {
  Expr *value = equation->left == x ? &equation->right : &equation->left;
  if (!ticks_at_start(w, clock) || may_fail(w, *value)) *value = after_first(w, clock, *value, clock_start(w, x));
}

static void guard_implicit(ClockWriter *w, Clock *clock, RawEquation *equation, Expr x) {
  Expr residual = dag_subtract(w->dag, equation->left, equation->right);
  equation->left = after_first(w, clock, residual, dag_subtract(w->dag, x, clock_start(w, x)));
  equation->right = clock_number(w, 0);
}

static void guard_equation(ClockWriter *w, RawEquation *equation, uint32_t variable) {
  Clock *clock = equation_clock(w, equation);
  if (!clock || clock->clocked == NONE || !clock->is_known) return;
  equation->is_made = true;
  bool is_left = is_variable(w, equation->left), is_right = is_variable(w, equation->right);
  Expr x = variable != NONE ? clock_leaf(w, variable) : is_left ? equation->left : equation->right;
  if (!is_alias(w, equation)) {
    if (x == equation->left || x == equation->right) guard_explicit(w, clock, equation, x);
    else if (variable != NONE) guard_implicit(w, clock, equation, x);
  }
  if (variable == NONE && !is_left && !is_right) return;
  equation->left = without_events(w, equation->left);
  equation->right = without_events(w, equation->right);
}

static void remove_clock_equations(EquationVec *equations) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < equations->count; i++)
    if (equations->data[i].base != TYPE_CLOCK) equations->data[kept++] = equations->data[i];
  equations->count = kept;
}

void clocks_guard(ClockWriter *w) {
  Elaboration *el = w->el;
  remove_clock_equations(el->equations);
  uint32_t count = el->equations->count;
  Guard g = {.w = w, .column_of = map_make(el->heap)};
  g.determines = heap_array(el->heap, count, sizeof *g.determines);
  for (uint32_t i = 0; i < count; i++) {
    const Clock *clock = equation_clock(w, &el->equations->data[i]);
    g.determines[i] = NONE;
    if (clock && clock->clocked != NONE) add_row(&g, i);
  }
  match(&g);
  for (uint32_t i = 0; i < count; i++) guard_equation(w, &el->equations->data[i], g.determines[i]);
  map_free(&g.column_of);
  heap_free(el->heap, g.determines);
  vec_free(el->heap, &g.rows, &g.columns, &g.row_start, &g.entries);
}
