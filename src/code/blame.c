/* blame: why an output of a program is not finite. The output's expression is evaluated again node by node with domain checks. An
 * undefined value is carried with the node at fault and counts only if it is used, so branches that are not taken are never
 * blamed. */
#include "code/program_internal.h"

#include <math.h>

typedef struct Inquiry {
  Workspace *workspace;
  Dag *dag;
  const Point *point;
  Graph graph;
  double *values;    /* per position */
  uint32_t *culprit; /* per position: position of the node at fault; MAP_NONE: defined */
  Blame *found;      /* per position of a node at fault: only reason and argument are set */
} Inquiry;

static const char *domain_reason(Op op) {
  switch (op) {
  case OP_DIVIDE:
  case OP_DIV:
  case OP_MOD:
  case OP_REM: return "division by zero";
  case OP_POWER: return "power that is not defined for this base and exponent";
  case OP_SQRT: return "square root of a negative number";
  case OP_LOG:
  case OP_LOG10: return "logarithm of a number that is not positive";
  case OP_ASIN:
  case OP_ACOS: return "arc sine or cosine of a number outside of [-1, 1]";
  case OP_ACOSH: return "area cosine of a number below 1";
  case OP_ATANH: return "area tangent of a number outside of (-1, 1)";
  default: return "an operator that has no value here";
  }
}

static double leaf_value(const Inquiry *inquiry, Expr leaf) {
  const Point *point = inquiry->point;
  double value;
  if (dag_is_constant(inquiry->dag, leaf, &value)) return value;
  Op op = dag_op(inquiry->dag, leaf);
  if (op == OP_TIME) return point->time;
  if (leaf_store(op) == STORE_CONSTANT) return NAN;
  uint32_t place = leaf_place(inquiry->workspace->program->layout, inquiry->dag, leaf);
  switch (op) {
  case OP_PARAMETER: return point->parameters[place];
  case OP_VARIABLE: return point->y[place];
  case OP_DELAYED:
  case OP_DISCRETE: return point->discretes[place];
  default: return point->pre[place];
  }
}

static uint32_t child_position(const Inquiry *inquiry, Expr e, uint32_t child) {
  return graph_position(&inquiry->graph, node_child(inquiry->dag, e, child));
}

/* The children on which the value of a node depends, given the value of the first: the first and [*begin, *end). */
static void used_children(const Inquiry *inquiry, Expr e, uint32_t *begin, uint32_t *end) {
  Op op = dag_op(inquiry->dag, e);
  *begin = 0, *end = node_children(inquiry->dag, e);
  if (op != OP_IF && op != OP_AND && op != OP_OR) return;
  bool first = inquiry->values[child_position(inquiry, e, 0)] != 0;
  *begin = op == OP_IF && !first ? 2 : 1;
  *end = op != OP_IF && first == (op == OP_OR) ? 1 : *begin + 1;
}

static uint32_t inherited_culprit(const Inquiry *inquiry, Expr e) {
  uint32_t begin, end;
  if (node_children(inquiry->dag, e) == 0) return MAP_NONE;
  used_children(inquiry, e, &begin, &end);
  uint32_t first = inquiry->culprit[child_position(inquiry, e, 0)];
  if (begin > 0 && first != MAP_NONE) return first;
  for (uint32_t c = begin; c < end; c++) {
    uint32_t culprit = inquiry->culprit[child_position(inquiry, e, c)];
    if (culprit != MAP_NONE) return culprit;
  }
  return MAP_NONE;
}

static double sum_value(const Inquiry *inquiry, Expr e) {
  double value;
  const Term *terms;
  uint32_t count = dag_terms(inquiry->dag, e, &value, &terms);
  for (uint32_t t = 0; t < count; t++)
    value += terms[t].coefficient * inquiry->values[graph_position(&inquiry->graph, terms[t].node)];
  return value;
}

static bool call_value(Inquiry *inquiry, Expr e, double *value) {
  Heap *heap = inquiry->workspace->heap;
  CallInfo info = dag_call_info(inquiry->dag, e);
  uint32_t count = node_children(inquiry->dag, e);
  double *arguments = heap_array(heap, count, sizeof *arguments);
  for (uint32_t c = 0; c < count; c++) arguments[c] = inquiry->values[child_position(inquiry, e, c)];
  uint32_t *partials = heap_copy(heap, info.partials, info.partial_count, sizeof *partials);
  CallSite site = {.node = e,
                   .function = info.function,
                   .argument_count = count,
                   .partial_count = info.partial_count,
                   .result_count = 1,
                   .partials = partials,
                   .results = &info.output};
  bool done = caller_run(inquiry->workspace->caller, &site, arguments, value);
  heap_free_all(heap, arguments, partials);
  return done;
}

