/* boundary: see boundary.h. */
#include "model/boundary.h"

#include <string.h>

const char boundary_prefix[] = "boundary.";

typedef struct BoundaryOpening {
  Model *model;
  Dag *dag;
  Heap *heap;
  Arena arena;
  Diags *diags;
  const BoundaryOptions *options;
  uint32_t equations, unknowns; /* counts in the model as written */
  Expr *begin;                  /* begin of each segment, then the end of the last segment */
  Expr length;                  /* length of the current segment */
  ExprVec from, to;
} BoundaryOpening;

/* ---- the end ---- */

/* Does the equation say when the run ends? */
static bool gives_time(const Model *model, const Equation *equation) {
  return dag_op(model->dag, equation->left) == OP_TIME;
}

Expr boundary_final_time(const Model *model) {
  for (uint32_t i = 0; i < model->final_equations.count; i++)
    if (gives_time(model, &model->final_equations.data[i])) return model->final_equations.data[i].right;
  return EXPR_NONE;
}

static void check_time(Model *model, Diags *diags) {
  uint32_t given = 0;
  for (uint32_t i = 0; i < model->final_equations.count; i++) {
    const Equation *equation = &model->final_equations.data[i];
    if (!gives_time(model, equation)) continue;
    if (given++) diag_error(diags, DIAG_INPUT, equation->span, "the final time is given twice");
    bool is_known = !dag_depends(model->dag, equation->right, OP_VARIABLE) &&
                    !dag_depends(model->dag, equation->right, OP_DISCRETE) &&
                    !dag_depends(model->dag, equation->right, OP_TIME);
    if (!is_known)
      diag_error(diags, DIAG_INPUT, equation->span, "the final time must be an expression of parameters and constants");
  }
}

/* ---- substitution ---- */

static void put(BoundaryOpening *o, Expr from, Expr to) {
  vec_push(o->heap, &o->from, from);
  vec_push(o->heap, &o->to, to);
}

/* Replaces the leaves of the written model by the leaves of a segment: derivatives with respect to scaled time, and time itself. */
static void map_leaves(BoundaryOpening *o, uint32_t segment, const uint32_t *copy, Expr time, Expr *roots,
                       uint32_t count) {
  IndexVec below = {0};
  dag_below(o->dag, dag_scratch(o->dag), roots, count, &below);
  o->from.count = o->to.count = 0;
  for (uint32_t k = 0; k < below.count; k++) {
    if (dag_op(o->dag, below.data[k]) != OP_VARIABLE) continue;
    uint32_t index = dag_index(o->dag, below.data[k]), order = dag_order(o->dag, below.data[k]);
    Expr leaf = dag_variable(o->dag, segment ? copy[index] : index, order);
    for (uint32_t n = 0; n < order; n++) leaf = dag_divide(o->dag, leaf, o->length);
    if (leaf != below.data[k]) put(o, below.data[k], leaf);
  }
  put(o, dag_time(o->dag), time);
  dag_substitute(o->dag, o->from.data, o->to.data, o->from.count, roots, count);
  vec_free(o->heap, &below);
}

static Equation map_equation(BoundaryOpening *o, uint32_t segment, const uint32_t *copy, Expr time,
                             const Equation *equation) {
  Equation mapped = *equation;
  Expr sides[] = {equation->left, equation->right};
  map_leaves(o, segment, copy, time, sides, 2);
  mapped.left = sides[0], mapped.right = sides[1];
  mapped.residual = dag_subtract(o->dag, mapped.left, mapped.right);
  return mapped;
}

/* From now on equations are mapped into this segment. Returns its time: begin + s * length. */
static Expr enter_segment(BoundaryOpening *o, uint32_t segment, Expr s) {
  o->length = dag_subtract(o->dag, o->begin[segment + 1], o->begin[segment]);
  Expr passed = dag_multiply(o->dag, s, o->length);
  return dag_add(o->dag, o->begin[segment], passed);
}

