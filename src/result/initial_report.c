/* initial_report: see initial_report.h. Every unknown of the model has its line, in order of declaration. Variables that alias
 * elimination removed show the value of the column that represents them. */
#include "result/initial_report.h"

#include "base/number.h"
#include "model/print.h"
#include "model/typed.h"
#include "result/json.h"

#include <math.h>
#include <string.h>

static const char *const ORIGIN_NAME[] = {
    [ORIGIN_COMPUTED] = "computed", [ORIGIN_FIXED] = "fixed", [ORIGIN_KEPT] = "kept", [ORIGIN_MOVED] = "moved"};

static const char *const WAY_NAME[] = {[WAY_STATES] = "states hold their start values",
                                       [WAY_KEPT] = "step by step, start values kept",
                                       [WAY_NEAREST] = "step by step, nearest to the start values",
                                       [WAY_HOMOTOPY] = "homotopy() from simplified to actual",
                                       [WAY_CONTINUED] = "step by step, continuation in the guesses",
                                       [WAY_ALL_ROWS] = "all equations at once",
                                       [WAY_RANKS] = "all equations and their derivatives at once, by ranks"};

const char *initial_report_way(InitialWay way) { return WAY_NAME[way]; }

enum { MOST_PARTS = 8, MOST_NAMES = 8 }; /* in a text */

/* One line of the table: a variable or derivative, or a free parameter. */
typedef struct ReportLine {
  const char *name;
  const InitialColumn *column; /* NULL: a constant, or discrete */
  double value, start;
  const char *alias; /* the column it stands for, NULL if it is its own */
  bool is_derivative, is_discrete;
} ReportLine;

typedef struct ReportTable {
  const Initial *initial;
  Evaluator *evaluator;
  Heap *heap;
  Arena arena;
  VEC(ReportLine) lines;
} ReportTable;

static void add_line(ReportTable *table, const char *name, uint32_t q, double sign, bool own) {
  const InitialSystem *system = table->initial->system;
  ReportLine line = {.name = name, .column = &table->initial->column[q], .value = sign * table->initial->value[q]};
  line.start = sign * line.column->start;
  if (!own)
    line.alias = arena_printf(&table->arena, "%s%s", sign < 0 ? "-" : "", system_column_name(system, q, &table->arena));
  vec_push(table->heap, &table->lines, line);
}

static void add_unknown(ReportTable *table, uint32_t unknown) {
  const InitialSystem *system = table->initial->system;
  const Array *array = system->array;
  const Problem *problem = array->problem;
  const Model *model = table->evaluator->model;
  const char *name = model_name(model, model->unknowns.data[unknown]);
  if (name[0] == '$') return; /* a variable that only added equations need */
  uint32_t root = problem->aliases.removed ? problem->aliases.root[unknown] : unknown;
  if (root == UINT32_MAX) {
    ReportLine line = {.name = name};
    evaluator_constant(table->evaluator, problem->aliases.constant[unknown], &line.value);
    vec_push(table->heap, &table->lines, line);
  } else if (root != unknown) {
    add_line(table, name, array->model_column[root] + problem->aliases.shift[unknown], problem->aliases.sign[unknown],
             false);
  } else {
    uint32_t j = problem->local[unknown];
    for (uint32_t q = array->column_start[j]; q < array->column_start[j + 1]; q++) {
      add_line(table, system_column_name(system, q, &table->arena), q, 1, true);
      vec_last(&table->lines).is_derivative = q > array->column_start[j];
    }
  }
}

static ReportTable make_table(const Initial *initial, Evaluator *evaluator, Heap *heap) {
  ReportTable table = {.initial = initial, .evaluator = evaluator, .heap = heap, .arena = arena_make(heap)};
  for (uint32_t u = 0; u < evaluator->model->unknowns.count; u++) add_unknown(&table, u);
  const InitialSystem *system = initial->system;
  for (uint32_t k = 0; k < system->parameters.count; k++)
    add_line(&table, system_column_name(system, system->array->columns + k, &table.arena), system->array->columns + k,
             1, true);
  const IndexVec *discretes = &evaluator->model->discretes;
  for (uint32_t d = 0; d < discretes->count; d++) {
    ReportLine line = {.name = model_name(evaluator->model, discretes->data[d]), .is_discrete = true};
    line.value = initial->discretes ? initial->discretes[d] : evaluator->discretes[d];
    line.start = initial->discrete_starts ? initial->discrete_starts[d] : line.value;
    vec_push(heap, &table.lines, line);
  }
  return table;
}