/* The value of a node whose used children are defined; false outside of the operator's domain. */
static bool node_value(Inquiry *inquiry, Expr e, double *value, double *argument) {
  Op op = dag_op(inquiry->dag, e);
  double x[3] = {0, 0, 0};
  uint32_t children = node_children(inquiry->dag, e);
  for (uint32_t c = 0; c < children && c < 3 && op != OP_SUM; c++)
    x[c] = inquiry->values[child_position(inquiry, e, c)];
  *argument = op == OP_DIVIDE || op == OP_DIV || op == OP_MOD || op == OP_REM ? x[1] : x[0];
  if (op == OP_SUM) *value = sum_value(inquiry, e);
  else if (op == OP_CALL) return call_value(inquiry, e, value);
  else if (op == OP_SMOOTH || op == OP_HOMOTOPY || op == OP_INPUT) *value = x[0];
  else {
    node_exponent(inquiry->dag, e, &x[1]);
    return op_evaluate(op, x, value);
  }
  return true;
}

static void inquire_node(Inquiry *inquiry, uint32_t position) {
  Expr e = inquiry->graph.nodes.data[position];
  Blame *found = &inquiry->found[position];
  double *value = &inquiry->values[position];
  inquiry->culprit[position] = MAP_NONE;
  Op op = dag_op(inquiry->dag, e);
  if (op_kind(op) == KIND_LEAF || op == OP_DELAYED) {
    found->argument = *value = leaf_value(inquiry, e);
    found->reason = isfinite(*value) || op == OP_STRING ? NULL : "value that is not finite";
  } else {
    inquiry->culprit[position] = inherited_culprit(inquiry, e);
    if (inquiry->culprit[position] != MAP_NONE) return;
    if (!node_value(inquiry, e, value, &found->argument))
      found->reason = op == OP_CALL ? caller_failure(inquiry->workspace->caller) : domain_reason(op);
    else if (!isfinite(*value)) found->reason = "result beyond the range of numbers";
  }
  if (found->reason) inquiry->culprit[position] = position;
}

static bool inquire(Workspace *workspace, Dag *dag, const Point *point, Expr root, Blame *blame) {
  Heap *heap = workspace->heap;
  Inquiry inquiry = {.workspace = workspace, .dag = dag, .point = point};
  inquiry.graph = graph_make(heap, inquiry.dag, &root, 1, NULL);
  uint32_t count = inquiry.graph.nodes.count;
  inquiry.values = heap_array(heap, count, sizeof *inquiry.values);
  inquiry.culprit = heap_array(heap, count, sizeof *inquiry.culprit);
  inquiry.found = heap_array(heap, count, sizeof *inquiry.found);
  for (uint32_t p = 0; p < count; p++) inquire_node(&inquiry, p);
  uint32_t culprit = inquiry.culprit[count - 1];
  if (culprit != MAP_NONE) {
    blame->node = inquiry.graph.nodes.data[culprit];
    blame->reason = inquiry.found[culprit].reason;
    blame->argument = inquiry.found[culprit].argument;
  }
  graph_free(&inquiry.graph);
  heap_free_all(heap, inquiry.values, inquiry.culprit, inquiry.found);
  return culprit != MAP_NONE;
}

/* The column of an entry of a Jacobian. */
static uint32_t entry_column(const Jacobian *jacobian, uint32_t entry) {
  uint32_t low = 0, high = jacobian->columns - 1;
  while (low < high) {
    uint32_t middle = low + (high - low + 1) / 2;
    if ((uint32_t)jacobian->column_start[middle] <= entry) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* The expression of an entry of a Jacobian. */
static Expr entry_expression(const Program *program, Dag *dag, uint32_t entry) {
  const Jacobian *jacobian = program->entries;
  uint32_t place = jacobian->positions[entry_column(jacobian, entry)], k = 0;
  Expr row = program->roots[jacobian->row_index[entry]];
  ExprVec leaves = {0};
  dag_variables(dag, dag_scratch(dag), row, &leaves);
  while (leaf_place(program->layout, dag, leaves.data[k]) != place) k++;
  Expr leaf = leaves.data[k];
  vec_free(dag_heap(dag), &leaves);
  return dag_partial(dag, row, leaf);
}

bool workspace_blame_output(Workspace *workspace, Dag *dag, const Point *point, uint32_t output, Blame *blame) {
  const Program *program = workspace->program;
  Expr root = program->entries ? entry_expression(program, dag, output) : program->roots[output];
  blame->output = output;
  return inquire(workspace, dag, point, root, blame);
}

bool workspace_blame(Workspace *workspace, Dag *dag, const Point *point, Blame *blame) {
  const Program *program = workspace->program;
  double *out = heap_array(workspace->heap, program->outputs, sizeof *out);
  workspace_run(workspace, point, out);
  bool found = false;
  for (uint32_t k = 0; k < program->outputs && !found; k++)
    found = !isfinite(out[k]) && workspace_blame_output(workspace, dag, point, k, blame);
  heap_free(workspace->heap, out);
  return found;
}
