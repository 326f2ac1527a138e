/* derived: see derived.h. */
#include "reduce/derived.h"

#include <math.h>
#include <string.h>

/* ---- columns ---- */

Expr derived_column(const Derived *derived, uint32_t q) {
  Expr leaf = dag_variable(derived->model->dag, derived->unknown[q], derived->order[q]);
  return dag_scale(derived->model->dag, derived->sign[q], leaf);
}

/* The column of derivative `order` of an unknown of the original model. MAP_NONE for a constant, and for a derivative that the
 * array does not have: as written it is multiplied by a constant that is zero. */
static uint32_t column_of(const Derived *derived, uint32_t unknown, uint32_t order, int8_t *sign) {
  uint32_t root = unknown;
  *sign = 1;
  if (derived->aliases) {
    root = derived->aliases->root[unknown];
    if (root == UINT32_MAX) return MAP_NONE;
    order += derived->aliases->shift[unknown];
    *sign = derived->aliases->sign[unknown];
  }
  uint32_t column = derived->array->model_column[root] + order;
  return column < derived->array->column_start[derived->array->problem->local[root] + 1] ? column : MAP_NONE;
}

static Expr leaf_image(void *context, uint32_t unknown, uint32_t order) {
  const Derived *derived = context;
  Dag *dag = derived->model->dag;
  int8_t sign;
  uint32_t q = column_of(derived, unknown, order, &sign);
  if (q == MAP_NONE) return order ? dag_constant(dag, 0) : dag_variable(dag, unknown, 0);
  return dag_scale(dag, sign, derived_column(derived, q));
}

static void mark_leaves(Derived *derived, Expr e, ExprVec *leaves) {
  leaves->count = 0;
  dag_variables(derived->array->dag, dag_scratch(derived->array->dag), e, leaves);
  for (uint32_t k = 0; k < leaves->count; k++) derived->used[array_column(derived->array, leaves->data[k])] = true;
}

static void mark_columns(Derived *derived) {
  Reduction *reduction = derived->reduction;
  const Form *form = &reduction->form;
  ExprVec leaves = {0};
  for (uint32_t r = 0; r < form->rows.count; r++)
    mark_leaves(derived, form_residual(reduction, &form->rows.data[r]), &leaves);
  for (uint32_t q = 0; q < derived->array->columns; q++)
    if (form->tie[q] != TIE_NONE) derived->used[q] = derived->used[q + 1] = true;
  vec_free(reduction->heap, &leaves);
}

/* ---- variables ---- */

static Name unused_name(Derived *derived, const char *stem) {
  Names *names = derived->model->names;
  const char *text = stem;
  for (uint32_t k = 2; model_find(derived->model, text) != MAP_NONE; k++)
    text = arena_printf(derived->reduction->arena, "%s_%u", stem, k);
  return names_add(names, text, strlen(text));
}

uint32_t derived_add_unknown(Derived *derived, const char *stem, const char *description, double start) {
  Names *names = derived->model->names;
  Variable variable = variable_make(unused_name(derived, stem), TYPE_REAL, ROLE_UNKNOWN);
  variable.start = dag_constant(derived->model->dag, start);
  variable.description = names_add(names, description, strlen(description));
  uint32_t position = model_add_variable(derived->model, variable);
  return derived->model->variables.data[position].index;
}

static Expr copy_attribute(Derived *derived, Expr e) { return e == EXPR_NONE ? e : transplant(&derived->plan, e); }

/* Was the parameter overridden, or did initialization determine its value? */
static bool has_other_value(const Derived *derived, const Variable *variable) {
  const double *parameters = derived->reduction->at.evaluator->parameters;
  double value = parameters[variable->index], bound;
  Expr given = variable->binding != EXPR_NONE ? variable->binding : variable->start;
  if (variable->type == TYPE_STRING || variable->type == TYPE_EXTERNAL_OBJECT || isnan(value)) return false;
  if (variable->fixed == FIXED_FALSE) return true;
  if (given == EXPR_NONE) return value != 0;
  return !model_evaluate(derived->source, dag_scratch(derived->source->dag), given, parameters, &bound) ||
         bound != value;
}

static void set_parameter(const Derived *derived, Variable *variable) {
  Expr value = dag_constant(derived->model->dag, derived->reduction->at.evaluator->parameters[variable->index]);
  variable->fixed = FIXED_UNSET;
  if (variable->causality == CAUSALITY_INPUT) variable->start = value;
  else variable->binding = value;
}

