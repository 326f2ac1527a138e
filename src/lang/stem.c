/* stem: arrays and records whose elements a tool has declared one by one: a[1], a[2], c.re, c.im. An undeclared name may be the
 * stem a or c of such names, or have subscripts inside its quotes, 'a[\'i\'].x'. In both cases the value is assembled from the
 * elements.
 *
 * Invariant: stems are built on the first look-up that finds nothing else, in time linear in the text of all names. An element
 * whose subscripts are enumeration literals is also known by their numbers. */
#include "lang/compile.h"
#include "syntax/parser.h"

#include <stdlib.h>
#include <string.h>

/* ---- text of names ---- */

/* Position after the bracket that closes the one at `open`; quotes hide brackets. */
static size_t skip_brackets(const char *text, size_t open) {
  uint32_t depth = 0;
  bool is_quoted = false;
  for (size_t i = open; text[i]; i++)
    if (text[i] == '\\' && text[i + 1]) i++;
    else if (text[i] == '\'') is_quoted = !is_quoted;
    else if (is_quoted) continue;
    else if (text[i] == '[') depth++;
    else if (text[i] == ']' && --depth == 0) return i + 1;
  return 0;
}

static bool is_numeric(const char *text, size_t from, size_t to) {
  for (size_t i = from; i < to; i++)
    if ((text[i] < '0' || text[i] > '9') && text[i] != ',' && text[i] != ' ') return false;
  return true;
}

/* Opening bracket of the first subscripts that are not numbers; 0 if there are none. */
static size_t find_embedded(const char *text) {
  for (size_t i = 1; text[0] && text[i]; i++) {
    if (text[i] != '[') continue;
    size_t end = skip_brackets(text, i);
    if (end == 0) return 0;
    if (!is_numeric(text, i + 1, end - 1)) return i;
    i = end - 1;
  }
  return 0;
}

/* Reads 'Name' at *at and resolves escapes. */
static bool read_quoted(const char **at, TextVec *out, Heap *heap) {
  const char *text = *at;
  out->count = 0;
  if (*text++ != '\'') return false;
  for (; *text != '\''; text++) {
    if (*text == '\\') text++;
    if (*text == 0) return false;
    text_append(heap, out, text, 1);
  }
  *at = text + 1;
  return true;
}

/* A subscript of a declared element: a number or 'Type'.'literal'. */
static bool read_subscript(Elaboration *el, const char **at, uint32_t *number) {
  char *end;
  unsigned long value = strtoul(*at, &end, 10);
  if (end != *at) {
    *at = end;
    *number = (uint32_t)value;
    return value <= INT32_MAX;
  }
  TextVec type = {0}, literal = {0};
  bool fits = read_quoted(at, &type, el->heap) && *(*at)++ == '.' && read_quoted(at, &literal, el->heap);
  if (fits) {
    ClassEntry *entry = class_find_name(el, el->scope, names_add(el->names, type.data, type.count));
    fits = entry && entry->role == ROLE_CLASS_ENUMERATION && enumeration_define(el, entry);
    *number = fits ? enumeration_literal(el, entry->index, names_add(el->names, literal.data, literal.count)) : 0;
  }
  vec_free(el->heap, &type, &literal);
  return fits && *number > 0;
}

/* ---- building stems ---- */

static struct Stem *stem_make(Elaboration *el, const char *text, size_t length) {
  Name name = names_add(el->names, text, length);
  uint32_t index = map_get(&el->stems, name);
  if (index == MAP_NONE) {
    index = el->stem_list.count;
    map_put(&el->stems, name, index);
    vec_push(el->heap, &el->stem_list, (struct Stem){.name = name});
  }
  return &el->stem_list.data[index];
}

static void stem_extend(struct Stem *stem, const uint32_t *list, uint32_t count) {
  if (stem->dimensions && stem->dimensions != count) return;
  stem->dimensions = count;
  for (uint32_t i = 0; i < count; i++)
    if (list[i] > stem->sizes[i]) stem->sizes[i] = list[i];
}

