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
  TextVec text; /* text after the last scalar */
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
    text_printf(print->heap, text, "%s", print_record_open(print, &print->arena, type.definition));
    for (uint32_t f = 0; f < record->fields.count; f++) {
      if (f) text_append(print->heap, text, ", ", 2);
      text_printf(print->heap, text, "%s", print_field_label(print, &print->arena, type.definition, f));
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

/* Lays out a value whose first `skip` dimensions already have subscripts. The scalars of an array of records come element by
 * element. */
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
    uint32_t definition = shape->type.definition;
    text_printf(print->heap, &layout->text, "%s", print_record_open(print, &print->arena, definition));
    for (uint32_t f = 0; f < record->fields.count; f++) {
      if (f) text_append(print->heap, &layout->text, ", ", 2);
      text_printf(print->heap, &layout->text, "%s", print_field_label(print, &print->arena, definition, f));
      place_value(layout, &shape->fields[f], skip);
    }
    text_append(print->heap, &layout->text, ")", 1);
  } else {
    place_scalar(layout, shape->type);
  }
}

/* Inputs that the call leaves to their defaults are skipped; inputs after them are given by name. */
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

/* ---- the requested scalar ---- */

/* The output that contains result number *scalar; *scalar becomes its number within that output. */
static uint32_t find_output(const Function *function, uint32_t *scalar) {
  uint32_t output = 0;
  while (*scalar >= function->outputs[output].scalars) *scalar -= function->outputs[output++].scalars;
  return output;
}

/* The number of elements in the dimensions from `skip` on. */
static uint32_t element_count(const Shape *shape, uint32_t skip) {
  uint32_t count = 1;
  for (uint32_t d = skip; d < shape->type.dimensions; d++) count *= shape->sizes[d];
  return count;
}

/* The field that contains scalar number *scalar of a record element; *scalar becomes its number within that field. */
static uint32_t find_field(const Shape *shape, uint32_t *scalar) {
  uint32_t field = 0, elements = element_count(shape, 0);
  while (*scalar >= shape->fields[field].scalars / elements) *scalar -= shape->fields[field++].scalars / elements;
  return field;
}

uint32_t print_call_kind(const Print *print, CallInfo call) {
  const Function *function = print->model->functions.data[call.function];
  uint32_t scalar = call.output;
  if (!function->output_count) return VALUE_ANY;
  const Shape *shape = &function->outputs[find_output(function, &scalar)];
  while (shape->type.base == TYPE_RECORD) {
    scalar %= shape->scalars / element_count(shape, 0);
    shape = &shape->fields[find_field(shape, &scalar)];
  }
  return print_kind(shape->type);
}

/* Appends the subscripts of element number `element` in the dimensions from `skip` on. */
static void append_subscripts(Print *print, TextVec *text, const Shape *shape, uint32_t skip, uint32_t element) {
  for (uint32_t d = skip; d < shape->type.dimensions; d++) {
    uint32_t behind = element_count(shape, d + 1);
    text_printf(print->heap, text, "%s%u", d > skip ? ", " : "[", element / behind % shape->sizes[d] + 1);
  }
  if (skip < shape->type.dimensions) text_append(print->heap, text, "]", 1);
}

/* [2].'field'[3, 1]: how scalar number `scalar` is selected from an output; empty if the output is that scalar. */
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
  return text_keep(print->heap, &text, &print->arena);
}

/* ---- derivatives ---- */

static bool is_declared(const Print *print, Name name) {
  for (uint32_t i = 0; i < print->derivatives.count; i++)
    if (print->derivatives.data[i].name == name) return true;
  return false;
}

/* Interns the text of a name and frees the text. */
static Name take_name(Print *print, TextVec *text) {
  Name name = names_add(print->model->names, text->data, text->count);
  vec_free(print->heap, text);
  return name;
}

/* Keeps the declaration and frees its text. */
static void declare(Print *print, Name name, TextVec *text) {
  const char *kept = arena_copy(&print->arena, text->data, text->count);
  vec_push(print->heap, &print->derivatives, (PrintDerivative){name, kept});
  vec_free(print->heap, text);
}

/* The input whose only scalar is argument `position`; UINT32_MAX if the input has several scalars. */
static uint32_t scalar_input(const Function *function, uint32_t position) {
  uint32_t input = 0;
  while (position >= function->inputs[input].scalars) position -= function->inputs[input++].scalars;
  const Type type = function->inputs[input].type;
  return type.base == TYPE_REAL && !type.dimensions ? input : UINT32_MAX;
}

static bool is_by_inputs(const Function *function, CallInfo call) {
  for (uint32_t i = 0; i < call.partial_count; i++)
    if (scalar_input(function, call.partials[i]) == UINT32_MAX) return false;
  return true;
}

