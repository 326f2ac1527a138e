/* convert: see convert.h. */
#include "array/convert_internal.h"

#include "array/release.h"

#include <math.h>
#include <string.h>

/* Steps at most. */
enum { STEP_LIMIT = 300 };

const char *conversion_name(ConversionKind kind) {
  static const char *const names[] = {[CONVERSION_VANISHED] = "parameters",
                                      [CONVERSION_COMBINATION] = "combination",
                                      [CONVERSION_SUBSTITUTION] = "substitution",
                                      [CONVERSION_RELEASED] = "redundant"};
  return names[kind];
}

/* ---- texts ---- */

static const char *written_text(const Converter *converter, uint32_t i) {
  uint32_t equation = converter->problem.equation[i];
  return model_equation_text(converter->model, &converter->model->equations.data[equation], converter->arena);
}

/* The same for a message: of a very long equation the beginning. */
static const char *short_text(const Converter *converter, const char *text) {
  enum { SHOWN = 160 };
  return strlen(text) <= SHOWN ? text : arena_printf(converter->arena, "%.*s ...", SHOWN, text);
}

const char *converter_text(const Converter *converter, Expr e) {
  return model_text(converter->model, modes_restore(converter->modes, converter->dag, e), converter->arena);
}

const char *converter_residual_text(const Converter *converter, Expr residual) {
  return arena_printf(converter->arena, "%s = 0", converter_text(converter, residual));
}

/* `equation 1 - 2*der(equation 3)`, the line replaced first; of a long sum only the beginning. */
static const char *combination_text(Converter *converter, const BlockJacobian *jacobian, const Dependence *dependence) {
  enum { SHOWN = 12 };
  uint32_t hidden = dependence->count > SHOWN ? dependence->count - SHOWN / 2 : 0;
  TextVec text = {0};
  const Structure *structure = &converter->structure;
  int32_t least = structure->c[jacobian->equation[dependence->last]];
  for (uint32_t k = dependence->count; k-- > hidden;) {
    int32_t i = jacobian->equation[dependence->line[k]];
    double number = 0;
    bool constant = dag_is_constant(converter->dag, dependence->factor[k], &number);
    bool first = k + 1 == dependence->count;
    if (!first) text_printf(converter->heap, &text, constant && number < 0 ? " - " : " + ");
    if (constant && fabs(number) != 1) text_printf(converter->heap, &text, "%.10g*", fabs(number));
    if (!constant) text_printf(converter->heap, &text, "(%s)*", converter_text(converter, dependence->factor[k]));
    int32_t times = structure->c[i] - least;
    for (int32_t l = 0; l < times; l++) text_printf(converter->heap, &text, "der(");
    text_printf(converter->heap, &text, "equation %u", converter->problem.equation[i] + 1);
    for (int32_t l = 0; l < times; l++) text_printf(converter->heap, &text, ")");
  }
  if (hidden) text_printf(converter->heap, &text, " and %u more", hidden);
  return text_keep(converter->heap, &text, converter->arena);
}

void converter_note(Converter *converter, ConversionKind kind, uint32_t i, const char *after, const char *how) {
  vec_push(converter->heap, converter->list,
           (Conversion){kind, converter->problem.equation[i], written_text(converter, i), after, how});
  Span span = converter->model->equations.data[converter->problem.equation[i]].span;
  if (kind == CONVERSION_VANISHED)
    diag_warning(converter->diags, DIAG_REWRITTEN, span,
                 "at the given parameter values the highest derivatives of `%s` vanish: taken as `%s`",
                 short_text(converter, written_text(converter, i)), short_text(converter, after));
  if (kind == CONVERSION_RELEASED)
    diag_warning(converter->diags, DIAG_REWRITTEN, span,
                 "`%s` follows from the other equations, which leave a variable free: held as `%s`",
                 short_text(converter, written_text(converter, i)), after);
}

/* ---- rewriting ---- */

/* The problem with another residual for one equation, and its structure. */
static Structure try_residual(Converter *converter, uint32_t i, Expr residual, Problem *problem) {
  Expr *residuals =
      arena_copy_array(converter->arena, converter->problem.residual, converter->problem.equations, sizeof *residuals);
  residuals[i] = residual;
  *problem = problem_replace(&converter->problem, residuals, converter->arena);
  return structure_run(converter->arena, &problem->incidence);
}

