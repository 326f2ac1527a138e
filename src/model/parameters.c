/* parameters: values of parameters and constants (see model.h). One walk over the graph, in which the binding of a parameter leaf
 * is its only child. So each node is computed once, after everything that it needs, without recursion.
 *
 * Invariant: a node that is done has its value, or the node at fault. An undefined value counts only if it is used; in an inactive
 * branch of an if it is not. A fault is reported once, for the first parameter that needs it. */
#include "external/external.h"
#include "model/model.h"
#include "model/number.h"

#include <math.h>

enum { STATE_NEW, STATE_OPEN, STATE_DONE, STATE_REPORTED };

/* The last function run: its other outputs are often needed next. */
typedef struct LastCall {
  uint32_t function;
  ExprVec arguments;
  double *results;
  bool is_valid, is_ok;
} LastCall;

typedef struct Valuation {
  const Model *model;
  const Dag *dag;
  Heap *heap;
  const double *overrides; /* by parameter, NAN: none; NULL: none at all */
  double *values;          /* by node */
  Expr *faults;            /* by node; EXPR_NONE if it has a value */
  uint8_t *states;         /* by node */
  bool *is_lost;           /* by node: its value is only round-off */
  bool *is_later;          /* by node: it depends on a parameter that initialization determines */
  VEC(struct ValuationFrame {
    Expr node;
    uint32_t next;
  })
  stack;
  Expr circle; /* a parameter that needs itself; EXPR_NONE if there is none */
  Machine *machine;
  Names names; /* names of the model, and texts that functions make */
  NumberContext number_context;
  Domain domain;
  Diags quiet;
  Routine *const *routines;
  const Record *records;
  LastCall last;
} Valuation;

/* ---- sources of parameter values ---- */

static const Variable *parameter_variable(const Valuation *run, Expr leaf) {
  const Model *model = run->model;
  return &model->variables.data[model->parameters.data[dag_index(run->dag, leaf)]];
}

static bool is_overridden(const Valuation *run, Expr leaf) {
  return run->overrides && !isnan(run->overrides[dag_index(run->dag, leaf)]);
}

static bool has_number(const Variable *variable) {
  return variable->type != TYPE_STRING && variable->type != TYPE_EXTERNAL_OBJECT;
}

/* The expression that gives the value; EXPR_NONE if none does. */
static Expr parameter_source(const Valuation *run, Expr leaf) {
  const Variable *variable = parameter_variable(run, leaf);
  if (is_overridden(run, leaf)) return EXPR_NONE;
  return variable->binding != EXPR_NONE ? variable->binding : variable->start;
}

/* ---- calls ---- */

static void start_machine(Valuation *run) {
  run->names = names_over(run->heap, run->model->names);
  run->number_context.names = &run->names;
  run->domain = number_domain(&run->number_context);
  run->domain.externals = external_state(run->heap);
  run->routines = run->model->routines.data;
  run->records = run->model->records.data;
  run->quiet = diags_make(run->heap);
  run->machine =
      machine_new(run->heap, &run->names, &run->domain, &run->routines, &run->records, &run->quiet, (Limits){0});
}

static bool same_call(const Valuation *run, Expr e, uint32_t function) {
  const LastCall *last = &run->last;
  uint32_t count = dag_child_count(run->dag, e);
  if (!last->is_valid || last->function != function || last->arguments.count != count) return false;
  for (uint32_t i = 0; i < count; i++)
    if (last->arguments.data[i] != dag_child(run->dag, e, i)) return false;
  return true;
}

