/* tracer: see record.h. */
#include "code/tracer.h"

#include "model/execute.h"

#include <string.h>

/* The deepest nesting at which the given derivative of a function is used; below that, its body is differentiated. */
enum { GIVEN_DEPTH = 4 };

/* A longer recording would not be worth keeping. */
static const uint64_t STEP_LIMIT = 400000;

/* The scalar: its number here, and the expression it comes from. A text that was composed has no expression. */
typedef struct Sample {
  double value;
  Expr node;
} Sample;

struct Tracer {
  Heap *heap;
  const Model *model;
  Names *names;
  Diags diags;
  Domain domain;
  Machine *machines[GIVEN_DEPTH]; /* machines by depth of functions with given derivatives; NULL until used */
  uint32_t depth;
  const Routine *entered; /* the routine with which the machine of this depth begins */
  bool uses_given, has_lost_text;
  Dag *dag;
  uint32_t next_leaf;
  Recording *recording;
  Map known; /* the conditions recorded so far */
};

static Sample sample_at(const void *scalars, uint32_t i) {
  Sample sample;
  memcpy(&sample, (const char *)scalars + i * sizeof sample, sizeof sample);
  return sample;
}

static void write_sample(void *out, double value, Expr node) {
  Sample sample = {value, node};
  memcpy(out, &sample, sizeof sample);
}

/* ---- the domain ---- */

static void trace_constant(void *context, double value, void *out) {
  const Tracer *tracer = context;
  write_sample(out, value, dag_constant(tracer->dag, value));
}

static void trace_text(void *context, Name text, void *out) { trace_constant(context, text, out); }

static bool trace_known(void *context, const void *scalar, double *value) {
  Tracer *tracer = context;
  Sample sample = sample_at(scalar, 0);
  *value = sample.value;
  if (sample.node == EXPR_NONE) tracer->has_lost_text = true;
  if (sample.node == EXPR_NONE || dag_is_constant(tracer->dag, sample.node, NULL)) return true;
  if (map_get(&tracer->known, sample.node) != MAP_NONE) return true;
  map_put(&tracer->known, sample.node, 1);
  vec_push(tracer->heap, &tracer->recording->conditions, sample.node);
  vec_push(tracer->heap, &tracer->recording->decisions, sample.value);
  return true;
}

static bool trace_apply(void *context, Op op, const void *arguments, uint32_t count, void *out) {
  const Tracer *tracer = context;
  double numbers[3] = {0}, value;
  Expr nodes[3];
  if (op == OP_STRING_JOIN || op == OP_STRING_OF) {
    write_sample(out, 0, EXPR_NONE);
    return true;
  }
  if (count > 3 || op_arity(op) != (int)count) return false;
  for (uint32_t k = 0; k < count; k++) {
    Sample sample = sample_at(arguments, k);
    numbers[k] = sample.value;
    nodes[k] = sample.node;
  }
  if (!op_evaluate(op, numbers, &value)) return false;
  write_sample(out, value, dag_nary(tracer->dag, op, nodes, count));
  return true;
}

static void trace_sum(void *context, const void *terms, const uint32_t *signs, uint32_t count, void *out) {
  const Tracer *tracer = context;
  Term few[8] = {0}, *list = count <= 8 ? few : heap_array(tracer->heap, count, sizeof *list);
  double total = 0;
  for (uint32_t i = 0; i < count; i++) {
    Sample sample = sample_at(terms, i);
    list[i] = (Term){(signs[i / 32] >> (i % 32)) & 1 ? -1 : 1, sample.node};
    total += list[i].coefficient * sample.value;
  }
  write_sample(out, total, dag_sum(tracer->dag, 0, list, count));
  if (list != few) heap_free(tracer->heap, list);
}

static void trace_select(void *context, const void *condition, const void *then, const void *otherwise, void *out) {
  double truth;
  trace_known(context, condition, &truth);
  memmove(out, truth != 0 ? then : otherwise, sizeof(Sample));
}

/* ---- given derivatives ---- */

/* A function with a given derivative while its leaves are made. */
typedef struct Substitution {
  Tracer *tracer;
  const Routine *routine;
  const Derivative *derivative;
  const Value *inputs;
  Arena arena;
  ExprVec arguments; /* nodes of the Reals among the inputs */
  ExprVec rates;     /* for each argument the leaf of its rate; EXPR_NONE: none is given */
  IndexVec silent;   /* for each argument: its derivative is not used */
} Substitution;

static bool is_listed(const IndexVec *list, uint32_t slot) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->data[i] == slot) return true;
  return false;
}

/* Makes a leaf for the rate of each element of an input. The derivative is run with the value 1 for each of them. */
static Value make_rates(Substitution *s, const Value *input) {
  Value rates = *input;
  rates.data = arena_array(&s->arena, input->count, sizeof(Sample));
  for (uint32_t i = 0; i < input->count; i++) {
    Expr leaf = dag_variable(s->tracer->dag, s->tracer->next_leaf++, 0);
    s->rates.data[s->rates.count - input->count + i] = leaf;
    write_sample(rates.data + i * sizeof(Sample), 1, leaf);
  }
  return rates;
}

