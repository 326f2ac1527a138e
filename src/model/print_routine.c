/* print_routine: functions as Modelica, from their code (function.h). The code is for a stack machine with
 * structured control flow; running it over texts instead of numbers gives back expressions and statements.
 *
 * Invariant: a text on the stack is a rope, pieces that are joined only when a statement is written, so the cost is
 * linear however deep expressions nest. The printed text compiles to the same code. */
#include "model/execute.h"
#include "model/print.h"

#include <string.h>

/* ---- ropes ---- */

/* How tightly the text binds, loosest first (Modelica 3.6, appendix A.2.7). */
typedef enum RopeLevel {
  LEVEL_IF,
  LEVEL_RANGE,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_NOT,
  LEVEL_RELATION,
  LEVEL_SUM,
  LEVEL_PRODUCT,
  LEVEL_POWER,
  LEVEL_PRIMARY,
} RopeLevel;

typedef struct Rope Rope;

typedef struct Piece {
  const char *text; /* or, if NULL: */
  const Rope *rope;
} Piece;

struct Rope {
  Piece *pieces;
  uint32_t count;
  RopeLevel level;
};

/* A call with several outputs, which are assigned one after another. */
typedef struct Outputs {
  const Rope *call;
  const Rope **targets; /* NULL: not wanted */
  uint32_t count, open;
} Outputs;

typedef struct Item {
  const Rope *rope;
  uint32_t record;  /* definition of a record or array of records; NO_RECORD otherwise */
  Outputs *outputs; /* not NULL: the item is output number `number` of these */
  uint32_t number;
} Item;

#define NO_RECORD UINT32_MAX

/* The facts about a slot that the code before CODE_BODY gives. */
typedef struct SlotDeclaration {
  bool is_declared;
  const Rope *sizes; /* NULL: a scalar */
  const Rope *binding;
  const Rope *fields; /* a = 1, b.c = 2: values of the fields of a record */
  const Rope *bound;  /* the text for a slot that lives only within one expression */
} SlotDeclaration;

typedef struct RoutinePrinter {
  Print *print;
  Heap *heap;
  Arena arena;
  TextVec *text;
  const Routine *routine;
  VEC(Item) stack;
  VEC(Item) waiting; /* conditions and ranges of open if-values and comprehensions */
  VEC(Piece) pieces;
  SlotDeclaration *declarations;
  bool in_body;
  uint32_t position; /* position of the instruction that is printed */
  uint32_t skip;     /* number of instructions to skip */
  uint32_t depth;    /* depth of blocks, for indentation */
  IndexVec chains;   /* per open if: its number of `elseif`, whose ends are not written */
} RoutinePrinter;

static const Rope *rope_of(RoutinePrinter *writer, RopeLevel level, const Piece *pieces, uint32_t count) {
  Rope *rope = arena_alloc(&writer->arena, sizeof *rope);
  *rope = (Rope){arena_copy_array(&writer->arena, pieces, count, sizeof *pieces), count, level};
  return rope;
}

static const Rope *rope_text(RoutinePrinter *writer, RopeLevel level, const char *text) {
  return rope_of(writer, level, &(Piece){.text = text}, 1);
}

/* Adds parentheses if the text binds less tightly than its place requires. */
static const Rope *rope_at(RoutinePrinter *writer, const Rope *rope, RopeLevel level) {
  if (rope->level >= level) return rope;
  return rope_of(writer, LEVEL_PRIMARY, (Piece[]){{.text = "("}, {.rope = rope}, {.text = ")"}}, 3);
}

/* A rope that is being written, and its next piece. */
typedef struct Visit {
  const Rope *rope;
  uint32_t next;
} Visit;

static void rope_write(RoutinePrinter *writer, const Rope *root) {
  VEC(Visit) stack = {0};
  vec_push(writer->heap, &stack, (Visit){root, 0});
  while (stack.count) {
    Visit *visit = &vec_last(&stack);
    if (visit->next == visit->rope->count) {
      stack.count--;
      continue;
    }
    Piece piece = visit->rope->pieces[visit->next++];
    if (piece.text) text_append(writer->heap, writer->text, piece.text, strlen(piece.text));
    else vec_push(writer->heap, &stack, (Visit){piece.rope, 0});
  }
  vec_free(writer->heap, &stack);
}

/* ---- the stack ---- */

static void push_item(RoutinePrinter *writer, const Rope *rope, uint32_t record) {
  vec_push(writer->heap, &writer->stack, (Item){.rope = rope, .record = record});
}

static void push(RoutinePrinter *writer, const Rope *rope) { push_item(writer, rope, NO_RECORD); }
static const Rope *pop(RoutinePrinter *writer) { return vec_pop(&writer->stack).rope; }
static uint32_t type_record(Type type) { return type.base == TYPE_RECORD ? type.definition : NO_RECORD; }

