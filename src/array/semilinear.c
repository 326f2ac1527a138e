/* semilinear: see semilinear.h. */
#include "array/semilinear.h"

/* sign * flow = semiLinear(x, positive, negative) */
typedef struct Stream {
  uint32_t row;
  Expr flow, x, positive, negative;
  bool is_negated;
  bool is_joined; /* to another one; its row now says what the slope between is */
} Stream;

typedef VEC(Stream) StreamVec;

/* x or -x, whichever of them all streams along it have in common. */
static Expr direction(Dag *dag, Expr x, bool *is_reversed) {
  double constant;
  const Term *terms;
  *is_reversed = dag_op(dag, x) == OP_SUM && dag_terms(dag, x, &constant, &terms) && terms[0].coefficient < 0;
  return *is_reversed ? dag_negate(dag, x) : x;
}

/* Is the residual a flow and a semiLinear, with coefficients of one size? */
static bool read_stream(Dag *dag, Expr residual, Stream *stream) {
  double constant;
  const Term *terms;
  if (dag_op(dag, residual) != OP_SUM || dag_terms(dag, residual, &constant, &terms) != 2 || constant != 0)
    return false;
  uint32_t at = dag_op(dag, terms[1].node) == OP_SEMILINEAR;
  Term flow = terms[1 - at], value = terms[at];
  if (dag_op(dag, flow.node) != OP_VARIABLE || dag_op(dag, value.node) != OP_SEMILINEAR) return false;
  if (flow.coefficient != value.coefficient && flow.coefficient != -value.coefficient) return false;
  Expr above = dag_child(dag, value.node, 1), below = dag_child(dag, value.node, 2);
  bool is_reversed;
  stream->flow = flow.node;
  stream->x = direction(dag, dag_child(dag, value.node, 0), &is_reversed);
  stream->positive = is_reversed ? below : above;
  stream->negative = is_reversed ? above : below;
  stream->is_negated = (flow.coefficient == value.coefficient) != is_reversed;
  return true;
}

static uint64_t key_of(Expr flow, Expr slope) { return (uint64_t)flow << 32 | slope; }

/* The stream that goes on where this one ends; NULL: none. */
static Stream *next_of(const Dag *dag, const StreamVec *streams, const Map *begins, const Stream *stream) {
  if (dag_op(dag, stream->negative) != OP_VARIABLE) return NULL;
  uint32_t found = map_get(begins, key_of(stream->flow, stream->negative));
  Stream *next = found == MAP_NONE ? NULL : &streams->data[found];
  if (!next || next == stream || next->is_joined || next->x != stream->x || next->is_negated != stream->is_negated)
    return NULL;
  return next->negative != stream->negative && stream->positive != stream->negative ? next : NULL;
}

/* The row of the second stream says what the slope between them is, that of the first what both make of the flow. */
static void join_streams(Dag *dag, Stream *stream, Stream *next, Expr *residual) {
  Expr forward = dag_binary(dag, OP_GREATER_EQUAL, stream->x, dag_constant(dag, 0));
  Expr slope = dag_if(dag, forward, stream->positive, next->negative);
  residual[next->row] = dag_subtract(dag, stream->negative, slope);
  stream->negative = next->negative;
  next->is_joined = true;
  Expr value = dag_nary(dag, OP_SEMILINEAR, (Expr[]){stream->x, stream->positive, stream->negative}, 3);
  residual[stream->row] = dag_subtract(dag, stream->is_negated ? dag_negate(dag, stream->flow) : stream->flow, value);
}

void semilinear_join(Dag *dag, Expr *residual, uint32_t count) {
  Heap *heap = dag_heap(dag);
  StreamVec streams = {0};
  Map begins = map_make(heap);
  for (uint32_t row = 0; row < count; row++) {
    Stream stream = {.row = row};
    if (!read_stream(dag, residual[row], &stream)) continue;
    map_put(&begins, key_of(stream.flow, stream.positive), streams.count);
    vec_push(heap, &streams, stream);
  }
  for (uint32_t i = 0; i < streams.count; i++)
    for (Stream *stream = &streams.data[i], *next; !stream->is_joined;) {
      next = next_of(dag, &streams, &begins, stream);
      if (!next) break;
      join_streams(dag, stream, next, residual);
    }
  map_free(&begins);
  vec_free(heap, &streams);
}