static void free_table(ReportTable *table) {
  vec_free(table->heap, &table->lines);
  arena_free(&table->arena);
}

/* The equation as written; *times is how often it was differentiated. */
static const char *row_text(const ReportTable *table, uint32_t row, uint32_t *times, Arena *arena) {
  const InitialSystem *system = table->initial->system;
  *times = 0;
  if (row == MAP_NONE) return NULL;
  if (system_row_is_initial(system, row)) return system_row_text(system, row, arena);
  *times = array_level(system->array, row);
  return system_row_text(system, row - *times, arena);
}

/* The equation in short form, with the sign of differentiation before it. */
static const char *row_label(const ReportTable *table, uint32_t row, Arena *arena) {
  enum { ROOM = 60 };
  const InitialSystem *system = table->initial->system;
  uint32_t times;
  const char *text = row_text(table, row, &times, arena);
  if (!text) return NULL;
  if (!system_row_is_initial(system, row) && array_row_is_added(system->array, row)) return "an added equation";
  const char *sign = !times ? "" : times == 1 ? "der " : arena_printf(arena, "der%u ", times);
  if (strlen(text) <= ROOM) return arena_printf(arena, "%s`%s`", sign, text);
  size_t length = ROOM - 4;
  while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
  return arena_printf(arena, "%s`%.*s ...`", sign, (int)length, text);
}

static const char *line_how(const ReportLine *line) {
  if (line->is_discrete) return "discrete";
  return line->column ? ORIGIN_NAME[line->column->origin] : "constant";
}

/* The row that determined the value, if the start value did not. */
static uint32_t line_row(const ReportLine *line) {
  if (!line->column || line->column->fixed || line->alias || line->column->origin == ORIGIN_KEPT) return MAP_NONE;
  return line->column->row;
}

/* ---- text ---- */

static void text_line(ReportTable *table, const ReportLine *line, int width, TextVec *text) {
  Heap *heap = table->heap;
  Arena *arena = &table->arena;
  text_printf(heap, text, "%-*s  %-23.16g %s", width, arena_printable(arena, line->name), line->value, line_how(line));
  if (line->alias) text_printf(heap, text, ", = %s", arena_printable(arena, line->alias));
  if (line->column && line->column->origin == ORIGIN_MOVED) text_printf(heap, text, " from %.10g", line->start);
  if (line->column && line->column->fixed && line->value != line->start)
    text_printf(heap, text, ", moved by %.2g", line->value - line->start);
  if (line->column && line->column->redundant) text_printf(heap, text, ", redundant");
  const char *equation = row_label(table, line_row(line), arena);
  if (equation) text_printf(heap, text, " by %s", equation);
  else if (line->column && !line->alias && line->column->origin == ORIGIN_COMPUTED && table->initial->way != WAY_RANKS)
    text_printf(heap, text,
                !line->column->low           ? ""
                : line->value == line->start ? " (free: the default start value)"
                                             : " (free)");
  text_append(heap, text, "\n", 1);
}

static void text_part(ReportTable *table, const HiddenPart *part, TextVec *text) {
  const Model *model = table->evaluator->model;
  text_printf(table->heap, text, "  highest index          %d:", part->index);
  for (uint32_t k = 0; k < part->highest.count && k < MOST_NAMES; k++)
    text_printf(table->heap, text, "%s %s", k ? "," : "",
                arena_printable(&table->arena, model_name(model, model->unknowns.data[part->highest.data[k]])));
  text_printf(table->heap, text, part->highest.count > MOST_NAMES ? ", ...\n" : "\n");
}