/* Every bracket or dot of the name makes a stem of the text before it; `plain` is the name with numbers as subscripts. */
static void stem_split(Elaboration *el, uint32_t component) {
  const char *text = names_text(el->names, el->components.data[component].name);
  TextVec plain = {0};
  bool is_renamed = false;
  while (*text) {
    if (*text == '.') stem_make(el, plain.data ? plain.data : "", plain.count);
    if (*text != '[') {
      text_append(el->heap, &plain, text++, 1);
      continue;
    }
    uint32_t list[TYPE_MAX_DIMENSIONS], count = 0;
    const char *at = text + 1;
    bool fits = true;
    while (fits && count < TYPE_MAX_DIMENSIONS) {
      is_renamed = is_renamed || *at == '\'';
      fits = read_subscript(el, &at, &list[count++]);
      if (!fits || *at == ']') break;
      fits = *at++ == ',';
    }
    if (!fits || *at != ']') break;
    stem_extend(stem_make(el, plain.data ? plain.data : "", plain.count), list, count);
    for (uint32_t i = 0; i < count; i++) text_printf(el->heap, &plain, "%c%u", i ? ',' : '[', list[i]);
    text_append(el->heap, &plain, "]", 1);
    text = at + 1;
  }
  if (is_renamed && !*text) {
    Name name = names_add(el->names, plain.data, plain.count);
    if (component_find(el, name) == NONE) component_register(el, name, component);
  }
  vec_free(el->heap, &plain);
}

static void build_stems(Elaboration *el) {
  if (el->has_stems) return;
  el->has_stems = true;
  for (uint32_t i = 0; i < el->components.count; i++)
    if (!el->components.data[i].is_package) stem_split(el, i);
}

const struct Stem *stem_find(Elaboration *el, Name name) {
  build_stems(el);
  uint32_t index = map_get(&el->stems, name);
  return index == MAP_NONE ? NULL : &el->stem_list.data[index];
}

/* ---- names with subscripts inside ---- */

bool stem_is_embedded(Elaboration *el, Name name) { return find_embedded(names_text(el->names, name)) != 0; }

/* The subscripts are parsed once per name, as a reference in a small model made for this purpose. */
static struct Embedded embedded_read(Elaboration *el, Name name, Span span) {
  uint32_t index = map_get(&el->embedded, name);
  if (index != MAP_NONE) return el->embedded_list.data[index];
  const char *text = names_text(el->names, name);
  size_t open = find_embedded(text), end = skip_brackets(text, open);
  struct Embedded out = {.prefix = names_add(el->names, text, open), .subscripts = AST_NONE};
  text = names_text(el->names, name);
  out.tail = names_add(el->names, text + end, strlen(text + end));
  text = names_text(el->names, name);
  const char *model = arena_printf(&el->arena, "model m equation 0 = x%.*s; end m;", (int)(end - open), text + open);
  Source *source = heap_alloc(el->heap, sizeof *source);
  *source = source_make(el->heap, "", model, (uint32_t)strlen(model));
  Diags diags = diags_make(el->heap);
  Ast *ast = parse(el->heap, el->names, source, &diags);
  if (diags.errors == 0 && ast->main->classes.count == 1 && ast->main->classes.data[0]->sections.count == 1 &&
      ast->main->classes.data[0]->sections.data[0].body.count == 1) {
    AstExpr e = ast->main->classes.data[0]->sections.data[0].body.data[0].right;
    if (e != AST_NONE && ast_kind(ast, e) == AST_REFERENCE) out.subscripts = e;
  }
  for (uint32_t i = 0; i < ast->nodes.count; i++) ast->nodes.data[i].span = span;
  out.ast = ast;
  map_put(&el->embedded, name, el->embedded_list.count);
  vec_push(el->heap, &el->embedded_list, out);
  return out;
}

/* Emits the subscripts inside the name; returns their number, 0 after an error. */
static uint32_t emit_subscripts(Compiler *c, const struct Embedded *embedded) {
  Elaboration *el = c->el;
  if (embedded->subscripts == AST_NONE || c->blocks > BLOCK_DEPTH_LIMIT) return 0;
  const Ast *outer = el->ast;
  uint32_t count = ast_kid_count(embedded->ast, embedded->subscripts);
  el->ast = embedded->ast;
  c->blocks += 16; /* limits the nesting: deeper names do not occur */
  for (uint32_t i = 0; i < count; i++) {
    AstExpr e = ast_kid(embedded->ast, embedded->subscripts, i);
    if (ast_kind(embedded->ast, e) == AST_COLON) {
      compile_emit(c, CODE_ALL, 0, 0, ast_span(embedded->ast, e));
      push_type(c, type_all());
    } else compile_expression(c, e, type_scalar(TYPE_INTEGER));
  }
  c->blocks -= 16;
  el->ast = outer;
  return count;
}

