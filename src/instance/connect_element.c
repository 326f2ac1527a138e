/* connect_element: elements of variables, counted over all dimensions from the model down, and their names. */
#include "instance/connect.h"

void list_sizes(Connections *connections, const Instance *instance, IndexVec *sizes) {
  for (const Instance *at = instance; at; at = at->parent)
    for (uint32_t i = instance_is_component(at) ? at->dimensions.count : 0; i-- > 0;)
      vec_push(connections->heap, sizes, at->dimensions.data[i].size);
  for (uint32_t low = 0, high = sizes->count; low + 1 < high; low++) {
    uint32_t swap = sizes->data[low];
    sizes->data[low] = sizes->data[--high];
    sizes->data[high] = swap;
  }
}

void split_element(const IndexVec *sizes, uint32_t element, uint32_t *subscripts) {
  for (uint32_t i = sizes->count; i-- > 0;) {
    subscripts[i] = element % sizes->data[i] + 1;
    element /= sizes->data[i];
  }
}

/* Leaves out the last `left_out` subscripts, which selects all elements of these dimensions. */
static AstExpr partial_reference(Connections *connections, const Instance *instance, Name name, uint32_t element,
                                 uint32_t left_out, Span span) {
  IndexVec sizes = {0};
  list_sizes(connections, instance, &sizes);
  uint32_t *subscripts = heap_array(connections->heap, sizes.count, sizeof *subscripts);
  split_element(&sizes, element, subscripts);
  VEC(AstExpr) made = {0};
  for (uint32_t i = 0; i + left_out < sizes.count; i++) {
    AstExpr subscript = flat_integer(connections->tree, subscripts[i], span);
    vec_push(connections->heap, &made, subscript);
  }
  AstExpr reference = flat_name(connections->tree, name, made.data, made.count, span);
  heap_free(connections->heap, subscripts);
  vec_free(connections->heap, &made, &sizes);
  return reference;
}

AstExpr element_reference(Connections *connections, const Instance *instance, Name name, uint32_t element, Span span) {
  return partial_reference(connections, instance, name, element, 0, span);
}

AstExpr record_reference(Connections *connections, const ConnectRecord *record, uint32_t element, Span span) {
  const Instance *instance = record->instance;
  return partial_reference(connections, instance, instance->flat_name, element * record->width, record->dimensions,
                           span);
}