/* The record of the item `below` places under the top. */
static uint32_t record_below(const RoutinePrinter *writer, uint32_t below) {
  return writer->stack.data[writer->stack.count - 1 - below].record;
}

/* Pops `count` texts and joins them by commas, with `open` before and `close` after. */
static const Rope *pop_list(RoutinePrinter *writer, const char *open, uint32_t count, const char *separator,
                            const char *close) {
  writer->pieces.count = 0;
  vec_push(writer->heap, &writer->pieces, (Piece){.text = open});
  for (uint32_t i = 0; i < count; i++) {
    if (i) vec_push(writer->heap, &writer->pieces, (Piece){.text = separator});
    const Item *item = &writer->stack.data[writer->stack.count - count + i];
    vec_push(writer->heap, &writer->pieces, (Piece){.rope = item->rope});
  }
  vec_push(writer->heap, &writer->pieces, (Piece){.text = close});
  writer->stack.count -= count;
  return rope_of(writer, LEVEL_PRIMARY, writer->pieces.data, writer->pieces.count);
}

static void push_call(RoutinePrinter *writer, const char *name, uint32_t count) {
  const char *open = arena_printf(&writer->arena, "%s(", name);
  push(writer, pop_list(writer, open, count, ", ", ")"));
}

static void push_infix(RoutinePrinter *writer, const char *operator, RopeLevel level, RopeLevel left, RopeLevel right) {
  const Rope *b = rope_at(writer, pop(writer), right);
  const Rope *a = rope_at(writer, pop(writer), left);
  push(writer, rope_of(writer, level, (Piece[]){{.rope = a}, {.text = operator}, {.rope = b}}, 3));
}

/* ---- values ---- */

static const char *local_name(RoutinePrinter *writer, uint32_t slot) {
  return print_name(writer->print, writer->routine->locals.data[slot].name);
}

/* Loops that apply a function of scalars to arrays have variables without names. These loops are not printed; the call gets the
 * arrays as its arguments again. */
static bool is_vectorizing(const RoutinePrinter *writer, uint32_t slot) {
  return !writer->routine->locals.data[slot].name;
}

/* A Real is printed with a point or an exponent, so that it reads back as a Real. */
static void run_constant(RoutinePrinter *writer, BaseType base, double value) {
  TextVec text = {0};
  if (base == TYPE_BOOLEAN) {
    text_printf(writer->heap, &text, value != 0 ? "true" : "false");
  } else {
    dag_print(writer->print->model->dag, dag_constant(writer->print->model->dag, value), NULL, writer->heap, &text);
    if (base == TYPE_REAL && !strpbrk(text.data, ".e")) text_printf(writer->heap, &text, ".0");
  }
  const char *kept = text_keep(writer->heap, &text, &writer->arena);
  push(writer, rope_text(writer, value < 0 ? LEVEL_SUM : LEVEL_PRIMARY, kept));
}

static void run_literal(RoutinePrinter *writer, uint32_t literal, uint32_t enumeration) {
  TextVec text = {0};
  print_literal(writer->print, &text, enumeration, literal);
  push(writer, rope_text(writer, LEVEL_PRIMARY, text_keep(writer->heap, &text, &writer->arena)));
}

static void run_convert(RoutinePrinter *writer, uint32_t literals, uint32_t enumeration) {
  (void)literals;
  TextVec text = {0};
  print_type(writer->print, &text, (Type){.base = TYPE_ENUMERATION, .definition = enumeration});
  push_call(writer, text_keep(writer->heap, &text, &writer->arena), 1);
}

static void run_string(RoutinePrinter *writer, Name name) {
  TextVec text = {0};
  text_quote(writer->heap, &text, names_text(writer->print->model->names, name), '\"');
  push(writer, rope_text(writer, LEVEL_PRIMARY, text_keep(writer->heap, &text, &writer->arena)));
}

static void run_all(RoutinePrinter *writer) { push(writer, rope_text(writer, LEVEL_PRIMARY, ":")); }

/* x[i, j] for a name, (e)[i, j] for anything else; just x if the subscripts come from vectorizing loops. */
static void run_index(RoutinePrinter *writer, uint32_t lead, uint32_t count) {
  if (!vec_last(&writer->stack).rope) {
    writer->stack.count -= count;
    return;
  }
  uint32_t record = record_below(writer, count);
  const Rope *subscripts = pop_list(writer, "[", count - lead, ", ", "]");
  writer->stack.count -= lead;
  const Rope *base = rope_at(writer, pop(writer), LEVEL_PRIMARY);
  push_item(writer, rope_of(writer, LEVEL_PRIMARY, (Piece[]){{.rope = base}, {.rope = subscripts}}, 2), record);
}

