/* structure: see structure.h. */
#include "structure/structure.h"

static void sum_up(Structure *structure) {
  int32_t most = 0, algebraic = 0;
  structure->differentiations = structure->dof = 0;
  for (int32_t i = 0; i < structure->n_equations; i++) {
    structure->differentiations += structure->c[i];
    if (structure->c[i] > most) most = structure->c[i];
  }
  for (int32_t j = 0; j < structure->n_variables; j++) {
    structure->dof += structure->d[j];
    if (structure->d[j] == 0) algebraic = 1;
  }
  structure->dof -= structure->differentiations;
  structure->structural_index = most + algebraic;
}

/* Tells the blocks that block b uses that an algebraic variable depends on them. */
static void spread_algebraic(const Structure *structure, const Pattern *tight, int32_t b, const bool *needed,
                             bool *algebraic) {
  const Blocks *blocks = &structure->blocks;
  for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++)
    if (structure->d[blocks->column[p]] == 0 || (needed && needed[blocks->column[p]])) algebraic[b] = true;
  if (!algebraic[b]) return;
  for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
    int32_t i = blocks->row[p];
    for (int32_t e = tight->row_start[i]; e < tight->row_start[i + 1]; e++)
      algebraic[blocks->block_of_column[tight->column[e]]] = true;
  }
}

/* Mattsson, Söderlind 1991, section 3, Example 2 and after it. A block that determines a derivative used by
 * an algebraic variable must keep its last differentiation: in x = f, y = x', z = y' dropping x'' = f'' would
 * leave z, equal to the derivative of an algebraic variable, at index 2. */
static void find_superfluous(Arena *arena, Arena *scratch, const Pattern *tight, const bool *needed,
                             Structure *structure) {
  const Blocks *blocks = &structure->blocks;
  bool *algebraic = arena_array(scratch, (size_t)blocks->n_blocks, sizeof *algebraic);
  structure->superfluous_block = arena_array(arena, (size_t)blocks->n_blocks, sizeof(bool));
  structure->superfluous = arena_array(arena, (size_t)structure->n_equations, sizeof(bool));
  for (int32_t b = blocks->n_blocks - 1; b >= 0; b--) {
    spread_algebraic(structure, tight, b, needed, algebraic);
    structure->superfluous_block[b] = !algebraic[b];
  }
  structure->n_superfluous = 0;
  for (int32_t i = 0; i < structure->n_equations; i++) {
    structure->superfluous[i] = structure->c[i] > 0 && structure->superfluous_block[blocks->block_of_row[i]];
    structure->n_superfluous += structure->superfluous[i];
  }
}

/* Coarse block b without states, and without any in what it depends on, is a function of time. */
static bool is_driven(const Structure *structure, const Incidence *incidence, int32_t b, const bool *driven) {
  const Blocks *coarse = &structure->coarse;
  int32_t states = 0;
  for (int32_t p = coarse->start[b]; p < coarse->start[b + 1]; p++) {
    int32_t i = coarse->row[p];
    states += structure->d[coarse->column[p]] - structure->c[i];
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      int32_t used = coarse->block_of_column[incidence->column[e]];
      if (used != b && !driven[used]) return false;
    }
  }
  return states == 0;
}

/* Does equation i hold unknowns of its own block and functions of time alone? */
static bool is_closed(const Structure *structure, const Incidence *incidence, int32_t i, const bool *driven) {
  const Blocks *blocks = &structure->blocks;
  for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
    int32_t j = incidence->column[e];
    if (blocks->block_of_column[j] != blocks->block_of_row[i] && !driven[structure->coarse.block_of_column[j]])
      return false;
  }
  return true;
}

/* The differentiated equations of block b, which stay, need the highest derivatives that they hold. */
static void spread_kept(const Structure *structure, const Pattern *tight, int32_t b, bool *kept) {
  const Blocks *blocks = &structure->blocks;
  for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
    int32_t i = blocks->row[p];
    for (int32_t e = tight->row_start[i]; e < tight->row_start[i + 1] && structure->c[i] > 0; e++)
      kept[blocks->block_of_column[tight->column[e]]] = true;
  }
}

