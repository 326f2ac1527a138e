/* cfunctions: see cfunctions.h.
 *
 * Invariant: the text is made backwards. Functions come first, then the operators that they use. Last come the paragraphs of
 * nilpotents.inc, runtime.inc and generators.inc whose functions occur in the text so far. */
#include "code/cfunctions.h"

#include "code/cvalue.h"

#include <stdio.h>
#include <string.h>

/* The files nilpotents.inc, runtime.inc and generators.inc, embedded by the build. */
extern const char nilpotents_inc[], runtime_inc[], generators_inc[];

typedef struct Assembly {
  RoutineWriter writer;
  Map functions; /* called functions -> 1 */
  IndexVec list; /* called functions, in order */
  TextVec calls; /* functions that unpack arguments, tables of sites */
  uint32_t most_partials;
} Assembly;

/* ---- operators ---- */

typedef struct OpText {
  const char *id, *value, *domain, *rules[3];
} OpText;

static const OpText op_texts[OP_COUNT] = {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) [OP_##id] = {#id, #value, #domain, {#d1, #d2, #d3}},
#include "expr/ops.def"
#undef OP
};

/* The builders of rules, as in calls.c. */
static const struct Builder {
  const char *use, *definition;
} builders[] = {
    {"ADD(", "ADD(x, y) element_add(algebra, n, x, y, 1)"},
    {"SUB(", "SUB(x, y) element_add(algebra, n, x, y, -1)"},
    {"NEG(", "NEG(x) element_add(algebra, n, CONST(0), x, -1)"},
    {"MUL(", "MUL(x, y) element_multiply(algebra, n, x, y)"},
    {"DIV(", "DIV(x, y) element_apply(algebra, n, OP_DIVIDE, x, y)"},
    {"SQUARES(", "SQUARES(x, y) element_squares(algebra, n, x, y)"},
    {"FN1(", "FN1(f, x) element_apply(algebra, n, OP_##f, x, x)"},
    {"FN2(", "FN2(f, x, y) element_apply(algebra, n, OP_##f, x, y)"},
    {"SELECT(", "SELECT(condition, x, y) ((condition)[0] != 0 ? (x) : (y))"},
};

static Op op_of_id(const char *id, size_t length) {
  for (uint32_t op = 0; op < OP_COUNT; op++)
    if (strlen(op_texts[op].id) == length && memcmp(op_texts[op].id, id, length) == 0) return (Op)op;
  return OP_COUNT;
}

/* Marks the operators that a rule builds; returns whether one was new. */
static bool mark_rule(bool *uses, const char *rule) {
  bool is_new = false;
  for (const char *at = rule; (at = strpbrk(at, "FD")); at++) {
    Op op = OP_COUNT;
    if (strncmp(at, "FN1(", 4) == 0 || strncmp(at, "FN2(", 4) == 0) op = op_of_id(at + 4, strcspn(at + 4, ","));
    if (strncmp(at, "DIV(", 4) == 0) op = OP_DIVIDE;
    if (op == OP_COUNT || uses[op]) continue;
    uses[op] = is_new = true;
  }
  return is_new;
}

static void add_needed_operators(bool *uses) {
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (uint32_t op = 0; op < OP_COUNT; op++)
      for (uint32_t k = 0; k < 3 && uses[op]; k++) is_new = mark_rule(uses, op_texts[op].rules[k]) || is_new;
  }
}

static bool has_rule(Op op) {
  const OpText *text = &op_texts[op];
  if (op_is_selector(op)) return false;
  return strcmp(text->rules[0], "NONE") || strcmp(text->rules[1], "NONE") || strcmp(text->rules[2], "NONE");
}

static const char *rule_text(const char *rule) { return strcmp(rule, "NONE") == 0 ? "CONST(0)" : rule; }

