/* convert: see convert.h. */
#include "array/convert_internal.h"

#include "array/release.h"
#include "array/verdict.h"

#include <math.h>
#include <string.h>

const char *conversion_name(ConversionKind kind) {
  static const char *const names[] = {[CONVERSION_VANISHED] = "parameters",
                                      [CONVERSION_COMBINATION] = "combination",
                                      [CONVERSION_SUBSTITUTION] = "substitution",
                                      [CONVERSION_RELEASED] = "redundant",
                                      [CONVERSION_SHARED] = "shared"};
  return names[kind];
}

/* ---- texts ---- */

static const char *written_text(const Converter *converter, uint32_t i) {
  uint32_t equation = converter->problem.equation[i];
  return model_equation_text(converter->model, &converter->model->equations.data[equation], converter->arena);
}

/* The text of an equation for a message: only the beginning of a very long one. */
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

/* `equation 1 - 2*der(equation 3)`, with the replaced equation first; only the beginning of a long sum. */
static const char *combination_text(const Converter *converter, const Combination *combination) {
  enum { SHOWN = 12 };
  uint32_t hidden = combination->count > SHOWN ? combination->count - SHOWN / 2 : 0;
  TextVec text = {0};
  for (uint32_t k = combination->count; k-- > hidden;) {
    double number = 0;
    bool constant = dag_is_constant(converter->dag, combination->factor[k], &number);
    bool first = k + 1 == combination->count;
    if (!first) text_printf(converter->heap, &text, constant && number < 0 ? " - " : " + ");
    if (constant && fabs(number) != 1) text_printf(converter->heap, &text, "%.10g*", fabs(number));
    if (!constant) text_printf(converter->heap, &text, "(%s)*", converter_text(converter, combination->factor[k]));
    for (int32_t l = 0; l < combination->times[k]; l++) text_printf(converter->heap, &text, "der(");
    text_printf(converter->heap, &text, "equation %u", converter->problem.equation[combination->equation[k]] + 1);
    for (int32_t l = 0; l < combination->times[k]; l++) text_printf(converter->heap, &text, ")");
  }
  if (hidden) text_printf(converter->heap, &text, " and %u more", hidden);
  return text_keep(converter->heap, &text, converter->arena);
}

/* Has another mode already led to a warning at this place? */
static bool is_told(const Converter *converter, Span span) {
  for (uint32_t k = 0; k < converter->diags->list.count; k++) {
    const Diag *diag = &converter->diags->list.data[k];
    if (diag->severity == SEVERITY_WARNING && diag->span.begin == span.begin && diag->span.end == span.end) return true;
  }
  return false;
}

void converter_note(Converter *converter, ConversionKind kind, uint32_t i, const char *after, const char *how) {
  vec_push(converter->heap, converter->list,
           (Conversion){kind, converter->problem.equation[i], written_text(converter, i), after, how});
  Span span = converter->model->equations.data[converter->problem.equation[i]].span;
  if (kind == CONVERSION_VANISHED)
    diag_warning(converter->diags, DIAG_REWRITTEN, span,
                 "at the given parameter values the highest derivatives of `%s` vanish: it is replaced by `%s`",
                 short_text(converter, written_text(converter, i)), short_text(converter, after));
  if (kind == CONVERSION_RELEASED)
    diag_warning(converter->diags, DIAG_REWRITTEN, span,
                 "`%s` follows from the other equations, which leave a variable free: held as `%s`",
                 short_text(converter, written_text(converter, i)), after);
  if (kind == CONVERSION_SHARED && !is_told(converter, span))
    diag_warning(converter->diags, DIAG_REWRITTEN, span,
                 "%s`%s` follows from the other equations; variables that are "
                 "not determined stay nearest to their start values: `%s`",
                 converter->problem.by_mode ? "in a mode that an event leads to " : "",
                 short_text(converter, written_text(converter, i)), short_text(converter, after));
}

/* ---- what values decide ---- */

