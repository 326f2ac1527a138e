/* record: see record.h. */
#include "result/record.h"

#include <math.h>
#include <string.h>

typedef struct RecorderBuilder {
  Recorder *recorder;
  Heap *heap;
  RecorderChoice choice;
  bool is_left_out;     /* leave out the current variable, unless it is a state */
  uint32_t *row_column; /* per source: column of the rows, MAP_NONE if not recorded yet */
  IndexVec sources;
  VEC(RecordPlace) places;
} RecorderBuilder;

/* Its place in the array; MAP_NONE: it has none. */
static uint32_t source_of(const Array *array, const RecordPlace *place) {
  if (place->is_discrete) return array->columns + place->index;
  uint32_t first = array->model_column[place->index];
  if (first == MAP_NONE) return MAP_NONE;
  uint32_t source = first + place->order;
  return source < array->column_start[array->problem->local[place->index] + 1] ? source : MAP_NONE;
}

/* A new column of the rows. */
static uint32_t add_column(RecorderBuilder *builder, const RecordPlace *place, uint32_t source) {
  vec_push(builder->heap, &builder->sources, source);
  vec_push(builder->heap, &builder->places, *place);
  return builder->sources.count - 1;
}

/* place: NULL for a constant. */
static void add_signal(RecorderBuilder *builder, Signal signal, const RecordPlace *place) {
  const RecorderChoice *choice = &builder->choice;
  bool is_left_out = builder->is_left_out && signal.kind != SIGNAL_STATE;
  bool is_listed = choice->listed ? signal_filter_match(choice->listed, signal.name) : !is_left_out;
  if (builder->recorder->signals->hides ? is_listed || !signal_filter_match(choice->hidden, signal.name) : !is_listed)
    return;
  signal.column = SIGNAL_CONSTANT;
  if (place) {
    uint32_t source = source_of(builder->recorder->evaluator->array, place), own = MAP_NONE;
    uint32_t *column = source == MAP_NONE ? &own : &builder->row_column[source];
    if (*column == MAP_NONE) *column = add_column(builder, place, source);
    signal.column = *column;
  }
  (choice->listed ? signals_add : signals_add_kept)(builder->recorder->signals, &signal);
}

static Signal signal_of(const RecorderBuilder *builder, const Model *model, const Variable *variable) {
  SignalTable *signals = builder->recorder->signals;
  const char *name = signals_text(signals, model->names, variable->name);
  return (Signal){.name = signals_name(signals, name),
                  .unit = signals_text(signals, model->names, variable->unit),
                  .display_unit = signals_text(signals, model->names, variable->display_unit),
                  .description = signals_text(signals, model->names, variable->description),
                  .is_output = variable->causality == CAUSALITY_OUTPUT && !strchr(name, '.')};
}

/* "der(name)", or "der(name, target)"; printf would take a considerable part of a short run. */
static const char *derivative_name(Arena *arena, const char *name, const char *target) {
  size_t length = strlen(name), tail = target ? strlen(target) : 0;
  char *text = arena_alloc(arena, length + tail + sizeof "der(, )"), *end = text + 4 + length;
  memcpy(text, "der(", 4);
  memcpy(text + 4, name, length);
  if (target) {
    memcpy(end, ", ", 2);
    memcpy(end + 2, target, tail);
    end += 2 + tail;
  }
  memcpy(end, ")", 2);
  return text;
}

static const char *unit_of_rate(SignalTable *signals, const char *unit) {
  bool is_product = strpbrk(unit, "./");
  TextVec text = {0};
  text_printf(signals->heap, &text, "%s%s%s/s", is_product ? "(" : "", unit, is_product ? ")" : "");
  Name name = names_add(&signals->texts, text.data, text.count);
  vec_free(signals->heap, &text);
  return names_text(&signals->texts, name);
}