static void copy_variables(Derived *derived) {
  for (uint32_t v = 0; v < derived->source->variables.count; v++) {
    Variable variable = derived->source->variables.data[v];
    if (variable.causality == CAUSALITY_INPUT && variable.role != ROLE_PARAMETER) /* its binding is a row here */
      variable.causality = CAUSALITY_LOCAL, variable.binding = EXPR_NONE;
    bool is_set = variable.role == ROLE_PARAMETER && has_other_value(derived, &variable);
    variable.binding = copy_attribute(derived, variable.binding);
    variable.start = copy_attribute(derived, variable.start);
    variable.min = copy_attribute(derived, variable.min);
    variable.max = copy_attribute(derived, variable.max);
    variable.nominal = copy_attribute(derived, variable.nominal);
    if (is_set) set_parameter(derived, &variable);
    if (variable.role == ROLE_UNKNOWN) variable.fixed = FIXED_UNSET;
    model_add_variable(derived->model, variable);
  }
}

/* The unknown that stands for a column: its own at order 0, an alias v = der(x) at higher orders. */
static void name_columns(Derived *derived) {
  const Array *array = derived->array;
  for (uint32_t q = 0; q < array->columns; q++) derived->unknown[q] = MAP_NONE;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    derived->unknown[array->column_start[j]] = array->problem->unknown[j];
    derived->sign[array->column_start[j]] = 1;
  }
  for (uint32_t u = 0; derived->aliases && u < derived->source->unknowns.count; u++) {
    int8_t sign;
    uint32_t q = column_of(derived, u, 0, &sign);
    if (q == MAP_NONE || derived->unknown[q] != MAP_NONE) continue;
    derived->unknown[q] = u;
    derived->sign[q] = sign;
  }
}

/* A column that is not tied to the one below, and has no name yet, becomes a new variable. */
static void complete_columns(Derived *derived) {
  const Array *array = derived->array;
  Arena *arena = derived->reduction->arena;
  for (uint32_t q = 0; q < array->columns; q++) {
    if (derived->unknown[q] != MAP_NONE) continue;
    const uint8_t *tie = derived->reduction->form.tie;
    if (tie[q - 1] == TIE_DERIVATIVE && !(derived->first_order && tie[q] == TIE_DERIVATIVE)) {
      derived->unknown[q] = derived->unknown[q - 1];
      derived->order[q] = derived->order[q - 1] + 1;
      derived->sign[q] = derived->sign[q - 1];
    } else if (derived->used[q]) {
      const char *below = model_name(derived->model, derived->model->unknowns.data[derived->unknown[q - 1]]);
      derived->unknown[q] =
          derived_add_unknown(derived, arena_printf(arena, "%s_der", below),
                              arena_printf(arena, "%s as a separate variable", array_column_name(array, q, arena)),
                              derived->reduction->at.y[q]);
      derived->sign[q] = 1;
    }
  }
}

static void fix_start(Derived *derived, uint32_t unknown) {
  derived->model->variables.data[derived->model->unknowns.data[unknown]].fixed = FIXED_TRUE;
}

static void add_multipliers(Derived *derived) {
  const Reduction *reduction = derived->reduction;
  const Form *form = &reduction->form;
  derived->multiplier = arena_array(reduction->arena, form->multipliers.count, sizeof(uint32_t));
  for (uint32_t m = 0; m < form->multipliers.count; m++) {
    uint32_t equation = reduction->array->problem->equation[form->multipliers.data[m].equation];
    const char *description =
        arena_printf(reduction->arena, "%smultiplier of equation %u at level %u; zero along the solution",
                     form->integrated ? "integral of the " : "", equation + 1, form->multipliers.data[m].level);
    const char *stem = arena_printf(reduction->arena, form->integrated ? "nu_%u" : "mu_%u", m + 1);
    derived->multiplier[m] = derived_add_unknown(derived, stem, description, 0);
    if (form->integrated) fix_start(derived, derived->multiplier[m]);
  }
}