/* ---- variables ---- */

static uint32_t add_unknown(BoundaryOpening *o, const char *name, Span span) {
  Name known = names_add(o->model->names, name, strlen(name));
  if (model_named(o->model, known) != MAP_NONE) {
    diag_error(o->diags, DIAG_INPUT, span, "the name `%s` is needed for the boundary value problem", name);
    return MAP_NONE;
  }
  Variable variable = variable_make(known, TYPE_REAL, ROLE_UNKNOWN);
  variable.span = span;
  return model_add_variable(o->model, variable);
}

static void add_equation(BoundaryOpening *o, Expr left, Expr right, Span span) {
  Equation equation = {.left = left, .right = right, .residual = dag_subtract(o->dag, left, right), .span = span};
  vec_push(o->heap, &o->model->equations, equation);
}

/* Adds a variable that must be zero at the end. */
static void add_condition(BoundaryOpening *o, uint32_t number, Expr left, Expr right, Span span) {
  uint32_t variable = add_unknown(o, arena_printf(&o->arena, "%s%u", boundary_prefix, number), span);
  if (variable == MAP_NONE) return;
  Expr difference = dag_subtract(o->dag, left, right);
  add_equation(o, model_leaf(o->model, variable, 0), difference, span);
}

static void guess_start(BoundaryOpening *o, uint32_t segment, uint32_t unknown, Variable *variable) {
  const BoundaryOptions *options = o->options;
  if (!options->starts || unknown >= options->start_count || variable->fixed == FIXED_TRUE) return;
  double value = options->starts[(size_t)segment * options->start_count + unknown];
  if (value == value) variable->start = dag_constant(o->dag, value);
}

/* The unknowns of a segment, by leaf index of the written ones. */
static uint32_t *copy_unknowns(BoundaryOpening *o, uint32_t segment) {
  uint32_t *copy = arena_array(&o->arena, o->unknowns, sizeof *copy);
  for (uint32_t j = 0; j < o->unknowns; j++) {
    uint32_t position = o->model->unknowns.data[j];
    const char *name = arena_printf(&o->arena, "segment%u.%s", segment + 1, model_name(o->model, position));
    uint32_t made = add_unknown(o, name, o->model->variables.data[position].span);
    if (made == MAP_NONE) return copy;
    Variable *variable = &o->model->variables.data[made], *written = &o->model->variables.data[position];
    Variable kept = *variable;
    *variable = *written;
    variable->name = kept.name, variable->index = kept.index, variable->fixed = FIXED_UNSET;
    copy[j] = kept.index;
    guess_start(o, segment, j, variable);
  }
  return copy;
}

/* ---- derivatives ---- */

/* Start values of derivatives below the highest may be sought, so each gets a variable: x_der for der(x). */
static void name_derivatives(BoundaryOpening *o, const uint32_t *order) {
  for (uint32_t j = 0; j < o->unknowns; j++) {
    uint32_t position = o->model->unknowns.data[j];
    const char *name = model_name(o->model, position);
    for (uint32_t k = 1; k < order[j]; k++) {
      name = arena_printf(&o->arena, "%s_der", name);
      if (model_find(o->model, name) != MAP_NONE) continue;
      Span span = o->model->variables.data[position].span;
      uint32_t made = add_unknown(o, name, span);
      Expr left = model_leaf(o->model, made, 0), right = dag_variable(o->dag, j, k);
      add_equation(o, left, right, span);
    }
  }
  o->equations = o->model->equations.count;
  o->unknowns = o->model->unknowns.count;
}

/* ---- controls that are switched ---- */

const char *boundary_switch_name(uint32_t arc, Arena *arena) { return arena_printf(arena, "arc_%u.begin", arc + 1); }

static const char *control_name(const Model *model, uint32_t control) {
  return model_name(model, model->unknowns.data[dag_index(model->dag, model->switched.data[control].control)]);
}

