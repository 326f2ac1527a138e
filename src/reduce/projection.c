/* projection: the projection method (Shmoylova, Gerhard, Postma, Roche 2013, sections 3 to 7) for constraints on variables that
 * have differential equations: Hessenberg forms of index 2 and higher.
 *
 * In the paper x' = D u + C^T v, where C is the constraints' Jacobian and D its null space. Here D belongs to a partition of the
 * coordinates. u contains the independent derivatives among x'; the dependent ones, and v, follow from the constraint
 * differentiated once. So
 * the method is: replace each constraint h(t, x) = 0 by its derivative, and reduce the result with dummy derivatives. Its states
 * are all x, the independent x', x'', ... (u_1, u_2, ... of (41), (42)) and y^d of (24); no derivative of D is formed; the
 * partition changes when it must. Equations that are linear in the multipliers and velocities are solved explicitly (special cases
 * 2 to 4), so no algebraic equation is left. Constraints that are linear in x stay as they are, and x is not a state (special cases
 * 1, 5). At index 2, a constraint need only be linear in x at its own level, as a nonholonomic constraint is linear in the
 * velocities (section 1, [7]): x = D u + C^T v. */
#include "reduce/method.h"

/* Does the constraint determine this leaf, if all lower levels are given? */
static bool is_own_level(const Array *array, uint32_t equation, Expr leaf) {
  uint32_t q = array_column(array, leaf), j = array->column_unknown[q];
  return (int32_t)array_order(array, q) == array->d[j] - array->c[equation];
}

/* Is the constraint linear, with coefficients that depend at most on time and parameters? An equation that is differentiated once
 * need only be linear in the unknowns at its own level. Its coefficients may contain unknowns of lower levels, like A and b in A(x)
 * v = b(x). */
static bool is_linear(Reduction *reduction, uint32_t equation) {
  Array *array = reduction->array;
  Dag *dag = array->dag;
  ExprVec leaves = {0}, partials = {0}, inner = {0};
  dag_gradient(dag, array_row(array, array->row_start[equation]), &leaves, &partials);
  bool linear = true;
  for (uint32_t k = 0; k < partials.count; k++) {
    bool lower = array->c[equation] == 1 && !is_own_level(array, equation, leaves.data[k]);
    if (lower) continue;
    linear = linear && !dag_depends(dag, partials.data[k], OP_DISCRETE);
    dag_variables(dag, dag_scratch(dag), partials.data[k], &inner);
  }
  for (uint32_t k = 0; k < inner.count && linear; k++)
    linear = array->c[equation] == 1 && !is_own_level(array, equation, inner.data[k]);
  vec_free(reduction->heap, &leaves, &partials, &inner);
  return linear;
}

/* An equation is differential if it contains the highest derivative of some unknown that occurs in the model; 0 = h(t, x)
 * is not. */
static void mark_algebraic(const Problem *problem, Arena *arena, bool *algebraic) {
  const Incidence *incidence = &problem->incidence;
  int32_t *written = arena_array(arena, problem->unknowns, sizeof *written);
  for (int32_t e = 0; e < incidence->row_start[problem->equations]; e++)
    if (incidence->order[e] > written[incidence->column[e]]) written[incidence->column[e]] = incidence->order[e];
  for (uint32_t i = 0; i < problem->equations; i++) {
    algebraic[i] = true;
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
      if (incidence->order[e] > 0 && incidence->order[e] == written[incidence->column[e]]) algebraic[i] = false;
  }
}

/* Does the block of an algebraic equation leave a choice of states at the equation's lowest stage? If not, the equation determines
 * its unknown, and does not constrain others. */
static void mark_constrained(const Reduction *reduction, bool *constrains) {
  const Structure *structure = reduction->structure;
  const Blocks *blocks = &structure->blocks;
  mark_algebraic(reduction->array->problem, reduction->arena, constrains);
  for (int32_t b = 0; b < blocks->n_blocks; b++) {
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
      int32_t stage = structure->c[blocks->row[p]], rows = 0, columns = 0;
      for (int32_t o = blocks->start[b]; o < blocks->start[b + 1]; o++) {
        rows += structure->c[blocks->row[o]] >= stage;
        columns += structure->d[blocks->column[o]] >= stage;
      }
      if (stage == 0 || rows >= columns) constrains[blocks->row[p]] = false;
    }
  }
}