/* Runs the function for the arguments of call node e; its results stay in run->last. */
static void run_call(Valuation *run, Expr e, const Function *function) {
  LastCall *last = &run->last;
  const Record *records = run->model->records.data;
  Arena arena = arena_make(run->heap);
  Value *inputs = arena_array(&arena, function->input_count, sizeof *inputs);
  double *scalars = arena_array(&arena, function->arguments, sizeof *scalars);
  for (uint32_t i = 0; i < function->arguments; i++) scalars[i] = run->values[dag_child(run->dag, e, i)];
  for (uint32_t i = 0, at = 0; i < function->input_count; i++) {
    inputs[i] = value_of_shape(&arena, records, &function->inputs[i], sizeof(double));
    value_unflatten(&run->domain, &inputs[i], records, (const char *)(scalars + at));
    at += function->inputs[i].scalars;
  }
  heap_free(run->heap, last->results);
  last->results = heap_array(run->heap, function->results, sizeof *last->results);
  ExecuteStatus status = machine_run(run->machine, function->routine, inputs, function->input_count);
  Span where;
  last->is_ok = status == EXECUTE_OK;
  if (status == EXECUTE_UNKNOWN)
    diag_error(&run->quiet, DIAG_INPUT, (Span){0}, "it needs %s", machine_obstacle(run->machine, &where));
  for (uint32_t i = 0, at = 0; last->is_ok && i < function->output_count; i++) {
    const Value *output = machine_output(run->machine, i);
    if (value_scalars(output, records) != function->outputs[i].scalars) last->is_ok = false;
    else value_flatten(&run->domain, output, records, (char *)(last->results + at));
    at += function->outputs[i].scalars;
  }
  arena_free(&arena);
}

static Expr evaluate_call(Valuation *run, Expr e) {
  CallInfo call = dag_call_info(run->dag, e);
  const Function *function = run->model->functions.data[call.function];
  if (call.partial_count) return e;
  if (!run->machine) start_machine(run);
  if (!same_call(run, e, call.function)) {
    run_call(run, e, function);
    run->last.function = call.function;
    run->last.is_valid = true;
    run->last.arguments.count = 0;
    for (uint32_t i = 0, count = dag_child_count(run->dag, e); i < count; i++)
      vec_push(run->heap, &run->last.arguments, dag_child(run->dag, e, i));
  }
  if (!run->last.is_ok) return e;
  run->values[e] = run->last.results[call.output];
  return EXPR_NONE;
}

/* ---- nodes ---- */

static Expr evaluate_parameter(Valuation *run, Expr e) {
  Expr source = parameter_source(run, e);
  const Variable *variable = parameter_variable(run, e);
  if (is_overridden(run, e)) run->values[e] = run->overrides[dag_index(run->dag, e)];
  else if (source == EXPR_NONE) run->values[e] = variable->type == TYPE_ENUMERATION ? 1 : 0;
  else run->values[e] = run->values[source], run->is_lost[e] = run->is_lost[source];
  return source == EXPR_NONE ? EXPR_NONE : run->faults[source];
}

static bool is_lost_sum(const Valuation *run, Expr e) {
  const Term *terms;
  double constant;
  uint32_t count = dag_terms(run->dag, e, &constant, &terms);
  double size = fabs(constant);
  for (uint32_t k = 0; k < count; k++) {
    double own = fabs(terms[k].coefficient * run->values[terms[k].node]);
    size += run->is_lost[terms[k].node] ? own / DAG_RESIDUE : own;
  }
  return run->values[e] != 0 && fabs(run->values[e]) <= DAG_RESIDUE * size;
}

/* Is the value of an operator only round-off? */
static bool is_lost(const Valuation *run, Expr e) {
  switch (dag_op(run->dag, e)) {
  case OP_CONSTANT: return dag_is_residue(run->dag, e);
  case OP_SUM: return is_lost_sum(run, e);
  case OP_MULTIPLY: return run->is_lost[dag_child(run->dag, e, 0)] || run->is_lost[dag_child(run->dag, e, 1)];
  case OP_DIVIDE:
  case OP_POWER: return run->is_lost[dag_child(run->dag, e, 0)];
  default: return false;
  }
}

