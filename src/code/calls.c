/* calls: see calls.h. The arithmetic comes from nilpotents.inc, its rules from ops.def, which also make symbolic derivatives. Its
 * recursion is over the number of nilpotents, at most CALL_PARTIALS_LIMIT. */
#include "code/calls.h"

#include "base/finite.h"
#include "code/effects.h"
#include "code/trace.h"
#include "expr/op_math.h"
#include "external/external.h"
#include "model/execute.h"
#include "model/number.h"

#include <math.h>
#include <string.h>

#include "code/nilpotents.inc"

/* Limit of steps of a function whose arguments are not finite. Only this limit ends a loop that waits for an infinite argument
 * to become small. A search for values makes many such calls. */
static const uint64_t STEPS_WITHOUT_NUMBERS = 10000;

/* ---- operators ---- */

static double operator_value(Op op, double a, double b, double c) {
  (void)a, (void)b, (void)c;
  switch (op) {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) \
  case OP_##id:                                              \
    return (value);
#include "expr/ops.def"
#undef OP
  default: return NAN;
  }
}

static Element operator_rule(Algebra *algebra, uint32_t n, Op op, uint32_t argument, Element A, Element B, Element C,
                             Element SELF) {
  (void)C;
#define CONST(v) element_constant(algebra, n, v)
#define NONE CONST(0)
#define ADD(x, y) element_add(algebra, n, x, y, 1)
#define SUB(x, y) element_add(algebra, n, x, y, -1)
#define NEG(x) element_add(algebra, n, CONST(0), x, -1)
#define MUL(x, y) element_multiply(algebra, n, x, y)
#define DIV(x, y) element_apply(algebra, n, OP_DIVIDE, x, y)
#define SQUARES(x, y) element_squares(algebra, n, x, y)
#define FN1(f, x) element_apply(algebra, n, OP_##f, x, x)
#define FN2(f, x, y) element_apply(algebra, n, OP_##f, x, y)
#define SELECT(condition, x, y) ((condition)[0] != 0 ? (x) : (y))
  switch (op) {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) \
  case OP_##id:                                              \
    if (argument == 0) return d1;                            \
    if (argument == 1) return d2;                            \
    return d3;
#include "expr/ops.def"
#undef OP
  default: return NONE;
  }
#undef CONST
#undef NONE
#undef ADD
#undef SUB
#undef NEG
#undef MUL
#undef DIV
#undef SQUARES
#undef FN1
#undef FN2
#undef SELECT
}

/* ---- the domain of the function machine ---- */

/* Results of earlier calls of a function. The same calls are repeated by other rows, when rows are checked, and in each round of
 * an event. Their number is a power of two. */
enum { KEPT_LEAST = 32, KEPT_BYTES = 1 << 18, KEPT_PARTIALS = 1 };

typedef struct Callee {
  Value *inputs;
  char *arguments, *results; /* flat scalars */
  char *kept;                /* [slots] arguments and results of earlier calls; NULL: none are kept */
  uint64_t *hash;            /* [slots] hash of their arguments; 0: none */
  uint64_t slots;
  ExternalCall *
      external_call; /* the function is only this external call, with its arguments and constants; NULL: the function does more */
} Callee;

/* Runs calls with n partials. */
typedef struct Runner {
  Caller *caller;
  uint32_t n;
  Domain domain;
  Machine *machine; /* NULL until used */
  Algebra algebra;
  Map callees; /* function -> index */
  Arena arena; /* of their inputs */
  VEC(Callee) list;
} Runner;

struct Caller {
  Heap *heap;
  const Model *model;
  Names names; /* the names of the model, and texts that functions make */
  Diags diags;
  Tracer *tracer; /* NULL until used */
  Map trace_of;   /* 2 * function, + 1 for partials -> trace */
  VEC(Trace *) traces;
  Runner runners[CALL_PARTIALS_LIMIT + 1];
  Effects *effects;
  Map untraced;       /* functions that are only one external call: there is nothing to record */
  const Runner *last; /* the runner used last */
};

static void domain_constant(void *context, double value, void *out) {
  Runner *runner = context;
  memset(out, 0, sizeof(double) << runner->n);
  memcpy(out, &value, sizeof value);
}

static void domain_text(void *context, Name text, void *out) { domain_constant(context, text, out); }

