/* boundary: see boundary.h. */
#include "model/boundary.h"

#include <string.h>

const char boundary_prefix[] = "boundary.";

typedef struct Opening {
  Model *model;
  Dag *dag;
  Heap *heap;
  Arena arena;
  Diags *diags;
  const BoundaryOptions *options;
  uint32_t equations, unknowns; /* of the model as written */
  Expr length;                  /* of a segment */
  ExprVec from, to;
} Opening;

bool boundary_is_sought(const Variable *variable) {
  return variable->role == ROLE_PARAMETER && variable->fixed == FIXED_FALSE && variable->binding == EXPR_NONE;
}

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

/* ---- putting in ---- */

static void put(Opening *o, Expr from, Expr to) {
  vec_push(o->heap, &o->from, from);
  vec_push(o->heap, &o->to, to);
}

/* The leaves of the model as written in a segment: derivatives by scaled time, and time itself. */
static void map_leaves(Opening *o, uint32_t segment, const uint32_t *copy, Expr time, Expr *roots, uint32_t count) {
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

static Equation map_equation(Opening *o, uint32_t segment, const uint32_t *copy, Expr time, const Equation *equation) {
  Equation mapped = *equation;
  Expr sides[] = {equation->left, equation->right};
  map_leaves(o, segment, copy, time, sides, 2);
  mapped.left = sides[0], mapped.right = sides[1];
  mapped.residual = dag_subtract(o->dag, mapped.left, mapped.right);
  return mapped;
}

/* start + (segment + s) * length */
static Expr segment_time(Opening *o, uint32_t segment, Expr s) {
  Expr passed = dag_add(o->dag, dag_constant(o->dag, segment), s);
  Expr time = dag_multiply(o->dag, passed, o->length);
  return dag_add(o->dag, dag_constant(o->dag, o->options->start), time);
}

/* ---- variables ---- */

static uint32_t add_unknown(Opening *o, const char *name, Span span) {
  Name known = names_add(o->model->names, name, strlen(name));
  if (map_get(&o->model->by_name, known) != MAP_NONE) {
    diag_error(o->diags, DIAG_INPUT, span, "the name `%s` is needed for the boundary value problem", name);
    return MAP_NONE;
  }
  Variable variable = variable_make(known, TYPE_REAL, ROLE_UNKNOWN);
  variable.span = span;
  return model_add_variable(o->model, variable);
}

static void add_equation(Opening *o, Expr left, Expr right, Span span) {
  Equation equation = {.left = left, .right = right, .residual = dag_subtract(o->dag, left, right), .span = span};
  vec_push(o->heap, &o->model->equations, equation);
}

/* A variable that is zero at the end. */
static void add_condition(Opening *o, uint32_t number, Expr left, Expr right, Span span) {
  uint32_t variable = add_unknown(o, arena_printf(&o->arena, "%s%u", boundary_prefix, number), span);
  if (variable == MAP_NONE) return;
  Expr difference = dag_subtract(o->dag, left, right);
  add_equation(o, model_leaf(o->model, variable, 0), difference, span);
}

/* The unknowns of a segment, by leaf index of those as written. */
static uint32_t *copy_unknowns(Opening *o, uint32_t segment) {
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
  }
  return copy;
}

/* ---- derivatives ---- */