static void note_read(const Converter *converter, const Expr *roots, uint32_t count);

/* The samples compute a mode from its relation, and a discrete variable from its equation if that contains only
 * parameters. */
static void note_discrete(const Converter *converter, uint32_t leaf) {
  const Modes *modes = converter->modes;
  const Model *model = converter->model;
  if (converter->followed[leaf]) return;
  converter->followed[leaf] = true;
  if (leaf >= modes->first && leaf < modes->first + modes->count)
    note_read(converter, &modes->relation[leaf - modes->first], 1);
  else if (leaf < model->discretes.count && !isnan(converter->samples.known[leaf]))
    for (uint32_t i = 0; i < model->discrete_equations.count; i++)
      if (dag_index(model->dag, model->discrete_equations.data[i].left) == leaf)
        note_read(converter, &model->discrete_equations.data[i].right, 1);
}

/* Marks the parameters in these expressions: the step depends on their values. */
static void note_read(const Converter *converter, const Expr *roots, uint32_t count) {
  const Dag *dag = converter->dag;
  IndexVec below = {0};
  if (!converter->read) return;
  dag_below(dag, dag_scratch(converter->dag), roots, count, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    Op op = dag_op(dag, below.data[k]);
    if (op == OP_PARAMETER) converter->read[dag_index(dag, below.data[k])] = true;
    if (op == OP_DISCRETE || op == OP_PRE) note_discrete(converter, dag_index(dag, below.data[k]));
  }
  vec_free(converter->heap, &below);
}

/* Records the parameters in the equations of a block: its rank and its null vectors depend on them. */
static void note_block(const Converter *converter, int32_t block) {
  const Blocks *blocks = &converter->structure.blocks;
  for (int32_t p = blocks->start[block]; p < blocks->start[block + 1]; p++)
    note_read(converter, &converter->problem.residual[blocks->row[p]], 1);
}

/* Records all parameters: factors of all equations and the sizes of all unknowns decide which unknowns are free. */
static void note_all(const Converter *converter) {
  const Model *model = converter->model;
  note_read(converter, converter->problem.residual, converter->problem.equations);
  for (uint32_t j = 0; j < model->unknowns.count; j++) {
    Expr nominal = model->variables.data[model->unknowns.data[j]].nominal;
    if (nominal != EXPR_NONE) note_read(converter, &nominal, 1);
  }
}

/* ---- rewriting ---- */

/* An equation and its replacement by a step. */
typedef struct Rewriting {
  ConversionKind kind;
  uint32_t equation;
  Expr residual;
  const char *how;
} Rewriting;

typedef VEC(Rewriting) RewritingVec;

/* The problem with other residuals, and its structure. */
static Structure try_residuals(Converter *converter, const Rewriting *list, uint32_t count, Problem *problem) {
  Expr *residuals =
      arena_copy_array(converter->arena, converter->problem.residual, converter->problem.equations, sizeof *residuals);
  for (uint32_t k = 0; k < count; k++) residuals[list[k].equation] = list[k].residual;
  *problem = problem_replace(&converter->problem, residuals, converter->arena);
  return structure_run(converter->arena, &problem->incidence);
}

/* Rewrites equations if that lowers the degrees of freedom. Terms that are zero may always be removed from the structure. */
static bool rewrite(Converter *converter, const Rewriting *list, uint32_t count) {
  Problem problem;
  Structure structure = try_residuals(converter, list, count, &problem);
  bool is_lower = structure.status == STRUCTURE_OK && structure.dof < converter->structure.dof;
  if (!is_lower && !(count == 1 && list->kind == CONVERSION_VANISHED)) return false;
  for (uint32_t k = 0; k < count; k++)
    converter_note(converter, list[k].kind, list[k].equation, converter_residual_text(converter, list[k].residual),
                   list[k].how);
  converter->problem = problem;
  converter->structure = structure;
  return true;
}