static void put_rule(Heap *heap, TextVec *out, Op op) {
  const char *const *rules = op_texts[op].rules;
  int arity = op_arity(op);
  text_printf(heap, out, "  case OP_%s:\n", op_texts[op].id);
  for (int k = 0; k + 1 < arity; k++)
    text_printf(heap, out, "    if (argument == %d) return %s;\n", k, rule_text(rules[k]));
  text_printf(heap, out, "    return %s;\n", rule_text(rules[arity - 1]));
}

static void put_rules(Heap *heap, TextVec *out, const bool *uses) {
  TextVec cases = {0};
  for (uint32_t op = 0; op < OP_COUNT; op++)
    if (uses[op] && has_rule((Op)op)) put_rule(heap, &cases, (Op)op);
  text_printf(heap, out,
              "static Element operator_rule(Algebra *algebra, uint32_t n, Op op, uint32_t argument, Element A, "
              "Element B,\n                             Element C, Element SELF) {\n"
              "  (void)argument, (void)A, (void)B, (void)C, (void)SELF;\n"
              "#define CONST(v) element_constant(algebra, n, v)\n");
  for (size_t b = 0; b < sizeof builders / sizeof *builders; b++)
    if (cases.count && strstr(cases.data, builders[b].use))
      text_printf(heap, out, "#define %s\n", builders[b].definition);
  text_printf(heap, out, "  switch (op) {\n%s  default: return CONST(0);\n  }\n}\n\n", cases.count ? cases.data : "");
  vec_free(heap, &cases);
}

/* A function with a row for each operator in use whose text is not `common`. */
static void put_switch(Heap *heap, TextVec *out, const bool *uses, const char *head, bool is_domain,
                       const char *common) {
  text_printf(heap, out, "%s {\n  (void)a, (void)b, (void)c;\n  switch (op) {\n", head);
  for (uint32_t op = 0; op < OP_COUNT; op++) {
    const char *text = is_domain ? op_texts[op].domain : op_texts[op].value;
    bool has_value = strcmp(op_texts[op].domain, "0") != 0;
    if (uses[op] && (has_value || is_domain) && strcmp(text, common) != 0)
      text_printf(heap, out, "  case OP_%s: return %s;\n", op_texts[op].id, text);
  }
  text_printf(heap, out, "  default: return %s;\n  }\n}\n\n", common);
}

static void put_arity(Heap *heap, TextVec *out, const bool *uses) {
  text_printf(heap, out, "static int op_arity(Op op) {\n  switch (op) {\n");
  for (int arity = 3; arity > 1; arity--) {
    bool is_first = true;
    for (uint32_t op = 0; op < OP_COUNT; op++) {
      if (!uses[op] || op_arity((Op)op) != arity) continue;
      text_printf(heap, out, "  case OP_%s:\n", op_texts[op].id);
      is_first = false;
    }
    if (!is_first) text_printf(heap, out, "    return %d;\n", arity);
  }
  text_printf(heap, out, "  default: return 1;\n  }\n}\n\n");
}

/* ---- unpacking ---- */

/* Flat positions of the scalars of each variable; arrays of records come record after record (execute.h).
 * Records nest as deep as their declarations. */
static uint32_t list_positions(const Model *model, const Shape *shape, uint32_t from, uint32_t elements,
                               uint32_t variable, IndexVec *positions, uint32_t *next, Heap *heap) {
  if (shape->type.base != TYPE_RECORD) {
    while (positions[variable].count < from + elements) vec_push(heap, &positions[variable], 0);
    for (uint32_t e = 0; e < elements; e++) positions[variable].data[from + e] = (*next)++;
    return variable + 1;
  }
  uint32_t end = variable, fields = model->records.data[shape->type.definition].fields.count, count = 1;
  for (uint32_t d = 0; d < shape->type.dimensions; d++) count *= shape->sizes[d];
  for (uint32_t e = 0; e < elements; e++) {
    end = variable;
    for (uint32_t f = 0; f < fields; f++) {
      uint32_t all = 1;
      for (uint32_t d = 0; d < shape->fields[f].type.dimensions; d++) all *= shape->fields[f].sizes[d];
      uint32_t each = count ? all / count : 0;
      end = list_positions(model, &shape->fields[f], (from + e) * each, each, end, positions, next, heap);
    }
  }
  return end;
}

