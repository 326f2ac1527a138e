/* overload: operators on records (Modelica 3.6, chapter 14). They are functions of the record's class that are named by an
 * operator. Numbers are converted to records implicitly, and arrays are processed element by element.
 *
 * The function is chosen when the operands are on the stack, because their types are known only then. */
#include "lang/compile.h"

#include <string.h>

/* ---- candidates ---- */

static const AstClass *record_class(const Elaboration *el, Type type) {
  if (type.base != TYPE_RECORD || el->model->records.data[type.definition].function) return NULL;
  uint32_t found = map_get(&el->class_of_name, el->model->records.data[type.definition].name);
  return found == MAP_NONE ? NULL : el->classes.data[found].ast;
}

/* The routine of candidate `number` for the operator; NONE if the candidate is for another operator. */
static uint32_t candidate_routine(Elaboration *el, const AstClass *ast, uint32_t number, const char *name) {
  if (strcmp(names_text(el->names, ast->operators.data[number].name), name) != 0) return NONE;
  uint32_t found = map_get(&el->class_of_name, ast->operators.data[number].function);
  return found == MAP_NONE ? NONE : routine_of(el, &el->classes.data[found]);
}

/* Does the routine take these types as its first inputs, and have defaults for the others? */
static bool takes(const Elaboration *el, const Routine *routine, const Type *types, uint32_t count) {
  if (routine->inputs < count || routine->outputs == 0) return false;
  for (uint32_t i = 0; i < routine->inputs; i++)
    if (i < count ? !type_fits(el, routine->locals.data[i].type, types[i]) : !routine->locals.data[i].has_default)
      return false;
  return true;
}

static uint32_t find_exact(Elaboration *el, Type record, const char *name, const Type *types, uint32_t count) {
  const AstClass *ast = record_class(el, record);
  for (uint32_t i = 0; ast && i < ast->operators.count; i++) {
    uint32_t routine = candidate_routine(el, ast, i, name);
    if (routine != NONE && takes(el, el->model->routines.data[routine], types, count)) return routine;
  }
  return NONE;
}

/* ---- operands ---- */

typedef struct Operand {
  Type type;
  uint32_t slot;
  uint32_t maker; /* routine that constructs a record from an element; NONE: not needed */
  uint32_t loops; /* how many of the loops give it subscripts */
  bool is_column; /* for a matrix: the last loop runs over its columns */
  bool is_line;   /* a row or column of a matrix is taken */
} Operand;

static Type element_of(Type type) { return type_with_dimensions(type, 0); }

static Type output_type(const Elaboration *el, uint32_t routine) {
  const Routine *found = el->model->routines.data[routine];
  return found->locals.data[found->inputs].type;
}

/* The function for two elements; an element that needs it is converted by the record's constructor. */
static uint32_t find_pair(Elaboration *el, const char *name, Type a, Type b, uint32_t *make_a, uint32_t *make_b) {
  Type types[2] = {a, b};
  uint32_t routine = find_exact(el, a, name, types, 2);
  *make_a = *make_b = NONE;
  if (routine == NONE) routine = find_exact(el, b, name, types, 2);
  if (routine != NONE) return routine;
  Type record = a.base == TYPE_RECORD ? a : b, other = a.base == TYPE_RECORD ? b : a;
  uint32_t maker = find_exact(el, record, "constructor", &other, 1);
  if (maker == NONE) return NONE;
  types[0] = types[1] = record;
  routine = find_exact(el, record, name, types, 2);
  if (a.base == TYPE_RECORD) *make_b = maker;
  else *make_a = maker;
  return routine;
}

static void bind_operand(Compiler *c, Operand *operand, Span span) {
  operand->slot = compile_local(c, 0, operand->type, span);
  compile_emit(c, CODE_BIND, 0, operand->slot, span);
}

static void emit_size(Compiler *c, uint32_t slot, uint32_t dimension, Span span) {
  compile_emit(c, CODE_LOCAL, 0, slot, span);
  emit_constant(c, TYPE_INTEGER, dimension + 1.0, span);
  compile_emit(c, CODE_BUILTIN, 2, BUILTIN_SIZE, span);
}

static uint32_t open_loop(Compiler *c, uint32_t slot, uint32_t dimension, Span span) {
  emit_constant(c, TYPE_INTEGER, 1, span);
  emit_size(c, slot, dimension, span);
  compile_emit(c, CODE_RANGE, 0, 0, span);
  uint32_t counter = compile_local(c, 0, type_scalar(TYPE_INTEGER), span), at = c->routine->code.count;
  compile_emit(c, CODE_EACH, counter, 0, span);
  return at;
}

