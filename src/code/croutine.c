/* croutine: see croutine.h. The stack code is read once from front to back. The machine's stack is followed, with the text of each
 * value instead of the value (cvalue.h). */
#include "code/croutine.h"

#include "code/cvalue.h"
#include "external/external.h"

#include <string.h>

const char *routine_c_name(const RoutineWriter *writer, const Routine *routine) {
  return arena_printf(writer->arena, "f%u_%s", routine->number,
                      cvalue_plain_name(writer, names_text(writer->model->names, routine->name)));
}

/* ---- calls ---- */

void routine_want(RoutineWriter *writer, uint32_t routine) {
  if (map_get(&writer->known, routine) != MAP_NONE) return;
  map_put(&writer->known, routine, writer->routines.count);
  vec_push(writer->heap, &writer->routines, routine);
}

static uint32_t output_variables(const RoutineWriter *writer, const Routine *routine) {
  uint32_t count = 0;
  for (uint32_t o = 0; o < routine->outputs; o++)
    count += cvalue_count_variables(writer, routine->locals.data[routine->inputs + o].type);
  return count;
}

/* The arguments in the order of the inputs; missing ones are zero and marked as not given. */
static const char *arguments_text(RoutineState *s, const Routine *callee, const uint32_t *slots,
                                  const StackEntry *given, uint32_t count) {
  TextVec out = {0};
  Heap *heap = s->writer->heap;
  for (uint32_t i = 0; i < callee->inputs; i++) {
    const Local *local = &callee->locals.data[i];
    const StackEntry *entry = NULL;
    StackEntry none = cvalue_make_entry(s, local->type);
    for (uint32_t k = 0; k < count; k++)
      if (slots[k] == i) entry = &given[k];
    if (entry && (entry->count != none.count || entry->type.dimensions != local->type.dimensions)) {
      cvalue_misfit(s);
      entry = NULL;
    }
    for (uint32_t v = 0; v < none.count; v++)
      if (!entry)
        text_printf(heap, &out, ", (%s){%s}", cvalue_c_type(none.dimensions[v]), none.dimensions[v] ? "0" : "{0}");
      else if (none.dimensions[v]) text_printf(heap, &out, ", %s", cvalue_variable_array(s, entry, v));
      else text_printf(heap, &out, ", %s", entry->texts[v]);
    if (local->has_default) text_printf(heap, &out, ", %s", entry ? "true" : "false");
  }
  return text_keep(heap, &out, s->writer->arena);
}

static void cwrite_call(RoutineState *s, const uint32_t *call, uint32_t count) {
  const Routine *callee = s->writer->model->routines.data[call[0]];
  routine_want(s->writer, call[0]);
  const char *arguments = arguments_text(s, callee, call + 2, cvalue_pop(s, count), count);
  const char *name = routine_c_name(s->writer, callee);
  if (output_variables(s->writer, callee) == 1) {
    const char *text = cvalue_format(s, "%s(m%s)", name, arguments);
    if (call[1] == 0) cvalue_line(s, "(void)%s;", text);
    else cvalue_push(s, callee->locals.data[callee->inputs].type, text);
    return;
  }
  StackEntry *outputs = arena_array(s->writer->arena, callee->outputs, sizeof *outputs);
  const char *places = "";
  for (uint32_t o = 0; o < callee->outputs; o++) {
    outputs[o] = cvalue_make_entry(s, callee->locals.data[callee->inputs + o].type);
    for (uint32_t v = 0; v < outputs[o].count; v++) {
      outputs[o].texts[v] = cvalue_format(s, "t%u", ++s->names);
      cvalue_line(s, "%s %s;", cvalue_c_type(outputs[o].dimensions[v]), outputs[o].texts[v]);
      places = cvalue_format(s, "%s, &%s", places, outputs[o].texts[v]);
    }
  }
  cvalue_line(s, "%s(m%s%s);", name, arguments, places);
  for (uint32_t o = 0; o < call[1]; o++) cvalue_push_entry(s, outputs[o]);
}

/* ---- slots ---- */

static void cwrite_local(RoutineState *s, uint32_t slot) {
  StackEntry entry = s->slots[slot];
  entry.texts = arena_copy_array(s->writer->arena, s->slots[slot].texts, entry.count, sizeof *entry.texts);
  vec_push(s->writer->heap, &s->stack, entry);
}

