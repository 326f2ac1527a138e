/* derived: see derived.h. */
#include "reduce/derived.h"

#include "reduce/transplant.h"

#include <string.h>

typedef struct Maker {
  Reduction *reduction;
  Derived *derived;
  Model *model;    /* the derived one */
  Model *original;
  Array *array;
  const Aliases *aliases; /* NULL: none */
  bool *used;      /* per column: occurs in a row or a tie */
  Transplant plan;
} Maker;

/* ---- columns ---- */

static Expr column_image(const Maker *maker, uint32_t q) {
  const Derived *derived = maker->derived;
  Expr leaf = dag_variable(maker->model->dag, derived->unknown[q], derived->order[q]);
  return dag_scale(maker->model->dag, derived->sign[q], leaf);
}

/* The column of derivative `order` of an unknown of the original model; MAP_NONE for a constant. */
static uint32_t column_of(const Maker *maker, uint32_t unknown, uint32_t order, int8_t *sign) {
  uint32_t root = unknown;
  *sign = 1;
  if (maker->aliases) {
    root = maker->aliases->root[unknown];
    if (root == UINT32_MAX) return MAP_NONE;
    order += maker->aliases->shift[unknown];
    *sign = maker->aliases->sign[unknown];
  }
  return maker->array->model_column[root] + order;
}

static Expr leaf_image(void *context, uint32_t unknown, uint32_t order) {
  const Maker *maker = context;
  Dag *dag = maker->model->dag;
  int8_t sign;
  uint32_t q = column_of(maker, unknown, order, &sign);
  if (q == MAP_NONE) return order ? dag_constant(dag, 0) : dag_variable(dag, unknown, 0);
  return dag_scale(dag, sign, column_image(maker, q));
}

static void mark_leaves(Maker *maker, Expr e, ExprVec *leaves) {
  leaves->count = 0;
  dag_variables(maker->array->dag, e, leaves);
  for (uint32_t k = 0; k < leaves->count; k++) maker->used[array_column(maker->array, leaves->data[k])] = true;
}

static void mark_columns(Maker *maker) {
  Reduction *reduction = maker->reduction;
  const Form *form = &reduction->form;
  ExprVec leaves = {0};
  for (uint32_t r = 0; r < form->rows.count; r++) {
    const FormRow *row = &form->rows.data[r];
    for (int32_t l = 0; l <= maker->array->c[row->equation]; l++)
      if (row->weight[l] != 0)
        mark_leaves(maker, array_row(maker->array, maker->array->row_start[row->equation] + (uint32_t)l), &leaves);
  }
  for (uint32_t q = 0; q < maker->array->columns; q++)
    if (form->tie[q] != TIE_NONE) maker->used[q] = maker->used[q + 1] = true;
  vec_free(reduction->heap, &leaves);
}

/* ---- variables ---- */

static Name unused_name(Maker *maker, const char *wish) {
  Names *names = maker->model->names;
  const char *text = wish;
  for (uint32_t k = 2; model_find(maker->model, text) != MAP_NONE; k++) text = arena_printf(maker->reduction->arena, "%s_%u", wish, k);
  return names_add(names, text, strlen(text));
}

static uint32_t add_unknown(Maker *maker, const char *wish, const char *description, double start) {
  Names *names = maker->model->names;
  Variable variable = {.name = unused_name(maker, wish),
                       .type = TYPE_REAL,
                       .role = ROLE_UNKNOWN,
                       .variability = VARIABILITY_CONTINUOUS,
                       .select = SELECT_DEFAULT,
                       .binding = EXPR_NONE,
                       .start = dag_constant(maker->model->dag, start),
                       .min = EXPR_NONE,
                       .max = EXPR_NONE,
                       .nominal = EXPR_NONE,
                       .description = names_add(names, description, strlen(description))};
  uint32_t position = model_add_variable(maker->model, variable);
  return maker->model->variables.data[position].index;
}

static Expr copy_attribute(Maker *maker, Expr e) { return e == EXPR_NONE ? e : transplant(&maker->plan, e); }

