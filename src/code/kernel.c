/* kernel: see kernel.h. The nodes below the roots are listed children first (depth first, so that values are used soon after they
 * are made), uses are counted, then each node becomes lines. Sums become chains of additions in the order of their terms: constant,
 * first term, second term and so on, as everywhere in daedal. */
#include "code/kernel.h"

#include "code/graph.h"

#include <math.h>
#include <string.h>

typedef struct KernelBuilder {
  Heap *heap;
  Dag *dag;
  const SlotMap *slots;
  Kernel *kernel;
  Graph graph;           /* nodes below the roots */
  uint32_t *uses;        /* per position */
  bool *is_fused;        /* per position: a product computed within the sum that uses it */
  Operand *operands;     /* per position */
  uint32_t *call_begins; /* per position: site + 1 at the first call of a site, else 0 */
  uint32_t *call_next;   /* per position of a call: the next call of the same site; 0 if there is none */
  Map numbers;           /* bits -> index in kernel->numbers */
} KernelBuilder;

static bool is_slot(const KernelBuilder *builder, Expr e) { return map_get(&builder->slots->nodes, e) != MAP_NONE; }

/* A slot that holds the same number in all instances becomes a number again. */
static Operand number_operand(KernelBuilder *builder, double number) {
  uint64_t key = number_key(number);
  uint32_t slot = map_get(&builder->slots->numbers, key);
  if (slot != MAP_NONE && builder->kernel->instances.lanes[slot].mode != LANE_UNIFORM)
    return operand(OPERAND_SLOT, slot);
  uint32_t index = map_get(&builder->numbers, key);
  if (index == MAP_NONE) {
    index = builder->kernel->numbers.count;
    vec_push(builder->heap, &builder->kernel->numbers, number);
    map_put(&builder->numbers, key, index);
  }
  return operand(OPERAND_NUMBER, index);
}

static uint32_t position_of(const KernelBuilder *builder, Expr e) { return graph_position(&builder->graph, e); }

static void count_uses(KernelBuilder *builder, const Expr *roots, uint32_t count) {
  for (uint32_t r = 0; r < count; r++) builder->uses[position_of(builder, roots[r])]++;
  for (uint32_t p = 0; p < builder->graph.nodes.count; p++) {
    uint32_t children;
    const uint32_t *below = graph_below(&builder->graph, p, &children);
    for (uint32_t c = 0; c < children; c++) builder->uses[below[c]]++;
  }
}

/* ---- lines ---- */

static bool is_uniform(const KernelBuilder *builder, Operand o) {
  const Instances *instances = &builder->kernel->instances;
  switch (operand_kind(o)) {
  case OPERAND_VALUE: return false;
  case OPERAND_SLOT: return instances->count == 1 || instances->lanes[operand_index(o)].mode == LANE_UNIFORM;
  case OPERAND_NUMBER:
  case OPERAND_UNIFORM: break;
  }
  return true;
}

static bool is_uniform_line(const KernelBuilder *builder, const Line *line) {
  const Operand operands[3] = {line->a, line->b, line->c};
  uint32_t arity = line_arity(line);
  for (uint32_t k = 0; k < arity && k < 3; k++)
    if (!is_uniform(builder, operands[k])) return false;
  return true;
}

static Operand push_line(KernelBuilder *builder, bool uniform, Line line) {
  LineVec *lines = uniform ? &builder->kernel->prologue : &builder->kernel->body;
  vec_push(builder->heap, lines, line);
  return operand(uniform ? OPERAND_UNIFORM : OPERAND_VALUE, lines->count - 1);
}

static Operand emit(KernelBuilder *builder, uint32_t code, Operand a, Operand b, Operand c) {
  Line line = {code, a, b, c};
  return push_line(builder, is_uniform_line(builder, &line), line);
}

/* ---- sums ---- */

