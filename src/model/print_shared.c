/* print_shared: an expression whose text would be much longer than its graph becomes the call of a function made for
 * it, in which the shared parts are local variables:
 *
 *   function '$shared1'
 *     input Real '$x1';
 *     output Real '$y';
 *   protected
 *     Real '$1';
 *   algorithm
 *     '$1' := sin('$x1')*cos('$x1');
 *     '$y' := sin('$1')*cos('$1');
 *     annotation(Inline = true, GenerateEvents = true);
 *   end '$shared1';
 *
 * Reading such a call runs the function over the graph, which gives the same nodes again: equations, events and
 * derivatives are unchanged. */
#include "model/print.h"

#include <string.h>

#define INPUT_NAME "'$x%u'"

static Type kind_type(uint32_t kind) {
  switch (kind) {
  case VALUE_INTEGER: return (Type){.base = TYPE_INTEGER};
  case VALUE_BOOLEAN: return (Type){.base = TYPE_BOOLEAN};
  case VALUE_STRING: return (Type){.base = TYPE_STRING};
  case VALUE_ANY:
  case VALUE_REAL: return (Type){.base = TYPE_REAL};
  default: return (Type){.base = TYPE_ENUMERATION, .definition = kind - VALUE_ENUMERATION};
  }
}

void print_input(Print *print, TextVec *text, Expr leaf) {
  PrintInputs *inputs = print->inputs;
  uint32_t number = map_get(&inputs->number, leaf);
  if (number == MAP_NONE) {
    vec_push(print->heap, &inputs->leaves, leaf);
    number = inputs->leaves.count;
    map_put(&inputs->number, leaf, number);
  }
  text_printf(print->heap, text, INPUT_NAME, number);
}

static bool name_is_taken(const Model *model, const char *name) {
  if (model_find(model, name) != MAP_NONE) return true;
  for (uint32_t i = 0; i < model->functions.count; i++)
    if (!strcmp(names_text(model->names, model->functions.data[i]->name), name)) return true;
  return false;
}

/* A name that neither a function of the model nor a variable has: a variable would hide the function. */
static const char *unused_name(Print *print) {
  const char *name;
  do name = arena_printf(&print->arena, "$shared%u", ++print->shared_count);
  while (name_is_taken(print->model, name));
  return name;
}

static void declare(Print *print, const char *prefix, uint32_t kind, const char *name) {
  TextVec *text = &print->shared_functions;
  text_printf(print->heap, text, "    %s", prefix);
  print_type(print, text, kind_type(kind));
  text_printf(print->heap, text, " %s;\n", name);
}

/* The parts of the function. */
typedef struct Body {
  TextVec statements, value;
  IndexVec kinds; /* of the parts */
  uint32_t kind;  /* of the value */
} Body;

static void print_function(Print *print, const char *name, const PrintInputs *inputs, const Body *body) {
  TextVec *text = &print->shared_functions;
  Heap *heap = print->heap;
  text_printf(heap, text, "  function '%s'\n", name);
  for (uint32_t i = 0; i < inputs->leaves.count; i++) {
    uint32_t kind = dag_value_kind(print->model->dag, inputs->leaves.data[i], &print->leaves);
    declare(print, "input ", kind, arena_printf(&print->arena, INPUT_NAME, i + 1));
  }
  declare(print, "output ", body->kind, "'$y'");
  text_printf(heap, text, "  protected\n");
  for (uint32_t k = 0; k < body->kinds.count; k++)
    declare(print, "", body->kinds.data[k], arena_printf(&print->arena, DAG_PART_NAME, k + 1));
  text_printf(heap, text, "  algorithm\n");
  text_append(heap, text, body->statements.data, body->statements.count);
  text_printf(heap, text, "    '$y' := ");
  text_append(heap, text, body->value.data, body->value.count);
  text_printf(heap, text, ";\n    annotation(Inline = true, GenerateEvents = true);\n  end '%s';\n\n", name);
}

static void print_call(Print *print, TextVec *text, const char *name, const PrintInputs *inputs) {
  text_printf(print->heap, text, "'%s'(", name);
  for (uint32_t i = 0; i < inputs->leaves.count; i++) {
    if (i) text_append(print->heap, text, ", ", 2);
    dag_print(print->model->dag, inputs->leaves.data[i], &print->leaves, print->heap, text);
  }
  text_append(print->heap, text, ")", 1);
}

bool print_shared(Print *print, TextVec *text, Expr e) {
  PrintInputs inputs = {.number = map_make(print->heap)};
  Body body = {.kind = print->leaves.place};
  print->inputs = &inputs;
  bool is_needed =
      dag_print_parts(print->model->dag, e, &print->leaves, print->heap, &body.statements, &body.kinds, &body.value);
  print->inputs = NULL;
  if (is_needed) {
    const char *name = unused_name(print);
    if (body.kind == VALUE_ANY) body.kind = dag_value_kind(print->model->dag, e, &print->leaves);
    print->leaves.place = VALUE_ANY;
    print_function(print, name, &inputs, &body);
    print_call(print, text, name, &inputs);
  }
  vec_free(print->heap, &body.statements, &body.value, &body.kinds, &inputs.leaves);
  map_free(&inputs.number);
  return is_needed;
}