/* Puts a number for leaves on which e does not depend. */
static Expr drop_leaves(Converter *converter, Expr e, const ExprVec *leaves, double number) {
  ExprVec numbers = {0};
  for (uint32_t k = 0; k < leaves->count; k++)
    vec_push(converter->heap, &numbers, dag_constant(converter->dag, number));
  Expr dropped = e;
  dag_substitute(converter->dag, leaves->data, numbers.data, leaves->count, &dropped, 1);
  vec_free(converter->heap, &numbers);
  return dropped;
}

/* e without the leaves that only seem to occur in it: their partial derivatives vanish. */
Expr converter_drop_apparent(Converter *converter, Expr e) {
  ExprVec leaves = {0}, partials = {0}, apparent = {0};
  dag_gradient(converter->dag, e, &leaves, &partials);
  for (uint32_t k = 0; k < leaves.count; k++)
    if (samples_vanish(&converter->samples, partials.data[k])) vec_push(converter->heap, &apparent, leaves.data[k]);
  /* leaves without any partial derivative */
  ExprVec all = {0};
  dag_variables(converter->dag, dag_scratch(converter->dag), e, &all);
  for (uint32_t k = 0; k < all.count; k++) {
    bool present = false;
    for (uint32_t q = 0; q < leaves.count && !present; q++) present = leaves.data[q] == all.data[k];
    if (!present && !dag_has_event(converter->dag, e)) vec_push(converter->heap, &apparent, all.data[k]);
  }
  Expr result = e;
  for (int number = 0; number < 2 && apparent.count && result == e; number++) { /* 0 may be outside of a domain */
    Expr dropped = drop_leaves(converter, e, &apparent, number);
    if (samples_vanish(&converter->samples, dag_subtract(converter->dag, dropped, e))) result = dropped;
  }
  vec_free(converter->heap, &leaves, &partials, &apparent, &all);
  return result;
}

/* ---- entries that vanish at the parameter values ---- */

static bool step_vanish(Converter *converter, const BlockJacobian *jacobian) {
  bool changed = false;
  for (int32_t p = 0; p < jacobian->size && !changed; p++) {
    bool vanishes = false;
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1] && !vanishes; e++)
      vanishes = samples_vanish(&converter->samples, jacobian->entry[e]);
    if (!vanishes) continue;
    uint32_t i = (uint32_t)jacobian->equation[p];
    Expr left = converter_drop_apparent(converter, converter->problem.residual[i]);
    if (left == converter->problem.residual[i]) continue;
    Problem problem;
    Structure structure = try_residual(converter, i, left, &problem);
    converter_note(converter, CONVERSION_VANISHED, i, converter_residual_text(converter, left),
                   "terms that are zero at the given parameter values left out");
    converter->problem = problem;
    converter->structure = structure;
    changed = true;
  }
  return changed;
}

/* ---- redundant equations ---- */

static void report_inconsistent(Converter *converter, uint32_t i, Expr left, const char *how) {
  Span span = converter->model->equations.data[converter->problem.equation[i]].span;
  converter->failed = true;
  Diag *diag =
      diag_error(converter->diags, DIAG_CONTRADICTION, span, "the equations contradict each other: %s gives %s", how,
                 short_text(converter, converter_residual_text(converter, left)));
  diag_note(converter->diags, diag, (Span){0}, "remove one of these equations, or make them agree");
}

static void report_redundant(Converter *converter, uint32_t i, const char *how) {
  Span span = converter->model->equations.data[converter->problem.equation[i]].span;
  converter->failed = true;
  Diag *diag = diag_error(converter->diags, DIAG_CONTRADICTION, span, "`%s` follows from other equations: %s is 0 = 0",
                          short_text(converter, written_text(converter, i)), how);
  diag_note(converter->diags, diag, (Span){0}, "an equation is missing: the others leave a variable undetermined");
}

static Expr start_of(const Converter *converter, uint32_t unknown) {
  const Model *model = converter->model;
  const Variable *variable = &model->variables.data[model->unknowns.data[converter->problem.unknown[unknown]]];
  return variable->start == EXPR_NONE ? dag_constant(converter->dag, 0) : variable->start;
}

