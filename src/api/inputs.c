/* inputs: reads the values of inputs over time: expressions, files, tables and functions of the caller.
 *
 * An input with a value is an equation, so the model is loaded again with that value as the binding. A model that was loaded this
 * way has already checked its inputs. */
#include "api/handles.h"

#include "base/map.h"
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
  if (position == MAP_NONE) return refuse_name(model, &result->diags, input.name, "use as an input");
  const Variable *variable = &model->variables.data[position];
  if (!is_open(variable) || (variable->type != TYPE_REAL && !input.expression))
    return refuse(reader, arena_printf(reader->arena, "'%s' is not %s input of the model without a value", input.name,
                                       input.expression ? "an" : "a Real"));
  for (uint32_t k = 0; k < result->inputs.count; k++)
    if (strcmp(result->inputs.data[k].name, input.name) == 0)
      return refuse(reader, arena_printf(reader->arena, "the input '%s' is given twice", input.name));
  vec_push(result->heap, &result->inputs, input);
  return true;
}

/* Adds an input that is given by points. */
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

static bool add_file(InputReader *reader, const daedal_input *input) {
  const Trajectory *table = load_result(reader->result->heap, &reader->result->diags, input->file);
  bool is_found = false;
  if (!table) return false;
  if (!table->rows || !table->signals->list.count)
    return refuse(reader,
                  arena_printf(reader->arena, "the table '%s' has no rows, or no columns besides time", input->file));
  for (uint32_t s = 0; s < table->signals->list.count; s++) {
    if (input->name && strcmp(input->name, table->signals->list.data[s].name) != 0) continue;
    is_found = true;
    if (!add_column(reader, table, s, input->held)) return false;
  }
  return is_found ||
         refuse(reader, arena_printf(reader->arena, "the table '%s' has no column '%s'", input->file, input->name));
}

/* The caller's structs may be smaller or larger than ours. */
static daedal_input input_at(const daedal_options *options, uint32_t k) {
  daedal_input input = {0};
  size_t size = options->input_size;
  memcpy(&input, (const char *)options->inputs + k * size, size < sizeof input ? size : sizeof input);
  return input;
}

static bool add_given(InputReader *reader, const daedal_input *input) {
  Heap *heap = reader->result->heap;
  if (input->file) return add_file(reader, input);
  if (!input->name || !*input->name) return refuse(reader, "an input without a name");
  GivenInput given = {.name = arena_copy(reader->arena, input->name, strlen(input->name)),
                      .source = {.kind = INPUT_SET}};
  if (input->rows && (!input->times || !input->values))
    return refuse(reader, "the table of an input needs times and values");
  if (input->rows)
    return add_points(reader, given.name, heap_copy(heap, input->times, input->rows, sizeof(double)),
                      heap_copy(heap, input->values, input->rows, sizeof(double)), input->rows, input->held);
  if (input->expression) given.expression = arena_copy(reader->arena, input->expression, strlen(input->expression));
  else if (input->value)
    given.source = (InputSource){
        .kind = INPUT_FUNCTION, .orders = input->orders, .function = input->value, .context = input->context};
  return add_input(reader, given);
}

static bool is_given(const daedal_result *result, const char *name) {
  for (uint32_t k = 0; k < result->inputs.count; k++)
    if (strcmp(result->inputs.data[k].name, name) == 0) return true;
  return false;
}

/* Inputs without any other value are set by the caller. */
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

uint64_t hash_inputs(uint64_t hash, const daedal_options *options) {
  for (uint32_t k = 0; k < options->input_count; k++) {
    daedal_input input = input_at(options, k);
    hash = hash_text(hash_text(hash_text(hash, input.name), input.expression), input.file);
  }
  return hash;
}

bool inputs_read(daedal_result *result, const daedal_options *options) {
  InputReader reader = {result, &result->diags.arena};
  for (uint32_t k = 0; k < options->input_count; k++) {
    daedal_input input = input_at(options, k);
    if (!add_given(&reader, &input)) return false;
  }
  return !options->open_inputs || add_open(&reader);
}
