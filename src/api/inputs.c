/* inputs: "u=sin(2*time), table.csv, held:steps.csv, w", and functions of the caller's: what gives inputs their values
 * along time.
 *
 * An input with a value is an equation, so the model is loaded anew with that as its binding. A model that was
 * loaded so was asked then. */
#include "api/handles.h"

#include "result/load.h"

#include <math.h>
#include <string.h>

typedef struct InputReader {
  daedal_result *result;
  Arena *arena;
} InputReader;

static bool refuse(InputReader *reader, const char *message) { return refuse_usage(reader->result, message); }

/* Is the variable an input whose value comes from outside? */
static bool is_open(const Variable *variable) {
  return variable->role == ROLE_PARAMETER && variable->variability > VARIABILITY_PARAMETER;
}

static bool add_input(InputReader *reader, GivenInput input) {
  daedal_result *result = reader->result;
  const Model *model = result->model->model;
  uint32_t position = model_find(model, input.name);
  if (result->model->has_inputs) return vec_push(result->heap, &result->inputs, input), true;
  if (position == MAP_NONE) return refuse_name(model, &result->diags, input.name, "give values as an input");
  const Variable *variable = &model->variables.data[position];
  if (!is_open(variable) || (variable->type != TYPE_REAL && !input.expression))
    return refuse(reader, arena_printf(reader->arena, "'%s' is no %sinput of the model without a value", input.name,
                                       input.expression ? "" : "Real "));
  for (uint32_t k = 0; k < result->inputs.count; k++)
    if (strcmp(result->inputs.data[k].name, input.name) == 0)
      return refuse(reader, arena_printf(reader->arena, "the input '%s' is given twice", input.name));
  vec_push(result->heap, &result->inputs, input);
  return true;
}

/* Points as an input. */
static bool add_points(InputReader *reader, const char *name, double *times, double *values, uint32_t rows, bool held) {
  InputSource source = {.kind = held ? INPUT_STAIRS : INPUT_LINES,
                        .orders = held ? 0 : 1,
                        .rows = rows,
                        .times = times,
                        .values = values};
  for (uint32_t r = 0; r < rows; r++)
    if (!isfinite(times[r]) || !isfinite(values[r]))
      return refuse(reader,
                    arena_printf(reader->arena, "row %u of the table of the input '%s' is not finite", r + 1, name));
  for (uint32_t r = 1; r < rows; r++)
    if (!(times[r] >= times[r - 1]))
      return refuse(reader, arena_printf(reader->arena, "the times of the input '%s' decrease", name));
  return add_input(reader, (GivenInput){.name = name, .source = source});
}

static bool add_column(InputReader *reader, const Trajectory *table, uint32_t signal, bool held) {
  uint32_t rows = (uint32_t)table->rows;
  double *times, *values;
  heap_numbers(reader->result->heap, rows, &times, &values);
  for (uint32_t r = 0; r < rows; r++) {
    times[r] = trajectory_time(table, r);
    values[r] = trajectory_value(table, r, signal);
  }
  return add_points(reader, table->signals->list.data[signal].name, times, values, rows, held);
}

static bool add_table(InputReader *reader, const char *path) {
  static const char prefix[] = "held:";
  bool held = strncmp(path, prefix, strlen(prefix)) == 0;
  const Trajectory *table =
      load_result(reader->result->heap, &reader->result->diags, held ? path + strlen(prefix) : path);
  if (!table) return false;
  if (!table->rows || !table->signals->list.count)
    return refuse(reader, arena_printf(reader->arena, "the table '%s' has no rows, or no columns besides time", path));
  for (uint32_t s = 0; s < table->signals->list.count; s++)
    if (!add_column(reader, table, s, held)) return false;
  return true;
}

static bool add_item(InputReader *reader, const char *begin, const char *end) {
  const char *equal = scan_list(begin, "="), *name = arena_trimmed(reader->arena, begin, equal < end ? equal : end);
  size_t length = strlen(name);
  if (!*name) return refuse(reader, "an input without a name");
  if (equal < end)
    return add_input(reader, (GivenInput){.name = name, .expression = arena_trimmed(reader->arena, equal + 1, end)});
  if (length > 4 && strcmp(name + length - 4, ".csv") == 0) return add_table(reader, name);
  return add_input(reader, (GivenInput){.name = name, .source = {.kind = INPUT_SET}});
}

/* The caller's struct may be smaller or larger. */
static const daedal_input *given_input(const daedal_options *options, uint32_t k) {
  return (const daedal_input *)((const char *)options->given_inputs + k * options->given_input_size);
}

static bool add_given(InputReader *reader, const daedal_input *input) {
  Heap *heap = reader->result->heap;
  bool has_table = input->rows && input->times && input->values;
  if (!input->name || (!input->value && !has_table))
    return refuse(reader, "an input needs a name, and a function or a table");
  if (!input->value)
    return add_points(reader, input->name, heap_copy(heap, input->times, input->rows, sizeof(double)),
                      heap_copy(heap, input->values, input->rows, sizeof(double)), input->rows, input->held);
  InputSource source = {
      .kind = INPUT_FUNCTION, .orders = input->orders, .function = input->value, .context = input->context};
  return add_input(reader, (GivenInput){.name = input->name, .source = source});
}

static bool is_given(const daedal_result *result, const char *name) {
  for (uint32_t k = 0; k < result->inputs.count; k++)
    if (strcmp(result->inputs.data[k].name, name) == 0) return true;
  return false;
}

/* Those that nothing gives are set by the caller. */
static bool add_open(InputReader *reader) {
  const Model *model = reader->result->model->model;
  for (uint32_t v = 0; v < model->variables.count; v++) {
    const Variable *variable = &model->variables.data[v];
    const char *name = model_name(model, v);
    if (!is_open(variable) || variable->type != TYPE_REAL || is_given(reader->result, name)) continue;
    if (!add_input(reader, (GivenInput){.name = name, .source = {.kind = INPUT_SET}})) return false;
  }
  return true;
}

bool inputs_read(daedal_result *result, const daedal_options *options) {
  InputReader reader = {result, &result->diags.arena};
  for (const char *at = options->inputs ? options->inputs : ""; *at;) {
    const char *end = scan_list(at, ",");
    if (!add_item(&reader, at, end)) return false;
    at = *end ? end + 1 : end;
  }
  for (uint32_t k = 0; k < options->given_input_count; k++)
    if (!add_given(&reader, given_input(options, k))) return false;
  return !options->open_inputs || add_open(&reader);
}
