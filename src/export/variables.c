/* variables: see variables.h. */
#include "export/variables.h"

#include "code/dependents.h"
#include "export/lookups.h"

#include <math.h>
#include <string.h>

/* The value of an attribute over parameters; NAN if it is not given. */
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

/* The place of a signal's values. */
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

/* Parameters that cannot be set, by leaf index, and why. */
typedef struct Deciders {
  const bool *tables;    /* tables are made from them */
  const bool *equations; /* equations were rewritten because of their values */
  const bool *samples;   /* samples and delays read them at the start only */
} Deciders;

/* Marks the parameters in expressions, and those to which they are bound. */
static void mark_used(const ExportSource *source, const Expr *roots, uint32_t count, bool *marked) {
  Evaluator *evaluator = source->evaluator;
  const Dag *dag = evaluator_model(evaluator)->dag;
  IndexVec below = {0}, used = {0};
  dag_below(dag, &evaluator->scratch, roots, count, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    if (dag_op(dag, below.data[k]) != OP_PARAMETER) continue;
    marked[dag_index(dag, below.data[k])] = true;
    vec_push(evaluator->heap, &used, dag_index(dag, below.data[k]));
  }
  dependents_mark_sources(evaluator, &used, marked);
  vec_free(evaluator->heap, &below, &used);
}

static const bool *equation_deciders(Arena *arena, const ExportSource *source) {
  Evaluator *evaluator = source->evaluator;
  bool *marked = arena_array(arena, evaluator->model->parameters.count, sizeof *marked);
  IndexVec read = {0};
  for (uint32_t k = 0; k < source->read->count; k++) {
    marked[source->read->data[k]] = true;
    vec_push(evaluator->heap, &read, source->read->data[k]);
  }
  dependents_mark_sources(evaluator, &read, marked);
  vec_free(evaluator->heap, &read);
  return marked;
}

static const bool *sample_deciders(Arena *arena, const ExportSource *source) {
  const Logic *logic = source->evaluator->code->modes->logic;
  bool *marked = arena_array(arena, source->evaluator->model->parameters.count, sizeof *marked);
  for (uint32_t k = 0; k < logic->samples.count; k++) {
    const Expr roots[] = {logic->samples.data[k].start, logic->samples.data[k].interval};
    mark_used(source, roots, 2, marked);
  }
  for (uint32_t k = 0; k < logic->delays.count; k++) mark_used(source, &logic->delays.data[k].written, 1, marked);
  return marked;
}

static Deciders find_deciders(Arena *arena, const ExportSource *source) {
  return (Deciders){lookups_parameters(arena, source), equation_deciders(arena, source),
                    sample_deciders(arena, source)};
}

/* Can a run of the model use another value of the parameter? */
static bool is_overridable(const Variable *variable) {
  return !variable->is_final && variable->variability == VARIABILITY_PARAMETER && !variable->has_fixed_start &&
         variable->type != TYPE_EXTERNAL_OBJECT && variable->type != TYPE_STRING;
}

/* Why a parameter that can be overridden in a run cannot be set; NULL: it can. */
static const char *find_reason(const ExportSource *source, const Variable *variable, const Deciders *deciders) {
  if (source->obstacle) return source->obstacle;
  if (variable->is_structural) return "it decides which equations there are";
  if (deciders->tables[variable->index]) return "a table is made of it";
  if (deciders->equations[variable->index]) return "its value decides how equations were rewritten";
  if (variable_is_sought(variable)) return "initial equations determine it";
  return NULL;
}

static bool is_bound(const ExportSource *source, const Variable *variable) {
  return variable->binding != EXPR_NONE && dag_depends(source->evaluator->model->dag, variable->binding, OP_PARAMETER);
}