/* The sizes of each variable in order, as lists. */
static uint32_t list_shapes(const Model *model, const Shape *shape, const Shape **out) {
  if (shape->type.base != TYPE_RECORD) {
    out[0] = shape;
    return 1;
  }
  uint32_t count = 0;
  for (uint32_t f = 0; f < model->records.data[shape->type.definition].fields.count; f++)
    count += list_shapes(model, &shape->fields[f], out + count);
  return count;
}

/* One input or output: the text of each variable's scalars `base`[...]. */
typedef struct Unpacked {
  uint32_t count;
  const Shape **shapes;
  IndexVec *positions;
} Unpacked;

static Unpacked unpack(Assembly *a, const Shape *shape, uint32_t *next) {
  uint8_t *dimensions;
  Unpacked out = {.count = cvalue_type_variables(&a->writer, shape->type, "", &dimensions, NULL)};
  uint32_t elements = 1;
  for (uint32_t d = 0; d < shape->type.dimensions; d++) elements *= shape->sizes[d];
  out.shapes = arena_array(a->writer.arena, out.count, sizeof *out.shapes);
  out.positions = arena_array(a->writer.arena, out.count, sizeof *out.positions);
  list_shapes(a->writer.model, shape, out.shapes);
  list_positions(a->writer.model, shape, 0, elements, 0, out.positions, next, a->writer.heap);
  return out;
}

static bool stands_side_by_side(const IndexVec *positions) {
  for (uint32_t i = 1; i < positions->count; i++)
    if (positions->data[i] != positions->data[i - 1] + 1) return false;
  return true;
}

static void put_list(Heap *heap, TextVec *out, const uint32_t *numbers, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) text_printf(heap, out, "%s%u", i ? ", " : "", numbers[i]);
  if (!count) text_printf(heap, out, "0");
}

/* `base` + start, NULL  or  base, (places) */
static void put_place(Heap *heap, TextVec *out, const IndexVec *positions) {
  if (stands_side_by_side(positions)) {
    text_printf(heap, out, "NULL");
    return;
  }
  text_printf(heap, out, "(const uint32_t[]){");
  put_list(heap, out, positions->data, positions->count);
  text_printf(heap, out, "}");
}

static uint32_t start_of(const IndexVec *positions) {
  return positions->count && stands_side_by_side(positions) ? positions->data[0] : 0;
}

static void put_argument(Assembly *a, TextVec *out, const Unpacked *input, uint32_t v) {
  Heap *heap = a->writer.heap;
  const IndexVec *positions = &input->positions[v];
  const Shape *shape = input->shapes[v];
  if (!shape->type.dimensions) {
    text_printf(heap, out, ", in[%u]", positions->data[0]);
    return;
  }
  text_printf(heap, out, ", take(m, in + %u, ", start_of(positions));
  put_place(heap, out, positions);
  text_printf(heap, out, ", %u, (const int[]){", shape->type.dimensions);
  put_list(heap, out, shape->sizes, shape->type.dimensions);
  text_printf(heap, out, "})");
}

static void put_result(Assembly *a, TextVec *out, const Unpacked *output, uint32_t v, uint32_t number) {
  Heap *heap = a->writer.heap;
  const IndexVec *positions = &output->positions[v];
  if (!output->shapes[v]->type.dimensions) {
    text_printf(heap, out, "  out[%u] = y%u;\n", positions->data[0], number);
    return;
  }
  text_printf(heap, out, "  give(m, y%u, ", number);
  put_place(heap, out, positions);
  text_printf(heap, out, ", %u, out + %u);\n", positions->count, start_of(positions));
}

static void free_unpacked(Assembly *a, Unpacked *unpacked) {
  for (uint32_t v = 0; v < unpacked->count; v++) vec_free(a->writer.heap, &unpacked->positions[v]);
}