static void text_summary(ReportTable *table, const Explanation *explanation, TextVec *text) {
  const Initial *initial = table->initial;
  Heap *heap = table->heap;
  uint32_t equations = initial->system->rows - initial->system->array->rows;
  text_printf(heap, text, "  degrees of freedom     %lld: %u fixed, %u initial equation%s, %u left free\n",
              (long long)initial->dof, initial->fixed, equations, plural(equations), initial->free);
  if (explanation->ranks) text_printf(heap, text, "  ranks                  %s\n", explanation->ranks);
  for (uint32_t k = 0; k < explanation->parts.count && k < MOST_PARTS; k++)
    text_part(table, &explanation->parts.data[k], text);
  text_printf(heap, text, "  way                    %s, %u iteration%s\n", WAY_NAME[initial->way], initial->iterations,
              plural(initial->iterations));
  text_printf(heap, text, "  rung                   %s\n", nonlinear_rung_words(initial->rung));
  text_printf(heap, text, "  steps                  %u explicit, %u linear systems", explanation->assignments,
              explanation->linear);
  if (explanation->linear) text_printf(heap, text, " (largest %u)", explanation->largest_linear);
  text_printf(heap, text, ", %u nonlinear", explanation->nonlinear);
  if (explanation->nonlinear) text_printf(heap, text, " (largest %u)", explanation->largest_nonlinear);
  text_printf(heap, text, "\n  largest residual       %.2g (scaled)", explanation->residual);
  const char *worst = row_label(table, explanation->residual_row, &table->arena);
  if (worst && explanation->residual > 0) text_printf(heap, text, " in %s", worst);
  text_printf(heap, text, "\n  condition              %.2g\n", explanation->condition);
  for (uint32_t k = 0; k < initial->surplus.count; k++)
    text_printf(heap, text, "  redundant              initial equation %s\n",
                row_label(table, initial->surplus.data[k], &table->arena));
}

/* ---- a wrong start ---- */

/* Is component j a variable of the model, rather than one that added equations need? */
static bool is_written(const Propagation *propagation, const Evaluator *evaluator, uint32_t j) {
  const Array *array = evaluator->array;
  uint32_t unknown = array->problem->unknown[array->column_unknown[propagation->column[j]]];
  return model_name(evaluator->model, evaluator->model->unknowns.data[unknown])[0] != '$';
}

/* Does an error of component j do more than lead to another solution? */
static bool is_inconsistent(const Propagation *propagation, const Evaluator *evaluator, uint32_t j) {
  if (!is_written(propagation, evaluator, j)) return false;
  for (uint32_t i = 0; i < propagation->count; i++)
    if (propagation_power(propagation, PROPAGATION_TRAPEZOIDAL, 0, i, j) >= 0) return true;
  return false;
}

/* `y h^-1, z h^0`: the errors in a step. */
static const char *errors_text(const Propagation *propagation, const Evaluator *evaluator, int method, int step,
                               uint32_t j, Arena *arena) {
  const char *text = "";
  for (uint32_t i = 0; i < propagation->count; i++) {
    int power = propagation_power(propagation, (PropagationMethod)method, step, i, j);
    if (power < 0 || !is_written(propagation, evaluator, i)) continue;
    const char *name = array_column_name(evaluator->array, propagation->column[i], arena);
    text = arena_printf(arena, "%s%s%s h^%d", text, *text ? ", " : "", arena_printable(arena, name), -power);
  }
  return *text ? text : "nothing";
}

static void text_propagation(const Propagation *propagation, const Evaluator *evaluator, Heap *heap, Arena *arena,
                             TextVec *text) {
  if (propagation->failure) {
    text_printf(heap, text, "\nThe effect of a wrong start is not known: %s\n", propagation->failure);
    return;
  }
  text_printf(heap, text, "\nEffect of a wrong start: equations as given%s, linearized at the start, of index %u\n",
              propagation->is_closed ? " and those for free variables" : "", propagation->index);
  for (uint32_t j = 0; j < propagation->count; j++) {
    if (!is_inconsistent(propagation, evaluator, j)) continue;
    const char *name = array_column_name(evaluator->array, propagation->column[j], arena);
    text_printf(heap, text, "  %s wrong\n", arena_printable(arena, name));
    for (int method = 0; method < PROPAGATION_METHODS; method++) {
      const char *errors[PROPAGATION_STEPS];
      bool is_same = true;
      for (int step = 0; step < PROPAGATION_STEPS; step++) {
        errors[step] = errors_text(propagation, evaluator, method, step, j, arena);
        is_same = is_same && !strcmp(errors[step], errors[0]);
      }
      text_printf(heap, text, "    %-17s", propagation_names[method]);
      for (int step = 0; step < (is_same ? 1 : PROPAGATION_STEPS); step++)
        text_printf(heap, text, is_same ? " every step: %s" : step ? "; then %s" : " first %s", errors[step]);
      text_append(heap, text, "\n", 1);
    }
  }
}

