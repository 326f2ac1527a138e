/* analysis_report: see analysis_report.h. */
#include "result/analysis_report.h"

#include "base/number.h"
#include "result/conversion_report.h"
#include "result/incidence.h"
#include "result/topology_report.h"

#include <math.h>
#include <string.h>

/* The largest number of items that a summary for people lists. */
enum { SHOWN = 8 };

const char *analysis_verdict(const Analysis *analysis) {
  static const char *const verdicts[] = {[STRUCTURE_UNBALANCED] = "unbalanced", [STRUCTURE_SINGULAR] = "singular"};
  if (analysis->curable) return "ok";
  return analysis->structure.status == STRUCTURE_OK ? "singular" : verdicts[analysis->structure.status];
}

static const char *equation_place(const Analysis *analysis, uint32_t equation, Arena *arena) {
  const Model *model = analysis->problem.model;
  return source_place(model->source, model->equations.data[equation].span, arena);
}

static const char *unknown_name(const Analysis *analysis, uint32_t j) {
  const Model *model = analysis->problem.model;
  return model_name(model, model->unknowns.data[analysis->problem.unknown[j]]);
}

/* ---- text ---- */

static void text_sizes(const Structure *structure, Heap *heap, TextVec *text) {
  uint64_t equations = (uint64_t)structure->n_equations, variables = (uint64_t)structure->n_variables;
  text_printf(heap, text, "  %d equation%s, %d variable%s\n", (int)equations, plural(equations), (int)variables,
              plural(variables));
}

static void text_figures(const Analysis *analysis, Heap *heap, TextVec *text) {
  const Structure *structure = &analysis->structure;
  int32_t largest = 0;
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++) {
    int32_t size = structure->blocks.start[b + 1] - structure->blocks.start[b];
    if (size > largest) largest = size;
  }
  text_sizes(structure, heap, text);
  text_printf(heap, text, "  structural index   %d\n", (int)structure->structural_index);
  text_printf(heap, text, "  degrees of freedom %lld\n", (long long)structure->dof);
  text_printf(heap, text, "  differentiations   %lld", (long long)structure->differentiations);
  if (structure->n_superfluous) text_printf(heap, text, " (%d of them superfluous)", (int)structure->n_superfluous);
  text_printf(heap, text, "\n  blocks             %d, the largest of %d equation%s\n", (int)structure->blocks.n_blocks,
              (int)largest, largest == 1 ? "" : "s");
  if (analysis->aliases)
    text_printf(heap, text, "  aliases            %u, eliminated for a simulation\n", analysis->aliases);
}

static void text_differentiated(Analysis *analysis, Heap *heap, TextVec *text, Arena *arena) {
  Model *model = analysis->problem.model;
  uint32_t shown = 0, count = 0;
  for (uint32_t i = 0; i < analysis->problem.equations; i++) {
    if (analysis->structure.c[i] == 0) continue;
    if (count++ == 0) text_printf(heap, text, "\nDifferentiated equations\n");
    if (shown++ >= SHOWN) continue;
    uint32_t equation = analysis->problem.equation[i];
    text_printf(heap, text, "  %s, %s: %s\n", equation_place(analysis, equation, arena),
                analysis->structure.c[i] == 1   ? "once"
                : analysis->structure.c[i] == 2 ? "twice"
                                                : arena_printf(arena, "%d times", (int)analysis->structure.c[i]),
                model_equation_text(model, &model->equations.data[equation], arena));
  }
  if (count > SHOWN) text_printf(heap, text, "  ... and %u more\n", count - SHOWN);
}

static void text_hidden(const Analysis *analysis, Heap *heap, TextVec *text, Arena *arena) {
  if (!analysis->hidden.count) return;
  text_printf(heap, text, "\nHidden constraints\n");
  for (uint32_t k = 0; k < analysis->hidden.count && k < SHOWN; k++)
    text_printf(heap, text, "  from %s: %s\n", equation_place(analysis, analysis->hidden.data[k].equation, arena),
                analysis->hidden.data[k].text);
  if (analysis->hidden.count > SHOWN) text_printf(heap, text, "  ... and %u more\n", analysis->hidden.count - SHOWN);
}

static void text_names(Heap *heap, TextVec *text, const char *label, const char *const *names, uint32_t count,
                       Arena *arena) {
  if (!count) return;
  text_printf(heap, text, "  %s", label);
  for (uint32_t k = 0; k < count && k < SHOWN; k++)
    text_printf(heap, text, "%s%s", k ? ", " : "", arena_printable(arena, names[k]));
  if (count > SHOWN) text_printf(heap, text, " and %u more", count - SHOWN);
  text_append(heap, text, "\n", 1);
}