/* A product that only this sum uses, with coefficient 1 or -1, is multiplied where it is added. */
static bool may_fuse(const KernelBuilder *builder, Term term) {
  return (term.coefficient == 1 || term.coefficient == -1) && !is_slot(builder, term.node) &&
         dag_op(builder->dag, term.node) == OP_MULTIPLY && builder->uses[position_of(builder, term.node)] == 1;
}

/* -x + y is computed as y - x. */
static bool starts_negative(double constant, const Term *terms, uint32_t count) {
  return constant == 0 && count > 1 && terms[0].coefficient == -1 && terms[1].coefficient == 1;
}

static void mark_fused(KernelBuilder *builder, Expr sum) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(builder->dag, sum, &constant, &terms);
  for (uint32_t t = constant == 0 ? 1 : 0; t < count; t++)
    if (may_fuse(builder, terms[t])) builder->is_fused[position_of(builder, terms[t].node)] = true;
}

/* Folds `accumulator (+|-) x` into the line that made the accumulator, if that was the last one and has room. */
static bool extend_last(KernelBuilder *builder, Operand accumulator, bool subtract, Operand x) {
  LineVec *lines = &builder->kernel->body;
  if (operand_kind(accumulator) == OPERAND_UNIFORM) lines = &builder->kernel->prologue;
  else if (operand_kind(accumulator) != OPERAND_VALUE) return false;
  if (operand_index(accumulator) + 1 != lines->count) return false;
  if (lines == &builder->kernel->prologue && !is_uniform(builder, x)) return false;
  Line *last = &vec_last(lines);
  if (last->code == LINE_ADD) last->code = subtract ? LINE_ADD_SUBTRACT : LINE_ADD_ADD;
  else if (last->code == LINE_SUBTRACT) last->code = subtract ? LINE_SUBTRACT_SUBTRACT : LINE_SUBTRACT_ADD;
  else return false;
  last->c = x;
  return true;
}

/* accumulator + term. `own`: lines made by this sum may be changed, so only the accumulator refers to the last one. */
static Operand add_term(KernelBuilder *builder, Operand accumulator, bool own, Term term) {
  uint32_t position = position_of(builder, term.node);
  bool subtract = term.coefficient == -1;
  if (builder->is_fused[position]) {
    const Expr *factors;
    dag_arguments(builder->dag, term.node, &factors);
    return emit(builder, subtract ? LINE_SUBTRACT_PRODUCT : LINE_ADD_PRODUCT, accumulator,
                builder->operands[position_of(builder, factors[0])],
                builder->operands[position_of(builder, factors[1])]);
  }
  Operand x = builder->operands[position];
  if (term.coefficient != 1 && !subtract)
    return emit(builder, LINE_ADD_PRODUCT, accumulator, number_operand(builder, term.coefficient), x);
  if (own && extend_last(builder, accumulator, subtract, x)) return accumulator;
  return emit(builder, subtract ? LINE_SUBTRACT : LINE_ADD, accumulator, x, x);
}

/* -(p * x) equals (-p) * x to the bit, and likewise for p / x: if p is uniform, the sign costs nothing. */
static bool negate_factor(KernelBuilder *builder, Expr node, Operand value) {
  if (operand_kind(value) != OPERAND_VALUE || builder->uses[position_of(builder, node)] != 1) return false;
  uint32_t index = operand_index(value);
  Line line = builder->kernel->body.data[index];
  if (line.code != OP_MULTIPLY && line.code != OP_DIVIDE) return false;
  Operand *factor = is_uniform(builder, line.a) ? &line.a : is_uniform(builder, line.b) ? &line.b : NULL;
  if (!factor) return false;
  *factor = emit(builder, LINE_NEGATE, *factor, *factor, *factor);
  builder->kernel->body.data[index] = line;
  return true;
}