/* The printed form: the rows kept, and the columns tied by the dummies chosen at the start. */
static void take_form(Reduction *reduction, const bool *replaced) {
  if (!reduction->at.y) {
    form_begin(reduction); /* a plan without values is not printed */
    return;
  }
  const Array *array = reduction->array, *here = reduction->reduced.array;
  const int32_t *from, *to;
  int32_t block;
  ArrayRun run = reduced_run(reduction, &reduction->at, reduction->heap);
  dummy_select(run.dummy, reduction->time, run.y, &block);
  uint32_t links = dummy_links(run.dummy, &from, &to);
  form_begin(reduction);
  for (uint32_t i = 0; i < array->problem->equations; i++)
    for (int32_t l = replaced[i]; l <= replaced[i] + here->c[i]; l++) form_add(reduction, i, l);
  for (uint32_t k = 0; k < links; k++) {
    uint32_t j = here->column_unknown[from[k]], q = array->column_start[j] + array_order(here, (uint32_t)from[k]);
    reduction->form.tie[q] = TIE_DERIVATIVE;
    reduction->form.fixed[q] = true;
  }
}

/* Appends the names of the marked unknowns, as (a, b, c). */
static void list_names(const Reduction *reduction, const bool *marked, TextVec *text) {
  const Array *array = reduction->array;
  bool *columns = arena_array(reduction->arena, array->columns, sizeof *columns);
  for (uint32_t j = 0; j < array->problem->unknowns; j++) columns[array->column_start[j]] = marked[j];
  text_printf(reduction->heap, text, "(");
  array_list_columns(array, columns, reduction->arena, text);
  text_printf(reduction->heap, text, ")");
}

/* The variables of the Hessenberg form (6): x are the variables in the constraints, z the algebraic variables of the
 * same blocks. */
static const char *name_parts(const Reduction *reduction, const bool *constrains, uint32_t constraints,
                              uint32_t linear) {
  const Array *array = reduction->array;
  const Incidence *incidence = &array->problem->incidence;
  bool *x = arena_array(reduction->arena, array->problem->unknowns, sizeof *x);
  bool *z = arena_array(reduction->arena, array->problem->unknowns, sizeof *z);
  for (uint32_t i = 0; i < array->problem->equations; i++)
    for (int32_t e = incidence->row_start[i]; constrains[i] && e < incidence->row_start[i + 1]; e++)
      x[incidence->column[e]] = true;
  reduction_mark_multipliers(reduction, constrains, z);
  TextVec text = {0};
  text_printf(reduction->heap, &text, "%u constraint%s on x = ", constraints, constraints == 1 ? "" : "s");
  list_names(reduction, x, &text);
  if (linear) text_printf(reduction->heap, &text, ", %u of them linear", linear);
  text_printf(reduction->heap, &text, "; multipliers z = ");
  list_names(reduction, z, &text);
  return text_keep(reduction->heap, &text, reduction->arena);
}

static bool refuse(Reduction *reduction) {
  Diag *diag = diag_error(reduction->diags, DIAG_METHOD_UNFIT, (Span){0},
                          "method projection fails: with constraints replaced by "
                          "their derivatives, the model is structurally singular");
  diag_note(reduction->diags, diag, (Span){0},
            "methods that work here: dummy, minimal, underlying, overdetermined, strangeness, none");
  return false;
}

static bool apply(Reduction *reduction) {
  Array *array = reduction->array;
  uint32_t n = array->problem->equations, constraints = 0, linear = 0;
  bool *constrains = arena_array(reduction->arena, n, sizeof *constrains);
  bool *replaced = arena_array(reduction->arena, n, sizeof *replaced);
  Expr *residual = arena_array(reduction->arena, n, sizeof *residual);
  mark_constrained(reduction, constrains);
  for (uint32_t i = 0; i < n; i++) {
    constraints += constrains[i];
    replaced[i] = constrains[i] && !is_linear(reduction, i);
    linear += constrains[i] && !replaced[i];
    residual[i] = array_row(array, array->row_start[i] + replaced[i]);
  }
  if (constraints == linear) reduction_keep(reduction);
  else if (!reduction_replace(reduction, residual)) return refuse(reduction);
  take_form(reduction, replaced);
  reduction->remark = constraints
                          ? name_parts(reduction, constrains, constraints, linear)
                          : "no constraint is left on variables that have differential equations: nothing to project";
  if (reduction->mass) reduction->remark = arena_printf(reduction->arena, "%s; %s", reduction->remark, reduction->mass);
  return true;
}

const Method method_projection = {
    .name = "projection",
    .description = "projection onto the tangent space of the constraints (Shmoylova et al.)",
    .chooses = true,
    .is_solved = true,
    .apply = apply,
};