static void find_removable(Arena *arena, Arena *scratch, const Incidence *incidence, const Pattern *tight,
                           Structure *structure) {
  const Blocks *blocks = &structure->blocks;
  bool *driven = arena_array(scratch, (size_t)structure->coarse.n_blocks, sizeof *driven);
  bool *kept = arena_array(scratch, (size_t)blocks->n_blocks, sizeof *kept);
  structure->removable_block = arena_array(arena, (size_t)blocks->n_blocks, sizeof(bool));
  for (int32_t b = 0; b < structure->coarse.n_blocks; b++) driven[b] = is_driven(structure, incidence, b, driven);
  for (int32_t b = blocks->n_blocks - 1; b >= 0; b--) {
    bool removable = structure->superfluous_block[b] && !kept[b];
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1] && removable; p++)
      removable = structure->c[blocks->row[p]] == 0 || is_closed(structure, incidence, blocks->row[p], driven);
    structure->removable_block[b] = removable;
    if (!removable) spread_kept(structure, tight, b, kept);
  }
}

static void complete(Arena *arena, const Incidence *incidence, Structure *structure) {
  Arena scratch = arena_make(arena->heap);
  Pattern pattern = incidence_pattern(incidence);
  Pattern tight = incidence_tight(&scratch, incidence, structure->c, structure->d);
  sum_up(structure);
  structure->blocks = blocks_find(arena, &tight, &structure->matching);
  structure->coarse = blocks_find(arena, &pattern, &structure->matching);
  find_superfluous(arena, &scratch, &tight, NULL, structure);
  find_removable(arena, &scratch, incidence, &tight, structure);
  arena_free(&scratch);
}

Structure structure_run(Arena *arena, const Incidence *incidence) {
  Pantelides pantelides = pantelides_run(arena, incidence);
  Structure structure = {.n_equations = incidence->n_equations, .n_variables = incidence->n_variables};
  structure.matching = pantelides.matching;
  structure.c = pantelides.c;
  structure.d = pantelides.d;
  if (pantelides.ok) {
    complete(arena, incidence, &structure);
    return structure;
  }
  bool balanced = incidence->n_equations == incidence->n_variables;
  Pattern pattern = incidence_pattern(incidence);
  structure.status = balanced ? STRUCTURE_SINGULAR : STRUCTURE_UNBALANCED;
  structure.dulmage = dulmage_find(arena, &pattern, &structure.matching);
  return structure;
}

/* One round of Pryce's iteration (2001), upwards: c from d on the transversal, then d from c. */
static bool raise_once(const Incidence *incidence, const Matching *transversal, const int32_t *sigma, int32_t *c,
                       int32_t *d) {
  bool changed = false;
  for (int32_t i = 0; i < incidence->n_equations; i++) {
    int32_t least = d[transversal->column_of_row[i]] - sigma[i];
    if (least > c[i]) c[i] = least;
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      int32_t j = incidence->column[e];
      if (c[i] + incidence->order[e] <= d[j]) continue;
      d[j] = c[i] + incidence->order[e];
      changed = true;
    }
  }
  return changed;
}

Structure structure_raise(Arena *arena, const Incidence *incidence, const Structure *structure, const int32_t *least) {
  Structure raised = *structure;
  int32_t n = incidence->n_equations;
  raised.c = index_zeros(arena, n);
  raised.d = index_zeros(arena, n);
  int32_t *sigma = index_zeros(arena, n);
  for (int32_t i = 0; i < n; i++) {
    raised.c[i] = structure->c[i];
    sigma[i] = structure->d[structure->matching.column_of_row[i]] - structure->c[i];
  }
  for (int32_t j = 0; j < n; j++) raised.d[j] = least[j] > structure->d[j] ? least[j] : structure->d[j];
  while (raise_once(incidence, &raised.matching, sigma, raised.c, raised.d)) continue;
  complete(arena, incidence, &raised);
  return raised;
}

void structure_need(Arena *arena, const Incidence *incidence, Structure *structure, const bool *needed) {
  Arena scratch = arena_make(arena->heap);
  Pattern tight = incidence_tight(&scratch, incidence, structure->c, structure->d);
  find_superfluous(arena, &scratch, &tight, needed, structure);
  find_removable(arena, &scratch, incidence, &tight, structure);
  arena_free(&scratch);
}
