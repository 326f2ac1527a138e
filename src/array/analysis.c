/* analysis: see analysis.h. */
#include "array/analysis.h"

#include "array/definitions.h"
#include "array/verdict.h"
#include "expr/linearity.h"

#include <string.h>

/* ---- hidden constraints ---- */

/* Lists every derivative of a differentiated equation, unless the equation only defines a derivative itself. */
static void find_hidden(Analysis *analysis, Arena *arena) {
  if (analysis->structure.differentiations == 0) return;
  Model *model = analysis->problem.model;
  Definitions definitions = definitions_find(&analysis->problem, &analysis->structure, false, arena);
  for (uint32_t i = 0; i < analysis->problem.equations; i++) {
    if (analysis->structure.c[i] == 0 || definitions.defines[i]) continue;
    int32_t last = analysis->structure.c[i] - analysis->structure.superfluous[i];
    Equation equation = model->equations.data[analysis->problem.equation[i]];
    for (int32_t l = 1; l <= last; l++) {
      equation.left = dag_time_derivative(model->dag, equation.left);
      equation.right = dag_time_derivative(model->dag, equation.right);
      Equation shown = {.left = definitions_put_in(&definitions, equation.left, arena->heap),
                        .right = definitions_put_in(&definitions, equation.right, arena->heap)};
      const char *text = model_equation_text(model, &shown, arena);
      vec_push(arena->heap, &analysis->hidden, (HiddenConstraint){analysis->problem.equation[i], (uint32_t)l, text});
    }
  }
}

/* ---- blocks ---- */

typedef struct BlockLeaves {
  const Analysis *analysis;
  int32_t block;
} BlockLeaves;

/* Is the leaf a highest derivative that the block determines? */
static bool is_highest(const void *context, Expr leaf) {
  const BlockLeaves *leaves = context;
  const Structure *structure = &leaves->analysis->structure;
  const Problem *problem = &leaves->analysis->problem;
  uint32_t j = problem->local[dag_index(problem->model->dag, leaf)];
  return structure->blocks.block_of_column[j] == leaves->block &&
         (int32_t)dag_order(problem->model->dag, leaf) == structure->d[j];
}

/* This is read from the expressions, without differentiating: differentiated equations are always linear in their highest
 * derivatives. */
static bool block_is_linear(const Analysis *analysis, int32_t block, Linearity *linearity) {
  const Structure *structure = &analysis->structure;
  BlockLeaves leaves = {analysis, block};
  for (int32_t p = structure->blocks.start[block]; p < structure->blocks.start[block + 1]; p++) {
    int32_t i = structure->blocks.row[p];
    if (structure->c[i] == 0 && !linearity_test(linearity, analysis->problem.residual[i], is_highest, &leaves))
      return false;
  }
  return true;
}

bool *analysis_linear(const Analysis *analysis, Arena *arena) {
  int32_t blocks = analysis->structure.blocks.n_blocks;
  Dag *dag = analysis->problem.model->dag;
  Linearity linearity = linearity_make(dag, dag_scratch(dag));
  bool *linear = arena_array(arena, (size_t)blocks, sizeof *linear);
  for (int32_t b = 0; b < blocks; b++) linear[b] = block_is_linear(analysis, b, &linearity);
  linearity_free(&linearity);
  return linear;
}

/* ---- initial values ---- */

/* The preference of a column as an initial value: fixed values come before given ones, and given ones before defaults. Among
 * equals stateSelect decides; if it does not, a variable comes before its derivatives. Highest derivatives come last. */
static int32_t column_preference(const Analysis *analysis, uint32_t q) {
  const Array *array = &analysis->array;
  const Model *model = analysis->problem.model;
  uint32_t j = array->column_unknown[q], order = array_order(array, q);
  const Variable *variable = &model->variables.data[model->unknowns.data[analysis->problem.unknown[j]]];
  if (order == 0 && variable->fixed == FIXED_TRUE) return 100;
  if (array_is_highest(array, q)) return 0;
  return 10 + (order == 0 && variable->start != EXPR_NONE ? 40 : 0) + 4 * (int32_t)variable->select -
         (order > 3 ? 3 : (int32_t)order);
}

