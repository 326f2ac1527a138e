/* print_call: calls in the graph have scalars as arguments and one scalar as value; in the text they have arrays and
 * records, and the scalar is selected: ('f'({a, b}, 'R'(c, d)))[2]. The layout of a function is made once.
 *
 * Recursion here goes over dimensions and fields of types, whose number and depth are bounded. */
#include "model/print.h"

/* The arguments of a function while they are laid out. */
typedef struct ArgumentLayout {
  Print *print;
  PrintPlace *places;
  uint32_t count;
  TextVec text; /* since the last scalar */
} ArgumentLayout;

static void place_scalar(ArgumentLayout *layout, Type type) {
  const char *before = arena_copy(&layout->print->arena, layout->text.data, layout->text.count);
  layout->places[layout->count++] = (PrintPlace){before, print_kind(type)};
  layout->text.count = 0;
}

/* The value that a variable of this type has by default: 0.0, 'E'.'a', 'R'(0, false), fill(0.0, 2, 0). */
static void print_default(Print *print, TextVec *text, const Shape *shape, uint32_t skip) {
  bool is_array = shape->type.dimensions > skip;
  Type type = shape->type;
  if (is_array) text_printf(print->heap, text, "fill(");
  if (type.base == TYPE_RECORD) {
    const Record *record = &print->model->records.data[type.definition];
    text_printf(print->heap, text, "%s(", print_record(print, shape->type.definition));
    for (uint32_t f = 0; f < record->fields.count; f++) {
      if (f) text_append(print->heap, text, ", ", 2);
      print_default(print, text, &shape->fields[f], type.dimensions);
    }
    text_append(print->heap, text, ")", 1);
  } else if (type.base == TYPE_ENUMERATION) {
    print_literal(print, text, type.definition, 1);
  } else {
    static const char *const zeros[] = {
        [TYPE_REAL] = "0.0", [TYPE_INTEGER] = "0", [TYPE_BOOLEAN] = "false", [TYPE_STRING] = "\"\""};
    text_printf(print->heap, text, "%s", type.base <= TYPE_STRING ? zeros[type.base] : "0");
  }
  for (uint32_t d = skip; d < type.dimensions; d++) text_printf(print->heap, text, ", %u", shape->sizes[d]);
  if (is_array) text_append(print->heap, text, ")", 1);
}

/* A value of which the first `skip` dimensions have their subscripts. The scalars of an array of records come element
 * by element. */
static void place_value(ArgumentLayout *layout, const Shape *shape, uint32_t skip) {
  Print *print = layout->print;
  if (skip < shape->type.dimensions) {
    if (!shape->scalars) {
      print_default(print, &layout->text, shape, skip);
      return;
    }
    for (uint32_t i = 0; i < shape->sizes[skip]; i++) {
      text_printf(print->heap, &layout->text, i ? ", " : "{");
      place_value(layout, shape, skip + 1);
    }
    text_append(print->heap, &layout->text, "}", 1);
  } else if (shape->type.base == TYPE_RECORD) {
    const Record *record = &print->model->records.data[shape->type.definition];
    text_printf(print->heap, &layout->text, "%s(", print_record(print, shape->type.definition));
    for (uint32_t f = 0; f < record->fields.count; f++) {
      if (f) text_append(print->heap, &layout->text, ", ", 2);
      place_value(layout, &shape->fields[f], skip);
    }
    text_append(print->heap, &layout->text, ")", 1);
  } else {
    place_scalar(layout, shape->type);
  }
}

/* Inputs with a default that the call leaves out are skipped; those behind are given by name. */
static PrintPlace *make_layout(Print *print, const Function *function) {
  ArgumentLayout layout = {.print = print};
  layout.places = arena_array(&print->arena, function->arguments + 1, sizeof *layout.places);
  text_append(print->heap, &layout.text, "(", 1);
  bool is_named = false, is_first = true;
  for (uint32_t i = 0; i < function->input_count; i++) {
    const Shape *shape = &function->inputs[i];
    bool is_given = shape->type.base != TYPE_NOTHING;
    if (is_given && !is_first) text_append(print->heap, &layout.text, ", ", 2);
    if (is_given && is_named)
      text_printf(print->heap, &layout.text, "%s = ", print_name(print, function->routine->locals.data[i].name));
    if (is_given) place_value(&layout, shape, 0);
    is_first = is_first && !is_given;
    is_named = is_named || !is_given;
  }
  text_append(print->heap, &layout.text, ")", 1);
  place_scalar(&layout, (Type){0});
  vec_free(print->heap, &layout.text);
  return layout.places;
}