static void describe_parameter(const ExportSource *source, const Variable *written, const Deciders *deciders,
                               ExportVariable *variable) {
  variable->kind = EXPORT_PARAMETER;
  variable->index = written->index;
  variable->start = source->evaluator->parameters[written->index];
  variable->is_constant = written->variability == VARIABILITY_CONSTANT;
  if (written->variability > VARIABILITY_PARAMETER) {
    variable->causality = EXPORT_INPUT;
    variable->is_discrete = true;
  } else if (!variable->is_constant) {
    bool may = is_overridable(written);
    variable->reason = may && !source->number ? find_reason(source, written, deciders) : NULL;
    variable->is_settable = may && export_restarts(source) && !variable->reason;
    variable->is_tunable = variable->is_settable && written->type == TYPE_REAL && !deciders->samples[written->index];
    variable->causality =
        variable->is_settable && !is_bound(source, written) ? EXPORT_PARAMETER_SET : EXPORT_PARAMETER_CALCULATED;
  }
}

/* Adds the attributes of a variable. */
static void describe(const ExportSource *source, uint32_t position, const Deciders *deciders,
                     ExportVariable *variable) {
  const Model *model = source->evaluator->model;
  const Variable *written = &model->variables.data[position];
  const InputSource *input = input_source(model, position);
  variable->type = written->type;
  variable->enumeration = written->enumeration;
  variable->min = attribute(source, written->min);
  variable->max = attribute(source, written->max);
  variable->nominal = attribute(source, written->nominal);
  if (written->causality == CAUSALITY_OUTPUT) variable->causality = EXPORT_OUTPUT;
  if (written->role == ROLE_PARAMETER) describe_parameter(source, written, deciders, variable);
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

/* The expression of a signal that an alias makes constant. */
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
    if (!dummy_blocks_choose(source->choice, blocks->block_of_column[j])) order[next++] = j;
  for (int32_t b = 0; b < blocks->n_blocks; b++)
    for (int32_t k = blocks->start[b]; k < blocks->start[b + 1] && dummy_blocks_choose(source->choice, b); k++)
      order[next++] = (uint32_t)blocks->column[k];
  return order;
}

/* The best variable name for a column: `is_rate` prefers der(...), otherwise other names; MAP_NONE: none has the same sign. */
static uint32_t find_named(const ExportVariables *variables, uint32_t column, bool is_rate) {
  uint32_t found = MAP_NONE;
  for (uint32_t v = 0; v < variables->list.count; v++) {
    const ExportVariable *variable = &variables->list.data[v];
    if (variable->kind != EXPORT_COLUMN || variable->index != column || variable->sign < 0) continue;
    if ((strncmp(variable->name, "der(", 4) == 0) == is_rate) return v;
    if (found == MAP_NONE) found = v;
  }
  return found;
}

/* Adds a state, or its derivative, that stands for different variables over time. */
static uint32_t add_chosen(Heap *heap, Arena *arena, ExportVariables *variables, uint32_t k, bool is_rate) {
  Signal signal = {.name = arena_printf(arena, is_rate ? "der($state[%u])" : "$state[%u]", k + 1),
                   .description = "chosen while running"};
  ExportVariable variable = make_variable(&signal);
  variable.kind = is_rate ? EXPORT_RATE : EXPORT_STATE;
  variable.index = k;
  vec_push(heap, &variables->list, variable);
  return variables->list.count - 1;
}

/* The columns of states that are never exchanged, and of their derivatives; MAP_NONE for the others. */
static void find_columns(Arena *arena, const ExportSource *source, uint32_t *states) {
  const Array *array = source->evaluator->array;
  const uint32_t *order = export_state_order(arena, source);
  uint32_t next = 0;
  for (uint32_t k = 0; k < source->states; k++) states[k] = MAP_NONE;
  for (uint32_t k = 0; k < array->problem->unknowns && source->systems == 1; k++) {
    bool is_chosen = dummy_blocks_choose(source->choice, source->structure->blocks.block_of_column[order[k]]);
    int32_t levels = array->d[order[k]] - dummy_depth(source->dummy)[order[k]];
    for (int32_t level = 0; level < levels; level++, next++)
      if (!is_chosen) states[next] = array->column_start[order[k]] + (uint32_t)level;
  }
}