static bool domain_known(void *context, const void *scalar, double *value) {
  (void)context;
  memcpy(value, scalar, sizeof *value);
  return true;
}

static bool join_texts(Runner *runner, const double *texts, uint32_t count, size_t size, void *out) {
  double *parts = heap_array(runner->caller->heap, count, sizeof *parts), joined;
  for (uint32_t i = 0; i < count; i++) parts[i] = texts[i * size];
  joined = number_join(&runner->caller->names, parts, count);
  heap_free(runner->caller->heap, parts);
  domain_constant(runner, joined, out);
  return true;
}

static bool domain_apply(void *context, Op op, const void *arguments, uint32_t count, void *out) {
  Runner *runner = context;
  const double *given = arguments;
  double plain[3], value;
  size_t size = (size_t)1 << runner->n;
  if (op == OP_STRING_JOIN) return join_texts(runner, given, count, size, out);
  if (count > 3 || op_arity(op) != (int)count) return false;
  for (uint32_t k = 0; k < 3; k++) plain[k] = k < count ? given[k * size] : 0;
  if (!op_evaluate(op, plain, &value)) return false;
  if (runner->n == 0) {
    memcpy(out, &value, sizeof value);
    return true;
  }
  const Element x[3] = {given, given + (count > 1 ? size : 0), given + (count > 2 ? 2 * size : 0)};
  double *result = new_element(&runner->algebra, runner->n);
  lift(&runner->algebra, runner->n, op, x, result);
  memcpy(out, result, size * sizeof *result);
  runner->algebra.used = 0;
  return true;
}

static void domain_sum(void *context, const void *terms, const uint32_t *signs, uint32_t count, void *out) {
  Runner *runner = context;
  const double *term = terms;
  size_t size = (size_t)1 << runner->n;
  for (size_t m = 0; m < size; m++) {
    double total = 0;
    for (uint32_t i = 0; i < count; i++)
      total += (signs[i / 32] >> (i % 32)) & 1 ? -term[i * size + m] : term[i * size + m];
    memcpy((double *)out + m, &total, sizeof total);
  }
}

static void domain_select(void *context, const void *condition, const void *then, const void *otherwise, void *out) {
  Runner *runner = context;
  double truth;
  memcpy(&truth, condition, sizeof truth);
  memmove(out, truth != 0 ? then : otherwise, sizeof(double) << runner->n);
}

/* ---- given derivatives ---- */

/* With the last nilpotent e, f(a + b e) is f(a) + e f'(a)[b]. Here a and b have one nilpotent less, so the machine for that
 * number of nilpotents computes f(a) and f'(a)[b]. */
typedef struct Direction {
  Runner *lower;
  size_t half; /* scalars of the lower algebra, in doubles */
  const Routine *routine;
  const Value *inputs;
} Direction;

static const double *element_at(const Direction *d, const Value *value, uint32_t i) {
  return (const double *)(const void *)value->data + 2 * d->half * i;
}

static bool is_real(const Value *value) { return value->type.base == TYPE_REAL; }

static bool is_constant(const Direction *d, const Value *value) {
  for (uint32_t i = 0; is_real(value) && i < value->count; i++)
    for (size_t m = 1; m < 2 * d->half; m++)
      if (element_at(d, value, i)[m] != 0) return false;
  return true;
}

/* Computes a + h b or, with is_rate, only b. */
static Value part_of(const Direction *d, Arena *arena, const Value *value, double h, bool is_rate) {
  Value part = *value;
  double *out = arena_array(arena, value->count * d->half, sizeof *out);
  part.data = (char *)out;
  for (uint32_t i = 0; i < value->count; i++)
    for (size_t m = 0; m < d->half; m++) {
      const double *element = element_at(d, value, i);
      bool moves = h != 0 && is_real(value);
      out[i * d->half + m] = is_rate ? element[d->half + m] : element[m] + (moves ? h * element[d->half + m] : 0);
    }
  return part;
}