static void run_field(RoutinePrinter *writer, uint32_t number) {
  const Field *field = &writer->print->model->records.data[record_below(writer, 0)].fields.data[number];
  const Rope *base = rope_at(writer, pop(writer), LEVEL_PRIMARY);
  const char *text = arena_printf(&writer->arena, ".%s", print_name(writer->print, field->name));
  const Rope *rope = rope_of(writer, LEVEL_PRIMARY, (Piece[]){{.rope = base}, {.text = text}}, 2);
  push_item(writer, rope, type_record(field->type));
}

static void run_record(RoutinePrinter *writer, uint32_t definition) {
  const Record *record = &writer->print->model->records.data[definition];
  const char *open = print_record_open(writer->print, &writer->arena, definition);
  for (uint32_t f = 0; f < record->fields.count; f++) {
    Item *item = &writer->stack.data[writer->stack.count - record->fields.count + f];
    const char *label = print_field_label(writer->print, &writer->arena, definition, f);
    item->rope = rope_of(writer, LEVEL_PRIMARY, (Piece[]){{.text = label}, {.rope = item->rope}}, 2);
  }
  push_item(writer, pop_list(writer, open, record->fields.count, ", ", ")"), definition);
}

static void run_array(RoutinePrinter *writer, uint32_t count) {
  uint32_t record = count ? record_below(writer, 0) : NO_RECORD;
  push_item(writer, pop_list(writer, "{", count, ", ", "}"), record);
}

static void run_local(RoutinePrinter *writer, uint32_t slot) {
  const Local *local = &writer->routine->locals.data[slot];
  const Rope *bound = writer->declarations[slot].bound;
  const Rope *rope = bound                          ? bound
                     : is_vectorizing(writer, slot) ? NULL
                                                    : rope_text(writer, LEVEL_PRIMARY, local_name(writer, slot));
  push_item(writer, rope, type_record(local->type));
}

static void run_bind(RoutinePrinter *writer, uint32_t slot) {
  SlotDeclaration *declaration = &writer->declarations[slot];
  if (writer->routine->locals.data[slot].has_default) declaration->binding = pop(writer);
  else declaration->bound = pop(writer);
}

static void run_range(RoutinePrinter *writer, bool has_step) {
  uint32_t count = has_step ? 3 : 2;
  for (uint32_t i = 0; i < count; i++) {
    Item *item = &writer->stack.data[writer->stack.count - count + i];
    item->rope = rope_at(writer, item->rope, LEVEL_OR);
  }
  Rope *range = arena_alloc(&writer->arena, sizeof *range);
  *range = *pop_list(writer, "", count, ":", "");
  range->level = LEVEL_RANGE;
  push(writer, range);
}

/* Prints terms with their signs; a term that begins with a sign gets parentheses. */
static void run_sum(RoutinePrinter *writer, uint32_t count, const uint32_t *signs) {
  writer->pieces.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool is_minus = (signs[i / 32] >> (i % 32)) & 1;
    const char *sign = i ? is_minus ? " - " : " + " : is_minus ? "-" : count == 1 ? "+" : "";
    const Rope *term = rope_at(writer, writer->stack.data[writer->stack.count - count + i].rope, LEVEL_PRODUCT);
    vec_push(writer->heap, &writer->pieces, (Piece){.text = sign});
    vec_push(writer->heap, &writer->pieces, (Piece){.rope = term});
  }
  writer->stack.count -= count;
  push(writer, rope_of(writer, LEVEL_SUM, writer->pieces.data, writer->pieces.count));
}

/* * / ^ and their forms for each element. */
static void run_product(RoutinePrinter *writer, Op op, bool is_each) {
  const char *words = arena_printf(&writer->arena, is_each ? " .%s " : " %s ", op_name(op));
  if (op == OP_POWER) push_infix(writer, words, LEVEL_POWER, LEVEL_PRIMARY, LEVEL_PRIMARY);
  else push_infix(writer, words, LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_POWER);
}

static void run_each_sum(RoutinePrinter *writer, bool is_minus) {
  push_infix(writer, is_minus ? " .- " : " .+ ", LEVEL_SUM, LEVEL_SUM, LEVEL_PRODUCT);
}

static void run_compare(RoutinePrinter *writer, Op op) {
  const char *words = arena_printf(&writer->arena, " %s ", op_name(op));
  push_infix(writer, words, LEVEL_RELATION, LEVEL_SUM, LEVEL_SUM);
}

static void push_not(RoutinePrinter *writer) {
  const Rope *a = rope_at(writer, pop(writer), LEVEL_RELATION);
  push(writer, rope_of(writer, LEVEL_NOT, (Piece[]){{.text = "not "}, {.rope = a}}, 2));
}