/* States have the names of their variables, if these always stay states. */
static void add_states(Heap *heap, Arena *arena, ExportVariables *variables, const ExportSource *source) {
  uint32_t *column = arena_array(arena, source->states, sizeof *column);
  find_columns(arena, source, column);
  for (uint32_t k = 0; k < source->states; k++) {
    uint32_t state = column[k] == MAP_NONE ? MAP_NONE : find_named(variables, column[k], false);
    uint32_t rate = state == MAP_NONE ? MAP_NONE : find_named(variables, column[k] + 1, true);
    bool is_named = rate != MAP_NONE && variables->list.data[rate].derivative == MAP_NONE && rate != state;
    vec_push(heap, &variables->states, is_named ? state : MAP_NONE);
    vec_push(heap, &variables->rates, is_named ? rate : MAP_NONE);
    if (is_named) variables->list.data[rate].derivative = state;
  }
  for (uint32_t k = 0; k < source->states; k++)
    if (variables->states.data[k] == MAP_NONE) variables->states.data[k] = add_chosen(heap, arena, variables, k, false);
  for (uint32_t k = 0; k < source->states; k++) {
    uint32_t *rate = &variables->rates.data[k], state = variables->states.data[k];
    if (*rate == MAP_NONE) *rate = add_chosen(heap, arena, variables, k, true);
    variables->list.data[*rate].derivative = state;
    variables->list.data[*rate].is_rate = variables->list.data[state].is_state = true;
  }
}

static void add_indicator(Heap *heap, Arena *arena, ExportVariables *variables, uint32_t index) {
  Signal signal = {.name = arena_printf(arena, "$indicator[%u]", ++variables->indicator_count)};
  vec_push(heap, &variables->list, make_variable(&signal));
  vec_last(&variables->list).kind = EXPORT_INDICATOR;
  vec_last(&variables->list).index = index;
}

/* Adds an indicator for each condition, and one for the choice of states. */
static void add_indicators(Heap *heap, Arena *arena, ExportVariables *variables, const ExportSource *source) {
  const Modes *modes = source->evaluator->code->modes;
  for (uint32_t m = 0; m < modes->count; m++)
    if (!modes->timed[m]) add_indicator(heap, arena, variables, m);
  if (source->chooses) add_indicator(heap, arena, variables, modes->count);
}

static bool has_leaf(const IndexVec *leaves, uint32_t leaf) {
  for (uint32_t k = 0; k < leaves->count; k++)
    if (leaves->data[k] == leaf) return true;
  return false;
}

/* Finds the parameters that are bound to varying ones: to parameters that can be set, or that initialization computes. A
 * parameter that can be set and is bound to none of them varies by itself. */
static void find_dependents(Heap *heap, const ExportSource *source, ExportVariables *variables) {
  const Model *model = source->evaluator->model;
  const InitialSystem *system = export_restarts(source) ? source->initial->system : NULL;
  const Logic *logic = source->evaluator->code->modes->logic;
  IndexVec given = {0};
  for (int with_bound = 0; with_bound < 2; with_bound++) {
    for (uint32_t k = 0; k < variables->settable.count; k++) {
      uint32_t p = variables->settable.data[k];
      bool bound = is_bound(source, &model->variables.data[model->parameters.data[p]]);
      if (bound == with_bound && !(bound && has_leaf(&variables->dependents, p))) vec_push(heap, &given, p);
    }
    for (uint32_t k = 0; system && !with_bound && k < system->parameters.count; k++)
      vec_push(heap, &given, system->parameters.data[k]);
    for (uint32_t k = 0; export_restarts(source) && !with_bound && k < logic->initial_steps.count; k++)
      if (logic->initial_steps.data[k].is_parameter) vec_push(heap, &given, logic->initial_steps.data[k].leaf);
    variables->dependents.count = 0;
    dependents_find(source->evaluator, heap, &given, &variables->dependents);
  }
  vec_free(heap, &given);
}

