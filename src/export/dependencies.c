/* dependencies: see dependencies.h. The rows of a block at one stage determine its columns together, so all of these columns depend
 * on everything in the rows. The sets of inputs and states are known; the other sets start from them and grow until they no
 * longer change. Each set
 * has two halves: all sources, and then the sources on which it depends by a factor that is not fixed. */
#include "export/dependencies.h"

#include <string.h>

typedef struct DependencySearch {
  Arena *arena;
  const ExportSource *source;
  const ExportVariables *variables;
  Dependencies *found;
  uint64_t *rows, *blocks; /* a set per row, and a set per block for its states */
  uint32_t inputs;
} DependencySearch;

static uint64_t *set_of(const DependencySearch *search, uint64_t *sets, uint32_t k) {
  return sets + 2 * (size_t)k * search->found->words;
}

static void add_source(uint64_t *set, uint32_t source) { set[source / 64] |= UINT64_C(1) << source % 64; }

bool dependencies_has(const uint64_t *set, uint32_t source) { return set[source / 64] >> source % 64 & 1; }

bool dependencies_is_fixed(const Dependencies *dependencies, const uint64_t *set, uint32_t source) {
  return !dependencies_has(set + dependencies->words, source);
}

/* is_fixed: by a factor that does not change. */
static bool merge(const DependencySearch *search, uint64_t *into, const uint64_t *from, bool is_fixed) {
  bool grows = false;
  uint32_t words = search->found->words;
  for (uint32_t w = 0; w < 2 * words; w++) {
    uint64_t more = from[w < words || is_fixed ? w : w - words];
    grows |= (more & ~into[w]) != 0;
    into[w] |= more;
  }
  return grows;
}

static uint64_t *make_sets(DependencySearch *search, uint32_t count) {
  return arena_array(search->arena, 2 * (size_t)count * search->found->words, sizeof(uint64_t));
}

/* Lists the inputs and the states. */
static void list_sources(DependencySearch *search) {
  const ExportVariables *variables = search->variables;
  uint32_t *known = arena_array(search->arena, variables->list.count, sizeof *known), count = 0;
  for (uint32_t v = 0; v < variables->list.count; v++)
    if (variables->list.data[v].causality == EXPORT_INPUT) known[count++] = v;
  search->inputs = count;
  for (uint32_t k = 0; k < variables->states.count; k++) known[count++] = variables->states.data[k];
  search->found->known = known;
  search->found->count = count;
  search->found->words = (count + 63) / 64;
}

static void add_inputs(DependencySearch *search, uint32_t row, const uint32_t *source_of_leaf) {
  Evaluator *evaluator = search->source->evaluator;
  const Dag *dag = evaluator->model->dag;
  IndexVec below = {0};
  if (!dag_depends(dag, evaluator->array->row[row], OP_PARAMETER)) return;
  dag_below(dag, &evaluator->scratch, &evaluator->array->row[row], 1, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    if (dag_op(dag, below.data[k]) != OP_PARAMETER) continue;
    uint32_t source = source_of_leaf[dag_index(dag, below.data[k])];
    if (source == MAP_NONE) continue;
    add_source(set_of(search, search->rows, row), source);
    add_source(set_of(search, search->rows, row) + search->found->words, source);
  }
  vec_free(evaluator->heap, &below);
}

static void begin_rows(DependencySearch *search) {
  const Evaluator *evaluator = search->source->evaluator;
  uint32_t leaves = evaluator->model->parameters.count, *source = arena_array(search->arena, leaves, sizeof *source);
  search->rows = make_sets(search, evaluator->array->rows);
  for (uint32_t p = 0; p < leaves; p++) source[p] = MAP_NONE;
  for (uint32_t k = 0; k < search->inputs; k++) source[search->variables->list.data[search->found->known[k]].index] = k;
  for (uint32_t r = 0; r < evaluator->array->rows && search->inputs; r++) add_inputs(search, r, source);
}

/* A state depends on itself; where states are chosen, on all states of its block. */
static void begin_columns(DependencySearch *search) {
  const ExportSource *source = search->source;
  const Array *array = source->evaluator->array;
  const int32_t *depth = dummy_depth(source->dummy), *block_of = source->structure->blocks.block_of_column;
  const uint32_t *order = export_state_order(search->arena, source);
  uint32_t n = array->problem->unknowns, next = search->inputs;
  search->found->columns = make_sets(search, array->columns);
  search->blocks = make_sets(search, (uint32_t)source->structure->blocks.n_blocks);
  for (uint32_t k = 0; k < n; k++)
    for (int32_t level = 0; level < array->d[order[k]] - depth[order[k]]; level++, next++) {
      add_source(set_of(search, search->found->columns, array->column_start[order[k]] + (uint32_t)level), next);
      add_source(set_of(search, search->blocks, (uint32_t)block_of[order[k]]), next);
    }
  for (uint32_t j = 0; j < n; j++)
    for (int32_t level = 0; level < array->d[j] && dummy_blocks_choose(source->choice, block_of[j]); level++)
      merge(search, set_of(search, search->found->columns, array->column_start[j] + (uint32_t)level),
            set_of(search, search->blocks, (uint32_t)block_of[j]), false);
}