static void emit_operand(Compiler *c, const Operand *operand, const uint32_t *loops, uint32_t count, Span span) {
  uint32_t subscripts = operand->loops + operand->is_line;
  compile_emit(c, CODE_LOCAL, 0, operand->slot, span);
  if (operand->is_column) compile_emit(c, CODE_ALL, 0, 0, span);
  for (uint32_t k = 0; k < operand->loops; k++) {
    uint32_t loop = operand->is_column ? count - 1 : k;
    compile_emit(c, CODE_LOCAL, 0, c->routine->code.data[loops[loop]].a, span);
  }
  if (operand->is_line && !operand->is_column) compile_emit(c, CODE_ALL, 0, 0, span);
  if (subscripts) compile_emit(c, CODE_INDEX, 0, subscripts, span);
  uint32_t first = 0;
  if (operand->maker != NONE) compile_call(c, operand->maker, 1, &first, 1, span);
}

/* ---- operators ---- */

typedef struct Pairing {
  Operand a, b;
  uint32_t routine;
  uint32_t loops; /* dimensions of the result */
  const Operand *leader;
  bool is_product; /* product of matrices: rows times columns */
} Pairing;

static bool pair_elements(Elaboration *el, const char *name, Pairing *pairing) {
  Type a = pairing->a.type, b = pairing->b.type;
  if (a.dimensions && b.dimensions && a.dimensions != b.dimensions) return false;
  pairing->routine = find_pair(el, name, element_of(a), element_of(b), &pairing->a.maker, &pairing->b.maker);
  pairing->leader = a.dimensions ? &pairing->a : &pairing->b;
  pairing->loops = pairing->leader->type.dimensions;
  pairing->a.loops = a.dimensions;
  pairing->b.loops = b.dimensions;
  return pairing->routine != NONE;
}

/* Matrix * vector and so on, using the function that multiplies vectors. */
static bool pair_lines(Elaboration *el, const char *name, Pairing *pairing) {
  Type a = pairing->a.type, b = pairing->b.type;
  if (a.dimensions == 0 || b.dimensions == 0 || a.dimensions > 2 || b.dimensions > 2) return false;
  pairing->routine =
      find_pair(el, name, type_with_dimensions(a, 1), type_with_dimensions(b, 1), &pairing->a.maker, &pairing->b.maker);
  if (pairing->routine == NONE) return false;
  pairing->is_product = true;
  pairing->a.is_line = a.dimensions == 2;
  pairing->b.is_line = pairing->b.is_column = b.dimensions == 2;
  pairing->a.loops = a.dimensions == 2;
  pairing->b.loops = b.dimensions == 2;
  pairing->loops = pairing->a.loops + pairing->b.loops;
  return true;
}

static Type emit_pairing(Compiler *c, Pairing *pairing, Span span) {
  uint32_t loops[TYPE_MAX_DIMENSIONS], slots[2] = {0, 1};
  bind_operand(c, &pairing->b, span);
  bind_operand(c, &pairing->a, span);
  for (uint32_t k = 0; k < pairing->loops; k++) {
    bool is_second = pairing->is_product && (k > 0 || !pairing->a.loops);
    if (!pairing->is_product) loops[k] = open_loop(c, pairing->leader->slot, k, span);
    else loops[k] = is_second ? open_loop(c, pairing->b.slot, 1, span) : open_loop(c, pairing->a.slot, 0, span);
  }
  emit_operand(c, &pairing->a, loops, pairing->loops, span);
  emit_operand(c, &pairing->b, loops, pairing->loops, span);
  compile_call(c, pairing->routine, 1, slots, 2, span);
  Type type = output_type(c->el, pairing->routine);
  for (uint32_t k = pairing->loops; k-- > 0; type.dimensions++) {
    patch_here(c, loops[k]);
    compile_emit(c, CODE_EACH_NEXT, element_pack(type), loops[k], span);
  }
  return type;
}

bool overload_binary(Compiler *c, const char *name, bool is_each, Type a, Type b, Span span, Type *out) {
  Elaboration *el = c->el;
  if (!record_class(el, a) && !record_class(el, b)) return false;
  Pairing pairing = {.a = {.type = a, .maker = NONE}, .b = {.type = b, .maker = NONE}};
  Type types[2] = {a, b};
  bool is_whole = !is_each || (!a.dimensions && !b.dimensions); /* .* uses no function of arrays */
  uint32_t exact = is_whole ? find_exact(el, a, name, types, 2) : NONE;
  if (is_whole && exact == NONE) exact = find_exact(el, b, name, types, 2);
  bool is_product = strcmp(name, "*") == 0 && !is_each && a.dimensions && b.dimensions;
  bool fits = exact != NONE;
  if (fits) pairing.routine = exact;
  else fits = is_product ? pair_lines(el, name, &pairing) : pair_elements(el, name, &pairing);
  if (!fits) return false;
  *out = emit_pairing(c, &pairing, span);
  return true;
}