/* Derivatives below the highest may be sought at the start: each has a variable, x_der for der(x). */
static void name_derivatives(Opening *o, const uint32_t *order) {
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

/* The highest derivative of each unknown in the equations as written. */
static uint32_t *highest_orders(Opening *o) {
  uint32_t *order = arena_array(&o->arena, o->unknowns, sizeof *order);
  ExprVec leaves = {0};
  for (uint32_t i = 0; i < o->equations; i++)
    dag_variables(o->dag, dag_scratch(o->dag), o->model->equations.data[i].residual, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t index = dag_index(o->dag, leaves.data[k]);
    if (dag_order(o->dag, leaves.data[k]) > order[index]) order[index] = dag_order(o->dag, leaves.data[k]);
  }
  vec_free(o->heap, &leaves);
  return order;
}

/* ---- segments ---- */

/* x.start, x_der.start, ... */
static const char *start_name(Opening *o, uint32_t unknown, uint32_t order) {
  const char *name = model_name(o->model, o->model->unknowns.data[unknown]);
  while (order--) name = arena_printf(&o->arena, "%s_der", name);
  return arena_printf(&o->arena, "%s.start", name);
}

/* What is differentiated goes on from one segment to the next: its value at the end of the one is that of a constant, its value at the
 * start of the next. Where the equations relate such variables, some of these conditions follow from others. */
static void join(Opening *o, const uint32_t *order, const uint32_t *left, const uint32_t *right, uint32_t *number) {
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

static void make_segments(Opening *o) {
  Model *model = o->model;
  uint32_t segments = o->options->segments, number = 1, initial = model->initial_equations.count;
  uint32_t *order = highest_orders(o), **copy = arena_array(&o->arena, segments, sizeof *copy);
  Expr s = dag_time(o->dag), zero = dag_constant(o->dag, 0), one = dag_constant(o->dag, 1);
  for (uint32_t k = 1; k < segments; k++) {
    copy[k] = copy_unknowns(o, k);
    for (uint32_t i = 0; i < o->equations; i++) {
      Equation mapped = map_equation(o, k, copy[k], segment_time(o, k, s), &model->equations.data[i]);
      vec_push(o->heap, &model->equations, mapped);
    }
  }
  for (uint32_t i = 0; i < model->final_equations.count; i++) {
    if (gives_time(model, &model->final_equations.data[i])) continue;
    Equation mapped = map_equation(o, segments - 1, copy[segments - 1], segment_time(o, segments - 1, one),
                                   &model->final_equations.data[i]);
    add_condition(o, number++, mapped.left, mapped.right, mapped.span);
  }
  for (uint32_t k = 1; k < segments; k++) join(o, order, copy[k - 1], copy[k], &number);
  for (uint32_t i = 0; i < o->equations; i++)
    model->equations.data[i] = map_equation(o, 0, NULL, segment_time(o, 0, s), &model->equations.data[i]);
  for (uint32_t i = 0; i < initial; i++)
    model->initial_equations.data[i] =
        map_equation(o, 0, NULL, segment_time(o, 0, zero), &model->initial_equations.data[i]);
  model->mass = NULL; /* of other equations */
}

static bool check_segments(Opening *o) {
  bool is_plain = !o->model->discretes.count && !o->model->whens.count;
  if (is_plain) return true;
  diag_error(o->diags, DIAG_INPUT, o->model->final_equations.data[0].span,
             "not supported: final equations of a model with discrete variables or when");
  return false;
}

/* when time >= t then reinit(x, value); ...; end when: errors of the run do not grow beyond a segment. */
static void add_nodes(Opening *o) {
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

/* What is sought has a value from now on. */
static void settle_parameters(Model *model) {
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    Variable *variable = &model->variables.data[model->parameters.data[p]];
    if (!boundary_is_sought(variable)) continue;
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

static Expr run_length(Opening *o) {
  Expr stop = boundary_final_time(o->model);
  if (stop == EXPR_NONE) stop = dag_constant(o->dag, o->options->stop);
  Expr length = dag_subtract(o->dag, stop, dag_constant(o->dag, o->options->start));
  return dag_scale(o->dag, 1.0 / o->options->segments, length);
}

void boundary_open(Model *model, const BoundaryOptions *options, Diags *diags) {
  if (!model->final_equations.count) return;
  check_time(model, diags);
  if (diags->errors || options->form == BOUNDARY_WRITTEN) return;
  settle_parameters(model);
  Opening o = {.model = model,
               .dag = model->dag,
               .heap = model->heap,
               .arena = arena_make(model->heap),
               .diags = diags,
               .options = options,
               .equations = model->equations.count,
               .unknowns = model->unknowns.count};
  name_derivatives(&o, highest_orders(&o));
  if (options->form == BOUNDARY_CONDITIONS && check_segments(&o)) {
    o.length = run_length(&o);
    make_segments(&o);
  }
  if (options->form == BOUNDARY_KNOWN) add_nodes(&o);
  fix_starts(model, options);
  vec_free(o.heap, &o.from, &o.to);
  arena_free(&o.arena);
}