const char *boundary_level_name(const Model *model, uint32_t control, Arena *arena) {
  return arena_printf(arena, "level_%s", control_name(model, control));
}

const char *boundary_rate_name(const Model *model, uint32_t control, Arena *arena) {
  return arena_printf(arena, "rate_%s", control_name(model, control));
}

/* left - right of the equation that determines the control on an arc */
static Expr arc_residual(BoundaryOpening *o, const SwitchedControl *switched, ArcKind kind) {
  switch (kind) {
  case ARC_MIN: return dag_subtract(o->dag, switched->control, switched->min);
  case ARC_MAX: return dag_subtract(o->dag, switched->control, switched->max);
  case ARC_SINGULAR: break;
  }
  return switched->function;
}

static ArcKind arc_kind(const BoundaryOpening *o, uint32_t arc, uint32_t control) {
  return o->options->arcs.kind[(size_t)arc * o->options->arcs.controls + control];
}

static void set_residual(BoundaryOpening *o, Equation *equation, Expr residual) {
  equation->left = dag_constant(o->dag, 0);
  equation->right = residual;
  equation->residual = dag_negate(o->dag, residual);
}

/* Equation i as it holds in a segment. */
static Equation arc_equation(BoundaryOpening *o, uint32_t i, uint32_t segment) {
  Equation equation = o->model->equations.data[i];
  for (uint32_t c = 0; o->options->arcs.count && c < o->model->switched.count; c++) {
    const SwitchedControl *switched = &o->model->switched.data[c];
    if (switched->equation == i) set_residual(o, &equation, arc_residual(o, switched, arc_kind(o, segment, c)));
  }
  return equation;
}

/* Joins the arcs into one run. */
static void join_arcs(BoundaryOpening *o) {
  uint32_t last = o->options->arcs.count - 1;
  for (uint32_t c = 0; c < o->model->switched.count; c++) {
    const SwitchedControl *switched = &o->model->switched.data[c];
    Expr residual = arc_residual(o, switched, arc_kind(o, last, c));
    for (uint32_t k = last; k-- > 0;) {
      Expr is_before = dag_binary(o->dag, OP_LESS, dag_time(o->dag), o->begin[k + 1]);
      residual = dag_if(o->dag, is_before, arc_residual(o, switched, arc_kind(o, k, c)), residual);
    }
    set_residual(o, &o->model->equations.data[switched->equation], residual);
  }
}

static Expr half_range(BoundaryOpening *o, const SwitchedControl *switched) {
  return dag_scale(o->dag, 0.5, dag_subtract(o->dag, switched->max, switched->min));
}

/* Adds a term to the left side of the condition that determines the final time of an optimal control. */
static void add_to_end(BoundaryOpening *o, Expr term) {
  if (!o->model->optimal_end.is_sought) return;
  Equation *equation = &o->model->final_equations.data[o->model->optimal_end.condition];
  equation->left = dag_add(o->dag, equation->left, term);
  equation->residual = dag_subtract(o->dag, equation->left, equation->right);
}

/* Adds a cost of e (1 - sqrt(1 - w^2)) with w = (u - middle) / half (Silva and Trelat 2010). Then S half w + e (1 - sqrt(1 - w^2))
 * is minimal where w = -S half / sqrt((S half)^2 + e^2). The cost is never negative, so a longer run has no advantage. */