/* An unknown and its written derivatives. If the list of signals may leave some of them out, only names of listed ones are kept. */
static void add_unknown(RecorderBuilder *builder, uint32_t unknown, uint32_t orders, const bool *is_state) {
  Evaluator *evaluator = builder->recorder->evaluator;
  const Model *model = evaluator->model;
  const Array *array = evaluator->array;
  const Aliases *aliases = &array->problem->aliases;
  const Variable *variable = &model->variables.data[model->unknowns.data[unknown]];
  uint32_t root = aliases->removed ? aliases->root[unknown] : unknown;
  uint32_t shift = aliases->removed ? aliases->shift[unknown] : 0;
  SignalTable *signals = builder->recorder->signals;
  Signal signal = signal_of(builder, model, variable);
  Arena own = arena_make(builder->heap), *arena = builder->choice.listed ? &own : &signals->texts.arena;
  for (uint32_t k = 0; k <= orders; k++) {
    if (k) signal.name = derivative_name(arena, signal.name, NULL);
    if (k == 1 && *signal.unit) signal.unit = unit_of_rate(signals, signal.unit);
    if (k > 1) signal.unit = "";
    if (k) signal.display_unit = signal.description = "";
    if (k) signal.is_output = false;
    signal.kind = k ? SIGNAL_DERIVATIVE : SIGNAL_ALGEBRAIC;
    if (root == UINT32_MAX) {
      signal.value = 0;
      if (!k) evaluator_constant(evaluator, aliases->constant[unknown], &signal.value);
      add_signal(builder, signal, NULL);
      continue;
    }
    RecordPlace place = {.index = root, .order = shift + k};
    uint32_t column = source_of(array, &place);
    if (column == MAP_NONE && !builder->choice.by_mode) break;
    if (!k && column != MAP_NONE && is_state[column]) signal.kind = SIGNAL_STATE;
    signal.negated = aliases->removed && aliases->sign[unknown] < 0;
    add_signal(builder, signal, &place);
  }
  arena_free(&own);
}

/* An input that nothing determines is constant like a parameter, but belongs to the trajectory. So does a parameter that is
 * requested by name. */
static SignalKind constant_kind(const RecorderBuilder *builder, const Variable *variable, const char *name) {
  const SignalFilter *listed = builder->choice.listed;
  if (variable->variability <= VARIABILITY_PARAMETER && !(listed && signal_filter_names(listed, name)))
    return SIGNAL_PARAMETER;
  return variable->variability == VARIABILITY_DISCRETE ? SIGNAL_DISCRETE : SIGNAL_ALGEBRAIC;
}

static void add_variable(RecorderBuilder *builder, uint32_t position, const uint32_t *orders, const bool *is_state) {
  Evaluator *evaluator = builder->recorder->evaluator;
  const Model *model = evaluator->model;
  const Variable *variable = &model->variables.data[position];
  builder->is_left_out = builder->choice.leaves_out && variable->is_hidden;
  if (variable->role == ROLE_UNKNOWN) {
    if (names_text(model->names, variable->name)[0] == '$') return; /* a variable that only rewritten equations need */
    add_unknown(builder, variable->index, orders[variable->index], is_state);
    return;
  }
  if (variable->type == TYPE_STRING || variable->type == TYPE_EXTERNAL_OBJECT || variable->is_input_value) return;
  Signal signal = signal_of(builder, model, variable);
  if (variable->role == ROLE_DISCRETE) {
    signal.kind = SIGNAL_DISCRETE;
    add_signal(builder, signal, &(RecordPlace){.is_discrete = true, .index = variable->index});
  } else {
    signal.kind = constant_kind(builder, variable, signal.name);
    signal.value = evaluator->parameters[variable->index];
    add_signal(builder, signal, NULL);
  }
}

/* Makes room for the signals of all variables, unless the user chooses some. */
static void reserve_signals(RecorderBuilder *builder, const Model *model, const uint32_t *orders) {
  uint64_t count = model->variables.count;
  if (builder->choice.listed) return;
  for (uint32_t u = 0; u < model->unknowns.count; u++) count += orders[u];
  if (count <= INT32_MAX) signals_reserve(builder->recorder->signals, (uint32_t)count);
}

Recorder *recorder_new(Heap *heap, Evaluator *evaluator, const uint32_t *orders, const bool *is_state,
                       RecorderChoice choice) {
  const Model *model = evaluator->model;
  Recorder *recorder = heap_alloc(heap, sizeof *recorder);
  recorder->evaluator = evaluator;
  const Names *names = model->names; /* the names of the text, which all its models share */
  while (names->base) names = names->base;
  recorder->signals = signals_over(heap, names);
  recorder->signals->digits = choice.digits;
  RecorderBuilder builder = {.recorder = recorder, .heap = heap, .choice = choice};
  uint32_t sources = evaluator->array->columns + model->discretes.count;
  builder.row_column = heap_array(heap, sources, sizeof(uint32_t));
  for (uint32_t s = 0; s < sources; s++) builder.row_column[s] = MAP_NONE;
  reserve_signals(&builder, model, orders);
  for (uint32_t v = 0; v < model->variables.count; v++) add_variable(&builder, v, orders, is_state);
  recorder->signals->hides = true;
  for (uint32_t v = 0; choice.hidden && (choice.listed || choice.leaves_out) && v < model->variables.count; v++)
    add_variable(&builder, v, orders, is_state);
  heap_free(heap, builder.row_column);
  recorder->count = builder.sources.count;
  recorder->source = builder.sources.data;
  recorder->places = builder.places.data;
  recorder->trajectory = trajectory_new(heap, recorder->signals);
  return recorder;
}