/* Adds factor times the outputs of the lower machine's last run to the lower or upper halves of `outputs`. */
static bool add_outputs(const Direction *d, Runner *runner, bool is_upper, double factor, Value *outputs) {
  for (uint32_t o = 0; o < d->routine->outputs; o++) {
    const Value *from = machine_output(d->lower->machine, o);
    if (!value_same_sizes(&outputs[o], from)) outputs[o] = machine_make(runner->machine, from->type, from->sizes);
    if (outputs[o].type.base == TYPE_NOTHING) return false;
    bool is_number = is_real(from);
    for (uint32_t i = 0; i < from->count; i++)
      for (size_t m = 0; m < d->half; m++) {
        double *to = (double *)(void *)outputs[o].data + 2 * d->half * i + (is_upper ? d->half : 0) + m;
        double value = ((const double *)(const void *)from->data)[i * d->half + m];
        if (!is_upper) *to = value;
        else *to = is_number ? *to + factor * value : 0;
      }
  }
  return true;
}

static void clear_upper(const Direction *d, Value *outputs) {
  for (uint32_t o = 0; o < d->routine->outputs; o++)
    for (uint32_t i = 0; i < outputs[o].count; i++)
      memset((double *)(void *)outputs[o].data + 2 * d->half * i + d->half, 0, d->half * sizeof(double));
}

static bool run_moved(const Direction *d, Arena *arena, double h) {
  Value *inputs = arena_array(arena, d->routine->inputs, sizeof *inputs);
  for (uint32_t i = 0; i < d->routine->inputs; i++) inputs[i] = part_of(d, arena, &d->inputs[i], h, false);
  return machine_run(d->lower->machine, d->routine, inputs, d->routine->inputs) == EXECUTE_OK;
}

static bool is_listed(const IndexVec *list, uint32_t slot) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->data[i] == slot) return true;
  return false;
}

/* Inputs of the derivative: those of the function, then the rates of its Reals. NULL: it does not fit. */
static Value *rate_inputs(const Direction *d, Arena *arena, const Derivative *derivative) {
  uint32_t count = d->routine->inputs;
  Value *inputs = arena_array(arena, 2 * (size_t)count, sizeof *inputs);
  for (uint32_t i = 0; i < d->routine->inputs; i++) {
    const Value *input = &d->inputs[i];
    if (is_listed(&derivative->constant, i) && !is_constant(d, input)) return NULL;
    inputs[i] = part_of(d, arena, input, 0, false);
    bool has_rate = is_real(input) && !is_listed(&derivative->without, i) && !is_listed(&derivative->constant, i);
    if (has_rate) inputs[count++] = part_of(d, arena, input, 0, true);
  }
  bool fits = derivative->routine->inputs == count && derivative->routine->outputs == d->routine->outputs;
  return fits && derivative->order == 1 && routine_can_run(derivative->routine) ? inputs : NULL;
}

/* Uses the first fitting derivative that the function declares; *is_done says whether there was one. */
static bool derive_as_given(const Direction *d, Runner *runner, Arena *arena, Value *outputs, bool *is_done) {
  for (uint32_t k = 0; k < d->routine->derivatives.count && !*is_done; k++) {
    const Derivative *derivative = &d->routine->derivatives.data[k];
    Value *inputs = rate_inputs(d, arena, derivative);
    if (!inputs) continue;
    if (!run_moved(d, arena, 0) || !add_outputs(d, runner, false, 1, outputs)) return false;
    clear_upper(d, outputs);
    if (machine_run(d->lower->machine, derivative->routine, inputs, derivative->routine->inputs) != EXECUTE_OK ||
        !add_outputs(d, runner, true, 1, outputs))
      return false;
    *is_done = true;
  }
  return true;
}

/* The step of a difference, from the largest Real and the largest rate among the inputs. */
static double difference_step(const Direction *d) {
  double value = 1, rate = 0;
  for (uint32_t i = 0; i < d->routine->inputs; i++)
    for (uint32_t k = 0; is_real(&d->inputs[i]) && k < d->inputs[i].count; k++) {
      const double *element = element_at(d, &d->inputs[i], k);
      value = fmax(value, fabs(element[0]));
      rate = fmax(rate, fabs(element[d->half]));
    }
  return rate > 0 ? 6e-6 * value / rate : 0; /* cube root of the round-off */
}