/* Does a rewriting lower the degrees of freedom of one block? The rest of the problem is ignored. */
static bool lowers_block(const Converter *converter, const BlockJacobian *jacobian, const Rewriting *rewriting) {
  const Structure *structure = &converter->structure;
  int32_t n = jacobian->size, *row_start = arena_array(converter->arena, (size_t)n + 1, sizeof *row_start);
  int64_t dof = 0;
  IntVec column = {0}, order = {0};
  Problem one = converter->problem;
  one.equations = 1;
  one.residual = (Expr *)&rewriting->residual;
  one = problem_replace(&one, &rewriting->residual, converter->arena);
  for (int32_t p = 0; p < n; p++) {
    int32_t i = jacobian->equation[p], block = structure->blocks.block_of_row[i];
    bool is_new = (uint32_t)i == rewriting->equation;
    const Incidence *incidence = is_new ? &one.incidence : &converter->problem.incidence;
    if (is_new) i = 0;
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      if (structure->blocks.block_of_column[incidence->column[e]] != block) continue;
      vec_push(converter->heap, &column, converter->place[incidence->column[e]]);
      vec_push(converter->heap, &order, incidence->order[e]);
    }
    row_start[p + 1] = (int32_t)column.count;
    dof += structure->d[jacobian->unknown[p]] - structure->c[jacobian->equation[p]];
  }
  Incidence block = {n, n, row_start, column.data, order.data};
  Structure alone = structure_run(converter->arena, &block);
  vec_free(converter->heap, &column, &order);
  return alone.status == STRUCTURE_OK && alone.dof < dof;
}

/* Rewrites the equation or, with `together`, only records the step, so that several blocks are rewritten at once. */
static bool use_rewriting(Converter *converter, const BlockJacobian *jacobian, Rewriting rewriting,
                          RewritingVec *together) {
  if (!together) return rewrite(converter, &rewriting, 1);
  if (rewriting.kind != CONVERSION_VANISHED && !lowers_block(converter, jacobian, &rewriting)) return false;
  vec_push(converter->heap, together, rewriting);
  return true;
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
    Expr dropped = converter_drop_leaves(converter, e, &apparent, number);
    if (samples_vanish(&converter->samples, dag_subtract(converter->dag, dropped, e))) result = dropped;
  }
  vec_free(converter->heap, &leaves, &partials, &apparent, &all);
  return result;
}

/* ---- entries that vanish at the parameter values ---- */

static bool step_vanish(Converter *converter, const BlockJacobian *jacobian, RewritingVec *together) {
  bool changed = false;
  for (int32_t p = 0; p < jacobian->size && !changed; p++) {
    bool vanishes = false;
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1] && !vanishes; e++)
      vanishes = samples_vanish(&converter->samples, jacobian->entry[e]);
    if (!vanishes) continue;
    uint32_t i = (uint32_t)jacobian->equation[p];
    Expr left = converter_drop_apparent(converter, converter->problem.residual[i]);
    if (left == converter->problem.residual[i]) continue;
    Rewriting rewriting = {CONVERSION_VANISHED, i, left, "terms that are zero at the given parameter values left out"};
    changed = use_rewriting(converter, jacobian, rewriting, together);
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

/* Replaces equation i, which follows from the others, if more equations can then be matched. */
static bool release(Converter *converter, ConversionKind kind, uint32_t i, Expr residual, const char *after,
                    const char *how) {
  Problem problem;
  Structure structure = try_residuals(converter, &(Rewriting){.equation = i, .residual = residual}, 1, &problem);
  if (structure.status != STRUCTURE_OK && structure.matching.size <= converter->structure.matching.size) return false;
  converter_note(converter, kind, i, after, how);
  converter->problem = problem;
  converter->structure = structure;
  return true;
}