/* Equation i says nothing, or something false: `left` holds no unknown. */
static bool settle_empty(Converter *converter, uint32_t i, Expr left, const char *how) {
  if (!samples_vanish(&converter->samples, left)) {
    report_inconsistent(converter, i, left, how);
    return false;
  }
  IndexVec candidates = {0};
  release_candidates(&converter->problem, &converter->samples, i, converter->arena, &candidates);
  bool released = false;
  for (uint32_t k = 0; k < candidates.count && !released; k++) {
    uint32_t unknown = candidates.data[k];
    Expr leaf = dag_variable(converter->dag, converter->problem.unknown[unknown], 0);
    Problem problem;
    Expr residual = dag_subtract(converter->dag, leaf, start_of(converter, unknown));
    Structure structure = try_residual(converter, i, residual, &problem);
    released = structure.status == STRUCTURE_OK;
    if (!released) continue;
    converter_note(converter, CONVERSION_RELEASED, i,
                   arena_printf(converter->arena, "%s = %s", model_text(converter->model, leaf, converter->arena),
                                model_text(converter->model, start_of(converter, unknown), converter->arena)),
                   arena_printf(converter->arena, "%s is 0 = 0; the free variable is held at its start value", how));
    converter->problem = problem;
    converter->structure = structure;
  }
  vec_free(converter->heap, &candidates);
  if (!released) report_redundant(converter, i, how);
  return released;
}

/* Equations without any unknown, which alias elimination or a step before left over. */
static bool step_empty(Converter *converter) {
  const Incidence *incidence = &converter->problem.incidence;
  for (int32_t i = 0; i < incidence->n_equations; i++)
    if (incidence->row_start[i] == incidence->row_start[i + 1])
      return settle_empty(converter, (uint32_t)i, converter->problem.residual[i],
                          arena_printf(converter->arena, "equation %u with those that give its variables",
                                       converter->problem.equation[i] + 1));
  return false;
}

/* ---- linear combinations ---- */

/* The condition of the method on a factor: no unknown of the block as high as the combination cancels it,
 * none of another block higher than it may be. */
static bool factor_is_low(const Converter *converter, const BlockJacobian *jacobian, Expr factor, int32_t least) {
  const Structure *structure = &converter->structure;
  int32_t block = structure->blocks.block_of_row[jacobian->equation[0]];
  ExprVec leaves = {0};
  bool low = true;
  dag_variables(converter->dag, dag_scratch(converter->dag), factor, &leaves);
  for (uint32_t k = 0; k < leaves.count && low; k++) {
    int32_t j = (int32_t)converter->problem.local[dag_index(converter->dag, leaves.data[k])];
    int32_t allowed = structure->d[j] - least - (structure->blocks.block_of_column[j] == block);
    low = (int32_t)dag_order(converter->dag, leaves.data[k]) <= allowed;
  }
  vec_free(converter->heap, &leaves);
  return low;
}

/* A combination of equations under way: row k times its factor. */
typedef struct Combination {
  uint32_t count;
  Expr *row, *factor;
  Expr left;     /* the sum, without what cancels in it */
  bool vanishes; /* nothing is left but round-off */
} Combination;

/* Is the sum over k of factor[k] * part[k] round-off of its terms at every point where it is defined? */
static bool sum_vanishes(const Converter *converter, const Expr *factor, const Expr *part, uint32_t count) {
  Arena scratch = arena_make(converter->heap);
  double *values = arena_array(&scratch, 2 * (size_t)count, sizeof *values),
         *sizes = arena_array(&scratch, 2 * (size_t)count, sizeof *sizes);
  Expr *all = arena_array(&scratch, 2 * (size_t)count, sizeof *all);
  int defined = 0;
  bool vanishes = true;
  memcpy(all, factor, count * sizeof *all);
  memcpy(all + count, part, count * sizeof *all);
  for (uint32_t s = 0; s < SAMPLE_COUNT && vanishes; s++) {
    double sum = 0, size = 0;
    samples_evaluate(&converter->samples, s, all, 2 * count, values, sizes);
    for (uint32_t k = 0; k < count; k++) {
      sum += values[k] * values[count + k];
      size += sample_product_size(values[k], sizes[k], values[count + k], sizes[count + k]);
    }
    if (isnan(sum)) continue;
    defined++;
    vanishes = sample_is_zero(sum, size);
  }
  arena_free(&scratch);
  return vanishes && defined >= 3;
}