static void text_initial(Analysis *analysis, Heap *heap, TextVec *text, Arena *arena) {
  const Model *model = analysis->problem.model;
  int64_t legal = (int64_t)analysis->fixed.count - analysis->redundant.count;
  int64_t open = analysis->structure.dof - legal - analysis->initial_equations;
  text_printf(heap, text, "\nInitial values\n");
  const char **fixed = arena_array(arena, analysis->fixed.count, sizeof *fixed);
  for (uint32_t k = 0; k < analysis->fixed.count; k++) fixed[k] = model_name(model, analysis->fixed.data[k]);
  text_names(heap, text, "fixed: ", fixed, analysis->fixed.count, arena);
  if (analysis->initial_equations) text_printf(heap, text, "  initial equations: %u\n", analysis->initial_equations);
  if (open > 0) {
    text_printf(heap, text, "  %lld more may be given; start values are guesses until then\n", (long long)open);
    if (!analysis->initial_equations)
      text_names(heap, text, "for example: ", analysis->suggested.data, analysis->suggested.count, arena);
  } else if (open < 0) {
    text_printf(heap, text, "  %lld value%s too many: %s must agree with the others, or initialization fails\n",
                (long long)-open, open == -1 ? "" : "s", open == -1 ? "it" : "they");
  } else {
    text_printf(heap, text, "  as many as there are degrees of freedom\n");
  }
}

static const char *how_known(const SingularBlock *singular, Arena *arena) {
  if (singular->here_only) return "at the start values only";
  return arena_printf(arena, "identically, by %d random points", singular->points);
}

/* Reports the blocks whose Jacobian is singular although the structure is regular. */
static void text_singular(const Analysis *analysis, Heap *heap, TextVec *text, Arena *arena) {
  const Blocks *blocks = &analysis->structure.blocks;
  Model *model = analysis->problem.model;
  if (analysis->singular.count) text_printf(heap, text, "\nSingular blocks\n");
  for (uint32_t k = 0; k < analysis->singular.count && k < SHOWN; k++) {
    const SingularBlock *singular = &analysis->singular.data[k];
    int32_t begin = blocks->start[singular->block];
    text_printf(heap, text, "  block %d of %d equation%s is singular %s", (int)singular->block + 1, (int)singular->size,
                singular->size == 1 ? "" : "s", how_known(singular, arena));
    if (singular->rank >= 0) text_printf(heap, text, ", rank %d", (int)singular->rank);
    text_append(heap, text, "\n", 1);
    for (int32_t p = begin; p < begin + singular->size && p < begin + SHOWN; p++) {
      uint32_t equation = analysis->problem.equation[blocks->row[p]];
      text_printf(heap, text, "    %s: %s, variable %s\n", equation_place(analysis, equation, arena),
                  model_equation_text(model, &model->equations.data[equation], arena),
                  arena_printable(arena, unknown_name(analysis, (uint32_t)blocks->column[p])));
    }
    if (singular->size > SHOWN) text_printf(heap, text, "    ... and %d more\n", (int)singular->size - SHOWN);
  }
  if (analysis->singular.count > SHOWN)
    text_printf(heap, text, "  ... and %u more\n", analysis->singular.count - SHOWN);
}

/* Only if structure and numbers disagree. */
static void text_regular(const Analysis *analysis, Heap *heap, TextVec *text, Arena *arena) {
  text_singular(analysis, heap, text, arena);
  if (!analysis->checked || analysis->regular) return;
  conversion_report_text(&analysis->conversions, heap, text);
  if (analysis->curable)
    text_printf(heap, text, "  then               structural index %d, degrees of freedom %lld\n",
                (int)analysis->true_index, (long long)analysis->true_dof);
}

void analysis_report_text(Analysis *analysis, Heap *heap, TextVec *text) {
  const Model *model = analysis->problem.model;
  Arena arena = arena_make(heap);
  text_printf(heap, text, "%s: structure %s\n", arena_printable(&arena, names_text(model->names, model->name)),
              analysis_verdict(analysis));
  if (analysis->structure.status == STRUCTURE_OK) {
    text_figures(analysis, heap, text);
    text_differentiated(analysis, heap, text, &arena);
    text_hidden(analysis, heap, text, &arena);
    if (!analysis->released) text_initial(analysis, heap, text, &arena);
    text_regular(analysis, heap, text, &arena);
    if (analysis->topology) topology_report_text(analysis, heap, text);
  } else {
    text_sizes(&analysis->structure, heap, text);
    text_regular(analysis, heap, text, &arena);
  }
  arena_free(&arena);
}