/* Inputs of the derivative: those of the function, then the rates of its Reals. */
static Value *derivative_inputs(Substitution *s) {
  Heap *heap = s->tracer->heap;
  uint32_t count = s->routine->inputs;
  Value *inputs = arena_array(&s->arena, 2 * (size_t)count, sizeof *inputs);
  for (uint32_t i = 0; i < s->routine->inputs; i++) {
    const Value *input = &s->inputs[i];
    inputs[i] = *input;
    if (input->type.base != TYPE_REAL) continue;
    bool is_silent = is_listed(&s->derivative->without, i), is_constant = is_listed(&s->derivative->constant, i);
    for (uint32_t k = 0; k < input->count; k++) {
      vec_push(heap, &s->arguments, sample_at(input->data, k).node);
      vec_push(heap, &s->rates, EXPR_NONE);
      vec_push(heap, &s->silent, is_silent);
    }
    if (!is_silent && !is_constant) inputs[count++] = make_rates(s, input);
  }
  return count == s->derivative->routine->inputs ? inputs : NULL;
}

static void start_machine(Tracer *tracer, uint32_t depth);

/* Runs the routine on the machine of the next depth, which then has its outputs. */
static ExecuteStatus run_within(Tracer *tracer, const Routine *routine, const Value *inputs) {
  const Routine *entered = tracer->entered;
  if (!tracer->machines[tracer->depth + 1]) start_machine(tracer, tracer->depth + 1);
  tracer->depth++;
  tracer->entered = routine;
  machine_shorten(tracer->machines[tracer->depth], STEP_LIMIT);
  ExecuteStatus status = machine_run(tracer->machines[tracer->depth], routine, inputs, routine->inputs);
  tracer->depth--;
  tracer->entered = entered;
  return status;
}

static const Machine *machine_within(const Tracer *tracer) { return tracer->machines[tracer->depth + 1]; }

/* A leaf for each scalar of the outputs, whose values the inner machine has found. */
static bool make_leaves(Substitution *s, Value *outputs) {
  Tracer *tracer = s->tracer;
  for (uint32_t o = 0; o < s->routine->outputs; o++) {
    const Value *value = machine_output(machine_within(tracer), o);
    if (!value_same_sizes(&outputs[o], value)) return false;
    for (uint32_t i = 0; i < value->count; i++) {
      Sample sample = sample_at(value->data, i);
      Expr leaf = dag_variable(tracer->dag, tracer->next_leaf++, 0);
      GivenResult given = {.leaf = leaf, .value = sample.node, .count = s->arguments.count};
      given.arguments = heap_copy(tracer->heap, s->arguments.data, given.count, sizeof(Expr));
      given.partials = heap_array(tracer->heap, given.count, sizeof(Expr));
      vec_push(tracer->heap, &tracer->recording->given, given);
      write_sample(outputs[o].data + i * sizeof(Sample), sample.value, leaf);
    }
  }
  return true;
}

/* The given derivative is linear in the rates: its partials with respect to them are the partials of the function. */
static void set_partials(Substitution *s, uint32_t first) {
  Tracer *tracer = s->tracer;
  GivenResult *given = tracer->recording->given.data + first;
  Expr zero = dag_constant(tracer->dag, 0);
  for (uint32_t o = 0; o < s->routine->outputs; o++) {
    const Value *value = machine_output(machine_within(tracer), o);
    for (uint32_t i = 0; i < value->count; i++, given++)
      for (uint32_t k = 0; k < given->count; k++) {
        Expr rate = s->rates.data[k];
        if (rate != EXPR_NONE) given->partials[k] = dag_partial(tracer->dag, sample_at(value->data, i).node, rate);
        else given->partials[k] = s->silent.data[k] ? zero : EXPR_NONE;
      }
  }
}

static bool substitute(Substitution *s, Value *outputs) {
  const Value *inputs = derivative_inputs(s);
  if (!inputs) return true;
  if (run_within(s->tracer, s->routine, s->inputs) != EXECUTE_OK) return false;
  uint32_t first = s->tracer->recording->given.count;
  if (!make_leaves(s, outputs)) return false;
  if (run_within(s->tracer, s->derivative->routine, inputs) != EXECUTE_OK) return false;
  set_partials(s, first);
  return true;
}

static bool has_records(const Routine *routine) {
  for (uint32_t i = 0; i < routine->inputs + routine->outputs; i++)
    if (routine->locals.data[i].type.base == TYPE_RECORD) return true;
  return false;
}

static const Derivative *find_given(const Routine *routine) {
  for (uint32_t k = 0; k < routine->derivatives.count; k++) {
    const Derivative *derivative = &routine->derivatives.data[k];
    if (derivative->order == 1 && derivative->routine->outputs == routine->outputs &&
        routine_can_run(derivative->routine))
      return derivative;
  }
  return NULL;
}