static void run_apply(RoutinePrinter *writer, Op op, uint32_t count) {
  switch (op) {
  case OP_AND: push_infix(writer, " and ", LEVEL_AND, LEVEL_AND, LEVEL_NOT); break;
  case OP_OR: push_infix(writer, " or ", LEVEL_OR, LEVEL_OR, LEVEL_AND); break;
  case OP_NOT: push_not(writer); break;
  case OP_MULTIPLY:
  case OP_DIVIDE:
  case OP_POWER: run_product(writer, op, false); break;
  default: push_call(writer, op_name(op), count);
  }
}

static void run_special(RoutinePrinter *writer, Special special, uint32_t count) {
  static const char *const names[SPECIAL_COUNT] = {
#define SPECIAL(id, name, ...) [SPECIAL_##id] = name,
#include "model/specials.def"
  };
  if (special == SPECIAL_TIME) push(writer, rope_text(writer, LEVEL_PRIMARY, "time"));
  else push_call(writer, names[special], count);
}

static void run_builtin(RoutinePrinter *writer, Builtin builtin, uint32_t count) {
  static const char *const names[] = {
#define BUILTIN(id, name, ...) name,
#include "model/builtin.def"
#undef BUILTIN
  };
  if (builtin == BUILTIN_SUM_FIRST) return; /* the iteration is written as the sum: see run_each_next */
  push_call(writer, names[builtin], count);
}

/* The condition waits until both values are there. */
static void run_if_value(RoutinePrinter *writer) {
  Item condition = vec_pop(&writer->stack);
  vec_push(writer->heap, &writer->waiting, condition);
}

static void run_end_value(RoutinePrinter *writer) {
  uint32_t record = record_below(writer, 0);
  const Rope *otherwise = pop(writer), *then = rope_at(writer, pop(writer), LEVEL_RANGE);
  const Rope *condition = vec_pop(&writer->waiting).rope;
  push_item(writer,
            rope_of(writer, LEVEL_IF,
                    (Piece[]){{.text = "if "},
                              {.rope = condition},
                              {.text = " then "},
                              {.rope = then},
                              {.text = " else "},
                              {.rope = otherwise}},
                    6),
            record);
}

static void run_each(RoutinePrinter *writer, uint32_t slot) {
  (void)slot;
  Item range = vec_pop(&writer->stack);
  vec_push(writer->heap, &writer->waiting, range);
}

static void run_each_next(RoutinePrinter *writer) {
  const Instruction *code = writer->routine->code.data;
  uint32_t slot = code[code[writer->position].b].a;
  const Rope *range = vec_pop(&writer->waiting).rope;
  if (is_vectorizing(writer, slot)) return;
  uint32_t record = record_below(writer, 0);
  const Rope *value = pop(writer);
  const char *words = arena_printf(&writer->arena, " for %s in ", local_name(writer, slot));
  const Instruction *next = &code[writer->position + 1]; /* code never ends here */
  bool is_sum = next->code == CODE_BUILTIN && next->b == BUILTIN_SUM_FIRST;
  const char *begin = is_sum ? "sum(" : "{", *end = is_sum ? ")" : "}";
  push_item(writer,
            rope_of(writer, LEVEL_PRIMARY,
                    (Piece[]){{.text = begin}, {.rope = value}, {.text = words}, {.rope = range}, {.text = end}}, 5),
            record);
}

/* A row is printed as a, b without brackets, because it becomes part of a matrix [a, b; c, d]. */
static void run_matrix(RoutinePrinter *writer, uint32_t along, uint32_t count) {
  push(writer, along ? pop_list(writer, "", count, ", ", "") : pop_list(writer, "[", count, "; ", "]"));
}

/* ---- statements ---- */

static void write_indent(RoutinePrinter *writer) {
  enum { DEEPEST = 20 };
  uint32_t depth = writer->depth < DEEPEST ? writer->depth : DEEPEST;
  for (uint32_t i = 0; i < depth; i++) text_append(writer->heap, writer->text, "  ", 2);
}

static void write_line(RoutinePrinter *writer, const char *text) {
  write_indent(writer);
  text_printf(writer->heap, writer->text, "%s\n", text);
}

static void write_rope_line(RoutinePrinter *writer, const char *before, const Rope *rope, const char *behind) {
  write_indent(writer);
  text_printf(writer->heap, writer->text, "%s", before);
  rope_write(writer, rope);
  text_printf(writer->heap, writer->text, "%s\n", behind);
}

