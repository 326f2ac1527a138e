/* trace: see trace.h. */
#include "code/trace.h"

#include "code/tape.h"

#include <math.h>
#include <string.h>

/* The most paths through a function that are kept. */
enum { WAY_LIMIT = 1024 };

/* A trace is given up after a trial in which it knew fewer than WORTH calls for each call that it did not know. It then pauses for
 * as many calls as the trial had, and each later pause is twice as long. The reason is that the iteration for initial values takes
 * paths that the run itself never takes. Later trials are short. */
enum { WORTH = 2, TRIAL = 256, LATER_TRIAL = 16 };

/* Results that call sites request, or a partial derivative of them. Sites that request first partials with respect to different
 * arguments share one demand: the code computes all of them at once. */
typedef struct Demand {
  uint32_t order, result_count;
  IndexVec partials; /* order 1: all requested partial derivatives; higher orders: the parts of one mixed derivative */
  uint32_t *results;
  double *arguments; /* arguments of the last call, whose values are in the code of this path; UINT32_MAX: none */
  uint32_t way;
} Demand;

/* A call site: what it demands, its position among the first partials of that demand, and the path that its last call took. */
typedef struct Visitor {
  uint32_t demand, position, way;
} Visitor;

/* The code of one path for one demand. Its outputs are the conditions, then the results; for first partials, the
 * derivatives of the results with respect to the first argument, then to the next one. */
typedef struct WayCode {
  Kernel kernel;
  Registers *registers; /* NULL: a derivative is not given */
  double *values;
} WayCode;

/* The place where a condition of a path is decided differently. */
typedef struct OtherDecision {
  uint32_t condition;
  double decision;
  uint32_t way;
} OtherDecision;

/* A path is identified by the decisions at its conditions, in the order in which they are evaluated. */
typedef struct DecisionPath {
  VEC(double) decisions;
  uint32_t parent,
      from; /* the path from which this one branches off, and the condition where it does; UINT32_MAX for the first path */
  VEC(OtherDecision) branches;
  VEC(WayCode *) codes; /* per demand; NULL: not made yet */
} DecisionPath;

struct Trace {
  Heap *heap;
  Tracer *tracer;
  const Function *function;
  Names *names;
  bool with_partials, is_off;
  uint64_t known, unknown; /* calls of this trial, recently */
  uint64_t rest, left;     /* length of the pause, and the calls that are left of it */
  VEC(Demand) demands;
  Map visitor_of; /* address of a call site -> visitor */
  VEC(Visitor) visitors;
  VEC(DecisionPath) ways;
};

Trace *trace_new(Heap *heap, Tracer *tracer, const Function *function, Names *names, bool with_partials) {
  Trace *trace = heap_alloc(heap, sizeof *trace);
  *trace = (Trace){.heap = heap, .tracer = tracer, .function = function, .names = names};
  trace->with_partials = with_partials;
  trace->visitor_of = map_make(heap);
  return trace;
}

/* ---- demands ---- */

static bool is_demand_of(const Demand *demand, const CallSite *site) {
  if (demand->order != site->partial_count || demand->result_count != site->result_count) return false;
  if (memcmp(demand->results, site->results, site->result_count * sizeof *site->results) != 0) return false;
  return demand->order <= 1 ||
         memcmp(demand->partials.data, site->partials, site->partial_count * sizeof *site->partials) == 0;
}

static uint32_t find_demand(Trace *trace, const CallSite *site) {
  for (uint32_t d = 0; d < trace->demands.count; d++)
    if (is_demand_of(&trace->demands.data[d], site)) return d;
  Demand demand = {.order = site->partial_count, .result_count = site->result_count, .way = UINT32_MAX};
  demand.results = heap_copy(trace->heap, site->results, site->result_count, sizeof *site->results);
  demand.arguments = heap_array(trace->heap, trace->function->arguments, sizeof *demand.arguments);
  for (uint32_t p = 0; p < site->partial_count; p++) vec_push(trace->heap, &demand.partials, site->partials[p]);
  vec_push(trace->heap, &trace->demands, demand);
  return trace->demands.count - 1;
}