/* ---- JSON ---- */

static void json_integers(JsonWriter *json, const char *key, const int32_t *values, int32_t count, int32_t add) {
  json_key(json, key);
  for (uint32_t k = 0; json_next(json, k, (uint32_t)count); k++) json_integer(json, values[k] + add);
}

/* The line as it is in its file, without blanks at its ends. */
static const char *source_line_text(const Source *source, uint32_t offset, Arena *arena) {
  const SourceFile *file = source_file(source, offset);
  const char *begin = file->text + file->lines.data[source_line(source, offset) - 1];
  begin += strspn(begin, " \t");
  size_t length = strcspn(begin, "\r\n");
  while (length && (begin[length - 1] == ' ' || begin[length - 1] == '\t')) length--;
  return arena_printf(arena, "%.*s", (int)length, begin);
}

/* File and line, the line as written there, and the equation as it is in the flat model. */
static void json_equation_place(const Analysis *analysis, uint32_t equation, JsonWriter *json, Arena *arena) {
  const Model *model = analysis->problem.model;
  uint32_t offset = model->equations.data[equation].span.begin;
  json_key_string(json, "file", source_file(model->source, offset)->path);
  json_key_integer(json, "line", source_line(model->source, offset));
  json_key_string(json, "source", source_line_text(model->source, offset, arena));
  json_key_string(json, "text", model_equation_text(analysis->problem.model, &model->equations.data[equation], arena));
}

static void json_differentiations(const Analysis *analysis, JsonWriter *json, Arena *arena) {
  json_array_begin(json);
  for (uint32_t i = 0; i < analysis->problem.equations; i++) {
    if (analysis->structure.c[i] == 0) continue;
    json_object_begin(json);
    json_key_integer(json, "equation", (int64_t)analysis->problem.equation[i] + 1);
    json_equation_place(analysis, analysis->problem.equation[i], json, arena);
    json_key_integer(json, "times", analysis->structure.c[i]);
    json_object_end(json);
  }
  json_array_end(json);
}

static void json_blocks(const Analysis *analysis, JsonWriter *json) {
  const Blocks *blocks = &analysis->structure.blocks;
  for (uint32_t b = 0; json_next_object(json, b, (uint32_t)blocks->n_blocks); b++) {
    int32_t size = blocks->start[b + 1] - blocks->start[b];
    json_integers(json, "equations", blocks->row + blocks->start[b], size, 1);
    json_integers(json, "variables", blocks->column + blocks->start[b], size, 1);
    json_key_bool(json, "linear", analysis->linear[b]);
  }
}

static void json_initial(Analysis *analysis, JsonWriter *json, Arena *arena) {
  const Model *model = analysis->problem.model;
  int64_t open =
      analysis->structure.dof - (analysis->fixed.count - analysis->redundant.count) - analysis->initial_equations;
  json_object_begin(json);
  json_key_integer(json, "free", open);
  json_key(json, "fixed");
  for (uint32_t k = 0; json_next(json, k, analysis->fixed.count); k++)
    json_string(json, model_name(model, analysis->fixed.data[k]));
  json_key(json, "redundant");
  for (uint32_t k = 0; json_next(json, k, analysis->redundant.count); k++)
    json_string(json, model_name(model, analysis->redundant.data[k]));
  json_key(json, "candidates");
  for (uint32_t k = 0; json_next(json, k, (uint32_t)analysis->candidates.count); k++) {
    uint32_t column =
        analysis->array.column_start[analysis->candidates.variable[k]] + (uint32_t)analysis->candidates.order[k];
    json_string(json, array_column_name(&analysis->array, column, arena));
  }
  json_key(json, "suggested");
  for (uint32_t k = 0; json_next(json, k, analysis->suggested.count); k++)
    json_string(json, analysis->suggested.data[k]);
  json_key_integer(json, "initial_equations", analysis->initial_equations);
  json_object_end(json);
}

static void json_hidden(const Analysis *analysis, JsonWriter *json) {
  for (uint32_t k = 0; json_next(json, k, analysis->hidden.count); k++)
    json_string(json, analysis->hidden.data[k].text);
}