/* Adds unknowns whose derivatives are existing unknowns. */
static void add_integrals(Derived *derived) {
  const Array *array = derived->array;
  Arena *arena = derived->reduction->arena;
  for (uint32_t j = 0; derived->reduction->form.integrated && j < array->problem->unknowns; j++) {
    if (!derived->reduction->form.integrated[j]) continue;
    const char *name = array_column_name(array, array->column_start[j], arena);
    uint32_t integral =
        derived_add_unknown(derived, arena_printf(arena, "%s_integral", name), "its derivative is a multiplier", 0);
    fix_start(derived, integral);
    derived_add_equation(derived, dag_variable(derived->model->dag, integral, 1),
                         derived_column(derived, array->column_start[j]), "an integration lowers the index by one");
  }
}

/* Sets the start values to the computed ones; they are fixed if they determine the solution. */
static void set_starts(Derived *derived) {
  Model *model = derived->model;
  for (uint32_t q = 0; q < derived->array->columns; q++) {
    if (derived->unknown[q] == MAP_NONE) continue;
    double value = derived->reduction->at.y[q];
    bool fixed = derived->reduction->form.fixed[q];
    Variable *variable = &model->variables.data[model->unknowns.data[derived->unknown[q]]];
    if (derived->order[q] == 0) {
      variable->start = dag_constant(model->dag, derived->sign[q] * value);
      if (fixed) variable->fixed = FIXED_TRUE;
    } else if (fixed) {
      Expr left = derived_column(derived, q), right = dag_constant(model->dag, value);
      vec_push(model->heap, &model->initial_equations,
               (Equation){.left = left, .right = right, .residual = dag_subtract(model->dag, left, right)});
    }
  }
}

/* ---- equations ---- */

void derived_add_equation(Derived *derived, Expr left, Expr right, const char *note) {
  Dag *dag = derived->model->dag;
  vec_push(derived->model->heap, &derived->model->equations,
           (Equation){.left = left, .right = right, .residual = dag_subtract(dag, left, right)});
  vec_push(derived->reduction->heap, &derived->equation_notes, note);
}

static Expr multiplied_terms(Derived *derived, uint32_t q) {
  const Reduction *reduction = derived->reduction;
  Array *array = derived->array;
  Dag *dag = derived->model->dag;
  Expr sum = dag_constant(dag, 0);
  uint32_t j = array->column_unknown[q];
  int32_t stage = (int32_t)array_order(array, q) - array->d[j];
  Expr leaf = dag_variable(array->dag, array->problem->unknown[j], array_order(array, q));
  for (uint32_t m = 0; m < reduction->form.multipliers.count; m++) {
    const Multiplier *multiplier = &reduction->form.multipliers.data[m];
    if ((int32_t)multiplier->level - array->c[multiplier->equation] != stage) continue;
    Expr row = array_row(array, array->row_start[multiplier->equation] + multiplier->level);
    Expr factor = transplant(&derived->plan, dag_partial(array->dag, row, leaf));
    Expr mu = dag_variable(dag, derived->multiplier[m], reduction->form.integrated != NULL);
    Expr term = dag_multiply(dag, factor, mu);
    sum = dag_add(dag, sum, term);
  }
  return sum;
}

/* Does a variable v = der(x) of the model occur in no row? Then it has no other equation. */
static bool is_alias_alone(const Derived *derived, uint32_t q) {
  return array_order(derived->array, q) > 0 && derived->unknown[q] != MAP_NONE && !derived->used[q];
}

/* Writes the equation that column q + 1, if it is a separate variable, is the derivative of column q. */
static void add_tie(Derived *derived, uint32_t q) {
  Dag *dag = derived->model->dag;
  uint8_t tie = derived->reduction->form.tie[q];
  if (tie == TIE_NONE ? !is_alias_alone(derived, q + 1) : derived->order[q + 1] > 0) return;
  Expr left = derived_column(derived, q), right = derived_column(derived, q + 1);
  left = dag_time_derivative(dag, left);
  if (tie == TIE_MULTIPLIED) {
    Expr terms = multiplied_terms(derived, q);
    right = dag_add(dag, right, terms);
    derived_add_equation(derived, left, right,
                         "with multipliers of the constraints, which are zero along the solution");
  } else {
    derived_add_equation(derived, left, right, "as written");
  }
}

/* An unknown that equals another one, or a constant, keeps the equation that says so. */
static void add_alias(Derived *derived, uint32_t unknown) {
  Dag *dag = derived->model->dag;
  int8_t sign;
  uint32_t q = column_of(derived, unknown, 0, &sign);
  if (q == MAP_NONE) {
    Expr left = dag_variable(dag, unknown, 0), right = transplant(&derived->plan, derived->aliases->constant[unknown]);
    derived_add_equation(derived, left, right, "a constant");
  } else if (derived->unknown[q] != unknown) {
    Expr left = dag_variable(dag, unknown, 0), right = derived_column(derived, q);
    right = dag_scale(dag, sign, right);
    derived_add_equation(derived, left, right, "the same variable");
  }
}