/* The place of a first partial; code that was made without it is made again. */
static uint32_t find_partial(Trace *trace, uint32_t number, uint32_t argument) {
  Demand *demand = &trace->demands.data[number];
  for (uint32_t p = 0; p < demand->partials.count; p++)
    if (demand->partials.data[p] == argument) return p;
  vec_push(trace->heap, &demand->partials, argument);
  demand->way = UINT32_MAX;
  for (uint32_t w = 0; w < trace->ways.count; w++)
    if (number < trace->ways.data[w].codes.count) trace->ways.data[w].codes.data[number] = NULL;
  return demand->partials.count - 1;
}

static void set_visitor(Trace *trace, Visitor *visitor, const CallSite *site) {
  visitor->demand = find_demand(trace, site);
  visitor->position = site->partial_count == 1 ? find_partial(trace, visitor->demand, site->partials[0]) : 0;
}

static bool is_visitor_at(const Trace *trace, const Visitor *visitor, const CallSite *site) {
  const Demand *demand = &trace->demands.data[visitor->demand];
  return is_demand_of(demand, site) &&
         (site->partial_count != 1 || demand->partials.data[visitor->position] == site->partials[0]);
}

/* The visitor at the site's address; another site may have been there before. */
static Visitor *find_visitor(Trace *trace, const CallSite *site) {
  uint64_t key = (uint64_t)(uintptr_t)site;
  uint32_t known = map_get(&trace->visitor_of, key);
  if (known != MAP_NONE) {
    Visitor *visitor = &trace->visitors.data[known];
    if (!is_visitor_at(trace, visitor, site)) set_visitor(trace, visitor, site);
    return visitor;
  }
  Visitor visitor = {0};
  set_visitor(trace, &visitor, site);
  map_put(&trace->visitor_of, key, trace->visitors.count);
  vec_push(trace->heap, &trace->visitors, visitor);
  return &vec_last(&trace->visitors);
}

void trace_prepare(Trace *trace, const CallSite *site) { find_visitor(trace, site); }

/* ---- derivatives ---- */

/* A recording with its graph while code is made from it. Each code has its own graph, so that its numbers do not depend on earlier
 * recordings. */
typedef struct Draft {
  Heap *heap; /* freed when the code has been made */
  Dag *dag;
  Recording recording;
  Expr *values; /* the values of recording.given, with the leaves replaced */
  uint32_t arguments;
} Draft;

/* Derivatives with respect to some arguments: of the arguments themselves 1 or 0, of given results by the chain rule. */
typedef struct GivenDerivatives {
  const Draft *draft;
  const uint32_t *arguments;
  uint32_t count;
  Expr *rates; /* per given result and argument, as far as known; EXPR_NONE: not given */
  uint32_t known;
} GivenDerivatives;

static Expr leaf_rate(const GivenDerivatives *derivation, Expr leaf, uint32_t a) {
  Dag *dag = derivation->draft->dag;
  uint32_t index = dag_index(dag, leaf);
  if (index < derivation->draft->arguments) return dag_constant(dag, index == derivation->arguments[a]);
  for (uint32_t i = 0; i < derivation->known; i++)
    if (derivation->draft->recording.given.data[i].leaf == leaf) return derivation->rates[i * derivation->count + a];
  return EXPR_NONE;
}

/* sum + partial * rate; EXPR_NONE if a factor is not given, unless the other one is 0. */
static Expr add_product(Dag *dag, Expr sum, Expr partial, Expr rate) {
  Expr zero = dag_constant(dag, 0);
  if (sum == EXPR_NONE || partial == zero || rate == zero) return sum;
  if (partial == EXPR_NONE || rate == EXPR_NONE) return EXPR_NONE;
  Expr product = dag_multiply(dag, partial, rate);
  return dag_add(dag, sum, product);
}

/* The derivatives of e with respect to all arguments. */
static void derive(const GivenDerivatives *derivation, Expr e, Expr *out) {
  Dag *dag = derivation->draft->dag;
  ExprVec leaves = {0}, partials = {0};
  dag_gradient(dag, e, &leaves, &partials);
  for (uint32_t a = 0; a < derivation->count; a++) {
    out[a] = dag_constant(dag, 0);
    for (uint32_t i = 0; i < leaves.count; i++)
      out[a] = add_product(dag, out[a], partials.data[i], leaf_rate(derivation, leaves.data[i], a));
  }
  vec_free(dag_heap(dag), &leaves, &partials);
}

