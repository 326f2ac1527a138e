/* text_call: texts that equations compose, as arguments of functions. Equations contain only numbers, so the parts are passed
 * to a routine made for this text, which puts them together during the run: f("k = " + String(k)) becomes f('$text1'(k)).
 *
 * Invariant: the routine has one input for each part that is not a literal, in the order of the text. */
#include "lang/elaborate.h"
#include "model/print.h"

#include <string.h>

/* A part of the text that is still to be written: a node, or an instruction after the parts of a node. */
typedef struct TextTask {
  Expr node;
  Code code;   /* CODE_STRING: the node itself */
  uint32_t at; /* number of parts, or position of the instruction that jumps to the end of this one */
} TextTask;

typedef struct TextWriter {
  Elaboration *el;
  Routine *routine;
  Print print;
  VEC(TextTask) tasks;
  ExprVec parts;
} TextWriter;

static void emit(TextWriter *w, Code code, uint32_t a, uint32_t b) {
  routine_emit(w->el->heap, w->routine, code, a, b, w->routine->span);
}

static BaseType type_of(TextWriter *w, Expr e) {
  switch (dag_value_kind(w->el->dag, e, &w->print.leaves)) {
  case VALUE_INTEGER: return TYPE_INTEGER;
  case VALUE_BOOLEAN: return TYPE_BOOLEAN;
  case VALUE_STRING: return TYPE_STRING;
  default: return TYPE_REAL;
  }
}

static void emit_part(TextWriter *w, Expr e, BaseType base) {
  const char *name = arena_printf(&w->el->arena, "x%u", w->parts.count + 1);
  Local local = {
      .name = names_add(w->el->names, name, strlen(name)), .type = type_scalar(base), .span = w->routine->span};
  emit(w, CODE_LOCAL, 0, w->parts.count);
  if (w->parts.count == w->routine->locals.count) vec_push(w->el->heap, &w->routine->locals, local);
  vec_push(w->el->heap, &w->parts, e);
}

static void emit_number(TextWriter *w, Expr e) {
  const Dag *dag = w->el->dag;
  uint32_t count = dag_child_count(dag, e);
  emit_part(w, dag_child(dag, e, 0), type_of(w, dag_child(dag, e, 0)));
  for (uint32_t i = 1; i < count; i++) {
    Expr child = dag_child(dag, e, i);
    if (dag_op(dag, child) == OP_STRING) emit(w, CODE_STRING, 0, dag_index(dag, child));
    else emit_part(w, child, i + 1 == count && count > 2 ? TYPE_BOOLEAN : TYPE_INTEGER);
  }
  emit(w, CODE_BUILTIN, count, BUILTIN_TEXT);
}

static void emit_join(TextWriter *w, uint32_t count) {
  uint32_t at = w->routine->extra.count, words = count / 32 + 1;
  uint32_t *signs = vec_extend(w->el->heap, &w->routine->extra, words);
  memset(signs, 0, words * sizeof *signs);
  emit(w, CODE_SUM, count, at);
}

static void push(TextWriter *w, Expr node, Code code, uint32_t at) {
  vec_push(w->el->heap, &w->tasks, (TextTask){node, code, at});
}

static void emit_node(TextWriter *w, Expr e) {
  const Dag *dag = w->el->dag;
  uint32_t count = dag_child_count(dag, e);
  switch (dag_op(dag, e)) {
  case OP_STRING: emit(w, CODE_STRING, 0, dag_index(dag, e)); break;
  case OP_STRING_OF: emit_number(w, e); break;
  case OP_STRING_JOIN:
    push(w, e, CODE_SUM, count);
    for (uint32_t i = count; i-- > 0;) push(w, dag_child(dag, e, i), CODE_STRING, 0);
    break;
  case OP_IF:
    emit_part(w, dag_child(dag, e, 0), TYPE_BOOLEAN);
    push(w, e, CODE_ELSE_VALUE, w->routine->code.count);
    push(w, dag_child(dag, e, 1), CODE_STRING, 0);
    emit(w, CODE_IF_VALUE, 0, 0);
    break;
  default: emit_part(w, e, TYPE_STRING);
  }
}

static void do_task(TextWriter *w, TextTask task) {
  uint32_t here = w->routine->code.count;
  switch (task.code) {
  case CODE_SUM: emit_join(w, task.at); break;
  case CODE_ELSE_VALUE:
    w->routine->code.data[task.at].b = here;
    push(w, task.node, CODE_END_VALUE, here);
    push(w, dag_child(w->el->dag, task.node, 2), CODE_STRING, 0);
    emit(w, CODE_ELSE_VALUE, 0, 0);
    break;
  case CODE_END_VALUE:
    w->routine->code.data[task.at].b = here;
    emit(w, CODE_END_VALUE, 0, 0);
    break;
  default: emit_node(w, task.node);
  }
}

static void write_parts(TextWriter *w, Expr text) {
  w->parts.count = 0;
  push(w, text, CODE_STRING, 0);
  while (w->tasks.count) do_task(w, vec_pop(&w->tasks));
}

/* Writes the text twice: at first only to find its parts. */
static void write_routine(TextWriter *w, Expr text) {
  Elaboration *el = w->el;
  Routine *routine = w->routine;
  write_parts(w, text);
  routine->inputs = w->parts.count;
  routine->outputs = 1;
  routine->code.count = routine->spans.count = routine->extra.count = 0;
  Local output = {.name = names_add(el->names, "text", 4), .type = type_scalar(TYPE_STRING), .span = routine->span};
  vec_push(el->heap, &routine->locals, output);
  for (uint32_t slot = 0; slot <= routine->inputs; slot++) emit(w, CODE_DECLARE, 0, slot);
  emit(w, CODE_BODY, 0, 0);
  write_parts(w, text);
  uint32_t at = routine->extra.count;
  vec_push(el->heap, &routine->extra, routine->inputs);
  vec_push(el->heap, &routine->extra, 0);
  emit(w, CODE_STORE, 0, at);
  routine->number = el->model->routines.count;
  vec_push(el->heap, &el->model->routines, routine);
  vec_push(el->heap, &el->class_of_routine, NONE);
  el->routine_list = el->model->routines.data;
}

static bool is_composed(const Dag *dag, Expr e) {
  for (; dag_op(dag, e) == OP_IF; e = dag_child(dag, e, 2)) {
    Op then = dag_op(dag, dag_child(dag, e, 1));
    if (then == OP_STRING_OF || then == OP_STRING_JOIN) return true;
  }
  return dag_op(dag, e) == OP_STRING_OF || dag_op(dag, e) == OP_STRING_JOIN;
}

Routine *text_routine(Elaboration *el, Expr text, Span span, ExprVec *parts) {
  if (el->mode != LOAD_LEAVES || !is_composed(el->dag, text)) return NULL;
  TextWriter w = {.el = el, .routine = heap_alloc(el->heap, sizeof *w.routine)};
  w.routine->span = span;
  const char *name = arena_printf(&el->arena, "$text%u", ++el->texts);
  w.routine->name = names_add(el->names, name, strlen(name));
  print_start(&w.print, el->model, el->heap, false);
  write_routine(&w, text);
  print_free(&w.print);
  vec_free(el->heap, &w.tasks);
  *parts = w.parts;
  return w.routine;
}