static const char *differentiated(Arena *arena, int32_t times) {
  if (times == 0) return "as written";
  if (times == 1) return "differentiated once";
  if (times == 2) return "differentiated twice";
  return arena_printf(arena, "differentiated %d times", (int)times);
}

static const char *row_note(Derived *derived, const FormRow *row) {
  Arena *arena = derived->reduction->arena;
  uint32_t equation = derived->array->problem->equation[row->equation];
  const Model *model = derived->source;
  const char *place = source_place(model->source, model->equations.data[equation].span, arena);
  int32_t terms = 0, highest = 0;
  for (int32_t l = 0; l <= derived->array->c[row->equation]; l++)
    if (row->weight[l] != 0) terms++, highest = l;
  const char *what = terms == 1 ? differentiated(arena, highest)
                                : arena_printf(arena, "a sum of its derivatives 0 to %d", (int)highest);
  return arena_printf(arena, "equation %u (%s), %s", equation + 1, place, what);
}

/* Why the rows of an equation are not its differentiated sides; NULL: they are its differentiated sides. */
static const char *rewriting(const Derived *derived, const FormRow *row) {
  const Problem *problem = derived->array->problem;
  uint32_t i = row->equation;
  if (row->residual != EXPR_NONE) return "after substitution of other equations";
  if (problem->written && problem->written[i] != problem->residual[i]) return "rewritten"; /* array/convert.h */
  return problem->opened && problem->opened[i] ? "with events at its kinks" : NULL;        /* array/kink_modes.h */
}

/* A rewritten equation has no sides: its residual is set to zero. */
static void add_rewritten_row(Derived *derived, const FormRow *row, const char *how) {
  Expr residual = transplant(&derived->plan, form_residual(derived->reduction, row));
  derived_add_equation(derived, residual, dag_constant(derived->model->dag, 0),
                       arena_printf(derived->reduction->arena, "%s, %s", row_note(derived, row), how));
}

/* Does the array have every column of an expression? Columns that cancel between the sides of an equation may be missing. */
static bool has_columns(Derived *derived, Expr e) {
  const Array *array = derived->array;
  ExprVec leaves = {0};
  bool has_all = true;
  dag_variables(array->dag, dag_scratch(array->dag), e, &leaves);
  for (uint32_t k = 0; k < leaves.count && has_all; k++) {
    int8_t sign;
    uint32_t unknown = dag_index(array->dag, leaves.data[k]), order = dag_order(array->dag, leaves.data[k]);
    uint32_t base = column_of(derived, unknown, 0, &sign);
    if (base == MAP_NONE) continue;
    has_all = base + order < array->column_start[array->column_unknown[base] + 1] &&
              derived->unknown[base + order] != MAP_NONE;
  }
  vec_free(dag_heap(array->dag), &leaves);
  return has_all;
}

static bool has_sides(Derived *derived, const FormRow *row, const Expr *side) {
  for (int s = 0; s < 2; s++) {
    Expr derivative = side[s];
    for (int32_t l = 0; l <= derived->array->c[row->equation]; l++) {
      if (l) derivative = dag_time_derivative(derived->array->dag, derivative);
      if (row->weight[l] != 0 && !has_columns(derived, derivative)) return false;
    }
  }
  return true;
}

/* Both sides, differentiated and added with the weights. */
static void add_row(Derived *derived, const FormRow *row) {
  const char *how = rewriting(derived, row);
  if (how) {
    add_rewritten_row(derived, row, how);
    return;
  }
  Dag *from = derived->array->dag, *dag = derived->model->dag;
  const Equation *equation = &derived->source->equations.data[derived->array->problem->equation[row->equation]];
  Expr side[2] = {equation->left, equation->right};
  if (!has_sides(derived, row, side)) {
    add_rewritten_row(derived, row, "its sides put together");
    return;
  }
  for (int s = 0; s < 2; s++) {
    Expr sum = dag_constant(dag, 0), derivative = side[s];
    for (int32_t l = 0; l <= derived->array->c[row->equation]; l++) {
      if (l) derivative = dag_time_derivative(from, derivative);
      if (row->weight[l] == 0) continue;
      Expr term = transplant(&derived->plan, derivative);
      term = dag_scale(dag, row->weight[l], term);
      sum = dag_add(dag, sum, term);
    }
    side[s] = sum;
  }
  derived_add_equation(derived, side[0], side[1], row_note(derived, row));
}