/* The text of the place extra[...] of CODE_STORE; pops its subscripts. */
static const Rope *pop_place(RoutinePrinter *writer, const uint32_t *place) {
  const Model *model = writer->print->model;
  uint32_t total = 0;
  for (uint32_t i = 0; i < place[1]; i++)
    if (place[2 + 2 * i] == STEP_INDEX) total += place[3 + 2 * i];
  uint32_t at = writer->stack.count - total;
  Type type = writer->routine->locals.data[place[0]].type;
  writer->pieces.count = 0;
  vec_push(writer->heap, &writer->pieces, (Piece){.text = local_name(writer, place[0])});
  for (uint32_t i = 0; i < place[1]; i++) {
    uint32_t value = place[3 + 2 * i];
    if (place[2 + 2 * i] == STEP_FIELD) {
      const Field *field = &model->records.data[type.definition].fields.data[value];
      const char *name = arena_printf(&writer->arena, ".%s", print_name(writer->print, field->name));
      vec_push(writer->heap, &writer->pieces, (Piece){.text = name});
      type = field->type;
      continue;
    }
    for (uint32_t k = 0; k < value; k++) {
      vec_push(writer->heap, &writer->pieces, (Piece){.text = k ? ", " : "["});
      vec_push(writer->heap, &writer->pieces, (Piece){.rope = writer->stack.data[at++].rope});
    }
    vec_push(writer->heap, &writer->pieces, (Piece){.text = "]"});
  }
  writer->stack.count -= total;
  return rope_of(writer, LEVEL_PRIMARY, writer->pieces.data, writer->pieces.count);
}

/* (a, , c) := f(x), once every output has its target. */
static void set_output_target(RoutinePrinter *writer, Item item, const Rope *target) {
  Outputs *outputs = item.outputs;
  outputs->targets[item.number] = target;
  if (--outputs->open) return;
  writer->pieces.count = 0;
  for (uint32_t i = 0; i < outputs->count; i++) {
    vec_push(writer->heap, &writer->pieces, (Piece){.text = i ? ", " : "("});
    if (outputs->targets[i]) vec_push(writer->heap, &writer->pieces, (Piece){.rope = outputs->targets[i]});
  }
  vec_push(writer->heap, &writer->pieces, (Piece){.text = ") := "});
  vec_push(writer->heap, &writer->pieces, (Piece){.rope = outputs->call});
  write_rope_line(writer, "", rope_of(writer, LEVEL_IF, writer->pieces.data, writer->pieces.count), ";");
}

/* Prints a store before the body as the binding of its slot, or of a field of the slot. */
static void set_binding(RoutinePrinter *writer, const uint32_t *place, const Rope *target, const Rope *value) {
  SlotDeclaration *declaration = &writer->declarations[place[0]];
  if (place[1] == 0) {
    declaration->binding = value;
    return;
  }
  Rope *path = arena_alloc(&writer->arena, sizeof *path);
  *path = *rope_of(writer, LEVEL_PRIMARY, target->pieces + 1, target->count - 1);
  path->pieces[0].text++; /* the dot */
  const char *separator = declaration->fields ? ", " : "";
  const Rope *before = declaration->fields ? declaration->fields : rope_text(writer, LEVEL_IF, "");
  declaration->fields =
      rope_of(writer, LEVEL_IF,
              (Piece[]){{.rope = before}, {.text = separator}, {.rope = path}, {.text = " = "}, {.rope = value}}, 5);
}

static void run_store(RoutinePrinter *writer, const uint32_t *place) {
  const Rope *target = pop_place(writer, place);
  Item item = vec_pop(&writer->stack);
  if (item.outputs) set_output_target(writer, item, target);
  else if (!writer->in_body) set_binding(writer, place, target, item.rope);
  else
    write_rope_line(writer, "",
                    rope_of(writer, LEVEL_IF, (Piece[]){{.rope = target}, {.text = " := "}, {.rope = item.rope}}, 3),
                    ";");
}

static void run_drop(RoutinePrinter *writer, uint32_t count) {
  while (count--) {
    Item item = vec_pop(&writer->stack);
    if (item.outputs) set_output_target(writer, item, NULL);
    else write_rope_line(writer, "", item.rope, ";");
  }
}

/* Pushes the values of a call. A call without values is a statement; a call with several gets a target for each. */
static void push_outputs(RoutinePrinter *writer, const Rope *rope, uint32_t record, uint32_t wanted) {
  if (wanted == 0) write_rope_line(writer, "", rope, ";");
  if (wanted == 1) push_item(writer, rope, record);
  if (wanted <= 1) return;
  Outputs *outputs = arena_alloc(&writer->arena, sizeof *outputs);
  *outputs = (Outputs){.call = rope, .count = wanted, .open = wanted};
  outputs->targets = arena_array(&writer->arena, wanted, sizeof *outputs->targets);
  for (uint32_t i = 0; i < wanted; i++)
    vec_push(writer->heap, &writer->stack, (Item){.rope = rope, .record = NO_RECORD, .outputs = outputs, .number = i});
}

