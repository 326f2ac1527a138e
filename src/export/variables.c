/* variables: see variables.h. */
#include "export/variables.h"

#include "code/dependents.h"
#include "export/lookups.h"

#include <math.h>

/* The value of an attribute over parameters; NAN where it is not given. */
static double attribute(const ExportSource *source, Expr e) {
  double value;
  return e != EXPR_NONE && evaluator_constant(source->evaluator, e, &value) ? value : NAN;
}

static ExportVariable make_variable(const Signal *signal) {
  return (ExportVariable){.name = signal->name,
                          .unit = signal->unit ? signal->unit : "",
                          .display_unit = signal->display_unit ? signal->display_unit : "",
                          .description = signal->description ? signal->description : "",
                          .sign = signal->negated ? -1 : 1,
                          .causality = EXPORT_LOCAL,
                          .type = TYPE_REAL,
                          .start = NAN,
                          .min = NAN,
                          .max = NAN,
                          .nominal = NAN,
                          .derivative = MAP_NONE};
}

/* Where a signal has its values. */
static void place_signal(const ExportSource *source, const Signal *signal, ExportVariable *variable) {
  uint32_t columns = source->evaluator->array->columns;
  if (signal->column == SIGNAL_CONSTANT) {
    variable->kind = EXPORT_CONSTANT;
    variable->start = signal->value;
    return;
  }
  uint32_t place = source->recorder->source[signal->column];
  variable->kind = place < columns ? EXPORT_COLUMN : EXPORT_DISCRETE;
  variable->index = place < columns ? place : place - columns;
  variable->is_discrete = place >= columns;
  double value = place < columns ? source->y[place] : source->evaluator->discretes[place - columns];
  variable->start = variable->sign * value;
}

static const InputSource *input_source(const Model *model, uint32_t position) {
  for (uint32_t k = 0; k < model->inputs.count; k++)
    if (model->inputs.data[k].variable == position) return &model->inputs.data[k];
  return NULL;
}

/* A parameter that nothing but its own text determines can be set, unless tables are made of it. */
static bool is_settable(const ExportSource *source, const Variable *variable, const bool *in_tables) {
  const Dag *dag = source->evaluator->model->dag;
  return export_restarts(source) && !in_tables[variable->index] && !variable->is_final && !variable->is_structural &&
         variable->variability == VARIABILITY_PARAMETER && variable->fixed != FIXED_FALSE &&
         (variable->binding == EXPR_NONE || !dag_depends(dag, variable->binding, OP_PARAMETER));
}

static void describe_parameter(const ExportSource *source, const Variable *written, const bool *in_tables,
                               ExportVariable *variable) {
  variable->kind = EXPORT_PARAMETER;
  variable->index = written->index;
  variable->start = source->evaluator->parameters[written->index];
  variable->is_constant = written->variability == VARIABILITY_CONSTANT;
  if (written->variability > VARIABILITY_PARAMETER) {
    variable->causality = EXPORT_INPUT;
    variable->is_discrete = true;
  } else if (!variable->is_constant)
    variable->causality = is_settable(source, written, in_tables) ? EXPORT_PARAMETER_SET : EXPORT_PARAMETER_CALCULATED;
}

/* What the text says of a variable. */
static void describe(const ExportSource *source, uint32_t position, const bool *in_tables, ExportVariable *variable) {
  const Model *model = source->evaluator->model;
  const Variable *written = &model->variables.data[position];
  const InputSource *input = input_source(model, position);
  variable->type = written->type;
  variable->enumeration = written->enumeration;
  variable->min = attribute(source, written->min);
  variable->max = attribute(source, written->max);
  variable->nominal = attribute(source, written->nominal);
  if (written->causality == CAUSALITY_OUTPUT) variable->causality = EXPORT_OUTPUT;
  if (written->role == ROLE_PARAMETER) describe_parameter(source, written, in_tables, variable);
  if (input) {
    variable->kind = EXPORT_PARAMETER;
    variable->index = input->leaf;
    variable->sign = 1;
    variable->causality = EXPORT_INPUT;
    variable->start = source->evaluator->parameters[input->leaf];
  }
  if (variable->kind == EXPORT_COLUMN && export_restarts(source)) {
    const InitialColumn *column = export_initial_column(source, variable->index);
    variable->has_start = (column->fixed || (column->given && column->low)) && column->named == position;
    variable->is_fixed = column->fixed;
  }
}

/* The expression behind a signal that an alias makes constant. */
static Expr constant_value(const ExportSource *source, uint32_t position, const ExportVariable *variable) {
  const Model *model = source->evaluator->model;
  const Aliases *aliases = &source->evaluator->array->problem->aliases;
  Dag *dag = evaluator_model(source->evaluator)->dag;
  if (position == MAP_NONE) return dag_constant(dag, variable->start);
  return aliases->constant[model->variables.data[position].index];
}

