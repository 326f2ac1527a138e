/* source: see source.h. */
#include "export/source.h"

#include "base/linear.h"
#include "external/table.h"

#include <string.h>

static bool refuse(const ExportSource *source, Diags *diags, const char *what, const char *name) {
  diag_error(diags, DIAG_NOT_EXPORTED, (Span){0}, "%s cannot be exported: %s%s%s", source->name, what, name ? " " : "",
             name ? name : "");
  return false;
}

/* The most conditions whose combinations are examined. */
enum { MOST_CONDITIONS = 8 };

/* Do the equations in a mode need more differentiations than the equations of all modes together? A mode without a structure is
 * unreachable, or ends the run. */
static bool has_other_structure(const ExportSource *source, const bool *holds, Arena *arena) {
  Problem problem = *source->evaluator->array->problem;
  problem.model = evaluator_model(source->evaluator);
  Problem narrow = branches_narrow(&problem, source->branches, holds, arena);
  Structure structure = structure_run(arena, &narrow.incidence);
  bool is_other = false;
  for (uint32_t i = 0; i < narrow.equations && structure.status == STRUCTURE_OK && !is_other; i++)
    is_other = structure.c[i] > source->structure->c[i];
  return is_other;
}

uint32_t export_number_conditions(const Branches *branches, uint32_t *number) {
  uint32_t count = 0;
  for (uint32_t b = 0; b < branches->count; b++) {
    uint32_t same = 0;
    while (same < b && branches->condition[same] != branches->condition[b]) same++;
    number[b] = same < b ? number[same] : count++;
  }
  return count;
}

bool export_may_slide(const ExportSource *source) { return source->evaluator->code->modes->count > 0; }

/* No matrix has more equations than all these together. */
static bool may_have_large(const ExportSource *source) {
  const ExportPoint *point = source->point && source->point->evaluator ? source->point : NULL;
  const Array *array = source->evaluator->array;
  uint32_t most = array->rows + array->columns + source->evaluator->model->parameters.count;
  return most + (point ? point->evaluator->array->columns : 0) > LINEAR_KEPT_MAX;
}

bool export_has_large(const ExportSource *systems) {
  bool any = false;
  for (uint32_t k = 0; k < systems->systems && !any; k++) any = may_have_large(&systems[k]);
  return any;
}

bool export_may_fold(const ExportSource *source) {
  const ArrayCode *code = source->evaluator->code;
  return (code->modes->kinks || code->is_rough) && !code->modes->logic->delays.count;
}

bool export_watches_branch(const ExportSource *source) {
  return export_may_fold(source) && source->evaluator->code->modes->kinks > 0;
}

bool export_chooses_states(const ExportSource *source) {
  for (int32_t b = 0; b < source->structure->blocks.n_blocks; b++)
    if (dummy_blocks_choose(source->choice, b)) return true;
  return false;
}

bool export_same_leaves(const ExportSource *a, const ExportSource *b) {
  const Problem *one = a->evaluator->array->problem, *other = b->evaluator->array->problem;
  const Modes *modes = a->evaluator->code->modes, *others = b->evaluator->code->modes;
  return one->unknowns == other->unknowns && modes->count == others->count &&
         modes_leaves(modes) == modes_leaves(others) &&
         memcmp(one->unknown, other->unknown, one->unknowns * sizeof *one->unknown) == 0;
}

bool export_changes_structure(const ExportSource *source) {
  Arena arena = arena_make(source->evaluator->heap);
  uint32_t count = source->branches->count, *number = arena_array(&arena, count, sizeof *number);
  uint32_t conditions = export_number_conditions(source->branches, number);
  bool *holds = arena_array(&arena, count, sizeof *holds), changes = false;
  if (conditions > MOST_CONDITIONS) conditions = MOST_CONDITIONS;
  for (uint32_t set = 0; set < UINT32_C(1) << conditions && !changes; set++) {
    for (uint32_t b = 0; b < count; b++) holds[b] = number[b] < conditions && set >> number[b] & 1;
    changes = has_other_structure(source, holds, &arena);
  }
  arena_free(&arena);
  return changes;
}

bool export_possible(const ExportSource *source, Diags *diags) {
  const Model *model = source->evaluator->model;
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    const Variable *variable = &model->variables.data[model->parameters.data[p]];
    if (variable->type == TYPE_EXTERNAL_OBJECT && !table_lookup(external_instance(source->evaluator->parameters[p])))
      return refuse(source, diags, "it needs the external object", model_name(model, model->parameters.data[p]));
  }
  for (uint32_t f = 0; f < model->functions.count; f++)
    if (model->functions.data[f]->is_once)
      return refuse(source, diags, "it calls an external function that is not pure",
                    names_text(model->names, model->functions.data[f]->name));
  for (uint32_t k = 0; k < model->inputs.count; k++)
    if (model->inputs.data[k].kind != INPUT_SET)
      return refuse(source, diags, "a table or function of this program gives the input",
                    model_name(model, model->inputs.data[k].variable));
  return true;
}

const InitialColumn *export_initial_column(const ExportSource *source, uint32_t column) {
  const Initial *initial = source->initial;
  return &initial->column[initial->system ? system_column(initial->system, column) : column];
}

/* The expression of a variable that is an unknown of the point. */
static Expr point_unknown(const ExportPoint *point, uint32_t variable) {
  Evaluator *evaluator = point->evaluator;
  const Aliases *aliases = &evaluator->array->problem->aliases;
  if (variable >= evaluator->model->variables.count) return EXPR_NONE;
  const Variable *written = &evaluator->model->variables.data[variable];
  if (written->role != ROLE_UNKNOWN) return EXPR_NONE;
  Dag *dag = evaluator_model(evaluator)->dag;
  if (!aliases->removed) return dag_variable(dag, written->index, 0);
  if (aliases->root[written->index] == UINT32_MAX) return aliases->constant[written->index];
  return dag_scale(dag, aliases->sign[written->index], dag_variable(dag, aliases->root[written->index], 0));
}

Expr export_point_value(const ExportPoint *point, uint32_t variable) {
  Expr value = point_unknown(point, variable);
  for (uint32_t k = 0; k < point->count && value == EXPR_NONE; k++) {
    if (point->differences[k].variable != variable) continue;
    Expr plus = point_unknown(point, point->differences[k].plus),
         minus = point_unknown(point, point->differences[k].minus);
    if (plus != EXPR_NONE && minus != EXPR_NONE)
      value = dag_subtract(evaluator_model(point->evaluator)->dag, plus, minus);
  }
  return value;
}

void export_find_restart(Heap *heap, ExportSource *source) {
  const Initial *initial = source->initial;
  bool is_kept = initial->way == WAY_STATES || initial->way == WAY_KEPT || initial->way == WAY_HOMOTOPY;
  source->obstacle = NULL;
  if (!initial->column) source->obstacle = "another run gives its start";
  else if (source->point && !source->point->evaluator) source->obstacle = "the operating point was not found again";
  if (source->obstacle || is_kept) return;
  StepsTrace *trace = heap_alloc(heap, sizeof *trace);
  if (initial_trace(initial, source->tolerance, trace)) source->trace = trace;
  else source->obstacle = "its initial values are found by a search that an export does not contain";
}

bool export_restarts(const ExportSource *source) { return !source->number && !source->obstacle; }