/* The beginning of a sum; says how many terms it took. */
static Operand begin_sum(KernelBuilder *builder, double constant, const Term *terms, uint32_t count, uint32_t *taken) {
  *taken = 0;
  if (constant != 0) return number_operand(builder, constant);
  *taken = 1;
  Operand first = builder->operands[position_of(builder, terms[0].node)];
  if (starts_negative(constant, terms, count)) {
    *taken = 2;
    uint32_t second = position_of(builder, terms[1].node);
    if (!builder->is_fused[second]) return emit(builder, LINE_SUBTRACT, builder->operands[second], first, first);
    const Expr *factors;
    dag_arguments(builder->dag, terms[1].node, &factors);
    return emit(builder, LINE_PRODUCT_SUBTRACT, first, builder->operands[position_of(builder, factors[0])],
                builder->operands[position_of(builder, factors[1])]);
  }
  if (terms[0].coefficient == 1) return first;
  if (terms[0].coefficient == -1 && negate_factor(builder, terms[0].node, first)) return first;
  if (terms[0].coefficient == -1) return emit(builder, LINE_NEGATE, first, first, first);
  return emit(builder, OP_MULTIPLY, number_operand(builder, terms[0].coefficient), first, first);
}

static Operand emit_sum(KernelBuilder *builder, Expr sum) {
  double constant;
  const Term *terms;
  uint32_t taken, count = dag_terms(builder->dag, sum, &constant, &terms);
  uint32_t prologue = builder->kernel->prologue.count, body = builder->kernel->body.count;
  Operand accumulator = begin_sum(builder, constant, terms, count, &taken);
  for (uint32_t t = taken; t < count; t++) {
    bool own = operand_kind(accumulator) == OPERAND_UNIFORM ? operand_index(accumulator) >= prologue
                                                            : operand_index(accumulator) >= body;
    accumulator = add_term(builder, accumulator, own, terms[t]);
  }
  return accumulator;
}

/* ---- calls ---- */

static uint64_t call_key(const Dag *dag, Expr e) {
  CallInfo info = dag_call_info(dag, e);
  const Expr *arguments;
  uint32_t count = dag_arguments(dag, e, &arguments);
  uint64_t key = hash_mix(info.function);
  key = hash_mix(key ^ hash_bytes(info.partials, info.partial_count * sizeof *info.partials));
  return hash_mix(key ^ hash_bytes(arguments, count * sizeof *arguments));
}

static bool is_same_call(const Dag *dag, Expr x, Expr y) {
  CallInfo i = dag_call_info(dag, x), j = dag_call_info(dag, y);
  const Expr *a, *b;
  uint32_t m = dag_arguments(dag, x, &a), n = dag_arguments(dag, y, &b);
  return i.function == j.function && i.partial_count == j.partial_count && m == n &&
         memcmp(i.partials, j.partials, i.partial_count * sizeof *i.partials) == 0 && memcmp(a, b, m * sizeof *a) == 0;
}

static uint32_t new_site(KernelBuilder *builder, Expr e) {
  CallInfo info = dag_call_info(builder->dag, e);
  const Expr *arguments;
  CallSite site = {.node = e, .function = info.function, .partial_count = info.partial_count};
  site.argument_count = dag_arguments(builder->dag, e, &arguments);
  site.arguments = heap_array(builder->heap, site.argument_count, sizeof *site.arguments);
  site.partials = heap_copy(builder->heap, info.partials, site.partial_count, sizeof *site.partials);
  vec_push(builder->heap, &builder->kernel->calls, site);
  return builder->kernel->calls.count - 1;
}

/* Joins the calls that differ only in the output. */
static void find_sites(KernelBuilder *builder) {
  Map sites = map_make(builder->heap);
  IndexVec last = {0}; /* per site: position of its last call so far */
  for (uint32_t p = 0; p < builder->graph.nodes.count; p++) {
    Expr e = builder->graph.nodes.data[p];
    if (dag_op(builder->dag, e) != OP_CALL || is_slot(builder, e)) continue;
    uint64_t key = call_key(builder->dag, e);
    uint32_t site = map_get(&sites, key);
    if (site >= last.count || !is_same_call(builder->dag, builder->kernel->calls.data[site].node, e)) {
      site = new_site(builder, e);
      map_put(&sites, key, site);
      vec_push(builder->heap, &last, p);
      builder->call_begins[p] = site + 1;
    } else {
      builder->call_next[last.data[site]] = p;
      last.data[site] = p;
    }
    builder->kernel->calls.data[site].result_count++;
  }
  vec_free(builder->heap, &last);
  map_free(&sites);
}