static void cwrite_bind(RoutineState *s, uint32_t slot) {
  const StackEntry *value = cvalue_pop(s, 1), *target = &s->slots[slot];
  if (value->count != target->count || value->type.dimensions != target->type.dimensions) {
    cvalue_misfit(s);
    return;
  }
  for (uint32_t v = 0; v < target->count; v++) {
    const char *text =
        target->dimensions[v] ? cvalue_format(s, "copy(m, %s)", cvalue_variable_array(s, value, v)) : value->texts[v];
    if (slot < s->routine->inputs) cvalue_line(s, "%s = %s;", target->texts[v], text);
    else cvalue_line(s, "%s %s = %s;", cvalue_c_type(target->dimensions[v]), target->texts[v], text);
    if (!s->is_read[slot] && slot >= s->routine->inputs) cvalue_line(s, "(void)%s;", target->texts[v]);
  }
  s->is_bound[slot] = true;
}

/* Declares variables with the sizes given; for a record, one variable for each field. */
static uint32_t declare_variables(RoutineState *s, Type type, const char *sizes, const char *const *names) {
  if (type.base != TYPE_RECORD) {
    const char *zero = type.base == TYPE_ENUMERATION ? "1.0" : "0.0";
    if (type.dimensions)
      cvalue_line(s, "Array %s = filled(m, %u, (const Number[]){%s}, %s);", names[0], type.dimensions, sizes, zero);
    else cvalue_line(s, "Number %s = number(%s);", names[0], zero);
    return 1;
  }
  const Record *record = &s->writer->model->records.data[type.definition];
  uint32_t count = 0;
  for (uint32_t i = 0; i < record->fields.count; i++) {
    const Field *field = &record->fields.data[i];
    Type inner = type_with_dimensions(field->type, (uint32_t)field->type.dimensions + type.dimensions);
    const char *own = cvalue_field_sizes(s, field);
    const char *all = cvalue_format(s, "%s%s%s", sizes, *sizes && *own ? ", " : "", own);
    count += declare_variables(s, inner, all, names + count);
  }
  return count;
}

static void cwrite_declare(RoutineState *s, uint32_t slot, uint32_t count) {
  StackEntry *sizes = cvalue_pop(s, count), *target = &s->slots[slot];
  bool is_input = slot < s->routine->inputs, has_arrays = false, is_open = true;
  for (uint32_t i = 0; i < count; i++) is_open = is_open && sizes[i].kind == ENTRY_ALL;
  if (is_input || s->is_bound[slot]) {
    if (count && !is_open && target->count)
      cvalue_line(s, "expect(m, %s, %u, (const Number[]){%s});", target->texts[0], count,
                  cvalue_scalars_text(s, sizes, count));
    if (s->is_bound[slot] && s->makes_arrays) cvalue_line(s, "hold(m);");
    return;
  }
  for (uint32_t i = 0; i < count && target->count > 1; i++) cvalue_name(s, &sizes[i]);
  declare_variables(s, target->type, cvalue_scalars_text(s, sizes, count), target->texts);
  bool is_output = slot < s->routine->inputs + s->routine->outputs;
  for (uint32_t v = 0; v < target->count; v++) {
    has_arrays = has_arrays || target->dimensions[v];
    if ((!s->is_read[slot] && !is_output) || target->count > 1) cvalue_line(s, "(void)%s;", target->texts[v]);
  }
  if (has_arrays) {
    cvalue_line(s, "hold(m);");
    s->uses_memory = true;
  }
}

static OpenRegion *open_region(RoutineState *s, RegionKind kind, uint32_t end) {
  vec_push(s->writer->heap, &s->regions,
           (OpenRegion){.kind = kind, .end = end, .number = ++s->names, .at = s->body.count});
  return &vec_last(&s->regions);
}

/* ---- control flow ---- */

/* `and`, `or`: evaluates the rest only if the value so far does not decide. */
static void cwrite_skip(RoutineState *s, uint32_t target, bool on) {
  if (vec_last(&s->stack).type.dimensions) return;
  StackEntry value = *cvalue_pop(s, 1);
  OpenRegion *region = open_region(s, REGION_SKIP, target);
  const char *name = cvalue_format(s, "t%u", region->number);
  cvalue_line(s, "Number %s = %s;", name, cvalue_scalar_text(s, &value));
  cvalue_line(s, "if (%struth(%s)) {", on ? "!" : "", name);
  s->depth++;
  cvalue_push(s, type_scalar(TYPE_BOOLEAN), name);
}