/* Marks variables that depend on parameters that are set after the start. */
static void mark_varied(const ExportSource *source, ExportVariables *variables) {
  const Dag *dag = evaluator_model(source->evaluator)->dag;
  bool any = false;
  for (uint32_t v = 0; v < variables->list.count && !any; v++) any = variables->list.data[v].is_tunable;
  for (uint32_t v = 0; v < variables->list.count && any; v++) {
    ExportVariable *variable = &variables->list.data[v];
    bool is_bound = variable->kind == EXPORT_PARAMETER && has_leaf(&variables->dependents, variable->index);
    bool is_made =
        variable->kind == EXPORT_CONSTANT && dag_depends(dag, variables->constants.data[variable->index], OP_PARAMETER);
    variable->is_varied = is_bound || is_made;
  }
}

/* The largest number of variables that a message names for one reason. */
enum { NAMES_SHOWN = 5 };

static void report_reason(const ExportVariables *variables, const char *reason, Diags *diags, Diag *diag) {
  TextVec names = {0};
  Heap *heap = diags->arena.heap;
  uint32_t count = 0;
  for (uint32_t v = 0; v < variables->list.count; v++) {
    const ExportVariable *variable = &variables->list.data[v];
    if (variable->reason != reason) continue;
    if (count < NAMES_SHOWN) text_printf(heap, &names, "%s%s", count ? ", " : "", variable->name);
    count++;
  }
  if (count > NAMES_SHOWN) text_printf(heap, &names, " and %u more", count - NAMES_SHOWN);
  diag_note(diags, diag, (Span){0}, "%s: %s", reason, names.data);
  vec_free(heap, &names);
}

void export_report_fixed(const ExportVariables *variables, const ExportSource *source, Diags *diags) {
  uint32_t count = 0;
  for (uint32_t v = 0; v < variables->list.count; v++) count += variables->list.data[v].reason != NULL;
  if (!count) return;
  Diag *diag =
      diag_warning(diags, DIAG_NOT_SETTABLE, (Span){0}, "%u of %u parameters of %s cannot be set in the export", count,
                   count + variables->settable.count, source->name);
  for (uint32_t v = 0; v < variables->list.count; v++) {
    const char *reason = variables->list.data[v].reason;
    uint32_t first = 0;
    while (variables->list.data[first].reason != reason) first++;
    if (reason && first == v) report_reason(variables, reason, diags, diag);
  }
}

ExportVariables export_variables(Heap *heap, Arena *arena, const ExportSource *source) {
  ExportVariables variables = {0};
  const Model *model = source->evaluator->model;
  const SignalTable *signals = source->recorder->signals;
  Deciders deciders = find_deciders(arena, source);
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
    if (position[s] != MAP_NONE) describe(source, position[s], &deciders, &variable);
    if (variable.kind == EXPORT_CONSTANT) {
      variable.index = variables.constants.count;
      vec_push(heap, &variables.constants, constant_value(source, position[s], &variable));
    }
    if (variable.is_settable) vec_push(heap, &variables.settable, variable.index);
    vec_push(heap, &variables.list, variable);
  }
  add_states(heap, arena, &variables, source);
  add_indicators(heap, arena, &variables, source);
  Signal time = {.name = "time", .unit = "s", .description = "Simulation time"};
  vec_push(heap, &variables.list, make_variable(&time));
  vec_last(&variables.list).kind = EXPORT_TIME;
  vec_last(&variables.list).causality = EXPORT_INDEPENDENT;
  find_dependents(heap, source, &variables);
  mark_varied(source, &variables);
  return variables;
}