/* A division by round-off has no value. */
static Expr evaluate_operator(Valuation *run, Expr e) {
  NodeValues nodes = {.values = run->values, .faults = run->faults};
  Expr fault = dag_evaluate_node(run->dag, &nodes, e, &run->values[e]);
  if (fault == e && dag_op(run->dag, e) == OP_CALL) return evaluate_call(run, e);
  run->is_lost[e] = fault == EXPR_NONE && is_lost(run, e);
  if (fault == EXPR_NONE && dag_op(run->dag, e) == OP_DIVIDE && run->is_lost[dag_child(run->dag, e, 1)]) return e;
  return fault;
}

/* Computes the value of a node whose children are done; returns the node at fault. */
static Expr evaluate_node(Valuation *run, Expr e) {
  switch (dag_op(run->dag, e)) {
  case OP_STRING: run->values[e] = dag_index(run->dag, e); return EXPR_NONE;
  case OP_PARAMETER: return evaluate_parameter(run, e);
  case OP_TIME:
  case OP_VARIABLE:
  case OP_DISCRETE:
  case OP_PRE: return e;
  default: return evaluate_operator(run, e);
  }
}

/* ---- the walk ---- */

/* Child number `i` of the walk; EXPR_NONE after the last. If the condition of an if is known, only the branch taken
 * counts; so two parameters may refer to each other in branches that exclude each other. */
static Expr walk_child(const Valuation *run, Expr e, uint32_t i) {
  if (dag_op(run->dag, e) == OP_PARAMETER) return i == 0 ? parameter_source(run, e) : EXPR_NONE;
  if (dag_op(run->dag, e) == OP_IF && i > 0 && run->faults[dag_child(run->dag, e, 0)] == EXPR_NONE) {
    bool is_taken = run->values[dag_child(run->dag, e, 0)] != 0;
    return i == 1 ? dag_child(run->dag, e, is_taken ? 1 : 2) : EXPR_NONE;
  }
  return i < dag_child_count(run->dag, e) ? dag_child(run->dag, e, i) : EXPR_NONE;
}

static void open_node(Valuation *run, Expr e) {
  if (run->states[e] == STATE_OPEN) {
    /* All nodes of the cycle are at fault; the message names its first parameter. */
    if (run->circle == EXPR_NONE) run->circle = e;
    return;
  }
  if (run->states[e] != STATE_NEW) return;
  run->states[e] = STATE_OPEN;
  run->faults[e] = e;
  vec_push(run->heap, &run->stack, (struct ValuationFrame){e, 0});
}

static bool is_determined_by_initialization(const Valuation *run, Expr e) {
  return dag_op(run->dag, e) == OP_PARAMETER && !is_overridden(run, e) &&
         parameter_variable(run, e)->fixed == FIXED_FALSE;
}

static void evaluate_below(Valuation *run, Expr root) {
  open_node(run, root);
  while (run->stack.count) {
    struct ValuationFrame *top = &vec_last(&run->stack);
    Expr e = top->node, child = walk_child(run, e, top->next++);
    if (child != EXPR_NONE) {
      run->is_later[e] = run->is_later[e] || run->is_later[child];
      open_node(run, child);
      continue;
    }
    (void)vec_pop(&run->stack);
    run->faults[e] = evaluate_node(run, e);
    run->states[e] = STATE_DONE;
    run->is_later[e] = run->is_later[e] || is_determined_by_initialization(run, e);
    if (run->is_later[e] && run->stack.count) run->is_later[vec_last(&run->stack).node] = true;
  }
}

static Valuation valuation_make(const Model *model, Heap *heap, const double *overrides) {
  Valuation run = {.model = model, .dag = model->dag, .overrides = overrides, .circle = EXPR_NONE};
  uint32_t size = dag_size(model->dag);
  run.heap = heap;
  run.values = heap_array(run.heap, size, sizeof *run.values);
  run.faults = heap_array(run.heap, size, sizeof *run.faults);
  run.states = heap_array(run.heap, size, sizeof *run.states);
  run.is_lost = heap_array(run.heap, size, sizeof *run.is_lost);
  run.is_later = heap_array(run.heap, size, sizeof *run.is_later);
  return run;
}