/* function 'f$d1' = der('f', 'x'), for df/dx */
static const char *derivative_by_inputs(Print *print, const Function *function, uint32_t output, CallInfo call) {
  const Routine *routine = function->routine;
  TextVec label = {0}, text = {0};
  text_printf(print->heap, &label, "%s", names_text(print->model->names, routine->name));
  if (output) text_printf(print->heap, &label, "$%u", output + 1);
  for (uint32_t i = 0; i < call.partial_count; i++)
    text_printf(print->heap, &label, "$d%u", scalar_input(function, call.partials[i]) + 1);
  Name name = take_name(print, &label);
  const char *base = print_use(print, routine->number, output), *quoted = print_name(print, name);
  if (is_declared(print, name)) return quoted;
  text_printf(print->heap, &text, "function %s = der(%s", quoted, base);
  for (uint32_t i = 0; i < call.partial_count; i++)
    text_printf(print->heap, &text, ", %s",
                print_name(print, routine->locals.data[scalar_input(function, call.partials[i])].name));
  text_printf(print->heap, &text, ")");
  declare(print, name, &text);
  return quoted;
}

/* function 'f$s1': the scalar that the call gives, as a function of scalars 'a1', 'a2', ... */
static const char *function_of_scalars(Print *print, CallInfo call) {
  const Function *function = print->model->functions.data[call.function];
  TextVec label = {0}, text = {0};
  text_printf(print->heap, &label, "%s$s%u", names_text(print->model->names, function->name), call.output + 1);
  Name name = take_name(print, &label);
  const char *quoted = print_name(print, name);
  if (is_declared(print, name)) return quoted;
  call.partial_count = 0;
  text_printf(print->heap, &text, "function %s\n", quoted);
  for (uint32_t i = 0; i < function->arguments; i++) text_printf(print->heap, &text, "    input Real 'a%u';\n", i + 1);
  text_printf(print->heap, &text, "    output Real 'y';\n  algorithm\n    'y' := ");
  for (uint32_t i = 0; i < function->arguments; i++)
    text_printf(print->heap, &text, "%s'a%u'", print_call_around(print, call, i), i + 1);
  text_printf(print->heap, &text, "%s;\n  end %s", print_call_around(print, call, function->arguments), quoted);
  declare(print, name, &text);
  return quoted;
}

static bool takes_reals(Print *print, uint32_t function) {
  const PrintPlace *places = find_layout(print, function);
  for (uint32_t i = 0; i < print->model->functions.data[function]->arguments; i++)
    if (places[i].kind != VALUE_REAL) return false;
  return true;
}

/* function 'f$s1$d2' = der('f$s1', 'a2'), for a derivative with respect to the second scalar of all inputs; NULL if not all of them
 * are Real. */
static const char *derivative_by_scalars(Print *print, CallInfo call) {
  const Function *function = print->model->functions.data[call.function];
  TextVec label = {0}, text = {0};
  if (!takes_reals(print, call.function)) return NULL;
  text_printf(print->heap, &label, "%s$s%u", names_text(print->model->names, function->name), call.output + 1);
  for (uint32_t i = 0; i < call.partial_count; i++) text_printf(print->heap, &label, "$d%u", call.partials[i] + 1);
  Name name = take_name(print, &label);
  const char *base = function_of_scalars(print, call), *quoted = print_name(print, name);
  if (is_declared(print, name)) return quoted;
  text_printf(print->heap, &text, "function %s = der(%s", quoted, base);
  for (uint32_t i = 0; i < call.partial_count; i++) text_printf(print->heap, &text, ", 'a%u'", call.partials[i] + 1);
  text_printf(print->heap, &text, ")");
  declare(print, name, &text);
  return quoted;
}

/* ---- calls ---- */

/* A call whose arguments are scalars: name(a, b, c). */
static const char *around_scalars(Print *print, const char *name, uint32_t position, uint32_t count) {
  if (!name) return NULL;
  if (position == 0) return arena_printf(&print->arena, "%s(", name);
  return position == count ? ")" : ", ";
}

const char *print_call_around(void *context, CallInfo call, uint32_t position) {
  Print *print = context;
  const Function *function = print->model->functions.data[call.function];
  if (call.partial_count && !is_by_inputs(function, call))
    return around_scalars(print, derivative_by_scalars(print, call), position, function->arguments);
  if (position > function->arguments) return NULL;
  const PrintPlace *places = find_layout(print, call.function);
  const char *before = places[position].before;
  if (position && position < function->arguments) return before;
  uint32_t scalar = call.output;
  uint32_t output = function->output_count ? find_output(function, &scalar) : 0;
  const char *select = function->output_count ? selection(print, &function->outputs[output], scalar) : "";
  const char *name = call.partial_count ? derivative_by_inputs(print, function, output, call)
                                        : print_use(print, function->routine->number, output);
  if (position == 0) before = arena_printf(&print->arena, "%s%s%s", *select ? "(" : "", name, before);
  if (position == function->arguments && *select) before = arena_printf(&print->arena, "%s)%s", before, select);
  return before;
}

uint32_t print_call_argument(void *context, CallInfo call, uint32_t position) {
  return find_layout(context, call.function)[position].kind;
}