bool overload_unary(Compiler *c, const char *name, Type a, Span span, Type *out) {
  Elaboration *el = c->el;
  Type element = element_of(a);
  uint32_t routine = find_exact(el, a, name, &element, 1), loops[TYPE_MAX_DIMENSIONS], first = 0;
  if (routine == NONE) return false;
  Operand operand = {.type = a, .maker = NONE, .loops = a.dimensions};
  bind_operand(c, &operand, span);
  for (uint32_t k = 0; k < a.dimensions; k++) loops[k] = open_loop(c, operand.slot, k, span);
  emit_operand(c, &operand, loops, a.dimensions, span);
  compile_call(c, routine, 1, &first, 1, span);
  *out = output_type(el, routine);
  for (uint32_t k = a.dimensions; k-- > 0; out->dimensions++) {
    patch_here(c, loops[k]);
    compile_emit(c, CODE_EACH_NEXT, element_pack(*out), loops[k], span);
  }
  return true;
}

/* ---- named functions: constructors and String ---- */

/* The input that argument number `i` of the call gives; NONE if there is none. */
static uint32_t input_of(const Elaboration *el, const Routine *routine, AstExpr e, uint32_t i) {
  uint32_t positional = ast_kid_count(el->ast, e) - ast_label_count(el->ast, e);
  if (i < positional) return i < routine->inputs ? i : NONE;
  return routine_input(routine, ast_label(el->ast, e, i - positional).name);
}

/* Does every argument belong to an input, and does every omitted input have a default? */
static bool fits_call(const Elaboration *el, const Routine *routine, AstExpr e) {
  uint32_t arguments = ast_kid_count(el->ast, e), needed = 0, given = 0;
  for (uint32_t slot = 0; slot < routine->inputs; slot++) needed += !routine->locals.data[slot].has_default;
  for (uint32_t i = 0; i < arguments; i++) {
    uint32_t slot = input_of(el, routine, e, i);
    if (slot == NONE) return false;
    given += !routine->locals.data[slot].has_default;
  }
  return given == needed;
}

/* Do the arguments have these types? With `is_each`, they may also be arrays of these types, to whose elements the function
 * is applied (section 12.4.6). */
static bool fits_types(const Elaboration *el, const Routine *routine, AstExpr e, const Type *types, bool is_each) {
  for (uint32_t i = 0; i < ast_kid_count(el->ast, e); i++) {
    Type wanted = routine->locals.data[input_of(el, routine, e, i)].type, type = types[i];
    if (is_each && type.dimensions > wanted.dimensions) type = type_with_dimensions(type, wanted.dimensions);
    if (!type_fits(el, wanted, type)) return false;
  }
  return true;
}

ClassEntry *overload_only(Elaboration *el, const AstClass *record, const char *name, AstExpr e, uint32_t *count) {
  uint32_t function = NONE;
  *count = 0;
  for (uint32_t i = 0; i < record->operators.count; i++) {
    uint32_t number = candidate_routine(el, record, i, name);
    if (number == NONE || !fits_call(el, el->model->routines.data[number], e)) continue;
    function = record->operators.data[i].function;
    ++*count;
  }
  return *count == 1 ? &el->classes.data[map_get(&el->class_of_name, function)] : NULL;
}

uint32_t overload_choose(Elaboration *el, const AstClass *record, const char *name, AstExpr e, const Type *types) {
  for (int is_each = 0; is_each < 2; is_each++)
    for (uint32_t i = 0; i < record->operators.count; i++) {
      uint32_t number = candidate_routine(el, record, i, name);
      if (number == NONE) continue;
      const Routine *routine = el->model->routines.data[number];
      if (fits_call(el, routine, e) && fits_types(el, routine, e, types, is_each)) return number;
    }
  return NONE;
}

const AstClass *overload_text(const Elaboration *el, Type type) {
  const AstClass *ast = type.dimensions ? NULL : record_class(el, type);
  for (uint32_t i = 0; ast && i < ast->operators.count; i++)
    if (strcmp(names_text(el->names, ast->operators.data[i].name), "String") == 0) return ast;
  return NULL;
}