static void close_regions(RoutineState *s, uint32_t position) {
  while (s->regions.count) {
    OpenRegion region = vec_last(&s->regions);
    if ((region.kind != REGION_SKIP && region.kind != REGION_DEFAULT) || region.end != position) return;
    s->regions.count--;
    if (region.kind == REGION_SKIP) {
      const char *name = cvalue_format(s, "t%u", region.number);
      cvalue_line(s, "%s = %s;", name, cvalue_scalar_text(s, cvalue_pop(s, 1)));
      cvalue_push(s, type_scalar(TYPE_BOOLEAN), name);
    }
    s->depth--;
    cvalue_line(s, "}");
  }
}

static void cwrite_if(RoutineState *s) {
  cvalue_line(s, "if (truth(%s)) {", cvalue_condition_text(s, cvalue_pop(s, 1)));
  s->depth++;
}

static void cwrite_else(RoutineState *s) {
  if (s->routine->code.data[s->position + 1].code == CODE_END_IF) return;
  s->depth--;
  cvalue_line(s, "} else {");
  s->depth++;
}

static void end_region(RoutineState *s) {
  s->depth--;
  cvalue_line(s, "}");
}

static const char *result_name(RoutineState *s, const OpenRegion *region, uint32_t v, uint32_t count) {
  return count == 1 ? cvalue_format(s, "t%u", region->number) : cvalue_format(s, "t%u_%u", region->number, v);
}

static void cwrite_if_value(RoutineState *s) {
  const char *condition = cvalue_scalar_text(s, cvalue_pop(s, 1));
  open_region(s, REGION_VALUE, 0);
  cvalue_line(s, "if (truth(%s)) {", condition);
  s->depth++;
}

static void give_result(RoutineState *s, const OpenRegion *region, const StackEntry *value) {
  for (uint32_t v = 0; v < value->count; v++)
    cvalue_line(s, "%s = %s;", result_name(s, region, v, value->count),
                value->type.dimensions || value->dimensions[v] ? cvalue_variable_array(s, value, v) : value->texts[v]);
}

static void cwrite_else_value(RoutineState *s) {
  OpenRegion *region = &vec_last(&s->regions);
  region->then = *cvalue_pop(s, 1);
  give_result(s, region, &region->then);
  s->depth--;
  cvalue_line(s, "} else {");
  s->depth++;
}

static void cwrite_end_value(RoutineState *s) {
  OpenRegion region = vec_pop(&s->regions);
  StackEntry value = *cvalue_pop(s, 1);
  bool is_fit = value.count == region.then.count && value.type.dimensions == region.then.type.dimensions;
  if (is_fit) give_result(s, &region, &value);
  end_region(s);
  if (!is_fit) {
    cvalue_misfit(s);
    value = region.then;
  }
  Type type = region.then.type;
  type.base = (uint8_t)type_join_base((BaseType)type.base, (BaseType)value.type.base);
  StackEntry out = cvalue_make_entry(s, type);
  for (uint32_t v = out.count; v-- > 0;) {
    out.texts[v] = result_name(s, &region, v, out.count);
    cvalue_insert(
        s, region.at,
        cvalue_format(s, "%*s%s %s;\n", (int)(2 * s->depth), "", cvalue_c_type(out.dimensions[v]), out.texts[v]));
  }
  cvalue_push_entry(s, out);
}

/* The array that a loop runs over. An array of records is several arrays, one for each variable of the record. */
static const char *range_name(RoutineState *s, const OpenRegion *region, uint32_t v) {
  return v ? cvalue_format(s, "r%u_%u", region->number, v) : cvalue_format(s, "r%u", region->number);
}