static const PrintPlace *find_layout(Print *print, uint32_t function) {
  while (print->layouts.count <= function) vec_push(print->heap, &print->layouts, NULL);
  if (!print->layouts.data[function])
    print->layouts.data[function] = make_layout(print, print->model->functions.data[function]);
  return print->layouts.data[function];
}

/* ---- the scalar that is wanted ---- */

/* The output value that holds result number *scalar, which becomes its number within. */
static uint32_t find_output(const Function *function, uint32_t *scalar) {
  uint32_t output = 0;
  while (*scalar >= function->outputs[output].scalars) *scalar -= function->outputs[output++].scalars;
  return output;
}

/* Elements of the dimensions from `skip` on. */
static uint32_t element_count(const Shape *shape, uint32_t skip) {
  uint32_t count = 1;
  for (uint32_t d = skip; d < shape->type.dimensions; d++) count *= shape->sizes[d];
  return count;
}

/* The field of one element of a record that holds scalar number *scalar of it, which becomes its number within. */
static uint32_t find_field(const Shape *shape, uint32_t *scalar) {
  uint32_t field = 0, elements = element_count(shape, 0);
  while (*scalar >= shape->fields[field].scalars / elements) *scalar -= shape->fields[field++].scalars / elements;
  return field;
}

uint32_t print_call_kind(const Print *print, CallInfo call) {
  const Function *function = print->model->functions.data[call.function];
  uint32_t scalar = call.output;
  const Shape *shape = &function->outputs[find_output(function, &scalar)];
  while (shape->type.base == TYPE_RECORD) {
    scalar %= shape->scalars / element_count(shape, 0);
    shape = &shape->fields[find_field(shape, &scalar)];
  }
  return print_kind(shape->type);
}

/* Subscripts of the dimensions from `skip` on, of element number `element` of these. */
static void append_subscripts(Print *print, TextVec *text, const Shape *shape, uint32_t skip, uint32_t element) {
  for (uint32_t d = skip; d < shape->type.dimensions; d++) {
    uint32_t behind = element_count(shape, d + 1);
    text_printf(print->heap, text, "%s%u", d > skip ? ", " : "[", element / behind % shape->sizes[d] + 1);
  }
  if (skip < shape->type.dimensions) text_append(print->heap, text, "]", 1);
}

/* [2].'field'[3, 1]: how scalar number `scalar` is selected from an output; empty if it is the whole. */
static const char *selection(Print *print, const Shape *shape, uint32_t scalar) {
  TextVec text = {0};
  for (uint32_t skip = 0;;) {
    uint32_t block = shape->scalars / element_count(shape, 0);
    append_subscripts(print, &text, shape, skip, scalar / block);
    scalar %= block;
    skip = shape->type.dimensions;
    if (shape->type.base != TYPE_RECORD) break;
    uint32_t field = find_field(shape, &scalar);
    Name name = print->model->records.data[shape->type.definition].fields.data[field].name;
    text_printf(print->heap, &text, ".%s", print_name(print, name));
    shape = &shape->fields[field];
  }
  const char *kept = arena_copy(&print->arena, text.data, text.count);
  vec_free(print->heap, &text);
  return kept;
}

const char *print_call_around(void *context, CallInfo call, uint32_t position) {
  Print *print = context;
  const Function *function = print->model->functions.data[call.function];
  const PrintPlace *places = find_layout(print, call.function);
  const char *before = places[position].before;
  if (position && position < function->arguments) return before;
  uint32_t scalar = call.output;
  uint32_t output = find_output(function, &scalar);
  const char *select = selection(print, &function->outputs[output], scalar);
  const char *name = call.partial_count ? print_derivative(print, function, output, call)
                                        : print_use(print, function->routine->number, output);
  if (!name) return NULL;
  if (position == 0) before = arena_printf(&print->arena, "%s%s%s", *select ? "(" : "", name, before);
  if (position == function->arguments && *select) before = arena_printf(&print->arena, "%s)%s", before, select);
  return before;
}

uint32_t print_call_argument(void *context, CallInfo call, uint32_t position) {
  return find_layout(context, call.function)[position].kind;
}