/* Differentiates a function without a known derivative by central differences. */
static bool derive_by_difference(const Direction *d, Runner *runner, Arena *arena, Value *outputs) {
  double h = difference_step(d);
  if (!run_moved(d, arena, 0) || !add_outputs(d, runner, false, 1, outputs)) return false;
  clear_upper(d, outputs);
  if (h == 0) return true;
  return run_moved(d, arena, h) && add_outputs(d, runner, true, 0.5 / h, outputs) && run_moved(d, arena, -h) &&
         add_outputs(d, runner, true, -0.5 / h, outputs);
}

static void start_runner(Runner *runner);

static bool domain_derive(void *context, const Routine *routine, const Value *inputs, Value *outputs, bool *is_done) {
  Runner *runner = context;
  bool is_opaque = routine->kind == ROUTINE_EXTERNAL && routine->implementation && !routine->implementation->is_smooth;
  bool has_records = false, moves = false;
  if (runner->n == 0 || (!is_opaque && !routine->derivatives.count)) return true;
  Direction d = {runner - 1, (size_t)1 << (runner->n - 1), routine, inputs};
  for (uint32_t i = 0; i < routine->inputs; i++) {
    has_records = has_records || inputs[i].type.base == TYPE_RECORD;
    moves = moves || !is_constant(&d, &inputs[i]);
  }
  for (uint32_t i = 0; i < routine->outputs; i++) has_records = has_records || outputs[i].type.base == TYPE_RECORD;
  if (has_records || !moves || (routine->implementation && routine->implementation->is_smooth)) return true;
  if (!d.lower->machine) start_runner(d.lower);
  Arena arena = arena_make(runner->caller->heap);
  bool fine = derive_as_given(&d, runner, &arena, outputs, is_done);
  if (fine && !*is_done && is_opaque) fine = *is_done = derive_by_difference(&d, runner, &arena, outputs);
  arena_free(&arena);
  return fine;
}

/* ---- running ---- */

/* A function that still runs after this many instructions is considered endless. */
static const uint64_t STEP_LIMIT = 10000000;

static void start_runner(Runner *runner) {
  Caller *caller = runner->caller;
  size_t elements = (size_t)ELEMENTS_PER_NILPOTENT * (runner->n + 1);
  runner->domain = (Domain){.size = (uint32_t)(sizeof(double) << runner->n),
                            .context = runner,
                            .constant = domain_constant,
                            .text = domain_text,
                            .known = domain_known,
                            .apply = domain_apply,
                            .sum = domain_sum,
                            .select = domain_select,
                            .externals = external_state(caller->heap),
                            .derive = domain_derive};
  runner->algebra.room = heap_array(caller->heap, elements << runner->n, sizeof *runner->algebra.room);
  runner->callees = map_make(caller->heap);
  runner->arena = arena_make(caller->heap);
  runner->machine =
      machine_new(caller->heap, &caller->names, &runner->domain, (Routine *const *const *)&caller->model->routines.data,
                  (const Record *const *)&caller->model->records.data, &caller->diags, (Limits){.steps = STEP_LIMIT});
}

Caller *caller_new(Heap *heap, const Model *model) {
  Caller *caller = heap_alloc(heap, sizeof *caller);
  caller->heap = heap;
  caller->model = model;
  caller->names = names_over(heap, model->names);
  caller->effects = effects_of(heap, model);
  caller->diags = diags_make(heap);
  caller->trace_of = map_make(heap);
  caller->untraced = map_make(heap);
  for (uint32_t n = 0; n <= CALL_PARTIALS_LIMIT; n++) caller->runners[n] = (Runner){.caller = caller, .n = n};
  return caller;
}

Caller *caller_of(Heap *heap, const Model *model) {
  Caller *caller = heap_guest(heap, model->functions.data);
  if (!caller) heap_set_guest(heap, model->functions.data, caller = caller_new(heap, model));
  return caller;
}

/* ---- functions that are one external call ---- */

/* The type of a scalar that is passed unchanged; EXTERNAL_NOTHING: it is not. */
static ExternalType external_type(BaseType base) {
  if (base == TYPE_REAL) return EXTERNAL_REAL;
  if (base == TYPE_EXTERNAL_OBJECT) return EXTERNAL_OBJECT;
  return type_is_discrete(base) && base != TYPE_STRING ? EXTERNAL_INTEGER : EXTERNAL_NOTHING;
}