/* Rows have leaves for initial(), terminal() and sample(). */
static void restore_operators(Derived *derived, const Logic *logic) {
  Dag *from = derived->plan.from, *to = derived->plan.to;
  Map *map = &derived->plan.image;
  map_put(map, dag_discrete(from, logic->initial), dag_nary(to, OP_INITIAL, NULL, 0));
  map_put(map, dag_discrete(from, logic->terminal), dag_nary(to, OP_TERMINAL, NULL, 0));
  for (uint32_t k = 0; k < logic->samples.count; k++) {
    const LogicSample *sample = &logic->samples.data[k];
    Expr start = transplant(&derived->plan, sample->start), interval = transplant(&derived->plan, sample->interval);
    map_put(map, dag_discrete(from, sample->leaf), dag_binary(to, OP_SAMPLE, start, interval));
  }
}

/* Rows read delayed values as discrete leaves. The model gets delay() back in their place, and delays of derivatives. */
static void restore_delays(Derived *derived) {
  const Logic *logic = derived->reduction->modes->logic;
  Dag *dag = derived->plan.from;
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    const LogicDelay *delay = &logic->delays.data[k];
    if (!delay->is_fixed || delay->is_discrete) continue;
    Expr value = dag_nary(dag, OP_DELAY, (Expr[]){delay->value, delay->time}, 2);
    for (uint32_t order = 0; order <= PIECE_DEGREE && has_columns(derived, value); order++) {
      map_put(&derived->plan.image, dag_delayed(dag, delay->leaf, order), transplant(&derived->plan, value));
      value = dag_time_derivative(dag, value);
    }
  }
}

/* Rows of the array have modes for their relations; the model has the relations. The modes made last contain earlier ones. */
static void restore_relations(Derived *derived) {
  const Modes *modes = derived->reduction->modes;
  restore_operators(derived, modes->logic);
  for (uint32_t m = 0; m < modes->count; m++) {
    Expr mode = dag_discrete(derived->plan.from, modes->first + m);
    Expr relation = transplant(&derived->plan, modes->relation[m]);
    map_put(&derived->plan.image, mode, relation);
  }
}

/* ---- the model ---- */

static Model *begin_model(const Reduction *reduction, const char *method) {
  const Model *original = reduction->array->problem->model;
  Model *model = model_new(reduction->heap, original->names);
  const char *name = arena_printf(reduction->arena, "%s_%s", names_text(original->names, original->name), method);
  model->source = original->source;
  model->name = names_add(original->names, name, strlen(name));
  model->description = original->description;
  model->experiment = original->experiment;
  model->experiment.start = reduction->time;
  model->experiment.has_start |= reduction->time != 0;
  for (uint32_t k = 0; k < original->inputs.count; k++) vec_push(model->heap, &model->inputs, original->inputs.data[k]);
  for (uint32_t k = 0; k < original->enumerations.count; k++)
    vec_push(model->heap, &model->enumerations, original->enumerations.data[k]);
  for (uint32_t k = 0; k < original->functions.count; k++)
    vec_push(model->heap, &model->functions, original->functions.data[k]);
  for (uint32_t k = 0; k < original->routines.count; k++)
    vec_push(model->heap, &model->routines, original->routines.data[k]);
  for (uint32_t k = 0; k < original->records.count; k++)
    vec_push(model->heap, &model->records, original->records.data[k]);
  for (uint32_t k = 0; k < original->external_objects.count; k++)
    vec_push(model->heap, &model->external_objects, original->external_objects.data[k]);
  return model;
}