static bool is_solved(const ExportSource *source, int32_t block, int32_t j, int32_t stage) {
  int32_t d = source->evaluator->array->d[j];
  return d >= stage &&
         (stage == 0 || dummy_blocks_choose(source->choice, block) || dummy_depth(source->dummy)[j] >= stage);
}

/* Are all derivatives of the rows with respect to a column fixed? */
static bool has_fixed_entries(const Jacobian *jacobian, uint32_t column) {
  for (int32_t e = jacobian->column_start[column]; e < jacobian->column_start[column + 1]; e++)
    if (!jacobian->is_constant[e]) return false;
  return true;
}

/* Spreads the sets over the rows of a block at a stage. Returns whether a column's set grew. */
static bool spread_stage(DependencySearch *search, int32_t block, int32_t stage, uint64_t *joint) {
  const Array *array = search->source->evaluator->array;
  const Blocks *blocks = &search->source->structure->blocks;
  bool grows = false, is_fixed = !dummy_blocks_choose(search->source->choice, block);
  memset(joint, 0, 2 * search->found->words * sizeof *joint);
  for (int32_t k = blocks->start[block]; k < blocks->start[block + 1]; k++) {
    uint32_t i = (uint32_t)blocks->row[k];
    if (array->c[i] >= stage)
      merge(search, joint, set_of(search, search->rows, array->row_start[i] + (uint32_t)(array->c[i] - stage)), true);
    uint32_t j = (uint32_t)blocks->column[k];
    if (is_solved(search->source, block, (int32_t)j, stage))
      is_fixed = is_fixed && has_fixed_entries(search->source->evaluator->jacobian,
                                               array->column_start[j] + (uint32_t)(array->d[j] - stage));
  }
  for (int32_t k = blocks->start[block]; k < blocks->start[block + 1]; k++) {
    int32_t j = blocks->column[k];
    if (!is_solved(search->source, block, j, stage)) continue;
    uint32_t column = array->column_start[j] + (uint32_t)(array->d[j] - stage);
    grows |= merge(search, set_of(search, search->found->columns, column), joint, is_fixed);
  }
  return grows;
}

static bool spread(DependencySearch *search, uint64_t *joint) {
  const ExportSource *source = search->source;
  const Jacobian *jacobian = source->evaluator->jacobian;
  const Array *array = source->evaluator->array;
  int32_t stages = 0;
  bool grows = false;
  for (uint32_t q = 0; q < array->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      merge(search, set_of(search, search->rows, (uint32_t)jacobian->row_index[e]),
            set_of(search, search->found->columns, q), jacobian->is_constant[e]);
  for (uint32_t i = 0; i < array->problem->equations; i++)
    if (array->c[i] > stages) stages = array->c[i];
  for (int32_t stage = stages; stage >= 0; stage--)
    for (int32_t b = 0; b < source->structure->blocks.n_blocks; b++) grows |= spread_stage(search, b, stage, joint);
  return grows;
}

/* The derivative of a state is the column above it. If a state may be exchanged, its derivative may be any such column of its
 * block. */
static void gather_rates(DependencySearch *search) {
  const ExportSource *source = search->source;
  const Array *array = source->evaluator->array;
  const int32_t *depth = dummy_depth(source->dummy), *block_of = source->structure->blocks.block_of_column;
  const uint32_t *order = export_state_order(search->arena, source);
  uint32_t n = array->problem->unknowns, next = 0;
  uint64_t *above = make_sets(search, (uint32_t)source->structure->blocks.n_blocks);
  search->found->rates = make_sets(search, search->variables->states.count);
  for (uint32_t j = 0; j < n; j++)
    for (int32_t level = 1; level <= array->d[j]; level++)
      merge(search, set_of(search, above, (uint32_t)block_of[j]),
            set_of(search, search->found->columns, array->column_start[j] + (uint32_t)level), true);
  for (uint32_t k = 0; k < n; k++)
    for (int32_t level = 0; level < array->d[order[k]] - depth[order[k]]; level++, next++) {
      uint32_t j = order[k], to = array->column_start[j] + (uint32_t)level + 1;
      bool is_chosen = dummy_blocks_choose(source->choice, block_of[j]);
      merge(search, set_of(search, search->found->rates, next),
            is_chosen ? set_of(search, above, (uint32_t)block_of[j]) : set_of(search, search->found->columns, to),
            true);
    }
}

Dependencies dependencies_find(Arena *arena, const ExportSource *source, const ExportVariables *variables) {
  Dependencies found = {0};
  if (source->systems > 1) return found;
  DependencySearch search = {.arena = arena, .source = source, .variables = variables, .found = &found};
  list_sources(&search);
  begin_rows(&search);
  begin_columns(&search);
  uint64_t *joint = make_sets(&search, 1);
  while (spread(&search, joint)) continue;
  gather_rates(&search);
  return found;
}

const uint64_t *dependencies_of(const Dependencies *dependencies, const ExportVariable *variable) {
  if (!dependencies->columns) return NULL;
  if (variable->kind == EXPORT_RATE) return dependencies->rates + 2 * (size_t)variable->index * dependencies->words;
  if (variable->kind == EXPORT_COLUMN) return dependencies->columns + 2 * (size_t)variable->index * dependencies->words;
  return NULL;
}