/* The value that an instruction passes to the external function: an argument of the call, or a constant. An object is passed as its
 * handle. */
static ExternalValue external_argument(const Runner *runner, const Callee *callee, const Routine *routine,
                                       Instruction i) {
  size_t size = (size_t)1 << runner->n;
  ExternalValue value = {.count = 1};
  if (i.code == CODE_CONSTANT) {
    value.type = external_type((BaseType)i.a);
    value.numbers = heap_array(runner->caller->heap, size, sizeof(double));
    value.numbers[0] = routine->constants.data[i.b];
  } else if (i.code == CODE_LOCAL && i.b < routine->inputs) {
    value.type = external_type(routine->locals.data[i.b].type.base);
    value.numbers = (double *)(void *)callee->arguments + i.b * size;
  }
  return value;
}

/* Is the function only an external call of scalars that returns a Real, like table look-ups? If so, returns that call, which
 * reads the arguments of the function and writes its results. Otherwise returns NULL. */
static ExternalCall *make_external_call(Runner *runner, const Callee *callee, const Function *function) {
  Heap *heap = runner->caller->heap;
  const Routine *routine = function->routine;
  const External *external = routine->implementation;
  bool is_scalar = function->arguments == function->input_count && function->results == 1;
  if (routine->kind != ROUTINE_EXTERNAL || !external || !external->run || !is_scalar) return NULL;
  if (external->effect != EFFECT_NONE || (runner->n > 0 && !external->is_smooth)) return NULL;
  ExternalCall *call = heap_alloc(heap, sizeof *call);
  *call = (ExternalCall){.function = external,
                         .arguments = heap_array(heap, routine->code.count, sizeof *call->arguments),
                         .nilpotents = external->is_smooth ? runner->n : 0,
                         .state = external_state(heap),
                         .arena = &runner->arena};
  for (uint32_t k = 0; k < routine->code.count; k++) {
    Instruction i = routine->code.data[k];
    const uint32_t *places = routine->extra.data + i.b;
    if (i.code == CODE_BODY || (i.code == CODE_DECLARE && i.a == 0)) continue;
    if (i.code == CODE_EXTERNAL) {
      bool is_result = places[0] == routine->inputs && routine->locals.data[places[0]].type.base == TYPE_REAL;
      for (uint32_t j = 0; j < i.a; j++) is_result = is_result && places[1 + j] == UINT32_MAX;
      call->result = (ExternalValue){.type = EXTERNAL_REAL, .count = 1};
      call->result.numbers = (double *)(void *)callee->results;
      return is_result && i.a == call->count && external_fits(call) ? call : NULL;
    }
    ExternalValue argument = external_argument(runner, callee, routine, i);
    if (argument.type == EXTERNAL_NOTHING) return NULL;
    call->arguments[call->count++] = argument;
  }
  return NULL;
}

/* false: the machine must run it, and reports why. */
static bool run_external_call(const Callee *callee) {
  ExternalCall call = *callee->external_call;
  ExternalValue arguments[16];
  if (call.count > sizeof arguments / sizeof *arguments) return false;
  memcpy(arguments, call.arguments, call.count * sizeof *arguments);
  call.arguments = arguments;
  for (uint32_t k = 0; k < call.count; k++)
    if (arguments[k].type == EXTERNAL_OBJECT) arguments[k].object = external_instance(arguments[k].numbers[0]);
  return call.function->run(&call) && isfinite(call.result.numbers[0]);
}

/* ---- calls ---- */

static void make_room(const Runner *runner, Callee *callee, const Function *function) {
  Heap *heap = runner->caller->heap;
  size_t call = (function->arguments + (size_t)function->results) * runner->domain.size;
  for (callee->slots = KEPT_LEAST; 2 * callee->slots * call <= KEPT_BYTES && 2 * callee->slots <= KEPT_BYTES;)
    callee->slots *= 2;
  callee->kept = heap_array(heap, callee->slots, call);
  callee->hash = heap_array(heap, callee->slots, sizeof *callee->hash);
}