static void copy_variables(Maker *maker) {
  for (uint32_t v = 0; v < maker->original->variables.count; v++) {
    Variable variable = maker->original->variables.data[v];
    variable.binding = copy_attribute(maker, variable.binding);
    variable.start = copy_attribute(maker, variable.start);
    variable.min = copy_attribute(maker, variable.min);
    variable.max = copy_attribute(maker, variable.max);
    variable.nominal = copy_attribute(maker, variable.nominal);
    if (variable.role == ROLE_UNKNOWN) variable.fixed = FIXED_UNSET;
    model_add_variable(maker->model, variable);
  }
}

/* The unknown that stands for a column: its own at order 0, an alias v = der(x) at higher ones. */
static void name_columns(Maker *maker) {
  Derived *derived = maker->derived;
  const Array *array = maker->array;
  for (uint32_t q = 0; q < array->columns; q++) derived->unknown[q] = MAP_NONE;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    derived->unknown[array->column_start[j]] = array->problem->unknown[j];
    derived->sign[array->column_start[j]] = 1;
  }
  for (uint32_t u = 0; maker->aliases && u < maker->original->unknowns.count; u++) {
    int8_t sign;
    uint32_t q = column_of(maker, u, 0, &sign);
    if (q == MAP_NONE || derived->unknown[q] != MAP_NONE) continue;
    derived->unknown[q] = u;
    derived->sign[q] = sign;
  }
}

/* A column that is not tied to the one below, and has no name yet, becomes a new variable. */
static void complete_columns(Maker *maker) {
  Derived *derived = maker->derived;
  const Array *array = maker->array;
  Arena *arena = maker->reduction->arena;
  for (uint32_t q = 0; q < array->columns; q++) {
    if (derived->unknown[q] != MAP_NONE) continue;
    if (maker->reduction->form.tie[q - 1] == TIE_DERIVATIVE) {
      derived->unknown[q] = derived->unknown[q - 1];
      derived->order[q] = derived->order[q - 1] + 1;
      derived->sign[q] = derived->sign[q - 1];
    } else if (maker->used[q]) {
      const char *below = model_name(maker->model, maker->model->unknowns.data[derived->unknown[q - 1]]);
      derived->unknown[q] = add_unknown(maker, arena_printf(arena, "%s_der", below),
                                        arena_printf(arena, "%s as a variable of its own", array_column_name(array, q, arena)),
                                        maker->reduction->y[q]);
      derived->sign[q] = 1;
    }
  }
}

static void add_multipliers(Maker *maker) {
  const Reduction *reduction = maker->reduction;
  const Form *form = &reduction->form;
  maker->derived->multiplier = arena_array(reduction->arena, form->multipliers.count, sizeof(uint32_t));
  for (uint32_t m = 0; m < form->multipliers.count; m++) {
    uint32_t equation = reduction->array->problem->equation[form->multipliers.data[m].equation];
    const char *description = arena_printf(reduction->arena, "multiplier of equation %u at level %u; zero along the solution", equation + 1,
                                           form->multipliers.data[m].level);
    maker->derived->multiplier[m] = add_unknown(maker, arena_printf(reduction->arena, "mu_%u", m + 1), description, 0);
  }
}

/* Start values: those computed; fixed where they determine the solution. */
static void set_starts(Maker *maker) {
  Model *model = maker->model;
  const Derived *derived = maker->derived;
  for (uint32_t q = 0; q < maker->array->columns; q++) {
    if (derived->unknown[q] == MAP_NONE) continue;
    double value = maker->reduction->y[q];
    bool fixed = maker->reduction->form.fixed[q];
    Variable *variable = &model->variables.data[model->unknowns.data[derived->unknown[q]]];
    if (derived->order[q] == 0) {
      variable->start = dag_constant(model->dag, derived->sign[q] * value);
      if (fixed) variable->fixed = FIXED_TRUE;
    } else if (fixed) {
      Expr left = column_image(maker, q), right = dag_constant(model->dag, value);
      vec_push(model->heap, &model->initial_equations, (Equation){left, right, dag_subtract(model->dag, left, right), {0, 0}});
    }
  }
}

/* ---- equations ---- */

static void add_equation(Maker *maker, Expr left, Expr right, const char *note) {
  Dag *dag = maker->model->dag;
  vec_push(maker->model->heap, &maker->model->equations, (Equation){left, right, dag_subtract(dag, left, right), {0, 0}});
  vec_push(maker->reduction->heap, &maker->derived->equation_notes, note);
}