static void derive_given(GivenDerivatives *derivation) {
  Dag *dag = derivation->draft->dag;
  const Recording *recording = &derivation->draft->recording;
  uint32_t count = derivation->count;
  Expr *rates = heap_array(derivation->draft->heap, count, sizeof *rates);
  for (; derivation->known < recording->given.count; derivation->known++) {
    const GivenResult *given = &recording->given.data[derivation->known];
    Expr *sums = derivation->rates + (size_t)derivation->known * count;
    for (uint32_t a = 0; a < count; a++) sums[a] = dag_constant(dag, 0);
    for (uint32_t k = 0; k < given->count; k++) {
      derive(derivation, given->arguments[k], rates);
      for (uint32_t a = 0; a < count; a++) sums[a] = add_product(dag, sums[a], given->partials[k], rates[a]);
    }
  }
  heap_free(derivation->draft->heap, rates);
}

/* Derivatives of the expressions, with respect to one argument after the other; those that are not given are EXPR_NONE. */
static void derive_all(const Draft *draft, const uint32_t *arguments, uint32_t count, const Expr *list, uint32_t size,
                       Expr *out) {
  GivenDerivatives derivation = {.draft = draft, .arguments = arguments, .count = count};
  derivation.rates = heap_array(draft->heap, (size_t)draft->recording.given.count * count, sizeof *derivation.rates);
  Expr *row = heap_array(draft->heap, count, sizeof *row);
  derive_given(&derivation);
  for (uint32_t i = 0; i < size; i++) {
    for (uint32_t a = 0; a < count; a++) row[a] = EXPR_NONE;
    if (list[i] != EXPR_NONE) derive(&derivation, list[i], row);
    for (uint32_t a = 0; a < count; a++) out[a * size + i] = row[a];
  }
  heap_free_all(draft->heap, derivation.rates, row);
}

/* ---- code ---- */

/* Values take the place of the leaves of the first given results. */
static void replace_given(const Draft *draft, uint32_t given, Expr *roots, uint32_t count) {
  Expr *leaves = heap_array(draft->heap, given, sizeof *leaves);
  for (uint32_t i = 0; i < given; i++) leaves[i] = draft->recording.given.data[i].leaf;
  if (given) dag_substitute(draft->dag, leaves, draft->values, given, roots, count);
  heap_free(draft->heap, leaves);
}

static void find_given_values(Draft *draft) {
  uint32_t count = draft->recording.given.count;
  draft->values = heap_array(draft->heap, count, sizeof *draft->values);
  for (uint32_t i = 0; i < count; i++) {
    draft->values[i] = draft->recording.given.data[i].value;
    replace_given(draft, i, &draft->values[i], 1);
  }
}

static Kernel make_kernel(Heap *heap, const Draft *draft, const Expr *roots, uint32_t count) {
  uint32_t arguments = draft->arguments;
  SlotMap slots = {map_make(heap), map_make(heap)};
  Store *stores = heap_array(heap, arguments + count, sizeof *stores);
  uint32_t *places = heap_array(heap, arguments + count, sizeof *places);
  for (uint32_t k = 0; k < arguments; k++) {
    map_put(&slots.nodes, dag_variable(draft->dag, k, 0), k);
    stores[k] = STORE_COLUMN;
    places[k] = k;
  }
  for (uint32_t r = 0; r < count; r++) {
    stores[arguments + r] = STORE_OUTPUT;
    places[arguments + r] = r;
  }
  Instances instances = instances_make(heap, 1, arguments, count, stores, places);
  Kernel kernel = kernel_make(heap, draft->dag, roots, instances, &slots);
  map_free(&slots.nodes);
  map_free(&slots.numbers);
  heap_free_all(heap, stores, places);
  return kernel;
}

static bool all_given(const Expr *roots, uint32_t count) {
  for (uint32_t r = 0; r < count; r++)
    if (roots[r] == EXPR_NONE) return false;
  return true;
}

/* The requested results, or their derivatives instead. */
static uint32_t demand_size(const Demand *demand) {
  return demand->result_count * (demand->order == 1 ? demand->partials.count : 1);
}