static Callee *find_callee(Runner *runner, uint32_t number) {
  Heap *heap = runner->caller->heap;
  uint32_t known = map_get(&runner->callees, number);
  if (known != MAP_NONE) return &runner->list.data[known];
  const Function *function = runner->caller->model->functions.data[number];
  Callee callee = {.inputs = heap_array(heap, function->input_count, sizeof *callee.inputs)};
  callee.arguments = heap_array(heap, function->arguments + (size_t)ONCE_CONDITIONS, runner->domain.size);
  callee.results = heap_array(heap, function->results, runner->domain.size);
  const Model *model = runner->caller->model;
  bool is_pure =
      !function->routine->is_impure && !routine_has_effect(function->routine) &&
      !routine_calls(heap, model->routines.data, model->routines.count, function->routine, routine_has_effect);
  callee.external_call = make_external_call(runner, &callee, function);
  if (callee.external_call) map_put(&runner->caller->untraced, number, 1);
  if (runner->n <= KEPT_PARTIALS && is_pure && !callee.external_call) make_room(runner, &callee, function);
  for (uint32_t i = 0; i < function->input_count; i++)
    callee.inputs[i] =
        value_of_shape(&runner->arena, runner->caller->model->records.data, &function->inputs[i], runner->domain.size);
  map_put(&runner->callees, number, runner->list.count);
  vec_push(heap, &runner->list, callee);
  return &vec_last(&runner->list);
}

/* Argument k becomes its value plus one nilpotent for each partial derivative with respect to argument k. */
static void set_arguments(Runner *runner, Callee *callee, const CallSite *site, const double *arguments) {
  double *flat = (double *)(void *)callee->arguments;
  size_t size = (size_t)1 << runner->n;
  memset(flat, 0, site->argument_count * size * sizeof *flat);
  for (uint32_t k = 0; k < site->argument_count; k++) flat[k * size] = arguments[k];
  for (uint32_t p = 0; p < site->partial_count; p++) flat[site->partials[p] * size + ((size_t)1 << p)] = 1;
}

/* Records why the function cannot run, for caller_failure. */
static bool report_unknown(Runner *runner, ExecuteStatus status) {
  Span where;
  if (status != EXECUTE_UNKNOWN) return false;
  const char *obstacle = machine_obstacle(runner->machine, &where);
  diag_error(&runner->caller->diags, DIAG_INPUT, where, "it needs %s", obstacle);
  return false;
}

static bool run_function(Runner *runner, Callee *callee, const Function *function) {
  const Record *records = runner->caller->model->records.data;
  size_t size = runner->domain.size;
  const char *in = callee->arguments;
  for (uint32_t i = 0; i < function->input_count; i++) {
    value_unflatten(&runner->domain, &callee->inputs[i], records, in);
    in += function->inputs[i].scalars * size;
  }
  ExecuteStatus status = machine_run(runner->machine, function->routine, callee->inputs, function->input_count);
  if (status != EXECUTE_OK) return report_unknown(runner, status);
  char *out = callee->results;
  for (uint32_t o = 0; o < function->output_count; o++) {
    const Value *value = machine_output(runner->machine, o);
    if (value_scalars(value, records) != function->outputs[o].scalars) return false;
    value_flatten(&runner->domain, value, records, out);
    out += function->outputs[o].scalars * size;
  }
  return true;
}

static Trace *find_trace(Caller *caller, const CallSite *site) {
  uint32_t key = 2 * site->function + (site->partial_count > 0), known = map_get(&caller->trace_of, key);
  if (known != MAP_NONE) return caller->traces.data[known];
  if (!caller->tracer) caller->tracer = tracer_new(caller->heap, caller->model, &caller->names);
  const Function *function = caller->model->functions.data[site->function];
  map_put(&caller->trace_of, key, caller->traces.count);
  vec_push(caller->heap, &caller->traces,
           trace_new(caller->heap, caller->tracer, function, &caller->names, site->partial_count > 0));
  return vec_last(&caller->traces);
}

void caller_prepare(Caller *caller, const CallSite *site) {
  if (site->partial_count > CALL_PARTIALS_LIMIT) return;
  Runner *runner = &caller->runners[site->partial_count];
  if (!runner->machine) start_runner(runner);
  find_callee(runner, site->function);
  trace_prepare(find_trace(caller, site), site);
}