void initial_report_text(const Initial *initial, const Explanation *explanation, Evaluator *evaluator, Heap *heap,
                         TextVec *text) {
  ReportTable table = make_table(initial, evaluator, heap);
  int width = 12;
  for (uint32_t k = 0; k < table.lines.count; k++) {
    int length = (int)strlen(arena_printable(&table.arena, table.lines.data[k].name));
    if (length > width && length <= 40) width = length;
  }
  text_printf(heap, text, "%-*s  %-23s %s\n", width, "variable", "value", "how");
  for (uint32_t k = 0; k < table.lines.count; k++) text_line(&table, &table.lines.data[k], width, text);
  text_summary(&table, explanation, text);
  if (explanation->propagation) text_propagation(explanation->propagation, evaluator, heap, &table.arena, text);
  free_table(&table);
}

static void json_errors(const Propagation *propagation, const Evaluator *evaluator, int method, int step, uint32_t j,
                        JsonWriter *json, Arena *arena) {
  size_t n = propagation->count;
  json_array_begin(json);
  for (uint32_t i = 0; i < n; i++) {
    int power = propagation_power(propagation, (PropagationMethod)method, step, i, j);
    if (power < 0 || !is_written(propagation, evaluator, i)) continue;
    uint32_t to = propagation->column[i], from = propagation->column[j];
    json_object_begin(json);
    json_key_string(json, "variable", array_column_name(evaluator->array, to, arena));
    json_key_integer(json, "power", -power);
    json_key_number(json, "factor",
                    propagation->factor[method][step][power] * propagation->part[i + (j + (size_t)power * n) * n] *
                        evaluator->nominal[to] / evaluator->nominal[from]);
    json_object_end(json);
  }
  json_array_end(json);
}

static void json_wrong(const Propagation *propagation, const Evaluator *evaluator, uint32_t j, JsonWriter *json,
                       Arena *arena) {
  json_object_begin(json);
  json_key_string(json, "wrong", array_column_name(evaluator->array, propagation->column[j], arena));
  for (int method = 0; method < PROPAGATION_METHODS; method++) {
    json_key(json, propagation_names[method]);
    json_array_begin(json);
    for (int step = 0; step < PROPAGATION_STEPS; step++)
      json_errors(propagation, evaluator, method, step, j, json, arena);
    json_array_end(json);
  }
  json_object_end(json);
}

static void json_propagation(const Propagation *propagation, const Evaluator *evaluator, JsonWriter *json,
                             Arena *arena) {
  json_object_begin(json);
  json_key_string(json, "failure", propagation->failure);
  json_key_number(json, "index", propagation->failure ? (double)NAN : propagation->index);
  json_key(json, "errors");
  json_array_begin(json);
  for (uint32_t j = 0; j < propagation->count && !propagation->failure; j++)
    if (is_inconsistent(propagation, evaluator, j)) json_wrong(propagation, evaluator, j, json, arena);
  json_array_end(json);
  json_object_end(json);
}

/* ---- JSON ---- */

static void json_line(ReportTable *table, const ReportLine *line, JsonWriter *json) {
  const InitialColumn *column = line->column;
  json_object_begin(json);
  json_key_string(json, "name", line->name);
  json_key_number(json, "value", line->value);
  json_key_string(json, "how", line_how(line));
  json_key_number(json, "start", column && column->given ? line->start : NAN);
  uint32_t times;
  json_key_string(json, "equation", row_text(table, line_row(line), &times, &table->arena));
  json_key_integer(json, "differentiations", times);
  json_key_string(json, "alias", line->alias);
  json_key_bool(json, "redundant", column && column->redundant);
  json_object_end(json);
}

static void json_unknowns(const Model *model, const char *key, const IndexVec *unknowns, JsonWriter *json) {
  json_key(json, key);
  for (uint32_t k = 0; json_next(json, k, unknowns->count); k++)
    json_string(json, model_name(model, model->unknowns.data[unknowns->data[k]]));
}

static void json_parts(const Explanation *explanation, const Model *model, JsonWriter *json) {
  for (uint32_t k = 0; json_next_object(json, k, explanation->parts.count); k++) {
    const HiddenPart *part = &explanation->parts.data[k];
    json_key_integer(json, "index", part->index);
    json_unknowns(model, "variables", &part->variables, json);
    json_unknowns(model, "highest_index", &part->highest, json);
  }
}