/* ---- assembling ---- */

static Type assemble(Compiler *c, Name name, Type expected, Span span, uint32_t depth);

static Name join(Elaboration *el, Name stem, Name field) {
  const char *text = arena_printf(&el->arena, "%s.%s", names_text(el->names, stem), names_text(el->names, field));
  return names_add(el->names, text, strlen(text));
}

/* prefix[i,j]tail */
static Name element_name(Elaboration *el, Name prefix, const uint32_t *counter, uint32_t dimensions, Name tail) {
  TextVec text = {0};
  text_printf(el->heap, &text, "%s", names_text(el->names, prefix));
  for (uint32_t i = 0; i < dimensions; i++) text_printf(el->heap, &text, "%c%u", i ? ',' : '[', counter[i] + 1);
  text_printf(el->heap, &text, "]%s", names_text(el->names, tail));
  Name name = names_add(el->names, text.data, text.count);
  vec_free(el->heap, &text);
  return name;
}

/* Moves to the next element in row-major order; emits CODE_ARRAY for each complete row. */
static void next_element(Compiler *c, const struct Stem *stem, uint32_t *counter, Span span) {
  for (uint32_t i = stem->dimensions; i-- > 0;) {
    if (++counter[i] < stem->sizes[i]) break;
    counter[i] = 0;
    compile_emit(c, CODE_ARRAY, 0, stem->sizes[i], span);
  }
}

static Type assemble_array(Compiler *c, struct Stem stem, Name tail, Type expected, Span span, uint32_t depth) {
  Elaboration *el = c->el;
  uint32_t counter[TYPE_MAX_DIMENSIONS] = {0};
  uint64_t total = 1;
  Type type = type_nothing(), element = expected;
  element.dimensions = (uint8_t)(expected.dimensions > stem.dimensions ? expected.dimensions - stem.dimensions : 0);
  for (uint32_t i = 0; i < stem.dimensions; i++) total *= stem.sizes[i];
  if (total > el->components.count || total == 0) return type_nothing();
  for (uint64_t n = 0; n < total; n++) {
    Type found = assemble(c, element_name(el, stem.name, counter, stem.dimensions, tail), element, span, depth + 1);
    type = n == 0 ? found : type_join(el, type, found);
    if (found.base == TYPE_NOTHING || type.base == TYPE_NOTHING) return type_nothing();
    next_element(c, &stem, counter, span);
  }
  type.dimensions = (uint8_t)(type.dimensions + stem.dimensions);
  return type.dimensions <= TYPE_MAX_DIMENSIONS ? type : type_nothing();
}

static bool record_fits(Elaboration *el, Name stem, uint32_t definition) {
  const Record *record = &el->model->records.data[definition];
  for (uint32_t i = 0; i < record->fields.count; i++) {
    Name name = join(el, stem, record->fields.data[i].name);
    if (component_find(el, name) == NONE && !stem_find(el, name)) return false;
  }
  return record->fields.count > 0;
}

/* A record whose fields all occur after the stem; tries the expected record first. */
static uint32_t find_record(Compiler *c, Name stem, Type expected) {
  Elaboration *el = c->el;
  if (expected.base == TYPE_RECORD && record_fits(el, stem, expected.definition)) return expected.definition;
  for (uint32_t k = 0; k < el->classes.count; k++) {
    ClassEntry *entry = &el->classes.data[k];
    if (entry->role == ROLE_CLASS_RECORD && record_define(el, entry, entry->ast->span) &&
        record_fits(el, stem, entry->index))
      return entry->index;
  }
  return NONE;
}