/* Writes the C function that the equations call: it packs their scalars into the arguments of a routine and calls that. */
static void put_call(Assembly *a, uint32_t number) {
  Heap *heap = a->writer.heap;
  const Function *function = a->writer.model->functions.data[number];
  TextVec arguments = {0}, results = {0}, places = {0}, *out = &a->calls;
  uint32_t next = 0, outputs = 0;
  for (uint32_t i = 0; i < function->input_count; i++) {
    Unpacked input = unpack(a, &function->inputs[i], &next);
    for (uint32_t v = 0; v < input.count; v++) put_argument(a, &arguments, &input, v);
    if (function->routine->locals.data[i].has_default) text_printf(heap, &arguments, ", true");
    free_unpacked(a, &input);
  }
  text_printf(heap, out, "static void call%u(Memory *m, const Number *in, Number *out) {\n  (void)in, (void)out;\n",
              number);
  next = 0;
  const char *single = "Number";
  for (uint32_t o = 0; o < function->output_count; o++) {
    Unpacked output = unpack(a, &function->outputs[o], &next);
    for (uint32_t v = 0; v < output.count; v++, outputs++) {
      single = output.shapes[v]->type.dimensions ? "Array" : "Number";
      text_printf(heap, &places, "  %s y%u;\n", single, outputs);
      put_result(a, &results, &output, v, outputs);
    }
    free_unpacked(a, &output);
  }
  const char *name = routine_c_name(&a->writer, function->routine);
  if (outputs == 1)
    text_printf(heap, out, "  const %s y0 = %s(m%s", single, name, arguments.count ? arguments.data : "");
  else {
    text_printf(heap, out, "%s  %s(m%s", places.count ? places.data : "", name, arguments.count ? arguments.data : "");
    for (uint32_t o = 0; o < outputs; o++) text_printf(heap, out, ", &y%u", o);
  }
  text_printf(heap, out, ");\n%s}\n\n", results.count ? results.data : "");
  vec_free(heap, &arguments, &results, &places);
}

/* ---- sites ---- */

static const CallSite *site_of(const CallingText *caller, uint32_t number) {
  CTextCall call = caller->text->calls.data[number];
  return &caller->program->kernels[call.kernel].calls.data[call.site];
}

static void note_site(Assembly *a, const CallSite *site) {
  if (site->partial_count <= CALL_PARTIALS_LIMIT && site->partial_count > a->most_partials)
    a->most_partials = site->partial_count;
  if (map_get(&a->functions, site->function) != MAP_NONE) return;
  map_put(&a->functions, site->function, 1);
  vec_push(a->writer.heap, &a->list, site->function);
  routine_want(&a->writer, a->writer.model->functions.data[site->function]->routine->number);
}

/* A derivative beyond the limit has no value, as in calls.h. */
static void put_sites(Assembly *a, const CallingText *caller) {
  Heap *heap = a->writer.heap;
  TextVec *out = &a->calls;
  if (!caller->text->calls.count) return;
  text_printf(heap, out, "static const Site %s_sites[] = {\n", caller->name);
  for (uint32_t c = 0; c < caller->text->calls.count; c++) {
    const CallSite *site = site_of(caller, c);
    bool is_beyond = site->partial_count > CALL_PARTIALS_LIMIT;
    uint32_t partials = is_beyond ? 0 : site->partial_count;
    if (is_beyond) text_printf(heap, out, "    {no_call, ");
    else text_printf(heap, out, "    {call%u, ", site->function);
    text_printf(heap, out, "%u, %u, %u, %u, (const uint32_t[]){", site->argument_count,
                a->writer.model->functions.data[site->function]->results, partials, site->result_count);
    put_list(heap, out, site->partials, partials);
    text_printf(heap, out, "}, (const uint32_t[]){");
    put_list(heap, out, site->results, site->result_count);
    text_printf(heap, out, "}},\n");
  }
  text_printf(heap, out, "};\n\n");
}