static bool contains_leaf(const ExprVec *leaves, Expr leaf) {
  for (uint32_t k = 0; k < leaves->count; k++)
    if (leaves->data[k] == leaf) return true;
  return false;
}

/* The leaves whose partial derivatives cancel in the sum. Leaves of the factors are left alone. */
static void find_cancelled(Converter *converter, const Combination *combination, ExprVec *cancelled) {
  Heap *heap = converter->heap;
  Dag *dag = converter->dag;
  ExprVec leaves = {0}, inside = {0}, gradient = {0}, partials = {0};
  dag_variables(dag, dag_scratch(dag), combination->left, &leaves);
  for (uint32_t k = 0; k < combination->count; k++)
    dag_variables(dag, dag_scratch(dag), combination->factor[k], &inside);
  Expr *part = heap_array(heap, (size_t)combination->count * (leaves.count + 1), sizeof *part);
  for (uint32_t q = 0; q < combination->count * leaves.count; q++) part[q] = dag_constant(dag, 0);
  for (uint32_t k = 0; k < combination->count; k++) {
    gradient.count = partials.count = 0;
    dag_gradient(dag, combination->row[k], &gradient, &partials);
    for (uint32_t g = 0; g < gradient.count; g++)
      for (uint32_t q = 0; q < leaves.count; q++)
        if (leaves.data[q] == gradient.data[g]) part[q * combination->count + k] = partials.data[g];
  }
  for (uint32_t q = 0; q < leaves.count; q++)
    if (!contains_leaf(&inside, leaves.data[q]) &&
        sum_vanishes(converter, combination->factor, part + q * combination->count, combination->count))
      vec_push(heap, cancelled, leaves.data[q]);
  heap_free(heap, part);
  vec_free(heap, &leaves, &inside, &gradient, &partials);
}

/* The sum over i in the dependence of factor * D^(c_i - least) f_i, freed of the derivatives that cancel in
 * it. false: they do not, which round-off must have hidden. */
static bool combine(Converter *converter, const BlockJacobian *jacobian, const Dependence *dependence,
                    Combination *combination) {
  const Structure *structure = &converter->structure;
  Dag *dag = converter->dag;
  int32_t least = structure->c[jacobian->equation[dependence->last]];
  *combination = (Combination){.count = dependence->count, .factor = dependence->factor};
  combination->row = arena_array(converter->arena, dependence->count, sizeof(Expr));
  combination->left = dag_constant(dag, 0);
  for (uint32_t k = 0; k < dependence->count; k++) {
    int32_t i = jacobian->equation[dependence->line[k]];
    Expr row = converter->problem.residual[i];
    for (int32_t l = least; l < structure->c[i]; l++) row = dag_time_derivative(dag, row);
    combination->row[k] = row;
    combination->left = dag_add(dag, combination->left, dag_multiply(dag, dependence->factor[k], row));
  }
  ExprVec cancelled = {0};
  find_cancelled(converter, combination, &cancelled);
  if (cancelled.count) combination->left = drop_leaves(converter, combination->left, &cancelled, 0);
  vec_free(converter->heap, &cancelled);
  combination->vanishes = sum_vanishes(converter, combination->factor, combination->row, combination->count);
  ExprVec rest = {0};
  bool low = true;
  dag_variables(dag, dag_scratch(dag), combination->left, &rest);
  for (uint32_t k = 0; k < rest.count && low; k++) {
    int32_t j = (int32_t)converter->problem.local[dag_index(dag, rest.data[k])];
    bool inside = structure->blocks.block_of_column[j] == structure->blocks.block_of_row[jacobian->equation[0]];
    low = !inside || (int32_t)dag_order(dag, rest.data[k]) < structure->d[j] - least;
  }
  vec_free(converter->heap, &rest);
  return low;
}

/* Equations by falling c, so that a dependent one has the smallest of its dependence; ties in their order. */
static int32_t *order_equations(const Converter *converter, const BlockJacobian *jacobian) {
  int32_t *order = arena_array(converter->arena, (size_t)jacobian->size, sizeof *order), count = 0, most = 0;
  const int32_t *c = converter->structure.c;
  for (int32_t p = 0; p < jacobian->size; p++)
    if (c[jacobian->equation[p]] > most) most = c[jacobian->equation[p]];
  for (; most >= 0; most--)
    for (int32_t p = 0; p < jacobian->size; p++)
      if (c[jacobian->equation[p]] == most) order[count++] = p;
  return order;
}