static void set_results(const Draft *draft, const Demand *demand, Expr *roots) {
  uint32_t count = demand->result_count;
  Expr *list = heap_array(draft->heap, count, sizeof *list);
  for (uint32_t r = 0; r < count; r++) list[r] = roots[r] = draft->recording.results.data[demand->results[r]];
  if (demand->order == 1) derive_all(draft, demand->partials.data, demand->partials.count, list, count, roots);
  for (uint32_t p = 0; p < demand->order && demand->order > 1; p++) {
    derive_all(draft, &demand->partials.data[p], 1, list, count, roots);
    memcpy(list, roots, count * sizeof *list);
  }
  heap_free(draft->heap, list);
}

static WayCode *make_code(Heap *heap, Draft *draft, const Demand *demand) {
  uint32_t conditions = draft->recording.conditions.count, count = conditions + demand_size(demand);
  Expr *roots = heap_array(draft->heap, count, sizeof *roots);
  WayCode *code = heap_alloc(heap, sizeof *code);
  set_results(draft, demand, roots + conditions);
  if (conditions) memcpy(roots, draft->recording.conditions.data, conditions * sizeof *roots);
  if (all_given(roots, count)) {
    find_given_values(draft);
    replace_given(draft, draft->recording.given.count, roots, count);
    code->kernel = make_kernel(heap, draft, roots, count);
    code->registers = registers_new(heap, tape_new(heap, &code->kernel), (Calling){0});
    code->values = heap_array(heap, count, sizeof *code->values);
  }
  return code;
}

static WayCode **code_place(Trace *trace, uint32_t number, uint32_t demand) {
  DecisionPath *way = &trace->ways.data[number];
  while (way->codes.count <= demand) vec_push(trace->heap, &way->codes, NULL);
  return &way->codes.data[demand];
}

/* ---- ways ---- */

/* The path that branches off if condition number `condition` has this value; UINT32_MAX: none is known. */
static uint32_t find_branch(const DecisionPath *way, uint32_t condition, double decision) {
  for (uint32_t b = 0; b < way->branches.count; b++)
    if (way->branches.data[b].condition == condition && way->branches.data[b].decision == decision)
      return way->branches.data[b].way;
  return UINT32_MAX;
}

/* The path to try when a condition of the path `way` is decided differently. Paths that branch off later share the
 * condition. */
static uint32_t next_way(const Trace *trace, uint32_t way, uint32_t condition, double decision) {
  while (trace->ways.data[way].parent != UINT32_MAX && condition <= trace->ways.data[way].from)
    way = trace->ways.data[way].parent;
  const DecisionPath *owner = &trace->ways.data[way];
  return owner->decisions.data[condition] == decision ? way : find_branch(owner, condition, decision);
}

/* The path of these decisions; a new one is inserted where it branches off. UINT32_MAX: the path does not fit the others. */
static uint32_t find_way(Trace *trace, const double *decisions, uint32_t count) {
  uint32_t at = UINT32_MAX, next = trace->ways.count ? 0 : UINT32_MAX, c = 0;
  while (next != UINT32_MAX) {
    at = next;
    const DecisionPath *other = &trace->ways.data[at];
    for (c = 0; c < other->decisions.count && c < count && other->decisions.data[c] == decisions[c];) c++;
    if (c == other->decisions.count && c == count) return at;
    if (c == other->decisions.count || c == count) return UINT32_MAX;
    next = find_branch(other, c, decisions[c]);
  }
  DecisionPath way = {.parent = at, .from = c};
  for (uint32_t i = 0; i < count; i++) vec_push(trace->heap, &way.decisions, decisions[i]);
  if (at != UINT32_MAX)
    vec_push(trace->heap, &trace->ways.data[at].branches, (OtherDecision){c, decisions[c], trace->ways.count});
  vec_push(trace->heap, &trace->ways, way);
  return trace->ways.count - 1;
}

/* Records the path of these arguments and makes its code; UINT32_MAX if that is not possible. */
static uint32_t record_way(Trace *trace, uint32_t demand, const double *arguments) {
  void *ticket;
  uint32_t way = UINT32_MAX;
  Draft draft = {.heap = heap_within(trace->heap, &ticket), .arguments = trace->function->arguments};
  draft.dag = dag_new(draft.heap, trace->names);
  TraceStatus status =
      tracer_run(trace->tracer, draft.dag, trace->function, arguments, trace->with_partials, &draft.recording);
  const Recording *recording = &draft.recording;
  if (status == TRACE_DONE) way = find_way(trace, recording->decisions.data, recording->decisions.count);
  if (status == TRACE_IMPOSSIBLE || (status == TRACE_DONE && way == UINT32_MAX)) trace->is_off = true;
  if (trace->ways.count > WAY_LIMIT) trace->is_off = true;
  if (way != UINT32_MAX && !*code_place(trace, way, demand))
    *code_place(trace, way, demand) = make_code(trace->heap, &draft, &trace->demands.data[demand]);
  recording_free(trace->heap, &draft.recording);
  heap_release(trace->heap, ticket);
  return way;
}