static void smooth_controls(BoundaryOpening *o) {
  Dag *dag = o->dag;
  Expr smoothing = dag_constant(dag, o->options->smoothing);
  for (uint32_t c = 0; c < o->model->switched.count; c++) {
    const SwitchedControl *switched = &o->model->switched.data[c];
    Expr half = half_range(o, switched), middle = dag_subtract(dag, switched->max, half);
    Expr slope = dag_multiply(dag, switched->function, half);
    Expr square = dag_add(dag, dag_multiply(dag, slope, slope), dag_multiply(dag, smoothing, smoothing));
    Expr root = dag_unary(dag, OP_SQRT, square), part = dag_divide(dag, slope, root);
    Expr value = dag_subtract(dag, middle, dag_multiply(dag, half, part));
    Expr residual = dag_subtract(dag, value, switched->control);
    set_residual(o, &o->model->equations.data[switched->equation], residual);
    Expr saved = dag_divide(dag, dag_multiply(dag, smoothing, smoothing), root); /* e sqrt(1 - w^2) */
    add_to_end(o, dag_subtract(dag, smoothing, saved));
  }
}

/* Replaces the condition for the final time by a given final time. */
static void hold_end(BoundaryOpening *o) {
  const OptimalEnd *end = &o->model->optimal_end;
  Equation *equation = &o->model->final_equations.data[end->condition];
  equation->left = dag_parameter(o->dag, end->parameter);
  equation->right = dag_constant(o->dag, o->options->held_end);
  equation->residual = dag_subtract(o->dag, equation->left, equation->right);
  o->model->variables.data[o->model->parameters.data[end->parameter]].start = equation->right;
}

static void add_examined(BoundaryOpening *o) {
  for (uint32_t c = 0; c < o->model->switched.count; c++) {
    const SwitchedControl *switched = &o->model->switched.data[c];
    bool is_level = o->options->examined == EXAMINED_LEVELS;
    const char *name =
        is_level ? boundary_level_name(o->model, c, &o->arena) : boundary_rate_name(o->model, c, &o->arena);
    Span span = o->model->equations.data[switched->equation].span;
    Expr half = half_range(o, switched), middle = dag_subtract(o->dag, switched->max, half);
    Expr level = dag_divide(o->dag, dag_subtract(o->dag, switched->control, middle), half);
    Expr rate = dag_variable(o->dag, dag_index(o->dag, switched->function), o->options->examined_derivative);
    uint32_t made = add_unknown(o, name, span);
    if (made != MAP_NONE) add_equation(o, model_leaf(o->model, made, 0), is_level ? level : rate, span);
  }
}

/* In the middle of a run only guesses are known. */
static void forget_starts(Model *model) {
  model->initial_equations.count = 0;
  for (uint32_t j = 0; j < model->unknowns.count; j++)
    model->variables.data[model->unknowns.data[j]].fixed = FIXED_UNSET;
}

/* The times at which segments begin, and the end. Segments are equally long, or begin where arcs begin. */
static void find_beginnings(BoundaryOpening *o) {
  const BoundaryOptions *options = o->options;
  uint32_t segments = options->segments;
  Expr start = dag_constant(o->dag, options->start), stop = boundary_final_time(o->model);
  if (stop == EXPR_NONE) stop = dag_constant(o->dag, options->stop);
  Expr length = dag_subtract(o->dag, stop, start);
  o->begin = arena_array(&o->arena, segments + 1, sizeof *o->begin);
  o->begin[0] = start;
  o->begin[segments] = stop;
  for (uint32_t k = 1; k < segments; k++) {
    if (!options->arcs.count) {
      o->begin[k] = dag_add(o->dag, start, dag_scale(o->dag, (double)k / segments, length));
      continue;
    }
    const char *name = boundary_switch_name(k, &o->arena);
    Variable variable = variable_make(names_add(o->model->names, name, strlen(name)), TYPE_REAL, ROLE_PARAMETER);
    variable.start = dag_constant(o->dag, options->arcs.begin[k]);
    o->begin[k] = model_leaf(o->model, model_add_variable(o->model, variable), 0);
  }
}

/* ---- segments ---- */

const char boundary_start_prefix[] = "start.";

/* start.x, start.x_der, ... */
static const char *start_name(BoundaryOpening *o, uint32_t unknown, uint32_t order) {
  const char *name = model_name(o->model, o->model->unknowns.data[unknown]);
  while (order--) name = arena_printf(&o->arena, "%s_der", name);
  return arena_printf(&o->arena, "%s%s", boundary_start_prefix, name);
}