/* The head of a loop over the range on the stack, and the element. */
static void begin_loop(RoutineState *s, OpenRegion *region, const StackEntry *range, uint32_t slot) {
  uint32_t k = region->number;
  region->is_range = range->kind == ENTRY_RANGE;
  if (region->is_range) cvalue_line(s, "const Range r%u = %s;", k, range->texts[0]);
  for (uint32_t v = 0; v < range->count && !region->is_range; v++) {
    const char *array = cvalue_variable_array(s, range, v);
    if (range->dimensions[v] > 1) cvalue_refuse(s, "it has a loop over records that contain arrays");
    cvalue_line(s, region->is_held ? "const Array %s = copy(m, %s);" : "const Array %s = %s;", range_name(s, region, v),
                array);
  }
  if (region->is_held) {
    cvalue_line(s, "const Mark outside%u = m->floor;", k);
    cvalue_line(s, "hold(m);");
    cvalue_line(s, "const Mark inside%u = m->floor;", k);
  }
  cvalue_line(s, "for (long k%u = 0; k%u < r%u.%s; k%u++) {", k, k, k, region->is_range ? "count" : "sizes[0]", k);
  s->depth++;
  if (!s->is_read[slot]) return;
  const StackEntry *target = &s->slots[slot];
  for (uint32_t v = 0; v < target->count; v++) {
    const char *name = range_name(s, region, v);
    const char *element = cvalue_format(s, region->is_range ? "range_element(%s, k%u)" : "%s.data[k%u]", name, k);
    cvalue_line(s, "const %s %s = %s;", cvalue_c_type(0), target->texts[v], element);
    if (target->count > 1) cvalue_line(s, "(void)%s;", target->texts[v]);
  }
}

static void cwrite_for(RoutineState *s, uint32_t slot) {
  StackEntry range = *cvalue_pop(s, 1);
  OpenRegion *region = open_region(s, REGION_LOOP, 0);
  region->is_held = range.kind != ENTRY_RANGE;
  begin_loop(s, region, &range, slot);
  cvalue_line(s, "step(m);");
  s->makes_arrays = false;
}

static void cwrite_while(RoutineState *s) {
  cvalue_line(s, "for (;;) {");
  s->depth++;
  cvalue_line(s, "step(m);");
}

static void cwrite_while_test(RoutineState *s) {
  cvalue_line(s, "if (!truth(%s)) break;", cvalue_condition_text(s, cvalue_pop(s, 1)));
  cvalue_end_statement(s);
}

static void cwrite_end_for(RoutineState *s) {
  OpenRegion region = vec_pop(&s->regions);
  end_region(s);
  if (region.is_held) cvalue_line(s, "leave_loop(m, inside%u, outside%u);", region.number, region.number);
}

static void cwrite_each(RoutineState *s, uint32_t slot) {
  StackEntry range = *cvalue_pop(s, 1);
  OpenRegion *region = open_region(s, REGION_LOOP, 0);
  begin_loop(s, region, &range, slot);
}

static void cwrite_each_next(RoutineState *s) {
  OpenRegion region = vec_pop(&s->regions);
  StackEntry value = *cvalue_pop(s, 1);
  uint32_t k = region.number;
  StackEntry out = cvalue_make_entry(s, type_with_dimensions(value.type, value.type.dimensions + 1u));
  for (uint32_t v = 0; v < out.count; v++) {
    out.texts[v] = result_name(s, &region, v, out.count);
    cvalue_line(s, "collect(m, &%s, k%u, r%u.%s, %s);", out.texts[v], k, k, region.is_range ? "count" : "sizes[0]",
                cvalue_variable_array(s, &value, v));
  }
  end_region(s);
  for (uint32_t v = out.count; v-- > 0;)
    cvalue_insert(
        s, region.at,
        cvalue_format(s, "%*sArray %s = empty(m, %u);\n", (int)(2 * s->depth), "", out.texts[v], out.dimensions[v]));
  cvalue_push_entry(s, out);
}

static void cwrite_drop(RoutineState *s, uint32_t count) {
  const StackEntry *entries = cvalue_pop(s, count);
  for (uint32_t i = 0; i < count; i++) cvalue_discard(s, &entries[i]);
  cvalue_end_statement(s);
}

static void cwrite_assert(RoutineState *s) {
  const StackEntry *v = cvalue_pop(s, 3);
  cvalue_discard(s, &v[1]);
  const char *condition = cvalue_condition_text(s, &v[0]);
  if (v[2].is_constant && v[2].constant != ASSERTION_ERROR) cvalue_line(s, "(void)%s;", condition);
  else if (v[2].is_constant) cvalue_line(s, "if (!truth(%s)) fail(m);", condition);
  else
    cvalue_line(s, "if (!truth(%s) && %s.c[0] == %d) fail(m);", condition, cvalue_scalar_text(s, &v[2]),
                ASSERTION_ERROR);
  cvalue_end_statement(s);
}