/* Arguments whose slots follow each other from the first are given by position, the others by name. */
static void run_call(RoutinePrinter *writer, const uint32_t *call, uint32_t count) {
  const Model *model = writer->print->model;
  const Routine *callee = model->routines.data[call[0]];
  writer->pieces.count = 0;
  const char *name = print_use(writer->print, call[0], 0);
  vec_push(writer->heap, &writer->pieces, (Piece){.text = arena_printf(&writer->arena, "%s(", name)});
  bool is_named = false;
  for (uint32_t i = 0; i < count; i++) {
    if (i) vec_push(writer->heap, &writer->pieces, (Piece){.text = ", "});
    is_named = is_named || call[2 + i] != i;
    if (is_named) {
      const char *input = print_name(writer->print, callee->locals.data[call[2 + i]].name);
      vec_push(writer->heap, &writer->pieces, (Piece){.text = arena_printf(&writer->arena, "%s = ", input)});
    }
    vec_push(writer->heap, &writer->pieces, (Piece){.rope = writer->stack.data[writer->stack.count - count + i].rope});
  }
  vec_push(writer->heap, &writer->pieces, (Piece){.text = ")"});
  writer->stack.count -= count;
  const Rope *rope = rope_of(writer, LEVEL_PRIMARY, writer->pieces.data, writer->pieces.count);
  uint32_t record = callee->outputs ? type_record(callee->locals.data[callee->inputs].type) : NO_RECORD;
  push_outputs(writer, rope, record, call[1]);
}

static void run_call_local(RoutinePrinter *writer, const uint32_t *call, uint32_t count) {
  const char *open = arena_printf(&writer->arena, "%s(", local_name(writer, call[0]));
  push_outputs(writer, pop_list(writer, open, count, ", ", ")"), NO_RECORD, call[1]);
}

/* Prints a call as it was written if its function is not in the file. Constants with the same span stand for its values. */
static void run_missing(RoutinePrinter *writer, Name name) {
  (void)name;
  const Routine *routine = writer->routine;
  uint32_t position = writer->position;
  Span span = routine->spans.data[position];
  uint32_t wanted = 0;
  for (uint32_t i = position + 1; i < routine->code.count && routine->code.data[i].code == CODE_CONSTANT;
       i++, wanted++) {
    Span other = routine->spans.data[i];
    if (other.begin != span.begin || other.end != span.end) break;
  }
  const char *text = source_text(writer->print->model->source, span.begin);
  push_outputs(writer, rope_text(writer, LEVEL_PRIMARY, arena_copy(&writer->arena, text, span.end - span.begin)),
               NO_RECORD, wanted);
  writer->skip = wanted;
}

static void run_declare(RoutinePrinter *writer, uint32_t slot, uint32_t count) {
  SlotDeclaration *declaration = &writer->declarations[slot];
  declaration->is_declared = true;
  if (count) declaration->sizes = pop_list(writer, "[", count, ", ", "]");
}

static const bool IS_STATEMENT[CODE_COUNT] = {
#define STATEMENT(id, verb, arguments) [CODE_##id] = true,
#define CODE(id, verb, arguments)
#include "model/codes.def"
};

/* Does the instruction belong to a statement? A call without values is a statement, too. */
static bool is_statement(const Routine *routine, Instruction i) {
  return IS_STATEMENT[i.code] || (i.code == CODE_CALL && routine->extra.data[i.b + 1] == 0);
}

/* Does the else-branch from `position` on contain one if and nothing else? */
static bool is_elseif(const Routine *routine, uint32_t position, uint32_t end) {
  while (position < end && !is_statement(routine, routine->code.data[position])) position++;
  if (routine->code.data[position].code != CODE_IF) return false;
  uint32_t inner_else = routine->code.data[position].b;
  return routine->code.data[inner_else].b == end - 1;
}

static void run_if(RoutinePrinter *writer) {
  bool continues = writer->chains.count && vec_last(&writer->chains) & 1;
  if (continues) {
    vec_last(&writer->chains) += 1; /* counts one more if of the chain, and clears its mark (the lowest bit) */
    writer->depth--;
    write_rope_line(writer, "elseif ", pop(writer), " then");
  } else {
    vec_push(writer->heap, &writer->chains, 0);
    write_rope_line(writer, "if ", pop(writer), " then");
  }
  writer->depth++;
}

static void run_else(RoutinePrinter *writer) {
  uint32_t position = writer->position;
  uint32_t end = writer->routine->code.data[position].b;
  if (is_elseif(writer->routine, position + 1, end)) {
    vec_last(&writer->chains) |= 1;
    return;
  }
  if (position + 1 == end) return;
  writer->depth--;
  write_line(writer, "else");
  writer->depth++;
}

static void run_end_if(RoutinePrinter *writer) {
  if (vec_last(&writer->chains) >= 2) {
    vec_last(&writer->chains) -= 2;
    return;
  }
  (void)vec_pop(&writer->chains);
  writer->depth--;
  write_line(writer, "end if;");
}