Derived *derived_begin(Reduction *reduction, const char *method, bool first_order) {
  Arena *arena = reduction->arena;
  const Problem *problem = reduction->array->problem;
  uint32_t columns = reduction->array->columns;
  Derived *derived = arena_alloc(arena, sizeof *derived);
  derived->reduction = reduction;
  derived->source = problem->model;
  derived->array = reduction->array;
  derived->model = begin_model(reduction, method);
  derived->unknown = arena_array(arena, columns, sizeof *derived->unknown);
  derived->order = arena_array(arena, columns, sizeof *derived->order);
  derived->sign = arena_array(arena, columns, sizeof *derived->sign);
  derived->aliases = problem->aliases.removed ? &problem->aliases : NULL;
  derived->used = arena_array(arena, columns + 1, sizeof *derived->used);
  derived->first_order = first_order;
  derived->plan = (Transplant){.heap = reduction->heap,
                               .from = problem->model->dag,
                               .to = derived->model->dag,
                               .variable = leaf_image,
                               .context = derived,
                               .image = map_make(reduction->heap)};
  copy_variables(derived);
  name_columns(derived);
  mark_columns(derived);
  complete_columns(derived);
  add_multipliers(derived);
  set_starts(derived);
  restore_relations(derived);
  restore_delays(derived);
  derived_add_discrete(derived);
  for (uint32_t q = 0; q + 1 < columns; q++) add_tie(derived, q);
  add_integrals(derived);
  for (uint32_t u = 0; derived->aliases && u < derived->source->unknowns.count; u++) add_alias(derived, u);
  return derived;
}

Derived *derived_make(Reduction *reduction, const char *method) {
  Derived *derived = derived_begin(reduction, method, false);
  for (uint32_t r = 0; r < reduction->form.rows.count; r++) add_row(derived, &reduction->form.rows.data[r]);
  return derived;
}

/* ---- its size ---- */

/* Is the equation v = e, where v is a variable that has no derivative and does not occur in e? */
static bool is_explicit(const Model *model, const Equation *equation, const uint32_t *order) {
  Dag *dag = model->dag;
  double slope;
  if (dag_op(dag, equation->left) != OP_VARIABLE || order[dag_index(dag, equation->left)] > 0) return false;
  return dag_is_constant(dag, dag_partial(dag, equation->right, equation->left), &slope) && slope == 0;
}

/* Every variable with a derivative takes one equation, and so does every variable that is given explicitly. */
static EquationKinds count_kinds(const Model *model, const bool *dummy, Arena *arena) {
  const uint32_t *order = model_highest_orders(model, model->equations.count, arena);
  bool *solved = arena_array(arena, model->unknowns.count, sizeof *solved);
  for (uint32_t i = 0; i < model->equations.count; i++)
    if (is_explicit(model, &model->equations.data[i], order))
      solved[dag_index(model->dag, model->equations.data[i].left)] = true;
  EquationKinds kinds = {0};
  for (uint32_t u = 0; u < model->unknowns.count; u++) {
    kinds.differential += order[u] > 0 && !dummy[u];
    kinds.solved += solved[u];
  }
  kinds.algebraic = model->equations.count - kinds.differential - kinds.solved;
  return kinds;
}

/* A dummy may be differentiated because the superfluous differentiation of its constraint was left out. The constraint still
 * determines it. */
void derived_count(const Derived *derived) {
  const Reduction *reduction = derived->reduction;
  ReductionCounts *counts = &derived->reduction->counts;
  bool *dummy = heap_array(reduction->heap, derived->model->unknowns.count, sizeof *dummy);
  counts->before = count_kinds(derived->source, dummy, reduction->arena);
  for (uint32_t q = 0; counts->removed && q < derived->array->columns; q++)
    if (derived->unknown[q] != MAP_NONE && derived->order[q] == 0)
      dummy[derived->unknown[q]] = !reduction->form.fixed[q];
  counts->after = count_kinds(derived->model, dummy, reduction->arena);
  heap_free(reduction->heap, dummy);
}

/* ---- as the system to integrate ---- */

/* The column of the array that holds this derivative of an unknown of the derived model; MAP_NONE if there is none. */
static uint32_t run_column(const Array *array, uint32_t unknown, uint32_t order, int8_t *sign) {
  const Aliases *aliases = &array->problem->aliases;
  if (aliases->removed) {
    if (aliases->root[unknown] == UINT32_MAX) return MAP_NONE;
    order += aliases->shift[unknown];
    *sign = (int8_t)(*sign * aliases->sign[unknown]);
    unknown = aliases->root[unknown];
  }
  uint32_t j = array->problem->local[unknown];
  return (int32_t)order <= array->d[j] ? array->column_start[j] + order : MAP_NONE;
}