static bool has_beyond(const CallingText *callers, uint32_t count) {
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t c = 0; c < callers[k].text->calls.count; c++)
      if (site_of(&callers[k], c)->partial_count > CALL_PARTIALS_LIMIT) return true;
  return false;
}

/* ---- functions that others need ---- */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Is the function called in the text? */
static bool is_called(const TextVec *text, const char *name, size_t length) {
  for (const char *at = text->data; (at = strstr(at, name)); at++)
    if (at[length] == '(' && (at == text->data || !is_word(at[-1]))) return true;
  return false;
}

/* For a paragraph that defines or declares a function: its name; NULL for others. */
static const char *defined_name(Arena *arena, const char *text, size_t length) {
  const char *begin = text, *end = text + length;
  if (strncmp(text, "/*", 2) == 0) begin = strstr(text, "*/\n") + 3;
  if (begin >= end || strncmp(begin, "static ", 7) != 0) return NULL;
  const char *bracket = strchr(begin, '('), *name = bracket;
  while (is_word(name[-1])) name--;
  return arena_copy(arena, name, (size_t)(bracket - name));
}

typedef struct Paragraph {
  const char *text;
  size_t length;
  bool is_wanted;
} Paragraph;

typedef VEC(Paragraph) Paragraphs;

/* The first paragraph of a file only describes it. */
static void split(Heap *heap, const char *file, Paragraphs *out) {
  for (const char *at = strstr(file, "\n\n") + 2; *at;) {
    const char *end = strstr(at, "\n\n");
    size_t length = end ? (size_t)(end - at) + 1 : strlen(at);
    vec_push(heap, out, (Paragraph){.text = at, .length = length});
    at += length + (end ? 1 : 0);
  }
}

/* Adds to `later` the paragraphs of a file that `later` uses, directly or through other paragraphs. */
static void choose(Heap *heap, Arena *arena, Paragraphs *paragraphs, TextVec *later) {
  for (uint32_t i = paragraphs->count; i-- > 0;) {
    Paragraph *p = &paragraphs->data[i];
    const char *name = defined_name(arena, p->text, p->length);
    p->is_wanted = !name || is_called(later, name, strlen(name));
    if (p->is_wanted) text_append(heap, later, p->text, p->length);
  }
}

static void put_paragraphs(Heap *heap, TextVec *out, const Paragraphs *paragraphs) {
  for (uint32_t i = 0; i < paragraphs->count; i++) {
    if (!paragraphs->data[i].is_wanted) continue;
    text_append(heap, out, paragraphs->data[i].text, paragraphs->data[i].length);
    text_append(heap, out, "\n", 1);
  }
}

static bool uses_any(const bool *uses) {
  for (uint32_t op = 0; op < OP_COUNT; op++)
    if (uses[op]) return true;
  return false;
}

/* What operators do. */
static void put_operators(Heap *heap, TextVec *out, const bool *uses) {
  if (!uses_any(uses)) return;
  put_switch(heap, out, uses, "static double operator_value(Op op, double a, double b, double c)", false, "NAN");
  put_switch(heap, out, uses, "static int operator_defined(Op op, double a, double b, double c)", true, "1");
  put_rules(heap, out, uses);
}

static void put_operations(Heap *heap, TextVec *out, const bool *uses) {
  text_printf(heap, out, "typedef enum Op {");
  uint32_t shown = 0;
  for (uint32_t op = 0; op < OP_COUNT; op++)
    if (uses[op] || op_is_selector((Op)op))
      text_printf(heap, out, "%sOP_%s,", shown++ % 6 ? " " : "\n  ", op_texts[op].id);
  text_printf(heap, out, "\n} Op;\n\n");
  if (uses_any(uses)) put_arity(heap, out, uses);
}