/* Replaces equation i by one that holds a free unknown at its start value. */
static bool hold_unknown(Converter *converter, uint32_t i, const char *how) {
  IndexVec candidates = {0};
  release_candidates(&converter->problem, &converter->samples, i, converter->arena, &candidates);
  bool released = false;
  for (uint32_t k = 0; k < candidates.count && !released; k++) {
    Expr leaf = dag_variable(converter->dag, converter->problem.unknown[candidates.data[k]], 0);
    Expr start = start_of(converter, candidates.data[k]);
    released =
        release(converter, CONVERSION_RELEASED, i, dag_subtract(converter->dag, leaf, start),
                arena_printf(converter->arena, "%s = %s", model_text(converter->model, leaf, converter->arena),
                             model_text(converter->model, start, converter->arena)),
                arena_printf(converter->arena, "%s is 0 = 0; the free variable is held at its start value", how));
  }
  vec_free(converter->heap, &candidates);
  return released;
}

/* Rates how much the declaration of an unknown says about its size, by its start and nominal value. */
static int declared_size(const Converter *converter, uint32_t unknown) {
  const Model *model = converter->model;
  const Variable *variable = &model->variables.data[model->unknowns.data[converter->problem.unknown[unknown]]];
  return (variable->start != EXPR_NONE) + (variable->nominal != EXPR_NONE);
}

static double nominal_of(const Converter *converter, uint32_t unknown) {
  return converter->samples.nominal[converter->problem.unknown[unknown]];
}

/* The weights of the free unknowns in the sum that determines their shares. A weight is the movement, divided by the square of the
 * nominal value. `all`: every unknown that moves has a weight. Otherwise a weight is given only to the unknowns whose
 * declarations say most about their sizes, and among these only to those that move most. The largest weight is 1. */
static double *weigh_shares(const Converter *converter, const double *move, bool all) {
  const double least = all ? 0 : 0.1; /* relative to the largest movement */
  uint32_t n = converter->problem.unknowns;
  double *weight = arena_array(converter->arena, n, sizeof *weight), fastest = 0, largest = 0;
  int most = 0;
  for (uint32_t j = 0; j < n; j++)
    if (move[j] != 0 && declared_size(converter, j) > most) most = declared_size(converter, j);
  for (uint32_t j = 0; j < n; j++)
    if (all || declared_size(converter, j) == most) fastest = fmax(fastest, fabs(move[j]) / nominal_of(converter, j));
  for (uint32_t j = 0; j < n; j++) {
    double nominal = nominal_of(converter, j);
    if ((all || declared_size(converter, j) == most) && fabs(move[j]) / nominal >= least * fastest)
      weight[j] = move[j] / nominal / nominal;
    largest = fmax(largest, fabs(weight[j]));
  }
  for (uint32_t j = 0; j < n; j++) weight[j] /= largest;
  return weight;
}

/* The other equations determine only a sum of the free unknowns. Replaces this equation by one that brings the unknowns as near as
 * possible to their start values. The difference from the start values is then normal to the direction in which the unknowns may
 * move. */
static bool share_freely(Converter *converter, uint32_t i, bool all, const char *how) {
  const double *move = release_move(&converter->problem, &converter->samples, i, converter->arena);
  if (!move) return false;
  const double *weight = weigh_shares(converter, move, all);
  Dag *dag = converter->dag;
  Expr sum = dag_constant(dag, 0);
  for (uint32_t j = 0; j < converter->problem.unknowns; j++) {
    if (weight[j] == 0) continue;
    Expr leaf = dag_variable(dag, converter->problem.unknown[j], 0);
    sum = dag_add(dag, sum, dag_scale(dag, weight[j], dag_subtract(dag, leaf, start_of(converter, j))));
  }
  return release(converter, CONVERSION_SHARED, i, sum, converter_residual_text(converter, sum),
                 arena_printf(converter->arena, "%s is 0 = 0; free variables are nearest to their start values", how));
}

/* Handles equation i, which is 0 = 0 or a contradiction, because `left` contains no unknown. by_mode: in other modes it may
 * determine something. If it is a differentiated constraint, multipliers are free and get the values nearest to their start values.
 * Otherwise a potential is free and keeps its start value. */