static void json_steps(const Explanation *explanation, JsonWriter *json) {
  json_object_begin(json);
  json_key_integer(json, "explicit", explanation->assignments);
  json_key_integer(json, "linear", explanation->linear);
  json_key_integer(json, "nonlinear", explanation->nonlinear);
  json_key_integer(json, "largest_linear", explanation->largest_linear);
  json_key_integer(json, "largest_nonlinear", explanation->largest_nonlinear);
  json_object_end(json);
}

static void json_redundant(const Initial *initial, JsonWriter *json, Arena *arena) {
  for (uint32_t k = 0; json_next(json, k, initial->surplus.count); k++)
    json_string(json, system_row_text(initial->system, initial->surplus.data[k], arena));
}

static void json_values(const Initial *initial, Evaluator *evaluator, JsonWriter *json) {
  ReportTable table = make_table(initial, evaluator, json->heap);
  for (uint32_t k = 0; json_next(json, k, table.lines.count); k++) json_line(&table, &table.lines.data[k], json);
  free_table(&table);
}

static void json_conflict(const Initial *initial, JsonWriter *json, Arena *arena) {
  const Conflict *conflict = &initial->conflict;
  const Model *model = initial->system->evaluator->model;
  json_object_begin(json);
  json_key(json, "variables");
  for (uint32_t k = 0; json_next_object(json, k, conflict->columns.count); k++) {
    const InitialColumn *column = &initial->column[conflict->columns.data[k]];
    json_key_string(json, "name",
                    column->named == MAP_NONE ? system_column_name(initial->system, conflict->columns.data[k], arena)
                                              : model_name(model, column->named));
    json_key_number(json, "fixed", column->sign * column->start);
    json_key_number(json, "wanted",
                    conflict->columns.data[k] == conflict->column ? column->sign * conflict->wanted : NAN);
  }
  json_key(json, "equations");
  for (uint32_t k = 0; json_next(json, k, conflict->rows.count); k++)
    json_string(json, system_row_text(initial->system, conflict->rows.data[k], arena));
  json_key_number(json, "residual", conflict->residual);
  json_object_end(json);
}

/* `found` explains the values; NULL: there are none. */
static void json_initial(const Initial *initial, const Explanation *found, Evaluator *evaluator, JsonWriter *json,
                         Arena *arena) {
#define KEY(name, known, value) JSON_MEMBER(name, known, value)
#include "result/initial_report.def"
}

void initial_report_json(const char *status, const Initial *initial, const Explanation *explanation,
                         Evaluator *evaluator, Heap *heap, TextVec *text) {
  Arena arena = arena_make(heap);
  JsonWriter json = json_make(heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", status);
  json_initial(initial, explanation, evaluator, &json, &arena);
  json_object_end(&json);
  arena_free(&arena);
}

const char initial_report_nothing[] = JSON_NOTHING
#define KEY(name, known, value) JSON_NULL(name)
#include "result/initial_report.def"
    JSON_END;

/* ---- modifiers ---- */

static void add_modifier(Heap *heap, TextVec *text, const Model *model, uint32_t position, double value) {
  text_append(heap, text, text->count > 1 ? ",\n  " : "\n  ", text->count > 1 ? 4 : 3);
  print_as_written(heap, text, model_name(model, position));
  text_append(heap, text, "(start = ", 9);
  typed_print(heap, text, model, &model->variables.data[position], value, "");
  text_append(heap, text, ")", 1);
}

/* For discrete variables, the values before the initial event. With the values found, the event would happen again. */
void initial_report_modifiers(const Initial *initial, Evaluator *evaluator, Heap *heap, TextVec *text) {
  const Model *model = evaluator->model;
  ReportTable table = make_table(initial, evaluator, heap);
  text_append(heap, text, "(", 1);
  for (uint32_t k = 0; k < table.lines.count; k++) {
    const ReportLine *line = &table.lines.data[k];
    uint32_t position = line->is_derivative ? MAP_NONE : model_find(model, line->name);
    bool has_start = (line->column || line->is_discrete) && position != MAP_NONE;
    const Variable *variable = has_start ? &model->variables.data[position] : NULL;
    if (variable && variable->type != TYPE_STRING && !variable->has_fixed_start)
      add_modifier(heap, text, model, position, line->is_discrete ? line->start : line->value);
  }
  text_append(heap, text, ")\n", 2);
  free_table(&table);
}
