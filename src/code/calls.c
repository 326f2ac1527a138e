/* calls: see calls.h. The arithmetic is that of nilpotents.inc with the rules of ops.def, so the rules that
 * make symbolic derivatives make these too; its recursion is over the number of nilpotents, which is at most
 * CALL_PARTIALS_LIMIT. */
#include "code/calls.h"

#include "expr/op_math.h"
#include "model/execute.h"

#include <math.h>
#include <string.h>

#include "code/nilpotents.inc"

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

typedef struct Callee {
  Value *inputs;
  char *arguments, *results; /* flat scalars */
} Callee;

/* What runs calls with n partials. */
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
  Names names; /* those of the model, and texts that functions make */
  Diags diags;
  Runner runners[CALL_PARTIALS_LIMIT + 1];
  const Runner *last; /* the one that ran last */
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

/* Texts only end up in messages of assertions; joining them gives the last one. */
static bool domain_apply(void *context, Op op, const void *arguments, uint32_t count, void *out) {
  Runner *runner = context;
  const double *given = arguments;
  double plain[3], value;
  size_t size = (size_t)1 << runner->n;
  if (op == OP_STRING_JOIN || op == OP_STRING_OF) {
    memcpy(out, given + (count ? count - 1 : 0) * size, size * sizeof *given);
    return true;
  }
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

/* ---- running ---- */

/* A function that still runs after so many instructions will not end. */
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
                            .select = domain_select};
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
  caller->diags = diags_make(heap);
  for (uint32_t n = 0; n <= CALL_PARTIALS_LIMIT; n++) caller->runners[n] = (Runner){.caller = caller, .n = n};
  return caller;
}

static Callee *find_callee(Runner *runner, uint32_t number) {
  Heap *heap = runner->caller->heap;
  uint32_t known = map_get(&runner->callees, number);
  if (known != MAP_NONE) return &runner->list.data[known];
  const Function *function = runner->caller->model->functions.data[number];
  Callee callee = {.inputs = heap_array(heap, function->input_count, sizeof *callee.inputs)};
  callee.arguments = heap_array(heap, function->arguments, runner->domain.size);
  callee.results = heap_array(heap, function->results, runner->domain.size);
  for (uint32_t i = 0; i < function->input_count; i++)
    callee.inputs[i] =
        value_of_shape(&runner->arena, runner->caller->model->records.data, &function->inputs[i], runner->domain.size);
  map_put(&runner->callees, number, runner->list.count);
  vec_push(heap, &runner->list, callee);
  return &vec_last(&runner->list);
}

/* Argument k is its value plus the nilpotent of each partial that names it. */
static void set_arguments(Runner *runner, Callee *callee, const CallSite *site, const double *arguments) {
  double *flat = (double *)(void *)callee->arguments;
  size_t size = (size_t)1 << runner->n;
  memset(flat, 0, site->argument_count * size * sizeof *flat);
  for (uint32_t k = 0; k < site->argument_count; k++) flat[k * size] = arguments[k];
  for (uint32_t p = 0; p < site->partial_count; p++) flat[site->partials[p] * size + ((size_t)1 << p)] = 1;
}

static bool run_function(Runner *runner, Callee *callee, const Function *function) {
  const Record *records = runner->caller->model->records.data;
  size_t size = runner->domain.size;
  const char *in = callee->arguments;
  for (uint32_t i = 0; i < function->input_count; i++) {
    value_unflatten(&runner->domain, &callee->inputs[i], records, in);
    in += function->inputs[i].scalars * size;
  }
  if (machine_run(runner->machine, function->routine, callee->inputs, function->input_count) != EXECUTE_OK)
    return false;
  char *out = callee->results;
  for (uint32_t o = 0; o < function->output_count; o++) {
    const Value *value = machine_output(runner->machine, o);
    if (value_scalars(value, records) != function->outputs[o].scalars) return false;
    value_flatten(&runner->domain, value, records, out);
    out += function->outputs[o].scalars * size;
  }
  return true;
}

static void clear_diags(Caller *caller) {
  if (!caller->diags.list.count) return;
  for (uint32_t d = 0; d < caller->diags.list.count; d++) vec_free(caller->heap, &caller->diags.list.data[d].notes);
  vec_free(caller->heap, &caller->diags.list);
  arena_free(&caller->diags.arena);
  caller->diags = diags_make(caller->heap);
}

void caller_prepare(Caller *caller, const CallSite *site) {
  if (site->partial_count > CALL_PARTIALS_LIMIT) return;
  Runner *runner = &caller->runners[site->partial_count];
  if (!runner->machine) start_runner(runner);
  find_callee(runner, site->function);
}

bool caller_run(Caller *caller, const CallSite *site, const double *arguments, double *results) {
  for (uint32_t r = 0; r < site->result_count; r++) results[r] = NAN;
  caller->last = NULL;
  if (site->partial_count > CALL_PARTIALS_LIMIT) return false;
  caller_prepare(caller, site);
  clear_diags(caller);
  Runner *runner = &caller->runners[site->partial_count];
  Callee *callee = find_callee(runner, site->function);
  set_arguments(runner, callee, site, arguments);
  caller->last = runner;
  if (!run_function(runner, callee, caller->model->functions.data[site->function])) return false;
  size_t size = (size_t)1 << runner->n;
  const double *flat = (const double *)(const void *)callee->results;
  for (uint32_t r = 0; r < site->result_count; r++) results[r] = flat[site->results[r] * size + size - 1];
  return true;
}

const char *caller_failure(Caller *caller) {
  Span where;
  if (caller->diags.list.count) return caller->diags.list.data[0].message;
  if (!caller->last) return "a derivative of a function of too high an order";
  return arena_printf(&caller->diags.arena, "it needs %s", machine_obstacle(caller->last->machine, &where));
}