static bool trace_derive(void *context, const Routine *routine, const Value *inputs, Value *outputs, bool *is_done) {
  Tracer *tracer = context;
  bool is_first = tracer->entered == routine;
  if (is_first) tracer->entered = NULL;
  const Derivative *derivative = find_given(routine);
  if (is_first || !tracer->uses_given || tracer->depth + 1 == GIVEN_DEPTH || !derivative || has_records(routine))
    return true;
  Substitution s = {.tracer = tracer,
                    .routine = routine,
                    .derivative = derivative,
                    .inputs = inputs,
                    .arena = arena_make(tracer->heap)};
  uint32_t before = tracer->recording->given.count;
  bool fits = substitute(&s, outputs);
  *is_done = tracer->recording->given.count > before;
  vec_free(tracer->heap, &s.arguments, &s.rates, &s.silent);
  arena_free(&s.arena);
  return fits;
}

/* ---- running ---- */

static void start_machine(Tracer *tracer, uint32_t depth) {
  tracer->machines[depth] =
      machine_new(tracer->heap, tracer->names, &tracer->domain, (Routine *const *const *)&tracer->model->routines.data,
                  (const Record *const *)&tracer->model->records.data, &tracer->diags, (Limits){0});
}

Tracer *tracer_new(Heap *heap, const Model *model, Names *names) {
  Tracer *tracer = heap_alloc(heap, sizeof *tracer);
  tracer->heap = heap;
  tracer->model = model;
  tracer->names = names;
  tracer->diags = diags_make(heap);
  tracer->domain = (Domain){.size = sizeof(Sample),
                            .context = tracer,
                            .constant = trace_constant,
                            .text = trace_text,
                            .known = trace_known,
                            .apply = trace_apply,
                            .sum = trace_sum,
                            .select = trace_select,
                            .has_no_texts = true,
                            .derive = trace_derive};
  start_machine(tracer, 0);
  return tracer;
}

static Value *make_inputs(Tracer *tracer, Arena *arena, const Function *function, const double *arguments) {
  Value *inputs = arena_array(arena, function->input_count, sizeof *inputs);
  Sample *flat = arena_array(arena, function->arguments, sizeof *flat);
  for (uint32_t k = 0; k < function->arguments; k++) flat[k] = (Sample){arguments[k], dag_variable(tracer->dag, k, 0)};
  const char *in = (const char *)flat;
  for (uint32_t i = 0; i < function->input_count; i++) {
    inputs[i] = value_of_shape(arena, tracer->model->records.data, &function->inputs[i], sizeof(Sample));
    value_unflatten(&tracer->domain, &inputs[i], tracer->model->records.data, in);
    in += function->inputs[i].scalars * sizeof(Sample);
  }
  return inputs;
}

static bool take_results(Tracer *tracer, Arena *arena, const Function *function) {
  const Record *records = tracer->model->records.data;
  for (uint32_t o = 0; o < function->output_count; o++) {
    const Value *value = machine_output(tracer->machines[0], o);
    uint32_t count = function->outputs[o].scalars;
    if (value_scalars(value, records) != count) return false;
    Sample *flat = arena_array(arena, count, sizeof *flat);
    value_flatten(&tracer->domain, value, records, (char *)flat);
    for (uint32_t i = 0; i < count; i++) vec_push(tracer->heap, &tracer->recording->results, flat[i].node);
  }
  return true;
}

TraceStatus tracer_run(Tracer *tracer, Dag *dag, const Function *function, const double *arguments, bool uses_given,
                       Recording *out) {
  Arena arena = arena_make(tracer->heap);
  *out = (Recording){0};
  tracer->recording = out;
  tracer->dag = dag;
  tracer->uses_given = uses_given;
  tracer->has_lost_text = false;
  tracer->depth = 0;
  tracer->entered = NULL;
  tracer->next_leaf = function->arguments;
  tracer->known = map_make(tracer->heap);
  const Value *inputs = make_inputs(tracer, &arena, function, arguments);
  machine_shorten(tracer->machines[0], STEP_LIMIT);
  ExecuteStatus status = machine_run(tracer->machines[0], function->routine, inputs, function->input_count);
  bool is_whole = status == EXECUTE_OK && take_results(tracer, &arena, function);
  map_free(&tracer->known);
  arena_free(&arena);
  diags_clear(&tracer->diags);
  if (status == EXECUTE_ERROR) return TRACE_FAILED; /* regardless of the message */
  if (tracer->has_lost_text || status == EXECUTE_UNKNOWN) return TRACE_IMPOSSIBLE;
  return is_whole ? TRACE_DONE : TRACE_FAILED;
}

void recording_free(Heap *heap, Recording *recording) {
  for (uint32_t i = 0; i < recording->given.count; i++)
    heap_free_all(heap, recording->given.data[i].arguments, recording->given.data[i].partials);
  vec_free(heap, &recording->conditions, &recording->decisions, &recording->results, &recording->given);
}