/* Differentiated variables are continuous from one segment to the next: the value at the end of one equals a
 * constant, the start value of the next. If equations relate such variables, some of these conditions follow from
 * others. */
static void join(BoundaryOpening *o, const uint32_t *order, const uint32_t *left, const uint32_t *right,
                 uint32_t *number) {
  for (uint32_t j = 0; j < o->unknowns; j++)
    for (uint32_t k = 0; k < order[j]; k++) {
      Span span = o->model->variables.data[o->model->unknowns.data[j]].span;
      uint32_t start = add_unknown(o, start_name(o, right[j], k), span);
      if (start == MAP_NONE) return;
      Expr leaf = model_leaf(o->model, start, 0), from = dag_variable(o->dag, left ? left[j] : j, k);
      Expr value = dag_variable(o->dag, right[j], k);
      add_equation(o, model_leaf(o->model, start, 1), dag_constant(o->dag, 0), span);
      vec_push(o->heap, &o->model->initial_equations,
               (Equation){.left = leaf, .right = value, .residual = dag_subtract(o->dag, leaf, value), .span = span});
      add_condition(o, (*number)++, from, leaf, span);
    }
}

/* If a control jumps from one bound to the other, its switching function is zero. Next to a singular arc it is
 * zero anyway. */
static void switch_arcs(BoundaryOpening *o, uint32_t segment, const uint32_t *left, uint32_t *number) {
  for (uint32_t c = 0; o->options->arcs.count && c < o->model->switched.count; c++) {
    ArcKind before = arc_kind(o, segment - 1, c), behind = arc_kind(o, segment, c);
    if (before == behind || before == ARC_SINGULAR || behind == ARC_SINGULAR) continue;
    const SwitchedControl *switched = &o->model->switched.data[c];
    uint32_t index = dag_index(o->dag, switched->function);
    Expr function = dag_variable(o->dag, left ? left[index] : index, 0);
    Span span = o->model->equations.data[switched->equation].span;
    add_condition(o, (*number)++, function, dag_constant(o->dag, 0), span);
  }
}

static void make_segments(BoundaryOpening *o) {
  Model *model = o->model;
  uint32_t segments = o->options->segments, number = 1, initial = model->initial_equations.count;
  uint32_t *order = model_highest_orders(o->model, o->equations, &o->arena),
           **copy = arena_array(&o->arena, segments, sizeof *copy);
  Expr s = dag_time(o->dag), zero = dag_constant(o->dag, 0), one = dag_constant(o->dag, 1);
  for (uint32_t k = 1; k < segments; k++) {
    copy[k] = copy_unknowns(o, k);
    Expr time = enter_segment(o, k, s);
    for (uint32_t i = 0; i < o->equations; i++) {
      Equation equation = arc_equation(o, i, k), mapped = map_equation(o, k, copy[k], time, &equation);
      vec_push(o->heap, &model->equations, mapped);
    }
  }
  Expr end = enter_segment(o, segments - 1, one);
  for (uint32_t i = 0; i < model->final_equations.count; i++) {
    if (gives_time(model, &model->final_equations.data[i])) continue;
    Equation mapped = map_equation(o, segments - 1, copy[segments - 1], end, &model->final_equations.data[i]);
    add_condition(o, number++, mapped.left, mapped.right, mapped.span);
  }
  for (uint32_t k = 1; k < segments; k++) {
    join(o, order, copy[k - 1], copy[k], &number);
    switch_arcs(o, k, copy[k - 1], &number);
  }
  for (uint32_t j = 0; j < o->unknowns; j++) guess_start(o, 0, j, &model->variables.data[model->unknowns.data[j]]);
  Expr time = enter_segment(o, 0, s), start = enter_segment(o, 0, zero);
  for (uint32_t i = 0; i < o->equations; i++) {
    Equation equation = arc_equation(o, i, 0);
    model->equations.data[i] = map_equation(o, 0, NULL, time, &equation);
  }
  for (uint32_t i = 0; i < initial; i++)
    model->initial_equations.data[i] = map_equation(o, 0, NULL, start, &model->initial_equations.data[i]);
  model->mass = NULL; /* the mass matrix belongs to other equations */
}