/* All results of a site, at its first call in order. */
static void emit_call(KernelBuilder *builder, uint32_t position) {
  uint32_t number = builder->call_begins[position] - 1;
  if (number >= builder->kernel->calls.count) return;
  CallSite *site = &builder->kernel->calls.data[number];
  const Expr *arguments;
  dag_arguments(builder->dag, site->node, &arguments);
  bool uniform = true;
  for (uint32_t k = 0; k < site->argument_count; k++) {
    site->arguments[k] = builder->operands[position_of(builder, arguments[k])];
    uniform = uniform && is_uniform(builder, site->arguments[k]);
  }
  site->results = heap_array(builder->heap, site->result_count, sizeof *site->results);
  for (uint32_t p = position, k = 0; k < site->result_count; p = builder->call_next[p], k++) {
    site->results[k] = dag_call_info(builder->dag, builder->graph.nodes.data[p]).output;
    builder->operands[p] = push_line(builder, uniform, (Line){k ? LINE_RESULT : LINE_CALL, number, k, 0});
  }
}

/* ---- nodes ---- */

static Operand emit_power(KernelBuilder *builder, Expr e, double exponent) {
  Operand base = builder->operands[position_of(builder, node_child(builder->dag, e, 0))];
  if (exponent == 2) return emit(builder, LINE_SQUARE, base, base, base);
  if (exponent == 3) return emit(builder, LINE_CUBE, base, base, base);
  if (exponent == 4) return emit(builder, LINE_FOURTH, base, base, base);
  if (exponent == floor(exponent) && exponent > 0 && exponent <= 32)
    return emit(builder, LINE_POWER, base, (uint32_t)exponent, base);
  Line line = {OP_POWER, base, operand(OPERAND_NUMBER, builder->kernel->numbers.count), base};
  vec_push(builder->heap, &builder->kernel->numbers, exponent); /* part of the structure, so never a slot */
  return push_line(builder, is_uniform_line(builder, &line), line);
}

static Operand emit_operator(KernelBuilder *builder, Expr e) {
  Operand o[3];
  double exponent;
  if (node_exponent(builder->dag, e, &exponent)) return emit_power(builder, e, exponent);
  uint32_t children = node_children(builder->dag, e);
  for (uint32_t c = 0; c < 3; c++) /* unused operands repeat the first one */
    o[c] = builder->operands[position_of(builder, node_child(builder->dag, e, c < children ? c : 0))];
  switch (dag_op(builder->dag, e)) {
  case OP_NOEVENT:
  case OP_SMOOTH:
  case OP_INPUT:
  case OP_HOMOTOPY: return o[0];
  default: return emit(builder, dag_op(builder->dag, e), o[0], o[1], o[2]);
  }
}

static void emit_node(KernelBuilder *builder, uint32_t position) {
  Expr e = builder->graph.nodes.data[position];
  Op op = dag_op(builder->dag, e);
  uint32_t slot = map_get(&builder->slots->nodes, e);
  Operand *result = &builder->operands[position];
  if (slot != MAP_NONE) *result = operand(OPERAND_SLOT, slot);
  else if (op_kind(op) == KIND_LEAF || !op_has_value(op))
    *result = number_operand(builder, node_number(builder->dag, e));
  else if (op == OP_SUM) *result = emit_sum(builder, e);
  else if (op != OP_CALL) *result = emit_operator(builder, e);
  else emit_call(builder, position);
}