/* Dependences with plain factors first, then short ones. */
static uint32_t dependence_cost(const Converter *converter, const Dependence *dependence) {
  uint32_t cost = dependence->count;
  for (uint32_t k = 0; k < dependence->count; k++) {
    Expr factor = dependence->factor[k];
    if (dag_is_constant(converter->dag, factor, NULL)) continue;
    cost += dag_depends(converter->dag, factor, OP_VARIABLE) ? 1000000 : 1000;
  }
  return cost;
}

static void sort_dependences(const Converter *converter, DependenceVec *list) {
  for (uint32_t k = 1; k < list->count; k++)
    for (uint32_t q = k;
         q > 0 && dependence_cost(converter, &list->data[q]) < dependence_cost(converter, &list->data[q - 1]); q--) {
      Dependence kept = list->data[q];
      list->data[q] = list->data[q - 1];
      list->data[q - 1] = kept;
    }
}

static bool use_combination(Converter *converter, const BlockJacobian *jacobian, const Dependence *dependence) {
  uint32_t i = (uint32_t)jacobian->equation[dependence->last];
  int32_t least = converter->structure.c[i];
  for (uint32_t k = 0; k < dependence->count; k++) {
    dependence->factor[k] = converter_drop_apparent(converter, dependence->factor[k]);
    if (!factor_is_low(converter, jacobian, dependence->factor[k], least)) return false;
  }
  Combination combination;
  if (!combine(converter, jacobian, dependence, &combination)) return false;
  Expr left = combination.vanishes ? dag_constant(converter->dag, 0) : combination.left;
  const char *how = combination_text(converter, jacobian, dependence);
  if (!dag_depends(converter->dag, left, OP_VARIABLE)) return settle_empty(converter, i, left, how);
  Problem problem;
  Structure structure = try_residual(converter, i, left, &problem);
  if (structure.status != STRUCTURE_OK || structure.dof >= converter->structure.dof) return false;
  converter_note(converter, CONVERSION_COMBINATION, i, converter_residual_text(converter, left), how);
  converter->problem = problem;
  converter->structure = structure;
  return true;
}

static bool step_combine(Converter *converter, const BlockJacobian *jacobian) {
  DependenceVec found = {0};
  bool used = false;
  const int32_t *order = order_equations(converter, jacobian);
  if (dependence_find(jacobian, true, order, &converter->samples, converter->arena, &found)) {
    sort_dependences(converter, &found);
    for (uint32_t k = 0; k < found.count && !used && !converter->failed; k++)
      used = use_combination(converter, jacobian, &found.data[k]);
  }
  vec_free(converter->heap, &found);
  return used;
}

/* ---- the loop ---- */

static void report_singular(Converter *converter, const SingularBlock *singular) {
  enum { SHOWN = 6 };
  int32_t block = singular->block;
  const Blocks *blocks = &converter->structure.blocks;
  const Problem *problem = &converter->problem;
  Model *model = converter->model;
  int32_t begin = blocks->start[block], size = blocks->start[block + 1] - begin;
  Diag *diag = diag_error(
      converter->diags, DIAG_SINGULAR_JACOBIAN, model->equations.data[problem->equation[blocks->row[begin]]].span,
      "the structure is sound, but the Jacobian of %d equation%s with respect to the highest derivatives is "
      "identically singular (at %d random points), and no rewriting was found that cures it",
      (int)size, size == 1 ? "" : "s", singular->points);
  for (int32_t p = begin; p < begin + size && p < begin + SHOWN; p++) {
    uint32_t unknown = problem->unknown[blocks->column[p]];
    diag_note(converter->diags, diag, model->equations.data[problem->equation[blocks->row[p]]].span,
              "equation `%s`, variable %s", short_text(converter, written_text(converter, (uint32_t)blocks->row[p])),
              model_name(model, model->unknowns.data[unknown]));
  }
  if (size > SHOWN) diag_note(converter->diags, diag, (Span){0}, "and %d more equations", (int)(size - SHOWN));
  converter->failed = true;
}

static BlockJacobian block_jacobian(const Converter *converter, int32_t block) {
  int32_t *place = arena_array(converter->arena, converter->problem.unknowns, sizeof *place);
  return regular_jacobian(&converter->problem, &converter->structure, block, place, converter->arena);
}

