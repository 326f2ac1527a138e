/* messages: see messages.h. */
#include "export/messages.h"

#include "array/array.h"
#include "model/number.h"
#include "model/print.h"

/* A part of a message that is still to be written, and the condition under which it appears. */
typedef struct OpenPart {
  Expr e, guard; /* EXPR_NONE: always */
} OpenPart;

typedef struct Collector {
  Heap *heap;
  Arena *arena;
  Evaluator *evaluator;
  Model *own;
  Problem problem; /* problem over the run's own graph */
  Print print;
  VEC(OpenPart) open; /* parts still to be written, the next one last */
  Messages found;
} Collector;

static void add_piece(Collector *c, const char *text, int guard, int value) {
  MessagePiece piece = {text, guard, value};
  vec_push(c->heap, &c->found.pieces, piece);
}

/* Can a program compute it? */
static bool is_numeric(Collector *c, Expr e) {
  const Dag *dag = c->own->dag;
  const Array *array = c->evaluator->array;
  IndexVec below = {0};
  bool fits = true;
  dag_below(dag, &c->evaluator->scratch, &e, 1, &below);
  for (uint32_t k = 0; k < below.count && fits; k++) {
    Op op = dag_op(dag, below.data[k]);
    bool is_marked = op == OP_NOEVENT || op == OP_SMOOTH;
    fits = op != OP_STRING && op != OP_CALL && (op_kind(op) != KIND_LANGUAGE || is_marked);
    if (op != OP_VARIABLE) continue;
    uint32_t local = array->problem->local[dag_index(dag, below.data[k])];
    fits = local < array->problem->unknowns &&
           dag_order(dag, below.data[k]) < array->column_start[local + 1] - array->column_start[local];
  }
  vec_free(c->heap, &below);
  return fits;
}

/* The number of an expression among those computed; false: it cannot be computed. */
static bool add_value(Collector *c, Expr e, int *number) {
  *number = -1;
  if (e == EXPR_NONE) return true;
  e = problem_expression(&c->problem, e);
  if (!is_numeric(c, e)) return false;
  *number = (int)c->found.values.count;
  vec_push(c->heap, &c->found.values, e);
  return true;
}

static Expr both(Collector *c, Expr a, Expr b) { return a == EXPR_NONE ? b : dag_binary(c->own->dag, OP_AND, a, b); }

static bool add_text(Collector *c, const char *text, Expr guard) {
  int number;
  if (!add_value(c, guard, &number)) return false;
  add_piece(c, text, number, -1);
  return true;
}

static bool add_truth(Collector *c, Expr e, Expr guard, const TextFormat *how) {
  for (int truth = 0; truth < 2; truth++) {
    TextVec text = {0};
    text_of_number(c->heap, &text, truth, TYPE_BOOLEAN, how);
    Expr holds = truth ? e : dag_unary(c->own->dag, OP_NOT, e);
    if (!add_text(c, text_keep(c->heap, &text, c->arena), both(c, guard, holds))) return false;
  }
  return true;
}

static BaseType type_of(Collector *c, Expr e) {
  uint32_t kind = dag_value_kind(c->own->dag, e, &c->print.leaves);
  return kind == VALUE_INTEGER ? TYPE_INTEGER : kind == VALUE_BOOLEAN ? TYPE_BOOLEAN : TYPE_REAL;
}

/* String(value, options); false: an option is not constant. */
static bool add_number(Collector *c, const OpenPart *part) {
  enum { OPTIONS = 3 };
  const Dag *dag = c->own->dag;
  double options[OPTIONS];
  uint32_t count = dag_child_count(dag, part->e);
  const char *format = NULL;
  TextFormat how;
  Expr e = dag_child(dag, part->e, 0);
  BaseType base = type_of(c, e);
  int guard, value;
  for (uint32_t i = 1; i < count; i++) {
    Expr child = dag_child(dag, part->e, i);
    if (dag_op(dag, child) == OP_STRING) format = names_text(c->own->names, dag_index(dag, child));
    else if (i > OPTIONS || !dag_is_constant(dag, child, &options[i - 1])) return false;
  }
  if (!text_format_read(base, options, format ? 0 : count - 1, format, &how)) return false;
  if (base == TYPE_BOOLEAN) return add_truth(c, e, part->guard, &how);
  int digits = (int)fmin(fmax(how.digits, 1), 17), length = (int)fmin(fmax(how.length, 0), 100);
  const char *left = how.is_left ? "-" : "";
  const char *written = how.format          ? arena_printf(c->arena, "%%%s", how.format)
                        : base == TYPE_REAL ? arena_printf(c->arena, "%%%s%d.%dg", left, length, digits)
                                            : arena_printf(c->arena, "%%%s%d.0f", left, length);
  if (!add_value(c, part->guard, &guard) || !add_value(c, e, &value)) return false;
  add_piece(c, written, guard, value);
  return true;
}

/* Adds the text of a part, or its inner parts to the list; false: it has no numeric value. */
static bool add_part(Collector *c, OpenPart part) {
  Dag *dag = c->own->dag;
  switch (dag_op(dag, part.e)) {
  case OP_STRING: return add_text(c, names_text(c->own->names, dag_index(dag, part.e)), part.guard);
  case OP_STRING_OF: return add_number(c, &part);
  case OP_STRING_JOIN:
    for (uint32_t i = dag_child_count(dag, part.e); i-- > 0;) {
      OpenPart child = {dag_child(dag, part.e, i), part.guard};
      vec_push(c->heap, &c->open, child);
    }
    return true;
  case OP_IF: {
    Expr condition = dag_child(dag, part.e, 0);
    OpenPart otherwise = {dag_child(dag, part.e, 2), both(c, part.guard, dag_unary(dag, OP_NOT, condition))};
    OpenPart then = {dag_child(dag, part.e, 1), both(c, part.guard, condition)};
    vec_push(c->heap, &c->open, otherwise);
    vec_push(c->heap, &c->open, then);
    return true;
  }
  default: return false;
  }
}

static void add_message(Collector *c, Expr message) {
  uint32_t pieces = c->found.pieces.count, values = c->found.values.count;
  OpenPart whole = {message, EXPR_NONE};
  bool is_known = true;
  c->open.count = 0;
  vec_push(c->heap, &c->open, whole);
  while (is_known && c->open.count) is_known = add_part(c, vec_pop(&c->open));
  if (is_known) return;
  c->found.pieces.count = pieces;
  c->found.values.count = values;
  add_piece(c, model_text(c->own, message, c->arena), -1, -1);
}

Messages messages_collect(Heap *heap, Arena *arena, const ExportSource *source) {
  Evaluator *evaluator = source->evaluator;
  const Logic *logic = evaluator->code->modes->logic;
  Collector c = {.heap = heap,
                 .arena = arena,
                 .evaluator = evaluator,
                 .own = evaluator_model(evaluator),
                 .problem = *evaluator->array->problem};
  c.problem.model = c.own;
  print_start(&c.print, c.own, heap, false);
  for (uint32_t a = 0; a < logic->actions.count; a++) {
    const Action *action = logic->actions.data[a].written;
    vec_push(heap, &c.found.first, c.found.pieces.count);
    if (logic->actions.data[a].kind != ACTION_REINIT) add_message(&c, action->message);
    else
      add_piece(&c,
                arena_printf(arena,
                             "reinit sets %s to a value that is not defined, or two reinit set it to different values",
                             model_name(evaluator->model, action->target)),
                -1, -1);
  }
  vec_push(heap, &c.found.first, c.found.pieces.count);
  print_free(&c.print);
  vec_free(heap, &c.open);
  return c.found;
}