/* The results of an earlier call with the same arguments, whose hash is given. */
static bool recall(const Runner *runner, const Callee *callee, const Function *function, uint64_t hash) {
  size_t in = function->arguments * (size_t)runner->domain.size, out = function->results * (size_t)runner->domain.size;
  uint64_t slot = hash & (callee->slots - 1);
  if (!callee->kept || callee->hash[slot] != hash) return false;
  const char *call = callee->kept + slot * (in + out);
  if (memcmp(call, callee->arguments, in) != 0) return false;
  memcpy(callee->results, call + in, out);
  return true;
}

static void keep(const Runner *runner, Callee *callee, const Function *function, uint64_t hash) {
  size_t in = function->arguments * (size_t)runner->domain.size, out = function->results * (size_t)runner->domain.size;
  uint64_t slot = hash & (callee->slots - 1);
  if (!callee->kept) return;
  char *call = callee->kept + slot * (in + out);
  memcpy(call, callee->arguments, in);
  memcpy(call + in, callee->results, out);
  callee->hash[slot] = hash;
}

static uint64_t hash_of_arguments(const Runner *runner, const Callee *callee, const Function *function) {
  uint64_t hash = callee->kept ? hash_bytes(callee->arguments, function->arguments * (size_t)runner->domain.size) : 0;
  return hash ? hash : 1;
}

bool caller_interpret(Caller *caller, const CallSite *site, const double *arguments, double *results) {
  for (uint32_t r = 0; r < site->result_count; r++) results[r] = NAN;
  caller->last = NULL;
  if (site->partial_count > CALL_PARTIALS_LIMIT) return false;
  diags_clear(&caller->diags);
  Runner *runner = &caller->runners[site->partial_count];
  if (!runner->machine) start_runner(runner);
  Callee *callee = find_callee(runner, site->function);
  set_arguments(runner, callee, site, arguments);
  caller->last = runner;
  const Function *function = caller->model->functions.data[site->function];
  bool is_done = callee->external_call && run_external_call(callee);
  uint64_t hash = is_done ? 0 : hash_of_arguments(runner, callee, function);
  if (!is_done && !recall(runner, callee, function, hash)) {
    if (!all_finite(arguments, site->argument_count)) machine_shorten(runner->machine, STEPS_WITHOUT_NUMBERS);
    if (!run_function(runner, callee, function)) return false;
    keep(runner, callee, function, hash);
  }
  size_t size = (size_t)1 << runner->n;
  const double *flat = (const double *)(const void *)callee->results;
  for (uint32_t r = 0; r < site->result_count; r++) results[r] = flat[site->results[r] * size + size - 1];
  return true;
}

/* A call that an event makes once. */
static bool run_once(Caller *caller, const CallSite *site, const double *arguments, double *results) {
  EffectTurn turn = effects_turn(caller->effects, site->function, arguments);
  for (uint32_t r = 0; r < site->result_count; r++) results[r] = NAN;
  if (turn == EFFECT_WAITS) return true;
  if (turn == EFFECT_MADE) {
    if (!caller_interpret(caller, site, arguments, results)) {
      bool is_refused = caller->last && machine_lacks_right(caller->last->machine);
      effects_fail(caller->effects, site->function, caller_failure(caller), is_refused);
      return is_refused;
    }
    const Callee *callee = find_callee(&caller->runners[0], site->function);
    effects_keep(caller->effects, site->function, arguments, (const double *)(const void *)callee->results);
  }
  const double *kept = effects_kept(caller->effects, site->function);
  for (uint32_t r = 0; r < site->result_count; r++) results[r] = kept[site->results[r]];
  return true;
}

bool caller_run(void *context, const CallSite *site, const double *arguments, double *results) {
  Caller *caller = context;
  if (caller->model->functions.data[site->function]->is_once && !site->partial_count)
    return run_once(caller, site, arguments, results);
  bool is_traced = map_get(&caller->untraced, site->function) == MAP_NONE &&
                   all_finite(arguments, site->argument_count) &&
                   trace_run(find_trace(caller, site), site, arguments, results);
  return is_traced || caller_interpret(caller, site, arguments, results);
}

const char *caller_failure(Caller *caller) {
  Span where;
  if (caller->diags.list.count) return caller->diags.list.data[0].message;
  if (!caller->last) return "a derivative of a function of too high an order";
  return arena_printf(&caller->diags.arena, "it needs %s", machine_obstacle(caller->last->machine, &where));
}
