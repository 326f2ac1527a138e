/* print_call: calls in the graph have scalars as arguments and one scalar as value; in the text they have
 * arrays and records, and the scalar is selected: ('f'({a, b}, 'R'(c, d)))[2]. The layout of a function is
 * made once.
 *
 * Recursion here goes over dimensions and fields of types, whose number and depth are bounded. */
#include "model/print.h"

/* The arguments of a function while they are laid out. */
typedef struct Layout {
  Print *print;
  PrintPlace *places;
  uint32_t count;
  TextVec text; /* since the last scalar */
} Layout;

static void place_scalar(Layout *layout, uint32_t argument, Type type) {
  const char *before = arena_copy(&layout->print->arena, layout->text.data, layout->text.count);
  layout->places[layout->count++] = (PrintPlace){before, argument, print_kind(type)};
  layout->text.count = 0;
}

void print_default(Print *print, TextVec *text, const Shape *shape, uint32_t skip) {
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

/* Element number `element` of the first `skip` dimensions of a value whose scalars begin at `base`. */
static void place_value(Layout *layout, const Shape *shape, uint32_t skip, uint32_t element, uint32_t base) {
  Print *print = layout->print;
  if (skip < shape->type.dimensions) {
    uint32_t size = shape->sizes[skip];
    if (!shape->scalars) {
      print_default(print, &layout->text, shape, skip);
      return;
    }
    for (uint32_t i = 0; i < size; i++) {
      text_printf(print->heap, &layout->text, i ? ", " : "{");
      place_value(layout, shape, skip + 1, element * size + i, base);
    }
    text_append(print->heap, &layout->text, "}", 1);
  } else if (shape->type.base == TYPE_RECORD) {
    const Record *record = &print->model->records.data[shape->type.definition];
    text_printf(print->heap, &layout->text, "%s(", print_record(print, shape->type.definition));
    for (uint32_t f = 0; f < record->fields.count; f++) {
      if (f) text_append(print->heap, &layout->text, ", ", 2);
      place_value(layout, &shape->fields[f], skip, element, base);
      base += shape->fields[f].scalars;
    }
    text_append(print->heap, &layout->text, ")", 1);
  } else {
    place_scalar(layout, base + element, shape->type);
  }
}

/* Inputs with a default that the call leaves out are skipped; those behind are given by name. */
static PrintPlace *make_layout(Print *print, const Function *function) {
  Layout layout = {.print = print};
  layout.places = arena_array(&print->arena, function->arguments + 1, sizeof *layout.places);
  text_append(print->heap, &layout.text, "(", 1);
  bool is_named = false, is_first = true;
  uint32_t base = 0;
  for (uint32_t i = 0; i < function->input_count; i++) {
    const Shape *shape = &function->inputs[i];
    bool is_given = shape->type.base != TYPE_NOTHING;
    if (is_given && !is_first) text_append(print->heap, &layout.text, ", ", 2);
    if (is_given && is_named)
      text_printf(print->heap, &layout.text,
                  "%s = ", print_name(print, function->routine->locals.data[i].name));
    if (is_given) place_value(&layout, shape, 0, 0, base);
    base += shape->scalars;
    is_first = is_first && !is_given;
    is_named = is_named || !is_given;
  }
  text_append(print->heap, &layout.text, ")", 1);
  place_scalar(&layout, 0, (Type){0});
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

/* The field that holds scalar number *scalar of a record, which becomes its number within. */
static uint32_t find_field(const Shape *shape, uint32_t *scalar) {
  uint32_t field = 0;
  while (*scalar >= shape->fields[field].scalars) *scalar -= shape->fields[field++].scalars;
  return field;
}

uint32_t print_call_kind(const Print *print, CallInfo call) {
  const Function *function = print->model->functions.data[call.function];
  uint32_t scalar = call.output;
  const Shape *shape = &function->outputs[find_output(function, &scalar)];
  while (shape->type.base == TYPE_RECORD) shape = &shape->fields[find_field(shape, &scalar)];
  return print_kind(shape->type);
}

/* Subscripts of dimensions [begin, end) of element number `element`. */
static void append_subscripts(Print *print, TextVec *text, const Shape *shape, uint32_t begin, uint32_t end,
                              uint32_t element) {
  for (uint32_t d = begin; d < end; d++) {
    uint32_t behind = 1;
    for (uint32_t k = d + 1; k < shape->type.dimensions; k++) behind *= shape->sizes[k];
    text_printf(print->heap, text, "%s%u", d > begin ? ", " : "[", element / behind % shape->sizes[d] + 1);
  }
  if (begin < end) text_append(print->heap, text, "]", 1);
}

/* [2].'field'[3, 1]: how scalar number `scalar` is selected from an output; empty if it is the whole. */
static const char *selection(Print *print, const Shape *shape, uint32_t scalar) {
  TextVec text = {0};
  uint32_t done = 0;
  const Shape *leaf = shape;
  uint32_t element = scalar;
  while (leaf->type.base == TYPE_RECORD) leaf = &leaf->fields[find_field(leaf, &element)];
  for (const Shape *at = shape;; at = &at->fields[find_field(at, &scalar)]) {
    append_subscripts(print, &text, leaf, done, at->type.dimensions, element);
    done = at->type.dimensions;
    if (at == leaf) break;
    uint32_t rest = scalar;
    Name name = print->model->records.data[at->type.definition].fields.data[find_field(at, &rest)].name;
    text_printf(print->heap, &text, ".%s", print_name(print, name));
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
  const char *name = print_use(print, function->routine->number, output);
  if (position == 0) before = arena_printf(&print->arena, "%s%s%s", *select ? "(" : "", name, before);
  if (position == function->arguments && *select)
    before = arena_printf(&print->arena, "%s)%s", before, select);
  return before;
}

uint32_t print_call_argument(void *context, CallInfo call, uint32_t *position) {
  const PrintPlace *place = &find_layout(context, call.function)[*position];
  *position = place->argument;
  return place->kind;
}