static void cwrite_special(RoutineState *s, Special special, uint32_t count) {
  (void)special;
  Type type = count ? cvalue_pop(s, count)[0].type : type_scalar(TYPE_REAL);
  cvalue_push(s, type, type.dimensions ? "scalar(m, undefined(m))" : "undefined(m)");
}

static void cwrite_constant(RoutineState *s, BaseType base, double number) {
  cvalue_push_constant(s, type_scalar(base), number);
}

static void cwrite_literal(RoutineState *s, uint32_t number, uint32_t enumeration) {
  cvalue_push_constant(s, (Type){.base = TYPE_ENUMERATION, .definition = enumeration}, number);
}

static void cwrite_string(RoutineState *s, Name text) { cvalue_push_constant(s, type_scalar(TYPE_STRING), text); }

static void cwrite_all(RoutineState *s) { vec_push(s->writer->heap, &s->stack, (StackEntry){.kind = ENTRY_ALL}); }

static void cwrite_convert(RoutineState *s, uint32_t literals, uint32_t enumeration) {
  (void)literals;
  vec_last(&s->stack).type = (Type){.base = TYPE_ENUMERATION, .definition = enumeration};
}

static void cwrite_default(RoutineState *s, uint32_t slot, uint32_t target) {
  open_region(s, REGION_DEFAULT, target);
  cvalue_line(s, "if (!given%u) {", slot);
  s->depth++;
}

static void cwrite_end_if(RoutineState *s) { end_region(s); }
static void cwrite_end_while(RoutineState *s) { end_region(s); }
static void cwrite_break(RoutineState *s) { cvalue_line(s, "break;"); }

static void cwrite_return(RoutineState *s) {
  cvalue_line(s, "goto done;");
  s->has_return = true;
}

/* Functions of tables, by the part of their names after the class, and the calls that replace them (lookup.h, runtime.inc). */
static const struct LookupCall {
  const char *name, *call;
} lookup_calls[] = {
    {"getValue", "lookup_number(m, 0"},     {"getDerValue", "lookup_number(m, 1"},
    {"getDer2Value", "lookup_number(m, 2"}, {"minimumAbscissa", "lookup_end(m, 0"},
    {"minimumTime", "lookup_end(m, 0"},     {"maximumAbscissa", "lookup_end(m, 1"},
    {"maximumTime", "lookup_end(m, 1"},     {"nextTimeEvent", "lookup_event(m"},
};

/* The call that replaces a function of a table; NULL: no such call gives a number. */
static const char *lookup_call(const Routine *routine) {
  const char *name = routine->implementation->name, *signature = routine->implementation->signature;
  if (strncmp(name, "ModelicaStandardTables_", strlen("ModelicaStandardTables_")) != 0 || !signature) return NULL;
  for (size_t k = 0; k < sizeof lookup_calls / sizeof *lookup_calls && signature[0] == 'r'; k++)
    if (strcmp(strrchr(name, '_') + 1, lookup_calls[k].name) == 0) return lookup_calls[k].call;
  return NULL;
}

/* Generators of random numbers: the function of generators.inc, and the number of Integers of the state. */
typedef struct Generator {
  const char *name, *function;
  unsigned integers;
} Generator;

static const Generator *find_generator(const Routine *routine) {
  static const Generator generators[] = {{"ModelicaRandom_xorshift64star", "random_64", 2},
                                         {"ModelicaRandom_xorshift128plus", "random_128", 4},
                                         {"ModelicaRandom_xorshift1024star", "random_1024", 33}};
  for (size_t k = 0; k < sizeof generators / sizeof *generators; k++)
    if (strcmp(routine->implementation->name, generators[k].name) == 0) return &generators[k];
  return NULL;
}

/* Reads the first argument, and writes the other two. */
static void cwrite_generator(RoutineState *s, const Generator *generator, const uint32_t *places) {
  const StackEntry *state = cvalue_pop(s, 3);
  const char *next = s->slots[places[2]].texts[0], *number = s->slots[places[3]].texts[0];
  cvalue_line(s, "double integers[%u];", generator->integers);
  cvalue_line(s, "read_integers(m, %s, %u, integers);", cvalue_array_text(s, &state[0]), generator->integers);
  cvalue_line(s, "%s = number(%s(integers));", number, generator->function);
  cvalue_line(s, "write_integers(m, integers, %u, %s);", generator->integers, next);
}