static bool settle_empty(Converter *converter, uint32_t i, Expr left, bool by_mode, const char *how) {
  note_all(converter);
  if (!samples_vanish(&converter->samples, left)) {
    report_inconsistent(converter, i, left, how);
    return false;
  }
  bool constrains = converter->structure.status == STRUCTURE_OK && converter->structure.c[i] > 0;
  bool released =
      (by_mode || constrains) ? share_freely(converter, i, constrains, how) : hold_unknown(converter, i, how);
  if (!released) report_redundant(converter, i, how);
  return released;
}

static bool is_by_mode(const Converter *converter, uint32_t i) {
  return converter->problem.by_mode && converter->problem.by_mode[i];
}

static bool settle_combination(Converter *converter, const Combination *combination) {
  bool by_mode = false;
  for (uint32_t k = 0; k < combination->count; k++)
    by_mode = by_mode || is_by_mode(converter, combination->equation[k]);
  return settle_empty(converter, combination->equation[combination->count - 1], combination->left, by_mode,
                      combination_text(converter, combination));
}

/* Handles equations without any unknown, left by alias elimination or an earlier step. */
static bool step_empty(Converter *converter) {
  const Incidence *incidence = &converter->problem.incidence;
  for (int32_t i = 0; i < incidence->n_equations; i++)
    if (incidence->row_start[i] == incidence->row_start[i + 1])
      return settle_empty(converter, (uint32_t)i, converter->problem.residual[i], is_by_mode(converter, (uint32_t)i),
                          arena_printf(converter->arena, "equation %u with the equations that give its variables",
                                       converter->problem.equation[i] + 1));
  return false;
}

/* An equation of a part with more equations than variables. */
static bool step_surplus(Converter *converter) {
  Combination combination;
  if (!surplus_find(converter, &combination)) return false;
  return settle_combination(converter, &combination);
}

/* ---- linear combinations ---- */

/* The method's condition on a factor. Such an equation may contain derivatives of the block's unknowns only if they are lower than
 * those that cancel, and derivatives of other unknowns only if they are not too high. */
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

/* The sum over i in the dependence of factor * D^(c_i - least) f_i. */
static Combination combine(const Converter *converter, const BlockJacobian *jacobian, const Dependence *dependence) {
  const int32_t *c = converter->structure.c;
  Combination combination = combination_make(converter, dependence);
  for (uint32_t k = 0; k < dependence->count; k++) {
    combination.equation[k] = (uint32_t)jacobian->equation[dependence->line[k]];
    combination.times[k] = c[combination.equation[k]] - c[jacobian->equation[dependence->last]];
  }
  combination_sum(converter, &combination);
  return combination;
}

/* Have the derivatives that the combination should eliminate cancelled? If not, round-off must have hidden them. */
static bool sum_is_low(const Converter *converter, const BlockJacobian *jacobian, Expr sum, int32_t least) {
  const Structure *structure = &converter->structure;
  Dag *dag = converter->dag;
  ExprVec rest = {0};
  bool low = true;
  dag_variables(dag, dag_scratch(dag), sum, &rest);
  for (uint32_t k = 0; k < rest.count && low; k++) {
    int32_t j = (int32_t)converter->problem.local[dag_index(dag, rest.data[k])];
    bool inside = structure->blocks.block_of_column[j] == structure->blocks.block_of_row[jacobian->equation[0]];
    low = !inside || (int32_t)dag_order(dag, rest.data[k]) < structure->d[j] - least;
  }
  vec_free(converter->heap, &rest);
  return low;
}

/* Orders equations by falling c, so that a dependent one has the smallest c of its dependence; ties keep their order. */
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

