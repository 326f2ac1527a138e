/* dump: see dump.h. Each pass is run here as a simulation runs it: with aliases eliminated and relations extracted. */
#include "result/dump.h"

#include "array/kink_modes.h"
#include "array/modes.h"

#include <string.h>

/* The passes that can be shown; dump_<pass> shows one. */
#define PASSES(PASS) PASS(flat) PASS(aliases) PASS(modes) PASS(structure) PASS(array)
#define PASS_NAME(pass) #pass,
#define PASS_DUMP(pass) dump_##pass,

const char *const DUMP_PASSES[] = {PASSES(PASS_NAME) NULL};

typedef struct Dump {
  Model *model;
  Heap *heap;
  TextVec *text;
  Arena arena;
  Problem problem;
  Modes modes;
} Dump;

static const char *unknown_name(const Dump *dump, uint32_t unknown) {
  return model_name(dump->model, dump->model->unknowns.data[unknown]);
}

static void dump_flat(Dump *dump) { model_print(dump->model, dump->heap, dump->text); }

static void dump_aliases(Dump *dump) {
  const Aliases *aliases = &dump->problem.aliases;
  text_printf(dump->heap, dump->text, "%u aliases\n", aliases->removed);
  for (uint32_t u = 0; aliases->removed && u < aliases->count; u++) {
    if (aliases->root[u] == u) continue;
    text_printf(dump->heap, dump->text, "%s = ", unknown_name(dump, u));
    if (aliases->root[u] == UINT32_MAX) {
      text_printf(dump->heap, dump->text, "%s\n", model_text(dump->model, aliases->constant[u], &dump->arena));
      continue;
    }
    const char *name = unknown_name(dump, aliases->root[u]);
    for (uint32_t k = 0; k < aliases->shift[u]; k++) name = arena_printf(&dump->arena, "der(%s)", name);
    text_printf(dump->heap, dump->text, "%s%s\n", aliases->sign[u] < 0 ? "-" : "", name);
  }
}

static void dump_modes(Dump *dump) {
  text_printf(dump->heap, dump->text, "%u relations that cause events\n", dump->modes.count);
  for (uint32_t m = 0; m < dump->modes.count; m++)
    text_printf(dump->heap, dump->text, "%s\n", model_text(dump->model, dump->modes.relation[m], &dump->arena));
}

static void dump_structure(Dump *dump) {
  Structure structure = structure_run(&dump->arena, &dump->problem.incidence);
  if (structure.status != STRUCTURE_OK) {
    text_printf(dump->heap, dump->text, "no perfect matching\n");
    return;
  }
  const Blocks *blocks = &structure.blocks;
  for (int32_t b = 0; b < blocks->n_blocks; b++) {
    text_printf(dump->heap, dump->text, "block %d\n", (int)b + 1);
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
      const Model *model = dump->model;
      const Equation *equation = &model->equations.data[dump->problem.equation[blocks->row[p]]];
      text_printf(dump->heap, dump->text, "  c %d d %d  %s: %s\n", (int)structure.c[blocks->row[p]],
                  (int)structure.d[blocks->column[p]], unknown_name(dump, dump->problem.unknown[blocks->column[p]]),
                  model_equation_text(dump->model, equation, &dump->arena));
    }
  }
}

static void dump_array(Dump *dump) {
  Structure structure = structure_run(&dump->arena, &dump->problem.incidence);
  if (structure.status != STRUCTURE_OK) return;
  Array array = array_make(&dump->problem, structure.c, structure.d, &dump->arena);
  text_printf(dump->heap, dump->text, "%u rows, %u columns\n", array.rows, array.columns);
  for (uint32_t r = 0; r < array.rows; r++)
    text_printf(dump->heap, dump->text, "row %u (%u, %u): %s\n", r + 1, array.row_equation[r] + 1,
                array_level(&array, r), array_row_text(&array, dump->model, r, &dump->arena));
  for (uint32_t q = 0; q < array.columns; q++)
    text_printf(dump->heap, dump->text, "column %u: %s\n", q + 1, array_column_name(&array, q, &dump->arena));
}

bool dump_pass(Model *model, const char *pass, Heap *heap, TextVec *text) {
  static void (*const dumps[])(Dump *) = {PASSES(PASS_DUMP)};
  for (size_t k = 0; DUMP_PASSES[k]; k++) {
    if (strcmp(DUMP_PASSES[k], pass) != 0) continue;
    Dump dump = {.model = model, .heap = heap, .text = text, .arena = arena_make(heap)};
    if (k > 0) {
      dump.problem = problem_make(model, true, &dump.arena);
      kink_modes_open(&dump.problem, NULL, false, false, &dump.arena);
      dump.modes = modes_extract(&dump.problem, &dump.arena);
    }
    dumps[k](&dump);
    arena_free(&dump.arena);
    return true;
  }
  return false;
}