/* ---- running ---- */

static void run_code(WayCode *code, const double *arguments) {
  Arrays arrays = {0};
  arrays.read[STORE_COLUMN] = arguments;
  arrays.write[STORE_OUTPUT] = code->values;
  tape_begin(code->registers, &arrays);
}

/* The first condition of the path that is decided differently here; if none is, the number of conditions. */
static uint32_t first_change(const DecisionPath *way, const double *values) {
  uint32_t c = 0;
  while (c < way->decisions.count && values[c] == way->decisions.data[c]) c++;
  return c;
}

/* The recorded path that fits these arguments, searched from the path of the last call; UINT32_MAX: none is recorded for this
 * demand. */
static uint32_t follow(Trace *trace, const Visitor *visitor, const double *arguments) {
  uint32_t way = visitor->way;
  for (uint32_t tried = 0; way < trace->ways.count && tried < trace->ways.count; tried++) {
    WayCode *code = *code_place(trace, way, visitor->demand);
    if (!code || !code->registers) return UINT32_MAX;
    run_code(code, arguments);
    uint32_t condition = first_change(&trace->ways.data[way], code->values);
    if (condition == trace->ways.data[way].decisions.count) return way;
    way = next_way(trace, way, condition, code->values[condition]);
  }
  return UINT32_MAX;
}

static bool take_results(const Trace *trace, const Visitor *visitor, double *results) {
  const Demand *demand = &trace->demands.data[visitor->demand];
  const DecisionPath *way = &trace->ways.data[visitor->way];
  const double *values = way->codes.data[visitor->demand]->values + way->decisions.count;
  values += (size_t)visitor->position * demand->result_count;
  bool is_finite = true;
  for (uint32_t r = 0; r < demand->result_count; r++) is_finite = is_finite && isfinite(values[r]);
  if (is_finite) memcpy(results, values, demand->result_count * sizeof *results);
  return is_finite;
}

static bool is_given_up(Trace *trace) {
  if (trace->unknown > (trace->rest ? LATER_TRIAL : TRIAL) && trace->known < WORTH * trace->unknown) {
    trace->rest = trace->left = trace->rest ? 2 * trace->rest : TRIAL;
    trace->known = trace->unknown = 0;
  }
  if (trace->left == 0) return trace->is_off;
  trace->left--;
  return true;
}

/* Finds the path of these arguments, and its values; false if the path is not known. */
static bool visit(Trace *trace, Visitor *visitor, const double *arguments) {
  uint32_t way = follow(trace, visitor, arguments);
  trace->known += way != UINT32_MAX;
  trace->unknown += way == UINT32_MAX;
  if (trace->known > WORTH * TRIAL) trace->known /= 2, trace->unknown /= 2; /* older calls count less */
  trace->demands.data[visitor->demand].way = UINT32_MAX;
  if (way == UINT32_MAX) {
    way = record_way(trace, visitor->demand, arguments);
    if (way == UINT32_MAX || !(*code_place(trace, way, visitor->demand))->registers) return false;
    run_code(*code_place(trace, way, visitor->demand), arguments);
  }
  visitor->way = trace->demands.data[visitor->demand].way = way;
  memcpy(trace->demands.data[visitor->demand].arguments, arguments, trace->function->arguments * sizeof *arguments);
  return true;
}

bool trace_run(Trace *trace, const CallSite *site, const double *arguments, double *results) {
  if (is_given_up(trace)) return false;
  Visitor *visitor = find_visitor(trace, site);
  const Demand *demand = &trace->demands.data[visitor->demand];
  size_t size = trace->function->arguments * sizeof *arguments;
  if (demand->way != UINT32_MAX && memcmp(demand->arguments, arguments, size) == 0) visitor->way = demand->way;
  else if (!visit(trace, visitor, arguments)) return false;
  return take_results(trace, visitor, results);
}