static bool use_combination(Converter *converter, const BlockJacobian *jacobian, const Dependence *dependence,
                            RewritingVec *together) {
  uint32_t i = (uint32_t)jacobian->equation[dependence->last];
  int32_t least = converter->structure.c[i];
  for (uint32_t k = 0; k < dependence->count; k++) {
    dependence->factor[k] = converter_drop_apparent(converter, dependence->factor[k]);
    if (!factor_is_low(converter, jacobian, dependence->factor[k], least)) return false;
  }
  Combination combination = combine(converter, jacobian, dependence);
  Expr left = combination.left;
  if (!sum_is_low(converter, jacobian, left, least)) return false;
  if (!dag_depends(converter->dag, left, OP_VARIABLE)) return !together && settle_combination(converter, &combination);
  Rewriting rewriting = {CONVERSION_COMBINATION, i, left, combination_text(converter, &combination)};
  return use_rewriting(converter, jacobian, rewriting, together);
}

static bool step_combine(Converter *converter, const BlockJacobian *jacobian, RewritingVec *together) {
  DependenceVec found = {0};
  bool used = false;
  const int32_t *order = order_equations(converter, jacobian);
  if (dependence_find(jacobian, true, order, &converter->samples, converter->arena, &found)) {
    sort_dependences(converter, &found);
    for (uint32_t k = 0; k < found.count && !used && !converter->failed; k++)
      used = use_combination(converter, jacobian, &found.data[k], together);
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
      "identically singular (at %d random points), and no rewriting was found that repairs it",
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
  return regular_jacobian(&converter->problem, &converter->structure, block, converter->place, converter->arena);
}

/* Rewrites one equation in each singular block that has a step of conversion. One structural analysis is enough for all, because
 * rewriting a block uses only its own equations. false: there are fewer than two such blocks, or their steps do not fit
 * together. */
static bool step_together(Converter *converter, const SingularVec *singular) {
  RewritingVec list = {0};
  for (uint32_t k = 0; k < singular->count && singular->count > 1; k++) {
    BlockJacobian jacobian = block_jacobian(converter, singular->data[k].block);
    (void)(step_vanish(converter, &jacobian, &list) || step_combine(converter, &jacobian, &list));
  }
  bool used = list.count > 1 && rewrite(converter, list.data, list.count);
  vec_free(converter->heap, &list);
  return used;
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
    bool settled = step_empty(converter) || (!converter->failed && step_surplus(converter));
    if (!settled && !converter->failed) {
      Diag *diag = diag_error(converter->diags, DIAG_SINGULAR_JACOBIAN, (Span){0},
                              "the structure is sound as written, but %s some equations determine the same variables",
                              converter->problem.by_mode ? "in the mode that an event leads to"
                                                         : "after the rewritings that its singular Jacobian requires");
      verdict_note(&converter->problem, &converter->structure, diag, converter->diags);
      converter->failed = true;
    }
    return settled;
  }
  SingularVec singular = {0}, here = {0};
  bool is_asked = first && converter->singular;
  regular_check(&converter->problem, &converter->structure, &converter->samples, converter->arena, &singular,
                is_asked ? &here : NULL);
  bool more = singular.count > 0;
  for (uint32_t k = 0; k < singular.count; k++) note_block(converter, singular.data[k].block);
  for (uint32_t k = 0; is_asked && k < singular.count; k++)
    vec_push(converter->heap, converter->singular, singular.data[k]);
  for (uint32_t k = 0; k < here.count; k++) vec_push(converter->heap, converter->singular, here.data[k]);
  converter->place = arena_array(converter->arena, converter->problem.unknowns, sizeof *converter->place);
  if (more && !step_together(converter, &singular)) {
    const SingularBlock *smallest = smallest_block(&singular);
    BlockJacobian jacobian = block_jacobian(converter, smallest->block);
    more = step_vanish(converter, &jacobian, NULL) || step_combine(converter, &jacobian, NULL);
    if (!more && !converter->failed) more = converter_substitute(converter, &jacobian);
    if (!more && !converter->failed) report_singular(converter, smallest);
  }
  vec_free(converter->heap, &singular, &here);
  return more;
}