static void run_for(RoutinePrinter *writer, uint32_t slot) {
  const char *head = arena_printf(&writer->arena, "for %s in ", local_name(writer, slot));
  vec_push(writer->heap, &writer->chains, 0);
  write_rope_line(writer, head, pop(writer), " loop");
  writer->depth++;
}

static void end_loop(RoutinePrinter *writer, const char *words) {
  (void)vec_pop(&writer->chains);
  writer->depth--;
  write_line(writer, words);
}

/* Level 2 means that no level was written. A message that is not a literal comes after `if condition then "" else`, which was not
 * written either. */
static void run_assert(RoutinePrinter *writer) {
  const Rope **message = &writer->stack.data[writer->stack.count - 2].rope;
  if ((*message)->level == LEVEL_IF) *message = (*message)->pieces[5].rope;
  const Rope *level = vec_last(&writer->stack).rope;
  bool is_written = level->count != 1 || !level->pieces[0].text || strcmp(level->pieces[0].text, "2") != 0;
  if (!is_written) pop(writer);
  write_rope_line(writer, "assert", pop_list(writer, "(", is_written ? 3 : 2, ", ", ")"), ";");
}

static void run_break(RoutinePrinter *writer) { write_line(writer, "break;"); }
static void run_return(RoutinePrinter *writer) { write_line(writer, "return;"); }
static void run_end_for(RoutinePrinter *writer) { end_loop(writer, "end for;"); }
static void run_end_while(RoutinePrinter *writer) { end_loop(writer, "end while;"); }
static void run_body(RoutinePrinter *writer) { writer->in_body = true; }

static void run_while_test(RoutinePrinter *writer) {
  vec_push(writer->heap, &writer->chains, 0);
  write_rope_line(writer, "while ", pop(writer), " loop");
  writer->depth++;
}

static void run_terminate(RoutinePrinter *writer) { write_rope_line(writer, "terminate(", pop(writer), ");"); }

/* ---- instructions without text ---- */

static void run_skip(RoutinePrinter *writer, uint32_t target, bool on) { (void)writer, (void)target, (void)on; }
static void run_default(RoutinePrinter *writer, uint32_t slot, uint32_t target) {
  (void)writer, (void)slot, (void)target;
}
static void run_else_value(RoutinePrinter *writer) { (void)writer; }
static void run_while(RoutinePrinter *writer) { (void)writer; }
static void run_loop(RoutinePrinter *writer) { (void)writer; }
/* The external clause is printed as it was written. */
static void run_external(RoutinePrinter *writer, uint32_t count, const uint32_t *places) {
  (void)writer, (void)count, (void)places;
}

/* ---- instructions ---- */

static void run_instruction(RoutinePrinter *self, uint32_t position) {
  const Routine *routine = self->routine;
  Instruction i = routine->code.data[position];
  if (self->skip) {
    self->skip--;
    return;
  }
  self->position = position;
  switch ((Code)i.code) {
#define CODE(id, verb, arguments) \
  case CODE_##id:                 \
    run_##verb arguments;         \
    break;
#define MODEL(id, verb, arguments) \
  case CODE_##id: {                \
    break;                         \
  }
#include "model/codes.def"
  case CODE_COUNT: break;
  }
}

/* ---- functions ---- */

static void write_declaration(RoutinePrinter *writer, uint32_t slot) {
  const Routine *routine = writer->routine;
  const SlotDeclaration *declaration = &writer->declarations[slot];
  const char *prefix = slot < routine->inputs ? "input " : slot < routine->inputs + routine->outputs ? "output " : "";
  write_indent(writer);
  text_printf(writer->heap, writer->text, "%s", prefix);
  print_type(writer->print, writer->text, routine->locals.data[slot].type);
  text_printf(writer->heap, writer->text, " %s", local_name(writer, slot));
  if (declaration->sizes) rope_write(writer, declaration->sizes);
  if (declaration->fields) {
    text_printf(writer->heap, writer->text, "(");
    rope_write(writer, declaration->fields);
    text_printf(writer->heap, writer->text, ")");
  }
  if (declaration->binding) {
    text_printf(writer->heap, writer->text, " = ");
    rope_write(writer, declaration->binding);
  }
  text_printf(writer->heap, writer->text, ";\n");
}

/* annotation(derivative(order = 2, noDerivative = 'x') = 'f_der') */
static void write_derivatives(RoutinePrinter *writer) {
  const Routine *routine = writer->routine;
  for (uint32_t i = 0; i < routine->derivatives.count; i++) {
    const Derivative *derivative = &routine->derivatives.data[i];
    write_indent(writer);
    text_printf(writer->heap, writer->text, "annotation(derivative(order = %u", derivative->order);
    for (uint32_t k = 0; k < derivative->without.count; k++)
      text_printf(writer->heap, writer->text, ", noDerivative = %s", local_name(writer, derivative->without.data[k]));
    for (uint32_t k = 0; k < derivative->constant.count; k++)
      text_printf(writer->heap, writer->text, ", zeroDerivative = %s",
                  local_name(writer, derivative->constant.data[k]));
    const char *name = print_use(writer->print, derivative->routine->number, 0);
    text_printf(writer->heap, writer->text, ") = %s);\n", name);
  }
}