static void valuation_free(Valuation *run) {
  heap_free_all(run->heap, run->values, run->faults, run->states, run->is_lost, run->is_later, run->last.results);
  vec_free(run->heap, &run->last.arguments, &run->stack);
  if (!run->machine) return;
  machine_free(run->machine);
  names_free(&run->names);
  for (uint32_t i = 0; i < run->quiet.list.count; i++) vec_free(run->heap, &run->quiet.list.data[i].notes);
  vec_free(run->heap, &run->quiet.list);
  arena_free(&run->quiet.arena);
}

/* ---- reports ---- */

/* Texts and objects need a value only if they are used. But an object whose constructor fails cannot be used at all. */
static bool is_needed(const Valuation *run, Expr leaf, Expr fault) {
  const Variable *variable = parameter_variable(run, leaf);
  if (has_number(variable)) return true;
  if (variable->type != TYPE_EXTERNAL_OBJECT || dag_op(run->dag, fault) != OP_CALL) return false;
  const Routine *routine = run->model->functions.data[dag_call_info(run->dag, fault).function]->routine;
  return routine_can_run(routine) || routine->is_forbidden;
}

static void report_fault(Valuation *run, Expr leaf, Expr fault, Diags *diags) {
  const Variable *variable = parameter_variable(run, leaf);
  const char *name = names_text(run->model->names, variable->name);
  if (run->circle != EXPR_NONE) {
    diag_error(diags, DIAG_NO_VALUE, variable->span, "the value of `%s` depends on itself", name);
  } else if (dag_op(run->dag, fault) == OP_CALL) {
    CallInfo call = dag_call_info(run->dag, fault);
    const char *why = run->quiet.list.count ? run->quiet.list.data[0].message : "it has no value here";
    diag_error(diags, DIAG_NO_VALUE, variable->span, "the value of `%s` cannot be computed: function `%s`: %s", name,
               names_text(run->model->names, run->model->functions.data[call.function]->name), why);
  } else {
    diag_error(diags, DIAG_NO_VALUE, variable->span, "the value of `%s` is not defined: `%s` has no value here", name,
               model_text(model_layer(run->model, run->heap), fault, &diags->arena));
  }
  run->circle = EXPR_NONE;
}

static bool is_open_constant(const Variable *variable) {
  return variable->variability == VARIABILITY_CONSTANT && has_number(variable) && variable->fixed != FIXED_FALSE &&
         variable->binding == EXPR_NONE && variable->start == EXPR_NONE;
}

void model_warn_constants(const Model *model, Diags *diags) {
  for (uint32_t k = 0; k < model->parameters.count; k++) {
    const Variable *variable = &model->variables.data[model->parameters.data[k]];
    if (is_open_constant(variable))
      diag_warning(diags, DIAG_WARNING_LENIENT, variable->span, "constant `%s` has no value: the model cannot be run",
                   names_text(model->names, variable->name));
  }
}

/* A parameter without a value is 0, with a warning; a constant must have one. */
static bool check_given(const Valuation *run, Expr leaf, Diags *diags) {
  const Variable *variable = parameter_variable(run, leaf);
  if (is_overridden(run, leaf) || parameter_source(run, leaf) != EXPR_NONE || !has_number(variable)) return true;
  if (variable->variability > VARIABILITY_PARAMETER || variable->fixed == FIXED_FALSE) return true;
  const char *name = names_text(run->model->names, variable->name);
  if (variable->variability == VARIABILITY_CONSTANT)
    return diag_error(diags, DIAG_NO_VALUE, variable->span, "constant `%s` has no value", name), false;
  diag_warning(diags, DIAG_VALUE_TAKEN, variable->span, "`%s` has no value: %d is used", name,
               variable->type == TYPE_ENUMERATION);
  return true;
}