const uint32_t *export_state_order(Arena *arena, const ExportSource *source) {
  const Blocks *blocks = &source->structure->blocks;
  uint32_t n = source->evaluator->array->problem->unknowns, *order = arena_array(arena, n, sizeof *order), next = 0;
  for (uint32_t j = 0; j < n; j++)
    if (!dummy_plan_chooses(source->choice, blocks->block_of_column[j])) order[next++] = j;
  for (int32_t b = 0; b < blocks->n_blocks; b++)
    for (int32_t k = blocks->start[b]; k < blocks->start[b + 1] && dummy_plan_chooses(source->choice, b); k++)
      order[next++] = (uint32_t)blocks->column[k];
  return order;
}

static void add_states(Heap *heap, Arena *arena, ExportVariables *variables, const ExportSource *source) {
  uint32_t states = source->states;
  variables->first_state = variables->list.count;
  variables->state_count = states;
  for (int is_rate = 0; is_rate < 2; is_rate++) {
    for (uint32_t k = 0; k < states; k++) {
      const char *format = is_rate ? "der($state[%u])" : "$state[%u]";
      Signal signal = {.name = arena_printf(arena, format, k + 1)};
      ExportVariable variable = make_variable(&signal);
      variable.kind = is_rate ? EXPORT_RATE : EXPORT_STATE;
      variable.index = k;
      variable.derivative = is_rate ? variables->first_state + k : MAP_NONE;
      vec_push(heap, &variables->list, variable);
    }
  }
}

bool export_is_timed(const ExportSource *source, uint32_t mode) {
  const Modes *modes = source->evaluator->code->modes;
  return modes->timed[mode] && source->evaluator->code->has_rate[mode] &&
         !dag_depends(source->evaluator->model->dag, modes->rate[mode], OP_TIME);
}

static void add_indicator(Heap *heap, Arena *arena, ExportVariables *variables, uint32_t index) {
  Signal signal = {.name = arena_printf(arena, "$indicator[%u]", ++variables->indicator_count)};
  vec_push(heap, &variables->list, make_variable(&signal));
  vec_last(&variables->list).kind = EXPORT_INDICATOR;
  vec_last(&variables->list).index = index;
}

/* One for each condition, and one for the choice of states. */
static void add_indicators(Heap *heap, Arena *arena, ExportVariables *variables, const ExportSource *source) {
  uint32_t modes = source->evaluator->code->modes->count;
  for (uint32_t m = 0; m < modes; m++)
    if (!export_is_timed(source, m)) add_indicator(heap, arena, variables, m);
  if (source->chooses) add_indicator(heap, arena, variables, modes);
}

ExportVariables export_variables(Heap *heap, Arena *arena, const ExportSource *source) {
  ExportVariables variables = {0};
  const Model *model = source->evaluator->model;
  const SignalTable *signals = source->recorder->signals;
  const bool *in_tables = lookups_parameters(arena, source);
  uint32_t *position = arena_array(arena, signals->list.count, sizeof *position);
  for (uint32_t s = 0; s < signals->list.count; s++) position[s] = MAP_NONE;
  for (uint32_t v = 0; v < model->variables.count; v++) {
    uint32_t s = signals_find_variable(signals, model_name(model, v));
    if (s != MAP_NONE) position[s] = v;
  }
  for (uint32_t s = 0; s < signals->list.count; s++) {
    const Signal *signal = &signals->list.data[s];
    ExportVariable variable = make_variable(signal);
    place_signal(source, signal, &variable);
    if (position[s] != MAP_NONE) describe(source, position[s], in_tables, &variable);
    if (variable.kind == EXPORT_CONSTANT) {
      variable.index = variables.constants.count;
      vec_push(heap, &variables.constants, constant_value(source, position[s], &variable));
    }
    if (variable.causality == EXPORT_PARAMETER_SET) vec_push(heap, &variables.settable, variable.index);
    vec_push(heap, &variables.list, variable);
  }
  add_states(heap, arena, &variables, source);
  add_indicators(heap, arena, &variables, source);
  Signal time = {.name = "time", .unit = "s", .description = "Simulation time"};
  vec_push(heap, &variables.list, make_variable(&time));
  vec_last(&variables.list).kind = EXPORT_TIME;
  vec_last(&variables.list).causality = EXPORT_INDEPENDENT;
  IndexVec given = {0};
  for (uint32_t k = 0; k < variables.settable.count; k++) vec_push(heap, &given, variables.settable.data[k]);
  const InitialSystem *system = export_restarts(source) ? source->initial->system : NULL;
  for (uint32_t k = 0; system && k < system->parameters.count; k++) vec_push(heap, &given, system->parameters.data[k]);
  dependents_find(source->evaluator, heap, &given, &variables.dependents);
  return variables;
}