static void map_columns(Reduction *reduction, const Derived *derived, int32_t left) {
  Reduced *reduced = &reduction->reduced;
  const Array *array = reduction->array;
  Arena *arena = reduction->arena;
  int32_t *index = arena_array(arena, reduced->array->columns, sizeof *index);
  for (uint32_t q = 0; q < reduced->array->columns; q++)
    index[q] = reduction->form.integrated ? 1 : 2; /* multipliers */
  reduced->source = arena_array(arena, array->columns, sizeof *reduced->source);
  reduced->sign = arena_array(arena, array->columns, sizeof *reduced->sign);
  for (uint32_t q = 0; q < array->columns; q++) {
    reduced->source[q] = MAP_NONE;
    if (derived->unknown[q] == MAP_NONE) continue;
    reduced->sign[q] = derived->sign[q];
    uint32_t here = run_column(reduced->array, derived->unknown[q], derived->order[q], &reduced->sign[q]);
    reduced->source[q] = here;
    if (here == MAP_NONE) continue;
    int32_t position = 1 + left - array->d[array->column_unknown[q]] + (int32_t)array_order(array, q);
    index[here] = position < 1 ? 1 : position;
  }
  reduced->column_index = index;
}

/* Modes of the same relation are one mode. */
static void map_modes(Reduction *reduction, Derived *derived) {
  Reduced *reduced = &reduction->reduced;
  const Modes *modes = reduction->modes;
  Map places = map_make(reduction->heap);
  reduced->mode = arena_array(reduction->arena, modes->count + 1, sizeof *reduced->mode);
  for (uint32_t m = 0; m < reduced->modes->count; m++) map_put(&places, reduced->modes->relation[m], m);
  for (uint32_t m = 0; m < modes->count; m++) {
    Expr relation = transplant(&derived->plan, dag_discrete(derived->plan.from, modes->first + m));
    reduced->mode[m] = map_get(&places, problem_expression(reduced->array->problem, relation));
  }
  map_free(&places);
}

/* A tie that is a separate equation has a derivative that the original array does not have. The derivative starts with the
 * value of its successor, because the multipliers are zero at the start. */
static void start_ties(Reduction *reduction, const Derived *derived) {
  Reduced *reduced = &reduction->reduced;
  for (uint32_t q = 0; q + 1 < reduction->array->columns; q++) {
    if (reduction->form.tie[q] == TIE_NONE || derived->order[q + 1] > 0) continue;
    int8_t sign = derived->sign[q];
    uint32_t here = run_column(reduced->array, derived->unknown[q], derived->order[q] + 1, &sign);
    if (here != MAP_NONE) vec_push(reduction->heap, &reduced->starts, (StartLink){here, q + 1, sign});
  }
}

/* For an unknown that has no derivative here, takes the order that the original model writes. Such derivatives may be
 * missing here because they cancel when aliases are substituted. */
static void raise_cancelled(const Derived *derived, const Problem *problem, int32_t *d) {
  const Model *source = derived->source;
  const uint32_t *written = model_highest_orders(source, source->equations.count, derived->reduction->arena);
  int32_t *least = arena_array(derived->reduction->arena, problem->unknowns, sizeof *least);
  problem_raise_orders(problem, written, source->unknowns.count, d, least);
  for (uint32_t j = 0; j < problem->unknowns; j++)
    if (d[j] == 0) d[j] = least[j];
}

void derived_integrate(Reduction *reduction, Derived *derived, int32_t left) {
  Arena *arena = reduction->arena;
  Reduced *reduced = &reduction->reduced;
  Problem *problem = arena_alloc(arena, sizeof *problem);
  Modes *modes = arena_alloc(arena, sizeof *modes);
  *problem = problem_make(derived->model, true, arena);
  *modes = modes_extract(problem, arena);
  int32_t *c = arena_array(arena, problem->equations, sizeof *c), *d = arena_array(arena, problem->unknowns, sizeof *d);
  const Incidence *incidence = &problem->incidence;
  for (int32_t e = 0; e < incidence->row_start[problem->equations]; e++)
    if (incidence->order[e] > d[incidence->column[e]]) d[incidence->column[e]] = incidence->order[e];
  problem_least_orders(problem, d, d);
  raise_cancelled(derived, problem, d);
  reduced->array = arena_alloc(arena, sizeof *reduced->array);
  *reduced->array = array_make(problem, c, d, arena);
  reduced->modes = modes;
  reduced->code = array_code_new(reduction->heap, reduced->array, modes);
  map_columns(reduction, derived, left);
  map_modes(reduction, derived);
  start_ties(reduction, derived);
}