static void cwrite_external(RoutineState *s, uint32_t count, const uint32_t *places) {
  const Generator *generator = s->routine->implementation ? find_generator(s->routine) : NULL;
  if (generator && count == 3 && places[2] != UINT32_MAX && places[3] != UINT32_MAX) {
    cwrite_generator(s, generator, places);
    return;
  }
  if (!s->routine->implementation || places[0] == UINT32_MAX) {
    cvalue_line(s, "fail(m);");
    return;
  }
  const StackEntry *arguments = cvalue_pop(s, count);
  cvalue_line(s, "%s = %s, %u, (const Number[]){%s});", s->slots[places[0]].texts[0], lookup_call(s->routine), count,
              cvalue_scalars_text(s, arguments, count));
  s->uses_memory = true;
}

static void cwrite_terminate(RoutineState *s) {
  cvalue_pop(s, 1);
  cvalue_line(s, "fail(m);");
}

static void cwrite_call_local(RoutineState *s, const uint32_t *call, uint32_t count) {
  (void)call, (void)count;
  cvalue_refuse(s, "it calls a function that is one of its inputs");
}

static void cwrite_missing(RoutineState *s, Name name) {
  (void)name;
  s->is_missing = true;
  cvalue_line(s, "fail(m);");
}

/* These leave no text. */
static void cwrite_body(RoutineState *s) { (void)s; }
static void cwrite_loop(RoutineState *s) { (void)s; }

/* ---- one routine ---- */

static void write_instruction(RoutineState *self, uint32_t position) {
  const Routine *routine = self->routine;
  Instruction i = routine->code.data[position];
  self->position = position;
  switch ((Code)i.code) {
#define CODE(id, verb, arguments) \
  case CODE_##id:                 \
    cwrite_##verb arguments;      \
    break;
#define MODEL(id, verb, arguments)               \
  case CODE_##id:                                \
    cvalue_refuse(self, "it is not a function"); \
    break;
#include "model/codes.def"
  case CODE_COUNT: break;
  }
}

/* Names of the variables of a slot, none twice. */
static void name_slot(RoutineState *s, Map *taken, Names *names, uint32_t slot) {
  const Local *local = &s->routine->locals.data[slot];
  StackEntry *entry = &s->slots[slot];
  *entry = cvalue_make_entry(s, local->type);
  const char *base = cvalue_plain_name(s->writer, names_text(s->writer->model->names, local->name));
  for (uint32_t again = 0;; again++) {
    bool is_free = true;
    const char *name = again ? cvalue_format(s, "%s%u_", base, slot) : cvalue_format(s, "%s_", base);
    if (again > 1) name = cvalue_format(s, "%s%u_%u_", base, slot, again);
    cvalue_type_variables(s->writer, local->type, name, &entry->dimensions, &entry->texts);
    for (uint32_t v = 0; v < entry->count; v++)
      is_free = is_free && map_get(taken, names_add(names, entry->texts[v], strlen(entry->texts[v]))) == MAP_NONE;
    if (is_free) break;
  }
  for (uint32_t v = 0; v < entry->count; v++)
    map_put(taken, names_add(names, entry->texts[v], strlen(entry->texts[v])), 1);
}

static void name_slots(RoutineState *s) {
  uint32_t count = s->routine->locals.count;
  Map taken = map_make(s->writer->heap);
  Names names = names_make(s->writer->heap);
  s->slots = arena_array(s->writer->arena, count, sizeof *s->slots);
  s->is_read = arena_array(s->writer->arena, count, sizeof *s->is_read);
  s->is_bound = arena_array(s->writer->arena, count, sizeof *s->is_bound);
  for (uint32_t slot = 0; slot < count; slot++) name_slot(s, &taken, &names, slot);
  for (uint32_t i = 0; i < s->routine->code.count; i++)
    if (s->routine->code.data[i].code == CODE_LOCAL) s->is_read[s->routine->code.data[i].b] = true;
  map_free(&taken);
  names_free(&names);
}