static const SingularBlock *smallest_block(const SingularVec *blocks) {
  const SingularBlock *best = &blocks->data[0];
  for (uint32_t k = 1; k < blocks->count; k++)
    if (blocks->data[k].size < best->size) best = &blocks->data[k];
  return best;
}

/* One step. true: there may be more to do. */
static bool step(Converter *converter, bool first) {
  if (converter->structure.status != STRUCTURE_OK) {
    bool settled = step_empty(converter);
    if (!settled && !converter->failed) {
      diag_error(converter->diags, DIAG_SINGULAR_JACOBIAN, (Span){0},
                 "the structure is sound as written, but after the rewritings that its singular Jacobian "
                 "asks for some equations "
                 "determine the same variables");
      converter->failed = true;
    }
    return settled;
  }
  SingularVec singular = {0};
  regular_check(&converter->problem, &converter->structure, &converter->samples, converter->arena, &singular);
  bool more = singular.count > 0;
  for (uint32_t k = 0; first && converter->singular && k < singular.count; k++)
    vec_push(converter->heap, converter->singular, singular.data[k]);
  if (more) {
    const SingularBlock *smallest = smallest_block(&singular);
    BlockJacobian jacobian = block_jacobian(converter, smallest->block);
    more = step_vanish(converter, &jacobian) || step_combine(converter, &jacobian);
    if (!more && !converter->failed) more = converter_substitute(converter, &jacobian);
    if (!more && !converter->failed) report_singular(converter, smallest);
  }
  vec_free(converter->heap, &singular);
  return more;
}

/* Derivatives that the equations as written, and the variables eliminated as aliases, want to find among the
 * columns. */
static int32_t *least_orders(const Problem *problem, uint32_t unknowns, Arena *arena) {
  int32_t *least = arena_array(arena, unknowns, sizeof *least);
  const Incidence *incidence = &problem->incidence;
  for (int32_t e = 0; e < incidence->row_start[incidence->n_equations]; e++)
    if (incidence->order[e] > least[incidence->column[e]]) least[incidence->column[e]] = incidence->order[e];
  for (uint32_t j = 0; j < problem->aliases.count && problem->aliases.removed; j++) {
    uint32_t root = problem->aliases.root[j];
    if (root == UINT32_MAX || problem->local[root] == MAP_NONE) continue;
    int32_t *bound = &least[problem->local[root]];
    if (problem->aliases.shift[j] > *bound) *bound = problem->aliases.shift[j];
  }
  return least;
}

static Structure raise_offsets(const Converter *converter, const int32_t *least) {
  bool enough = true;
  for (uint32_t j = 0; j < converter->problem.unknowns && enough; j++) enough = converter->structure.d[j] >= least[j];
  if (enough) return converter->structure;
  return structure_raise(converter->arena, &converter->problem.incidence, &converter->structure, least);
}

/* The residuals as written; equations added on the way are their own. */
static const Expr *keep_written(const Converter *converter, const Problem *problem) {
  Expr *written =
      arena_copy_array(converter->arena, converter->problem.residual, converter->problem.equations, sizeof *written);
  if (problem->equations) memcpy(written, problem->residual, problem->equations * sizeof *written);
  return written;
}

ConvertStatus convert_run(Problem *problem, Structure *structure, const Modes *modes, const double *parameters,
                          Arena *arena, ConversionVec *list, SingularVec *singular, Diags *diags) {
  Model *model = problem->model;
  Converter converter = {.arena = arena,
                         .heap = arena->heap,
                         .model = model,
                         .dag = model->dag,
                         .diags = diags,
                         .modes = modes,
                         .problem = *problem,
                         .structure = *structure,
                         .list = list,
                         .singular = singular};
  converter.samples = samples_make(model, parameters, modes, arena);
  samples_find_zeros(&converter.samples, problem->residual, problem->equations);
  uint32_t before = list->count;
  for (int k = 0; k < STEP_LIMIT && step(&converter, k == 0); k++) continue;
  if (converter.failed) return CONVERT_FAILED;
  bool changed = list->count > before;
  const Expr *written = keep_written(&converter, problem);
  const int32_t *least = least_orders(problem, converter.problem.unknowns, arena);
  *structure = raise_offsets(&converter, least);
  *problem = converter.problem;
  if (changed) problem->written = written;
  return changed ? CONVERT_DONE : CONVERT_REGULAR;
}