static Expr multiplied_terms(Maker *maker, uint32_t q) {
  const Reduction *reduction = maker->reduction;
  Array *array = maker->array;
  Dag *dag = maker->model->dag;
  Expr sum = dag_constant(dag, 0);
  uint32_t j = array->column_unknown[q];
  int32_t stage = (int32_t)array_order(array, q) - array->d[j];
  Expr leaf = dag_variable(array->dag, array->problem->unknown[j], array_order(array, q));
  for (uint32_t m = 0; m < reduction->form.multipliers.count; m++) {
    const Multiplier *multiplier = &reduction->form.multipliers.data[m];
    if ((int32_t)multiplier->level - array->c[multiplier->equation] != stage) continue;
    Expr row = array_row(array, array->row_start[multiplier->equation] + multiplier->level);
    Expr factor = transplant(&maker->plan, dag_partial(array->dag, row, leaf));
    Expr mu = dag_variable(dag, maker->derived->multiplier[m], 0);
    Expr term = dag_multiply(dag, factor, mu);
    sum = dag_add(dag, sum, term);
  }
  return sum;
}

/* Column q + 1 as the derivative of column q, where it is a variable of its own. */
static void add_tie(Maker *maker, uint32_t q) {
  Dag *dag = maker->model->dag;
  const Derived *derived = maker->derived;
  uint8_t tie = maker->reduction->form.tie[q];
  if (tie == TIE_NONE || derived->order[q + 1] > 0) return;
  Expr left = column_image(maker, q), right = column_image(maker, q + 1);
  left = dag_time_derivative(dag, left);
  if (tie == TIE_MULTIPLIED) {
    Expr terms = multiplied_terms(maker, q);
    right = dag_add(dag, right, terms);
    add_equation(maker, left, right, "with multipliers of the constraints, which are zero along the solution");
  } else {
    add_equation(maker, left, right, "as written");
  }
}

/* Unknowns that are another one, or a constant, stay so. */
static void add_alias(Maker *maker, uint32_t unknown) {
  Dag *dag = maker->model->dag;
  const Derived *derived = maker->derived;
  int8_t sign;
  uint32_t q = column_of(maker, unknown, 0, &sign);
  if (q == MAP_NONE) {
    Expr left = dag_variable(dag, unknown, 0), right = transplant(&maker->plan, maker->aliases->constant[unknown]);
    add_equation(maker, left, right, "a constant");
  } else if (derived->unknown[q] != unknown) {
    Expr left = dag_variable(dag, unknown, 0), right = column_image(maker, q);
    right = dag_scale(dag, sign, right);
    add_equation(maker, left, right, "the same variable");
  }
}

static const char *differentiated(Arena *arena, int32_t times) {
  if (times == 0) return "as written";
  if (times == 1) return "differentiated once";
  if (times == 2) return "differentiated twice";
  return arena_printf(arena, "differentiated %d times", (int)times);
}

static const char *row_note(Maker *maker, const FormRow *row) {
  Arena *arena = maker->reduction->arena;
  uint32_t equation = maker->array->problem->equation[row->equation];
  uint32_t line = source_line(&maker->original->source, maker->original->equations.data[equation].span.begin);
  int32_t terms = 0, highest = 0;
  for (int32_t l = 0; l <= maker->array->c[row->equation]; l++)
    if (row->weight[l] != 0) terms++, highest = l;
  const char *what = terms == 1 ? differentiated(arena, highest)
                                : arena_printf(arena, "a sum of its derivatives 0 to %d", (int)highest);
  return arena_printf(arena, "equation %u (line %u), %s", equation + 1, line, what);
}