/* Every output is the value of a separate line, which gives no other output; with many instances it is a line of the body. */
static void set_outputs(KernelBuilder *builder, const Expr *roots, uint32_t count) {
  Kernel *kernel = builder->kernel;
  bool is_single = kernel->instances.count == 1;
  const LineVec *lines = is_single ? &kernel->prologue : &kernel->body;
  OperandKind own = is_single ? OPERAND_UNIFORM : OPERAND_VALUE;
  kernel->outputs = heap_array(builder->heap, count, sizeof *kernel->outputs);
  bool *is_taken = heap_array(builder->heap, lines->count, sizeof *is_taken);
  for (uint32_t r = 0; r < count; r++) {
    Operand value = builder->operands[position_of(builder, roots[r])];
    if (operand_kind(value) != own || is_taken[operand_index(value)])
      value = push_line(builder, is_single, (Line){LINE_COPY, value, value, value});
    else is_taken[operand_index(value)] = true;
    kernel->outputs[r] = value;
  }
  heap_free(builder->heap, is_taken);
}

static void mark_slot(bool *is_used, Operand o) {
  if (operand_kind(o) == OPERAND_SLOT) is_used[operand_index(o)] = true;
}

static void mark_slots(bool *is_used, const LineVec *lines) {
  for (uint32_t i = 0; i < lines->count; i++) {
    const Line *line = &lines->data[i];
    const Operand operands[3] = {line->a, line->b, line->c};
    uint32_t arity = line_arity(line);
    for (uint32_t k = 0; k < arity && k < 3; k++) mark_slot(is_used, operands[k]);
  }
}

/* A slot that no line reads counts as uniform: nothing is gathered for it. */
static void drop_unused_slots(KernelBuilder *builder) {
  Kernel *kernel = builder->kernel;
  bool *is_used = heap_array(builder->heap, kernel->instances.slots, sizeof *is_used);
  mark_slots(is_used, &kernel->prologue);
  mark_slots(is_used, &kernel->body);
  for (uint32_t c = 0; c < kernel->calls.count; c++)
    for (uint32_t k = 0; k < kernel->calls.data[c].argument_count; k++)
      mark_slot(is_used, kernel->calls.data[c].arguments[k]);
  for (uint32_t s = 0; s < kernel->instances.slots && kernel->instances.count > 1; s++)
    if (!is_used[s]) kernel->instances.lanes[s].mode = LANE_UNIFORM;
  heap_free(builder->heap, is_used);
}

static void free_builder(KernelBuilder *builder) {
  graph_free(&builder->graph);
  heap_free_all(builder->heap, builder->uses, builder->is_fused, builder->operands, builder->call_begins,
                builder->call_next);
  map_free(&builder->numbers);
}

Kernel kernel_make(Heap *heap, Dag *dag, const Expr *roots, Instances instances, const SlotMap *slots) {
  Kernel kernel = {.instances = instances};
  KernelBuilder builder = {.heap = heap, .dag = dag, .slots = slots, .kernel = &kernel, .numbers = map_make(heap)};
  builder.graph = graph_make(heap, dag, roots, instances.outputs, &slots->nodes);
  uint32_t count = builder.graph.nodes.count;
  builder.uses = heap_array(heap, count, sizeof *builder.uses);
  builder.is_fused = heap_array(heap, count, sizeof *builder.is_fused);
  builder.operands = heap_array(heap, count, sizeof *builder.operands);
  builder.call_begins = heap_array(heap, count, sizeof *builder.call_begins);
  builder.call_next = heap_array(heap, count, sizeof *builder.call_next);
  count_uses(&builder, roots, instances.outputs);
  for (uint32_t p = 0; p < count; p++)
    if (dag_op(dag, builder.graph.nodes.data[p]) == OP_SUM && !is_slot(&builder, builder.graph.nodes.data[p]))
      mark_fused(&builder, builder.graph.nodes.data[p]);
  find_sites(&builder);
  for (uint32_t p = 0; p < count; p++)
    if (!builder.is_fused[p]) emit_node(&builder, p);
  set_outputs(&builder, roots, instances.outputs);
  drop_unused_slots(&builder);
  free_builder(&builder);
  return kernel;
}