void recorder_rebind(Recorder *recorder, Evaluator *evaluator) {
  for (uint32_t k = 0; k < recorder->count; k++)
    recorder->source[k] = source_of(evaluator->array, &recorder->places[k]);
  recorder->evaluator = evaluator;
}

bool recorder_has_all(const Recorder *recorder) {
  for (uint32_t k = 0; k < recorder->count; k++)
    if (recorder->source[k] == MAP_NONE) return false;
  return true;
}

double recorder_value(const Recorder *recorder, uint32_t column, const double *y) {
  uint32_t source = recorder->source[column], columns = recorder->evaluator->array->columns;
  if (source == MAP_NONE) return NAN;
  return source < columns ? y[source] : recorder->evaluator->discretes[source - columns];
}

/* The expression over parameters that gives a signal without a column; EXPR_NONE: there is none. */
static Expr constant_of(const Recorder *recorder, const char *name) {
  const Evaluator *evaluator = recorder->evaluator;
  const Aliases *aliases = &evaluator->array->problem->aliases;
  uint32_t position = model_find(evaluator->model, name);
  if (position == MAP_NONE || !aliases->removed) return EXPR_NONE;
  const Variable *variable = &evaluator->model->variables.data[position];
  bool is_constant = variable->role == ROLE_UNKNOWN && aliases->root[variable->index] == UINT32_MAX;
  return is_constant ? aliases->constant[variable->index] : EXPR_NONE;
}

void recorder_add_directions(Recorder *recorder, const char *const *names, uint32_t count, RecorderSlope *slope,
                             void *context) {
  SignalTable *signals = recorder->signals;
  uint32_t before = signals->list.count;
  recorder->directions = count;
  signals->hides = signals->listed < before;
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t s = 0; s < before; s++) {
      Signal signal = signals->list.data[s];
      if (signal.kind == SIGNAL_PARAMETER) continue;
      Expr constant = signal.column == SIGNAL_CONSTANT ? constant_of(recorder, signal.name) : EXPR_NONE;
      signal.name = derivative_name(&signals->texts.arena, signal.name, names[k]);
      signal.unit = signal.display_unit = signal.description = "";
      signal.kind = SIGNAL_DERIVATIVE;
      signal.value = constant == EXPR_NONE ? 0 : slope(context, k, constant);
      if (signal.column != SIGNAL_CONSTANT) signal.column += (k + 1) * recorder->count;
      signals_add_kept(signals, &signal);
    }
  }
  signals->hides = true;
  recorder->trajectory = trajectory_new(signals->heap, signals);
}

void recorder_add(Recorder *recorder, double t, const double *y) {
  double *row = trajectory_append(recorder->trajectory, t);
  for (uint32_t k = 0; k < recorder->count; k++) row[k] = recorder_value(recorder, k, y);
  for (uint32_t d = 0; d < recorder->directions && recorder->variations; d++)
    for (uint32_t k = 0; k < recorder->count; k++)
      row[(d + 1) * recorder->count + k] =
          recorder->source[k] == MAP_NONE ? NAN : recorder->variations[d][recorder->source[k]];
}

/* Signals that the earlier run lacks become NaN. */
static void take_row(const Trajectory *from, size_t row, Trajectory *to) {
  double *columns = trajectory_append(to, trajectory_time(from, row));
  for (uint32_t c = 0; c < to->columns; c++) columns[c] = NAN;
  for (uint32_t s = 0; s < to->signals->list.count; s++) {
    const Signal *signal = &to->signals->list.data[s];
    uint32_t old = signal->column == SIGNAL_CONSTANT ? MAP_NONE : signals_find(from->signals, signal->name);
    if (old == MAP_NONE) continue;
    double value = trajectory_value(from, row, old);
    columns[signal->column] = signal->negated ? -value : value;
  }
}

void recorder_take_rows(Recorder *recorder, const Trajectory *rows, size_t count) {
  trajectory_cut(recorder->trajectory, 0);
  for (size_t row = 0; row < count; row++) take_row(rows, row, recorder->trajectory);
}

Drift recorder_drift(Heap *heap, const Recorder *recorder, const char *name) {
  const Trajectory *trajectory = recorder->trajectory;
  uint32_t signal = signals_find_variable(recorder->signals, name);
  double *times = heap_array(heap, trajectory->rows, sizeof *times),
         *values = heap_array(heap, trajectory->rows, sizeof *values);
  for (size_t r = 0; r < trajectory->rows; r++) {
    times[r] = trajectory_time(trajectory, r);
    values[r] = signal == MAP_NONE ? NAN : trajectory_value(trajectory, r, signal);
  }
  Drift drift = drift_of(times, values, trajectory->rows);
  heap_free_all(heap, times, values);
  return drift;
}