static bool check_segments(BoundaryOpening *o) {
  bool is_plain = !o->model->discretes.count && !o->model->whens.count;
  if (is_plain) return true;
  diag_error(o->diags, DIAG_INPUT, o->model->final_equations.data[0].span,
             "not supported: final equations of a model with discrete variables or when");
  return false;
}

/* Writes when time >= t then reinit(x, value); ...; end when, so that errors do not grow from one segment to the next. */
static void add_nodes(BoundaryOpening *o) {
  const BoundaryOptions *options = o->options;
  for (uint32_t k = 0; k < options->node_count;) {
    When when = {.span = o->model->final_equations.data[0].span};
    WhenBranch branch = {0};
    double time = options->nodes[k].time;
    Expr condition = dag_binary(o->dag, OP_GREATER_EQUAL, dag_time(o->dag), dag_constant(o->dag, time));
    vec_push(o->heap, &branch.conditions, condition);
    for (; k < options->node_count && options->nodes[k].time == time; k++) {
      Action action = {.kind = ACTION_REINIT,
                       .guard = EXPR_NONE,
                       .target = model_find(o->model, options->nodes[k].name),
                       .value = dag_constant(o->dag, options->nodes[k].value),
                       .message = EXPR_NONE,
                       .span = when.span};
      vec_push(o->heap, &branch.actions, action);
    }
    vec_push(o->heap, &when.branches, branch);
    vec_push(o->heap, &o->model->whens, when);
  }
}

/* ---- both forms ---- */

/* Parameters that were unknowns have values from now on. */
static void settle_parameters(Model *model) {
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    Variable *variable = &model->variables.data[model->parameters.data[p]];
    if (!variable_is_sought(variable)) continue;
    variable->fixed = FIXED_UNSET;
    if (variable->start == EXPR_NONE) variable->start = dag_constant(model->dag, 0);
  }
}

static void fix_starts(Model *model, const BoundaryOptions *options) {
  for (uint32_t k = 0; k < options->fixed_count; k++) {
    uint32_t position = model_find(model, options->fixed[k]);
    if (position != MAP_NONE) model->variables.data[position].fixed = FIXED_TRUE;
  }
}

void boundary_open(Model *model, const BoundaryOptions *options, Diags *diags) {
  if (!model->final_equations.count) return;
  check_time(model, diags);
  if (diags->errors || options->form == BOUNDARY_WRITTEN) return;
  settle_parameters(model);
  BoundaryOpening o = {.model = model,
                       .dag = model->dag,
                       .heap = model->heap,
                       .arena = arena_make(model->heap),
                       .diags = diags,
                       .options = options,
                       .equations = model->equations.count,
                       .unknowns = model->unknowns.count};
  find_beginnings(&o);
  if (options->smoothing > 0) smooth_controls(&o);
  if (options->held_end > 0) hold_end(&o);
  name_derivatives(&o, model_highest_orders(o.model, o.equations, &o.arena));
  if (options->form == BOUNDARY_CONDITIONS && check_segments(&o)) make_segments(&o);
  if (options->form == BOUNDARY_KNOWN) {
    if (options->arcs.count) join_arcs(&o);
    if (options->examined != EXAMINED_NOTHING) add_examined(&o);
    if (options->examined == EXAMINED_RATES) forget_starts(model);
    add_nodes(&o);
  }
  fix_starts(model, options);
  vec_free(o.heap, &o.from, &o.to);
  arena_free(&o.arena);
}