/* The line that declares the function. */
static void put_signature(RoutineState *s, TextVec *out) {
  const Routine *routine = s->routine;
  Heap *heap = s->writer->heap;
  uint32_t results = output_variables(s->writer, routine), number = 0;
  const StackEntry *first = &s->slots[routine->inputs];
  text_printf(heap, out, "static %s %s(Memory *m",
              results == 1 && first->count ? cvalue_c_type(first->dimensions[0]) : "void",
              routine_c_name(s->writer, routine));
  for (uint32_t i = 0; i < routine->inputs; i++) {
    for (uint32_t v = 0; v < s->slots[i].count; v++)
      text_printf(heap, out, ", %s %s", cvalue_c_type(s->slots[i].dimensions[v]), s->slots[i].texts[v]);
    if (routine->locals.data[i].has_default) text_printf(heap, out, ", bool given%u", i);
  }
  for (uint32_t o = 0; o < routine->outputs && results > 1; o++)
    for (uint32_t v = 0; v < first[o].count; v++, number++)
      text_printf(heap, out, ", %s *out%u", cvalue_c_type(first[o].dimensions[v]), number);
  text_printf(heap, out, ")");
}

static bool has_array_results(const RoutineState *s) {
  for (uint32_t o = 0; o < s->routine->outputs; o++)
    for (uint32_t v = 0; v < s->slots[s->routine->inputs + o].count; v++)
      if (s->slots[s->routine->inputs + o].dimensions[v]) return true;
  return false;
}

static bool calls_others(const Routine *routine) {
  for (uint32_t i = 0; i < routine->code.count; i++)
    if (routine->code.data[i].code == CODE_CALL) return true;
  return false;
}

static void put_begin(RoutineState *s, TextVec *out) {
  const Routine *routine = s->routine;
  Heap *heap = s->writer->heap;
  text_printf(heap, out, "/* %s */\n",
              cvalue_plain_name(s->writer, names_text(s->writer->model->names, routine->name)));
  put_signature(s, out);
  text_printf(heap, out, " {\n");
  for (uint32_t i = 0; i < routine->inputs; i++)
    for (uint32_t v = 0; v < s->slots[i].count; v++)
      if (!s->is_read[i] || s->slots[i].count > 1) text_printf(heap, out, "  (void)%s;\n", s->slots[i].texts[v]);
  if (calls_others(routine)) text_printf(heap, out, "  enter_call(m);\n");
  if (s->uses_memory) text_printf(heap, out, "  const Frame frame = enter(m);\n");
  if (!s->uses_memory && !calls_others(routine)) text_printf(heap, out, "  (void)m;\n");
}

static void put_end(RoutineState *s, TextVec *out) {
  const Routine *routine = s->routine;
  Heap *heap = s->writer->heap;
  uint32_t results = output_variables(s->writer, routine), number = 0;
  if (s->has_return) text_printf(heap, out, "done:\n");
  for (uint32_t o = 0; o < routine->outputs && results > 1; o++)
    for (uint32_t v = 0; v < s->slots[routine->inputs + o].count; v++, number++)
      text_printf(heap, out, "  *out%u = %s;\n", number, s->slots[routine->inputs + o].texts[v]);
  if (s->uses_memory) text_printf(heap, out, "  leave%s(m, frame);\n", has_array_results(s) ? "_results" : "");
  if (calls_others(routine)) text_printf(heap, out, "  leave_call(m);\n");
  for (uint32_t o = 0; o < routine->outputs && results == 1; o++)
    if (s->slots[routine->inputs + o].count)
      text_printf(heap, out, "  return %s;\n", s->slots[routine->inputs + o].texts[0]);
  if (s->has_return && results != 1) text_printf(heap, out, "  return;\n");
  text_printf(heap, out, "}\n\n");
}

const char *routine_write(RoutineWriter *writer, const Routine *routine) {
  RoutineState s = {.writer = writer, .routine = routine, .depth = 1};
  if (routine->is_broken) return "it has errors";
  if (routine->implementation && !find_generator(routine) && !(writer->has_tables && lookup_call(routine)))
    return "its body is in another language";
  name_slots(&s);
  uint32_t i = 0;
  for (; i < routine->code.count && !s.refusal; i++) {
    close_regions(&s, i);
    write_instruction(&s, i);
    s.is_missing = s.is_missing && (s.stack.count || routine->code.data[i].code == CODE_MISSING);
  }
  if (!s.refusal) {
    close_regions(&s, i);
    put_signature(&s, &writer->prototypes);
    text_printf(writer->heap, &writer->prototypes, ";\n\n");
    put_begin(&s, &writer->functions);
    if (s.body.count) text_append(writer->heap, &writer->functions, s.body.data, s.body.count);
    put_end(&s, &writer->functions);
  }
  vec_free(writer->heap, &s.body, &s.stack, &s.regions);
  return s.refusal;
}