static Type assemble_record(Compiler *c, Name stem, Type expected, Span span, uint32_t depth) {
  Elaboration *el = c->el;
  uint32_t definition = find_record(c, stem, expected);
  if (definition == NONE) return type_nothing();
  for (uint32_t i = 0; i < el->model->records.data[definition].fields.count; i++) {
    Field field = el->model->records.data[definition].fields.data[i];
    Type found = assemble(c, join(el, stem, field.name), field.type, span, depth + 1);
    if (found.base == TYPE_NOTHING || !type_fits(el, field.type, found)) return type_nothing();
  }
  compile_emit(c, CODE_RECORD, 0, definition, span);
  return (Type){.base = TYPE_RECORD, .definition = definition};
}

/* Emits the code that loads the fields after the subscripts, such as ".x.y". */
static Type emit_tail(Compiler *c, Type type, Name tail, Span span) {
  Elaboration *el = c->el;
  const char *text = names_text(el->names, tail);
  while (*text == '.') {
    size_t length = strcspn(text + 1, ".[");
    uint32_t field;
    type = field_type(c, type, names_add(el->names, text + 1, length), span, &field);
    compile_emit(c, CODE_FIELD, 0, field, span);
    text = names_text(el->names, tail) + (text - names_text(el->names, tail)) + 1 + length;
  }
  return *text ? type_nothing() : type;
}

/* 'a[\'i\'].x': an element of a declared variable a, or of all a[1].x, a[2].x, ... */
static Type assemble_embedded(Compiler *c, Name name, Span span, uint32_t depth) {
  Elaboration *el = c->el;
  struct Embedded embedded = embedded_read(el, name, span);
  Place place = {.kind = PLACE_NONE};
  uint32_t component = c->is_function ? NONE : component_find(el, embedded.prefix);
  bool is_whole = find_local(c, embedded.prefix, &place) || component != NONE;
  if (place.kind == PLACE_NONE && component != NONE) place = component_place(c, component, 1);
  const struct Stem *stem = is_whole || c->is_function ? NULL : stem_find(el, embedded.prefix);
  Type type = type_nothing();
  if (is_whole) {
    place_emit(c, &place, span);
    type = place.type;
  } else if (stem && stem->dimensions) {
    type = assemble_array(c, *stem, embedded.tail, type_nothing(), span, depth);
  }
  if (type.base == TYPE_NOTHING) return type;
  uint32_t count = emit_subscripts(c, &embedded);
  if (count == 0) return type_nothing();
  type = index_type(c, type, count, span);
  compile_emit(c, CODE_INDEX, 0, count, span);
  return is_whole ? emit_tail(c, type, embedded.tail, span) : type;
}

static Type assemble(Compiler *c, Name name, Type expected, Span span, uint32_t depth) {
  Elaboration *el = c->el;
  uint32_t component = c->is_function ? NONE : component_find(el, name);
  if (component != NONE) {
    Place place = component_place(c, component, 1);
    place_emit(c, &place, span);
    return place.type;
  }
  if (depth > RECORD_DEPTH_LIMIT) return type_nothing();
  if (stem_is_embedded(el, name)) return assemble_embedded(c, name, span, depth);
  const struct Stem *stem = c->is_function ? NULL : stem_find(el, name);
  if (!stem) return type_nothing();
  if (stem->dimensions) return assemble_array(c, *stem, 0, expected, span, depth);
  return assemble_record(c, name, expected, span, depth);
}

Type stem_emit(Compiler *c, const Place *place, Type expected, Span span) {
  uint32_t before = c->errors;
  Type type = assemble(c, place->name, expected, span, 0);
  if (type.base == TYPE_NOTHING && c->errors == before)
    compile_error(c, span, "`%s` is not declared, and no variables make up an array or a known record of this name",
                  names_text(c->el->names, place->name));
  return type;
}

/* ---- storing ---- */

static void emit_store(Compiler *c, uint32_t slot, uint32_t subscripts, Span span) {
  Heap *heap = c->el->heap;
  uint32_t at = c->routine->extra.count;
  vec_push(heap, &c->routine->extra, slot);
  vec_push(heap, &c->routine->extra, subscripts ? 1 : 0);
  if (subscripts) {
    vec_push(heap, &c->routine->extra, STEP_INDEX);
    vec_push(heap, &c->routine->extra, subscripts);
  }
  compile_emit(c, CODE_STORE, 0, at, span);
  vec_push(heap, &c->assigned, slot);
}