/* The clause as it was written. */
static void write_external(RoutinePrinter *writer) {
  Span span = writer->routine->external_span;
  text_append(writer->heap, writer->text, "  ", 2);
  text_append(writer->heap, writer->text, source_text(writer->print->model->source, span.begin), span.end - span.begin);
  text_append(writer->heap, writer->text, ";\n", 2);
}

static RoutinePrinter writer_make(Print *print, TextVec *text, const Routine *routine) {
  RoutinePrinter writer = {
      .print = print, .heap = print->heap, .arena = arena_make(print->heap), .text = text, .routine = routine};
  writer.declarations = arena_array(&writer.arena, routine->locals.count, sizeof *writer.declarations);
  return writer;
}

static void writer_free(RoutinePrinter *writer) {
  vec_free(writer->heap, &writer->stack, &writer->waiting, &writer->pieces, &writer->chains);
  arena_free(&writer->arena);
}

/* The body is written to a separate text, because the declarations before it are known only when the code has run up
 * to CODE_BODY. */
static void write_function(Print *print, TextVec *text, const Routine *routine) {
  TextVec body = {0};
  const char *name = print_name(print, routine->name);
  if (routine->kind == ROUTINE_DERIVATIVE) {
    text_printf(print->heap, text, "  function %s = der(%s", name, print_use(print, routine->base->number, 0));
    for (uint32_t i = 0; i < routine->partials.count; i++)
      text_printf(print->heap, text, ", %s",
                  print_name(print, routine->base->locals.data[routine->partials.data[i]].name));
    text_printf(print->heap, text, ");\n\n");
    return;
  }
  RoutinePrinter writer = writer_make(print, &body, routine);
  writer.depth = 2;
  for (uint32_t i = 0; i < routine->code.count; i++) run_instruction(&writer, i);
  writer.text = text;
  text_printf(print->heap, text, "  %s%sfunction %s\n", routine->is_partial ? "partial " : "",
              routine->is_impure ? "impure " : "", name);
  for (uint32_t slot = 0; slot < routine->locals.count; slot++)
    if (writer.declarations[slot].is_declared) write_declaration(&writer, slot);
  if (routine->kind == ROUTINE_CODE) text_printf(print->heap, text, "  algorithm\n");
  text_append(print->heap, text, body.data, body.count);
  if (routine->kind != ROUTINE_CODE) write_external(&writer);
  write_derivatives(&writer);
  text_printf(print->heap, text, "  end %s;\n\n", name);
  vec_free(print->heap, &body);
  writer_free(&writer);
}

/* 'f$2' returns output number 2 of 'f', because a call in an expression has only one value. */
static void write_output_function(Print *print, TextVec *text, const Routine *routine, uint32_t output) {
  Heap *heap = print->heap;
  const char *name = print_use(print, routine->number, output);
  text_printf(heap, text, "  function %s\n", name);
  for (uint32_t slot = 0; slot < routine->inputs + routine->outputs; slot++) {
    bool is_input = slot < routine->inputs;
    if (!is_input && slot != routine->inputs + output) continue;
    const Local *local = &routine->locals.data[slot];
    text_printf(heap, text, is_input ? "    input " : "    output ");
    print_type(print, text, local->type);
    text_printf(heap, text, " %s", print_name(print, local->name));
    for (uint32_t d = 0; d < local->type.dimensions; d++) text_printf(heap, text, d ? ", :" : "[:");
    text_printf(heap, text, local->type.dimensions ? "];\n" : ";\n");
  }
  text_printf(heap, text, "  algorithm\n    (");
  for (uint32_t i = 0; i < output; i++) text_printf(heap, text, ", ");
  text_printf(heap, text, "%s) := %s(", print_name(print, routine->locals.data[routine->inputs + output].name),
              print_use(print, routine->number, 0));
  for (uint32_t slot = 0; slot < routine->inputs; slot++)
    text_printf(heap, text, "%s%s", slot ? ", " : "", print_name(print, routine->locals.data[slot].name));
  text_printf(heap, text, ");\n  end %s;\n\n", name);
}

void print_functions(Print *print, TextVec *text) {
  for (uint32_t i = 0; i < print->uses.count; i++) {
    PrintUse use = print->uses.data[i];
    const Routine *routine = print->model->routines.data[use.routine];
    if (use.output) write_output_function(print, text, routine, use.output);
    else write_function(print, text, routine);
  }
}