/* The highest derivative of each unknown that the equations as written and the eliminated aliases use: the columns must have it. */
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

/* The residuals as written; an added equation has no other form. */
static const Expr *keep_written(const Converter *converter, const Problem *problem) {
  Expr *written =
      arena_copy_array(converter->arena, converter->problem.residual, converter->problem.equations, sizeof *written);
  const Expr *before = problem->written ? problem->written : problem->residual;
  if (problem->equations) memcpy(written, before, problem->equations * sizeof *written);
  return written;
}

/* `lambda_1, lambda_2 and 3 more` */
static const char *leaves_text(const Converter *converter, const Freedom *freedom) {
  enum { SHOWN = 8 };
  TextVec text = {0};
  for (uint32_t k = 0; k < freedom->count && k < SHOWN; k++)
    text_printf(converter->heap, &text, "%s%s", k ? ", " : "", converter_text(converter, freedom->leaf[k]));
  if (freedom->count > SHOWN) text_printf(converter->heap, &text, " and %u more", freedom->count - SHOWN);
  return text_keep(converter->heap, &text, converter->arena);
}

static Converter converter_make(const Problem *problem, const Modes *modes, Arena *arena, ConversionVec *list,
                                Diags *diags) {
  return (Converter){.arena = arena,
                     .heap = arena->heap,
                     .model = problem->model,
                     .dag = problem->model->dag,
                     .diags = diags,
                     .modes = modes,
                     .problem = *problem,
                     .list = list};
}

void convert_close(Problem *problem, Structure *structure, const Modes *modes, const Freedom *freedom,
                   const uint32_t *equation, Arena *arena, ConversionVec *list, Diags *diags) {
  Converter converter = converter_make(problem, modes, arena, list, diags);
  const char *leaves = leaves_text(&converter, freedom);
  const char *after = arena_printf(arena, "least norm of %s", leaves);
  for (uint32_t k = 0; k < freedom->count - freedom->rank; k++)
    converter_note(&converter, CONVERSION_SHARED, equation[k], after,
                   arena_printf(arena, "equation %u follows from the others, which leave %s free",
                                problem->equation[equation[k]] + 1, leaves));
  converter.problem = freedom_close(problem, freedom, equation, arena);
  const Expr *written = keep_written(&converter, problem);
  *problem = converter.problem;
  problem->written = written;
  *structure = structure_run(arena, &problem->incidence);
}

ConvertStatus convert_run(Problem *problem, Structure *structure, const Modes *modes, const double *parameters,
                          Arena *arena, ConversionVec *list, SingularVec *singular, bool *read, Diags *diags) {
  Model *model = problem->model;
  Converter converter = converter_make(problem, modes, arena, list, diags);
  converter.structure = *structure;
  converter.singular = singular;
  converter.read = read;
  Arena scratch = arena_make(arena->heap);
  converter.samples = samples_make(model, parameters, modes, &scratch);
  converter.followed = arena_array(arena, (size_t)modes_leaves(modes) + model->discretes.count, sizeof(bool));
  samples_find_zeros(&converter.samples, problem->residual, problem->equations);
  uint32_t before = list->count;
  for (bool first = true; step(&converter, first);) first = false;
  bool changed = list->count > before;
  if (!converter.failed) {
    if (changed) note_read(&converter, converter.samples.zero_by.data, converter.samples.zero_by.count);
    const Expr *written = changed ? keep_written(&converter, problem) : NULL;
    const int32_t *least = least_orders(problem, converter.problem.unknowns, arena);
    *structure = raise_offsets(&converter, least);
    *problem = converter.problem;
    if (changed) problem->written = written;
  }
  samples_free(&converter.samples);
  arena_free(&scratch);
  if (converter.failed) return CONVERT_FAILED;
  return changed ? CONVERT_DONE : CONVERT_REGULAR;
}