/* Later, nothing shows whether a division or comparison with such a value does harm. So the value is reported where it arises. */
static void warn_of_round_off(const Valuation *run, Expr leaf, Diags *diags) {
  const Variable *variable = parameter_variable(run, leaf);
  diag_warning(diags, DIAG_WARNING, variable->span, "`%s` is only round-off: `%s` is %.3g",
               names_text(run->model->names, variable->name),
               model_text(model_layer(run->model, run->heap), parameter_source(run, leaf), &diags->arena),
               run->values[leaf]);
}

bool model_parameter_values(const Model *model, Heap *heap, const double *overrides, double *values, Diags *diags) {
  bool ok = true;
  Valuation run = valuation_make(model, heap, overrides);
  for (uint32_t i = 0; i < model->parameters.count; i++) {
    Expr leaf = dag_known_parameter(model->dag, i);
    evaluate_below(&run, leaf);
    if (!check_given(&run, leaf, diags)) ok = false;
    if (run.is_lost[leaf]) warn_of_round_off(&run, leaf, diags);
    Expr fault = run.faults[leaf];
    bool comes_later = run.is_later[leaf] && run.circle == EXPR_NONE;
    values[i] = fault == EXPR_NONE ? run.values[leaf] : comes_later ? 0 : NAN;
    if (fault == EXPR_NONE || comes_later || !is_needed(&run, leaf, fault)) continue;
    ok = false;
    if (run.states[fault] != STATE_REPORTED) report_fault(&run, leaf, fault, diags);
    run.states[fault] = STATE_REPORTED;
  }
  valuation_free(&run);
  return ok;
}

bool variable_is_sought(const Variable *variable) {
  return variable->role == ROLE_PARAMETER && variable->fixed == FIXED_FALSE && variable->binding == EXPR_NONE;
}

bool model_depends_on(const Model *model, DagScratch *scratch, Expr e, const bool *parameters) {
  const Dag *dag = model->dag;
  IndexVec below = {0};
  bool found = false;
  dag_below(dag, scratch, &e, 1, &below);
  for (uint32_t k = 0; k < below.count && !found; k++)
    found = dag_op(dag, below.data[k]) == OP_PARAMETER && parameters[dag_index(dag, below.data[k])];
  vec_free(scratch->heap, &below);
  return found;
}

bool model_sought_parameters(const Model *model, DagScratch *scratch, bool *is_sought) {
  bool any = false;
  for (uint32_t p = 0; p < model->parameters.count; p++)
    any |= is_sought[p] = variable_is_sought(&model->variables.data[model->parameters.data[p]]);
  for (bool grown = any; grown;) {
    grown = false;
    for (uint32_t p = 0; p < model->parameters.count; p++) {
      Expr binding = model->variables.data[model->parameters.data[p]].binding;
      if (is_sought[p] || binding == EXPR_NONE || !model_depends_on(model, scratch, binding, is_sought)) continue;
      is_sought[p] = grown = true;
    }
  }
  return any;
}

static double given_value(void *context, const Dag *dag, Expr leaf) {
  const double *const *parameters = context;
  return dag_op(dag, leaf) == OP_PARAMETER ? (*parameters)[dag_index(dag, leaf)] : NAN;
}

bool model_evaluate(const Model *model, DagScratch *scratch, Expr e, const double *parameters, double *value) {
  if (dag_evaluate(model->dag, scratch, e, given_value, &parameters, value, NULL)) return !isnan(*value);
  if (!dag_contains(model->dag, scratch, e, OP_CALL)) return false;
  Valuation run = valuation_make(model, scratch->heap, parameters);
  evaluate_below(&run, e);
  bool ok = run.faults[e] == EXPR_NONE;
  *value = run.values[e];
  valuation_free(&run);
  return ok;
}