static void find_initial(Analysis *analysis, Arena *arena, Diags *diags) {
  Array *array = &analysis->array;
  Model *model = analysis->problem.model;
  Arena scratch = arena_make(arena->heap);
  int32_t *preference = arena_array(&scratch, array->columns, sizeof *preference);
  bool is_plain = analysis->structure.differentiations == 0; /* the highest derivatives take all rows */
  for (uint32_t q = 0; q < array->columns; q++) {
    preference[q] = column_preference(analysis, q);
    is_plain = is_plain && (preference[q] == 0) == array_is_highest(array, q);
  }
  Pattern pattern = is_plain ? (Pattern){0} : array_pattern(array, &scratch);
  InitialChoice choice = is_plain ? (InitialChoice){0} : initial_choose(&scratch, &pattern, preference);
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t variable = model->unknowns.data[analysis->problem.unknown[array->column_unknown[q]]];
    bool is_given = is_plain ? preference[q] > 0 : choice.given[q];
    if (preference[q] == 100) {
      vec_push(arena->heap, &analysis->fixed, variable);
      if (!is_given) vec_push(arena->heap, &analysis->redundant, variable);
    } else if (is_given) {
      vec_push(arena->heap, &analysis->suggested, array_column_name(array, q, arena));
    }
  }
  for (uint32_t k = 0; k < analysis->redundant.count && k < 5; k++) {
    const Variable *variable = &model->variables.data[analysis->redundant.data[k]];
    uint32_t column = array->model_column[variable->index];
    InitialConflict conflict = initial_conflict(&scratch, &pattern, &choice, (int32_t)column);
    Diag *diag = diag_warning(diags, DIAG_REDUNDANT_START, variable->span,
                              "the fixed start value of %s is redundant: other fixed values determine it",
                              names_text(model->names, variable->name));
    for (int32_t c = 0; c < conflict.n_columns && c < 4; c++)
      if (preference[conflict.columns[c]] == 100)
        diag_note(diags, diag, (Span){0}, "remove fixed=true from %s or from %s",
                  names_text(model->names, variable->name),
                  array_column_name(array, (uint32_t)conflict.columns[c], arena));
  }
  arena_free(&scratch);
}

/* ---- is the structural analysis right? ---- */

static void note_true(Analysis *analysis, const Structure *structure) {
  analysis->true_dof = structure->dof;
  analysis->true_index = structure->structural_index;
}

/* The equations as written are singular. If some equations follow from the others, a run may continue without them. Then the
 * messages since `before` are wrong. */
static void release_redundant(Analysis *analysis, AnalysisRelease *release, const double *parameters, uint32_t before,
                              Arena *arena, Diags *diags) {
  Diags attempt = diags_make(arena->heap);
  Problem problem = analysis->problem;
  Structure structure;
  ConversionVec conversions = {0};
  analysis->released = release(&problem, &structure, parameters, &conversions, arena, &attempt);
  if (!analysis->released) return;
  analysis->curable = true;
  analysis->regular = false;
  analysis->conversions = conversions;
  note_true(analysis, &structure);
  diags_keep(diags, before);
  diags_append(diags, &attempt);
}

/* Constraints that are singular at the start values may be singular on all solutions. */
static bool has_singular_constraint(const Analysis *analysis) {
  const Blocks *blocks = &analysis->structure.blocks;
  for (uint32_t k = 0; k < analysis->singular.count; k++) {
    int32_t block = analysis->singular.data[k].block;
    for (int32_t p = blocks->start[block]; p < blocks->start[block + 1]; p++)
      if (analysis->structure.c[blocks->row[p]]) return true;
  }
  return false;
}