static void put_all(Assembly *a, TextVec *out) {
  Heap *heap = a->writer.heap;
  bool *uses = a->writer.uses_op;
  add_needed_operators(uses);
  TextVec operators = {0}, later = {0};
  put_operators(heap, &operators, uses);
  if (operators.count) text_append(heap, &later, operators.data, operators.count);
  text_append(heap, &later, a->writer.functions.data, a->writer.functions.count);
  text_append(heap, &later, a->calls.data, a->calls.count);
  text_printf(heap, &later, "call_site(");
  Paragraphs numbers = {0}, generators = {0}, runtime = {0};
  split(heap, nilpotents_inc, &numbers);
  split(heap, generators_inc, &generators);
  split(heap, runtime_inc, &runtime);
  choose(heap, a->writer.arena, &runtime, &later);
  choose(heap, a->writer.arena, &generators, &later);
  choose(heap, a->writer.arena, &numbers, &later);

  text_printf(heap, out,
              "/* ---- functions of the model, on numbers that carry derivatives ---- */\n\n"
              "#include <setjmp.h>\n#include <stdbool.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
              "enum { NUMBER_SIZE = %u, MOST_DIMENSIONS = %u, MOST_CALLS = %u };\n\n",
              1u << a->most_partials, TYPE_MAX_DIMENSIONS, 2000u >> a->most_partials);
  put_operations(heap, out, uses);
  put_paragraphs(heap, out, &numbers);
  if (operators.count) text_append(heap, out, operators.data, operators.count);
  put_paragraphs(heap, out, &generators);
  put_paragraphs(heap, out, &runtime);
  text_append(heap, out, a->writer.prototypes.data, a->writer.prototypes.count);
  text_append(heap, out, a->writer.functions.data, a->writer.functions.count);
  text_append(heap, out, a->calls.data, a->calls.count);
  vec_free(heap, &operators, &later, &numbers, &generators, &runtime);
}

/* ---- all together ---- */

static bool refused(Assembly *a, const Routine *routine, const char *why, Diags *diags) {
  diag_error(diags, DIAG_INPUT, routine->span, "the function %s cannot be written as C: %s",
             names_text(a->writer.model->names, routine->name), why);
  return false;
}

static bool write_routines(Assembly *a, Diags *diags) {
  RoutineWriter *writer = &a->writer;
  for (uint32_t i = 0; i < writer->routines.count; i++) { /* the list grows */
    const Routine *routine = writer->model->routines.data[writer->routines.data[i]];
    const char *why = routine_write(writer, routine);
    if (!why && writer->compares_texts && writer->makes_texts) why = "it compares texts that are made at run time";
    if (why) return refused(a, routine, why, diags);
  }
  return true;
}

static void free_assembly(Assembly *a) {
  Heap *heap = a->writer.heap;
  vec_free(heap, &a->writer.prototypes, &a->writer.functions, &a->writer.routines, &a->list, &a->calls);
  map_free(&a->writer.known);
  map_free(&a->functions);
  arena_free(a->writer.arena);
}

bool cfunctions_write(Heap *heap, const Model *model, const CallingText *callers, uint32_t count, bool has_tables,
                      TextVec *out, Diags *diags) {
  Arena arena = arena_make(heap);
  Assembly a = {
      .writer = {.heap = heap, .arena = &arena, .model = model, .has_tables = has_tables, .known = map_make(heap)},
      .functions = map_make(heap)};
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t c = 0; c < callers[k].text->calls.count; c++) note_site(&a, site_of(&callers[k], c));
  bool is_done = write_routines(&a, diags);
  if (is_done && a.list.count) {
    for (uint32_t f = 0; f < a.list.count; f++) put_call(&a, a.list.data[f]);
    if (has_beyond(callers, count))
      text_printf(heap, &a.calls,
                  "static void no_call(Memory *m, const Number *in, Number *out) {\n  (void)in, (void)out;\n"
                  "  fail(m);\n}\n\n");
    for (uint32_t k = 0; k < count; k++) put_sites(&a, &callers[k]);
    put_all(&a, out);
  }
  free_assembly(&a);
  return is_done;
}