/* Both sides, differentiated and summed. */
static void add_row(Maker *maker, const FormRow *row) {
  Dag *from = maker->array->dag, *dag = maker->model->dag;
  const Equation *equation = &maker->original->equations.data[maker->array->problem->equation[row->equation]];
  Expr side[2] = {equation->left, equation->right};
  for (int s = 0; s < 2; s++) {
    Expr sum = dag_constant(dag, 0), derivative = side[s];
    for (int32_t l = 0; l <= maker->array->c[row->equation]; l++) {
      if (l) derivative = dag_time_derivative(from, derivative);
      if (row->weight[l] == 0) continue;
      Expr term = transplant(&maker->plan, derivative);
      term = dag_scale(dag, row->weight[l], term);
      sum = dag_add(dag, sum, term);
    }
    side[s] = sum;
  }
  add_equation(maker, side[0], side[1], row_note(maker, row));
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
  for (uint32_t k = 0; k < original->enumerations.count; k++)
    vec_push(model->heap, &model->enumerations, original->enumerations.data[k]);
  for (uint32_t k = 0; k < original->functions.count; k++) vec_push(model->heap, &model->functions, original->functions.data[k]);
  for (uint32_t k = 0; k < original->routines.count; k++) vec_push(model->heap, &model->routines, original->routines.data[k]);
  for (uint32_t k = 0; k < original->records.count; k++) vec_push(model->heap, &model->records, original->records.data[k]);
  for (uint32_t k = 0; k < original->external_objects.count; k++)
    vec_push(model->heap, &model->external_objects, original->external_objects.data[k]);
  return model;
}

Derived *derived_make(Reduction *reduction, const char *method) {
  Arena *arena = reduction->arena;
  const Problem *problem = reduction->array->problem;
  uint32_t columns = reduction->array->columns;
  Derived *derived = arena_alloc(arena, sizeof *derived);
  Maker maker = {.reduction = reduction, .derived = derived, .original = problem->model, .array = reduction->array};
  derived->model = maker.model = begin_model(reduction, method);
  derived->original = problem->model->unknowns.count;
  derived->unknown = arena_array(arena, columns, sizeof *derived->unknown);
  derived->order = arena_array(arena, columns, sizeof *derived->order);
  derived->sign = arena_array(arena, columns, sizeof *derived->sign);
  maker.aliases = problem->aliases.removed ? &problem->aliases : NULL;
  maker.used = arena_array(arena, columns + 1, sizeof *maker.used);
  maker.plan = (Transplant){.heap = reduction->heap, .from = problem->model->dag, .to = maker.model->dag, .variable = leaf_image, .context = &maker};
  copy_variables(&maker);
  name_columns(&maker);
  mark_columns(&maker);
  complete_columns(&maker);
  add_multipliers(&maker);
  set_starts(&maker);
  for (uint32_t q = 0; q + 1 < columns; q++) add_tie(&maker, q);
  for (uint32_t u = 0; maker.aliases && u < derived->original; u++) add_alias(&maker, u);
  for (uint32_t r = 0; r < reduction->form.rows.count; r++) add_row(&maker, &reduction->form.rows.data[r]);
  return derived;
}

/* ---- as the system to integrate ---- */

/* Where a derivative of an unknown of the derived model stands in its array. */
static uint32_t derived_column(const Array *array, uint32_t unknown, uint32_t order, int8_t *sign) {
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
  for (uint32_t q = 0; q < reduced->array->columns; q++) index[q] = 2; /* multipliers */
  reduced->source = arena_array(arena, array->columns, sizeof *reduced->source);
  reduced->sign = arena_array(arena, array->columns, sizeof *reduced->sign);
  reduced->y = heap_array(reduction->heap, reduced->array->columns, sizeof(double));
  for (uint32_t q = 0; q < array->columns; q++) {
    reduced->source[q] = MAP_NONE;
    if (derived->unknown[q] == MAP_NONE) continue;
    reduced->sign[q] = derived->sign[q];
    uint32_t here = derived_column(reduced->array, derived->unknown[q], derived->order[q], &reduced->sign[q]);
    reduced->source[q] = here;
    if (here == MAP_NONE) continue;
    reduced->y[here] = reduced->sign[q] * reduction->y[q];
    int32_t position = 1 + left - array->d[array->column_unknown[q]] + (int32_t)array_order(array, q);
    index[here] = position < 1 ? 1 : position;
  }
  reduced->column_index = index;
}

void derived_integrate(Reduction *reduction, const Derived *derived, int32_t left) {
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
  reduced->array = arena_alloc(arena, sizeof *reduced->array);
  *reduced->array = array_make(problem, c, d, arena);
  reduced->modes = modes;
  reduced->evaluator = evaluator_new(reduction->heap, reduced->array, reduction->evaluator->parameters, modes->count);
  map_columns(reduction, derived, left);
}