static void check_regular(Analysis *analysis, AnalysisRelease *release, uint32_t before, Arena *arena, Diags *diags) {
  Model *model = analysis->problem.model;
  Diags quiet = diags_make(arena->heap); /* a missing value is not a fault of the structure */
  double *parameters = arena_array(arena, model->parameters.count, sizeof *parameters);
  bool ok = analysis->structure.status == STRUCTURE_OK;
  analysis->checked = model_parameter_values(model, arena->heap, NULL, parameters, &quiet);
  analysis->curable = ok;
  if (ok) note_true(analysis, &analysis->structure);
  if (!analysis->checked) return;
  if (!ok) {
    release_redundant(analysis, release, parameters, before, arena, diags);
    return;
  }
  Problem problem = analysis->problem;
  Structure structure = analysis->structure;
  ConvertStatus status = convert_run(&problem, &structure, &(Modes){0}, parameters, arena, &analysis->conversions,
                                     &analysis->singular, NULL, diags);
  analysis->regular = status == CONVERT_REGULAR;
  analysis->curable = status != CONVERT_FAILED;
  if (!analysis->curable || (analysis->regular && has_singular_constraint(analysis)))
    release_redundant(analysis, release, parameters, before, arena, diags);
  if (status != CONVERT_DONE) return;
  Structure smallest = structure_run(arena, &problem.incidence);
  note_true(analysis, &smallest);
}

/* ---- resets ---- */

/* For each representative the highest derivative in the equations and their derivatives. */
static int32_t *highest_orders(const Analysis *analysis, const Aliases *aliases, Arena *arena) {
  int32_t *highest = arena_array(arena, aliases->count, sizeof *highest);
  for (uint32_t j = 0; j < aliases->count; j++) {
    int32_t order = analysis->structure.d[j] + aliases->shift[j];
    if (aliases->root[j] != UINT32_MAX && order > highest[aliases->root[j]]) highest[aliases->root[j]] = order;
  }
  return highest;
}

/* reinit can set only variables with a derivative. */
static bool check_resets(const Analysis *analysis, const Aliases *aliases, Arena *arena, Diags *diags) {
  const Model *model = analysis->problem.model;
  const int32_t *highest = NULL;
  for (uint32_t w = 0; w < model->whens.count; w++)
    for (uint32_t b = 0; b < model->whens.data[w].branches.count; b++) {
      const WhenBranch *branch = &model->whens.data[w].branches.data[b];
      for (uint32_t a = 0; a < branch->actions.count; a++) {
        const Action *action = &branch->actions.data[a];
        if (action->kind != ACTION_REINIT) continue;
        if (!highest) highest = highest_orders(analysis, aliases, arena);
        uint32_t unknown = model->variables.data[action->target].index, root = aliases->root[unknown];
        if (root != UINT32_MAX && aliases->shift[unknown] < highest[root]) continue;
        reset_report(model, action, diags);
        return false;
      }
    }
  return true;
}

Analysis *analysis_run(Model *model, AnalysisRelease *release, Arena *arena, Diags *diags) {
  uint32_t before = diags->list.count;
  Analysis *analysis = arena_alloc(arena, sizeof *analysis);
  analysis->problem = problem_make(model, false, arena);
  analysis->structure = structure_run(arena, &analysis->problem.incidence);
  analysis->initial_equations = model->initial_equations.count;
  if (analysis->structure.status != STRUCTURE_OK) {
    verdict_report(&analysis->problem, &analysis->structure, diags);
    analysis->can_reset = true;
    check_regular(analysis, release, before, arena, diags);
    return analysis;
  }
  analysis->array = array_make(&analysis->problem, analysis->structure.c, analysis->structure.d, arena);
  Aliases aliases = model_find_aliases(model, arena);
  analysis->aliases = aliases.removed;
  analysis->can_reset = check_resets(analysis, &aliases, arena, diags);
  before = diags->list.count;
  find_hidden(analysis, arena);
  find_initial(analysis, arena, diags);
  check_regular(analysis, release, before, arena, diags);
  return analysis;
}