static void json_superfluous(const Analysis *analysis, JsonWriter *json) {
  json_array_begin(json);
  for (uint32_t i = 0; i < analysis->problem.equations; i++)
    if (analysis->structure.superfluous[i]) json_integer(json, (int64_t)analysis->problem.equation[i] + 1);
  json_array_end(json);
}

/* The verdict on each block that is not regular everywhere; the others are not listed. */
static void json_singular(const Analysis *analysis, JsonWriter *json, Arena *arena) {
  const Blocks *blocks = &analysis->structure.blocks;
  for (uint32_t k = 0; json_next_object(json, k, analysis->singular.count); k++) {
    const SingularBlock *singular = &analysis->singular.data[k];
    int32_t begin = blocks->start[singular->block];
    json_key_integer(json, "block", singular->block + 1);
    json_key_string(json, "verdict", singular->here_only ? "here" : "identical");
    json_key_integer(json, "points", singular->points);
    json_key_number(json, "rank", singular->rank >= 0 ? (double)singular->rank : NAN);
    json_key(json, "equations");
    for (uint32_t p = 0; json_next_object(json, p, (uint32_t)singular->size); p++) {
      uint32_t equation = analysis->problem.equation[blocks->row[begin + (int32_t)p]];
      json_key_integer(json, "equation", (int64_t)equation + 1);
      json_equation_place(analysis, equation, json, arena);
    }
    json_key(json, "variables");
    for (uint32_t p = 0; json_next(json, p, (uint32_t)singular->size); p++)
      json_string(json, unknown_name(analysis, (uint32_t)blocks->column[begin + (int32_t)p]));
  }
}

static void json_offsets(const Structure *structure, JsonWriter *json) {
  json_object_begin(json);
  json_integers(json, "c", structure->c, structure->n_equations, 0);
  json_integers(json, "d", structure->d, structure->n_variables, 0);
  json_object_end(json);
}

static void json_seconds(const Analysis *analysis, JsonWriter *json) {
  json_object_begin(json);
  json_key_number(json, "parse", analysis->seconds_parse);
  json_key_number(json, "structure", analysis->seconds_structure);
  json_object_end(json);
}

static void json_analysis(Analysis *analysis, JsonWriter *json, Arena *arena) {
  const Structure *structure = &analysis->structure;
  bool ok = structure->status == STRUCTURE_OK, is_told = ok || analysis->curable;
#define KEY(name, known, value) JSON_MEMBER(name, known, value)
#include "result/analysis_report.def"
}

void analysis_report_json(Analysis *analysis, Heap *heap, TextVec *text) {
  Arena arena = arena_make(heap);
  JsonWriter json = json_make(heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", analysis_verdict(analysis));
  json_analysis(analysis, &json, &arena);
  json_object_end(&json);
  arena_free(&arena);
}

const char analysis_report_nothing[] = JSON_NOTHING
#define KEY(name, known, value) JSON_NULL(name)
#include "result/analysis_report.def"
    JSON_END;

/* ---- picture ---- */

void analysis_report_svg(Analysis *analysis, Heap *heap, TextVec *text) {
  Arena arena = arena_make(heap);
  Model *model = analysis->problem.model;
  const Structure *structure = &analysis->structure;
  uint32_t n = analysis->problem.equations, m = analysis->problem.unknowns;
  const char **equations = NULL, **variables = NULL;
  if (n <= INCIDENCE_DETAIL && m <= INCIDENCE_DETAIL) {
    equations = arena_array(&arena, n, sizeof *equations);
    variables = arena_array(&arena, m, sizeof *variables);
    for (uint32_t i = 0; i < n; i++)
      equations[i] = model_equation_text(model, &model->equations.data[analysis->problem.equation[i]], &arena);
    for (uint32_t j = 0; j < m; j++) variables[j] = unknown_name(analysis, j);
  }
  bool ok = structure->status == STRUCTURE_OK;
  IncidencePicture picture = {.title = names_text(model->names, model->name),
                              .n_equations = (int32_t)n,
                              .n_variables = (int32_t)m,
                              .row_start = analysis->problem.incidence.row_start,
                              .column = analysis->problem.incidence.column,
                              .order = analysis->problem.incidence.order,
                              .equation_names = equations,
                              .variable_names = variables,
                              .n_blocks = ok ? structure->blocks.n_blocks : 0,
                              .block_start = structure->blocks.start,
                              .row_at = structure->blocks.row,
                              .column_at = structure->blocks.column,
                              .c = ok ? structure->c : NULL,
                              .d = ok ? structure->d : NULL};
  incidence_svg(heap, &picture, text);
  arena_free(&arena);
}
