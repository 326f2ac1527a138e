/* message: see message.h. */
#include "code/message.h"

#include "model/number.h"
#include "model/print.h"

typedef struct Message {
  Evaluator *evaluator;
  Model *model; /* the evaluator's own */
  Heap *heap;
  double t;
  const double *y;
  Print print;
  ExprVec open; /* parts still to be written, the next one last */
  TextVec text;
} Message;

static double leaf_value(void *context, const Dag *dag, Expr leaf) {
  const Message *message = context;
  const Evaluator *evaluator = message->evaluator;
  uint32_t index = dag_op(dag, leaf) == OP_TIME ? 0 : dag_index(dag, leaf);
  switch (dag_op(dag, leaf)) {
  case OP_TIME: return message->t;
  case OP_VARIABLE: return evaluator_value(message->evaluator, message->y, index, dag_order(dag, leaf));
  case OP_DISCRETE: return evaluator->discretes[index];
  case OP_PRE: return evaluator->pre[index];
  case OP_PARAMETER: return evaluator->parameters[index];
  default: return NAN;
  }
}

/* false: it has no value here. */
static bool evaluate(Message *message, Expr e, double *value) {
  return dag_evaluate(message->model->dag, &message->evaluator->scratch, e, leaf_value, message, value, NULL) &&
         !isnan(*value);
}

static BaseType type_of(Message *message, Expr e) {
  switch (dag_value_kind(message->model->dag, e, &message->print.leaves)) {
  case VALUE_INTEGER: return TYPE_INTEGER;
  case VALUE_BOOLEAN: return TYPE_BOOLEAN;
  case VALUE_STRING: return TYPE_STRING;
  default: return TYPE_REAL;
  }
}

static void append_name(Message *message, Name name) {
  const Names *names = message->model->names;
  text_append(message->heap, &message->text, names_text(names, name), names_length(names, name));
}

/* String(value, options). */
static bool append_number(Message *message, Expr e) {
  const Dag *dag = message->model->dag;
  double values[4];
  uint32_t count = dag_child_count(dag, e);
  const char *format = NULL;
  TextFormat how;
  for (uint32_t i = 0; i < count; i++) {
    Expr child = dag_child(dag, e, i);
    if (dag_op(dag, child) == OP_STRING) format = names_text(message->model->names, dag_index(dag, child));
    else if (i >= 4 || !evaluate(message, child, &values[i])) return false;
  }
  BaseType base = type_of(message, dag_child(dag, e, 0));
  if (!text_format_read(base, values + 1, format ? 0 : count - 1, format, &how)) return false;
  text_of_number(message->heap, &message->text, values[0], base, &how);
  return true;
}

/* Appends the text of a node, or its parts to the list. false: it has no value here. */
static bool append_node(Message *message, Expr e) {
  const Dag *dag = message->model->dag;
  double value;
  switch (dag_op(dag, e)) {
  case OP_STRING: append_name(message, dag_index(dag, e)); return true;
  case OP_STRING_OF: return append_number(message, e);
  case OP_STRING_JOIN:
    for (uint32_t i = dag_child_count(dag, e); i-- > 0;) vec_push(message->heap, &message->open, dag_child(dag, e, i));
    return true;
  case OP_IF:
    if (!evaluate(message, dag_child(dag, e, 0), &value)) return false;
    vec_push(message->heap, &message->open, dag_child(dag, e, value != 0 ? 1 : 2));
    return true;
  case OP_PARAMETER:
    if (type_of(message, e) != TYPE_STRING || !evaluate(message, e, &value)) return false;
    append_name(message, (Name)value);
    return true;
  default: return false;
  }
}

const char *message_text(Evaluator *evaluator, double t, const double *y, Expr e, Arena *arena) {
  Message message = {
      .evaluator = evaluator, .model = evaluator_model(evaluator), .heap = evaluator->heap, .t = t, .y = y};
  bool is_known = true;
  TextVec quoted = {0};
  print_start(&message.print, message.model, message.heap, false);
  text_append(message.heap, &message.text, "", 0);
  vec_push(message.heap, &message.open, e);
  while (is_known && message.open.count) is_known = append_node(&message, vec_pop(&message.open));
  if (is_known) text_quote(message.heap, &quoted, message.text.data, '"');
  print_free(&message.print);
  vec_free(message.heap, &message.open, &message.text);
  return is_known ? text_keep(message.heap, &quoted, arena) : model_text(message.model, e, arena);
}