/* Stores the elements of the array in slot `whole` in the slots of the components prefix[i,j]tail. */
static bool distribute(Compiler *c, struct Stem stem, Name tail, uint32_t whole, Span span) {
  Elaboration *el = c->el;
  uint32_t counter[TYPE_MAX_DIMENSIONS] = {0};
  uint64_t total = 1;
  for (uint32_t i = 0; i < stem.dimensions; i++) total *= stem.sizes[i];
  for (uint64_t n = 0; n < total && n <= el->components.count; n++) {
    uint32_t component = component_find(el, element_name(el, stem.name, counter, stem.dimensions, tail));
    uint32_t slot = component == NONE || !c->has_slots ? MAP_NONE : map_get(&c->slots, component);
    if (slot == MAP_NONE) return false;
    compile_emit(c, CODE_LOCAL, 0, whole, span);
    for (uint32_t i = 0; i < stem.dimensions; i++) emit_constant(c, TYPE_INTEGER, counter[i] + 1.0, span);
    compile_emit(c, CODE_INDEX, 0, stem.dimensions, span);
    emit_store(c, slot, 0, span);
    for (uint32_t i = stem.dimensions; i-- > 0;) {
      if (++counter[i] < stem.sizes[i]) break;
      counter[i] = 0;
    }
  }
  return true;
}

/* The value (all of it, or one element of the components' contents) is first stored in a separate array, then in each
 * component. */
bool stem_store(Compiler *c, AstExpr target, Type value) {
  Elaboration *el = c->el;
  Span span = ast_span(el->ast, target);
  Name name = ast_part(el->ast, ast_path(el->ast, target), 0)->name, prefix = name, tail = 0;
  uint32_t count = 0;
  struct Embedded embedded = {0};
  bool is_embedded = stem_is_embedded(el, name), fits = true;
  if (is_embedded) embedded = embedded_read(el, name, span), prefix = embedded.prefix, tail = embedded.tail;
  const struct Stem *found = c->is_function ? NULL : stem_find(el, prefix);
  if (!found || found->dimensions == 0 || ast_kid_count(el->ast, target))
    return compile_error(c, span, "`%s` cannot be assigned here", names_text(el->names, name));
  struct Stem stem = *found;
  Type type = value;
  if (is_embedded) {
    type = assemble_array(c, stem, tail, type_nothing(), span, 0);
    uint32_t whole = compile_local(c, prefix, type, span);
    c->routine->locals.data[whole].is_free = true;
    emit_store(c, whole, 0, span);
    count = emit_subscripts(c, &embedded);
    Type element = index_type(c, type, count, span);
    fits = type.base != TYPE_NOTHING && count && compile_expect(c, element, value, span, "the value assigned");
    emit_store(c, whole, count, span);
    fits = fits && distribute(c, stem, tail, whole, span);
  } else {
    uint32_t whole = compile_local(c, prefix, value, span);
    c->routine->locals.data[whole].is_free = true;
    emit_store(c, whole, 0, span);
    fits = value.dimensions == stem.dimensions && distribute(c, stem, 0, whole, span);
  }
  if (!fits && c->errors == 0) compile_error(c, span, "`%s` cannot be assigned here", names_text(el->names, name));
  return fits;
}

/* ---- candidates for a name ---- */

/* The name without its subscripts. */
static void strip(Heap *heap, const char *text, TextVec *out) {
  out->count = 0;
  for (size_t i = 0; text[i];) {
    size_t end = text[i] == '[' ? skip_brackets(text, i) : 0;
    if (end) i = end;
    else text_append(heap, out, text + i++, 1);
  }
  text_append(heap, out, "", 0);
}

void stem_components(Elaboration *el, Name name, IndexVec *out) {
  TextVec wanted = {0}, text = {0};
  strip(el->heap, names_text(el->names, name), &wanted);
  for (uint32_t i = 0; i < el->components.count && wanted.count; i++) {
    if (el->components.data[i].is_package) continue;
    const char *full = names_text(el->names, el->components.data[i].name);
    if (full[0] != wanted.data[0]) continue;
    strip(el->heap, full, &text);
    if (text.count < wanted.count || memcmp(text.data, wanted.data, wanted.count) != 0) continue;
    if (text.count == wanted.count || text.data[wanted.count] == '.') vec_push(el->heap, out, i);
  }
  vec_free(el->heap, &wanted, &text);
}
