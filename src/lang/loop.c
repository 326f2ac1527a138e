/* loop: see loop.h. The translation follows the code with a stack that says what each value of the machine's stack is. Each
 * scalar has steps that push it; those of subscripts are removed when the element is found that they select. */
#include "lang/loop.h"

#include "lang/compile.h"

#include <string.h>

enum { LOOP_ITERATORS = 4, LOOP_STACK = 32, LARGEST_FACTOR = 1 << 16, STEP_WORK = 8 };

/* constant + sum of factor * iterator. Together with 32-bit iterators, the limits keep it within 53 bits. */
typedef struct Linear {
  int64_t constant, factor[LOOP_ITERATORS];
} Linear;

typedef enum LoopStepKind {
  LOOP_NODE,     /* push a node that is always the same */
  LOOP_ITERATOR, /* push the value of an iterator */
  LOOP_ELEMENT,  /* push an element of a component */
  LOOP_TIME,
  LOOP_DERIVATIVE, /* derivative of the node on top */
  LOOP_SUM,        /* pop terms, push their sum */
  LOOP_APPLY,      /* pop arguments, push the value of an operator */
} LoopStepKind;

typedef struct LoopStep {
  LoopStepKind kind;
  uint32_t count;  /* number of subscripts, terms, arguments */
  uint32_t number; /* node, iterator, component, position of the signs, operator */
  uint32_t first;  /* position of the subscripts in `linears` */
} LoopStep;

struct LoopCode {
  Routine routine;
  ScopeNameVec names;  /* the iterators for which it was compiled */
  IndexVec iterated;   /* see Compiler */
  VEC(LoopStep) steps; /* empty: only the machine can run it */
  VEC(Linear) linears;
  BaseType base; /* base type of the sides of the equation */
};

/* ---- finding and keeping ---- */

/* Is the code arithmetic, or an assertion about it? Compiling it depends only on the types of iterators, and has no other
 * effect. */
static bool is_arithmetic(const Routine *routine) {
  for (uint32_t i = 0; i < routine->code.count; i++) {
    Instruction instruction = routine->code.data[i];
    switch (instruction.code) {
    case CODE_CONSTANT:
    case CODE_GLOBAL:
    case CODE_FIELD:
    case CODE_INDEX:
    case CODE_SUM:
    case CODE_MULTIPLY:
    case CODE_DIVIDE:
    case CODE_POWER:
    case CODE_COMPARE:
    case CODE_APPLY: break;
    case CODE_SPECIAL:
      if (instruction.b != SPECIAL_TIME && instruction.b != SPECIAL_DER) return false;
      break;
    case CODE_STRING:
    case CODE_ASSERT:
      if (vec_last(&routine->code).code != CODE_ASSERT) return false;
      break;
    default: return false;
    }
  }
  return routine->code.count;
}

static bool has_types(const ScopeNameVec *names, const ScopeNameVec *others) {
  if (names->count != others->count) return false;
  for (uint32_t i = 0; i < names->count; i++) {
    const Type *a = &names->data[i].type, *b = &others->data[i].type;
    if (a->base != b->base || a->dimensions != b->dimensions || a->definition != b->definition) return false;
  }
  return true;
}

LoopCode *loop_find(Elaboration *el, const AstStatement *statement) {
  const ScopeNameVec *names = &el->compiler->names;
  uint32_t number = names->count ? map_get(&el->loop_code_of, statement->left) : MAP_NONE;
  if (number == MAP_NONE || !has_types(&el->loop_codes.data[number].names, names)) return NULL;
  return &el->loop_codes.data[number];
}

Routine *loop_routine(Elaboration *el, LoopCode *code) {
  for (uint32_t i = 0; i < code->iterated.count; i += 2)
    code->routine.constants.data[code->iterated.data[i]] = el->compiler->names.data[code->iterated.data[i + 1]].value;
  return &code->routine;
}

void loop_free_all(Elaboration *el) {
  for (uint32_t i = 0; i < el->loop_codes.count; i++) {
    LoopCode *code = &el->loop_codes.data[i];
    routine_free(el->heap, &code->routine);
    vec_free(el->heap, &code->names, &code->iterated, &code->steps, &code->linears);
  }
  el->loop_codes.count = 0;
  map_free(&el->loop_code_of);
}

/* ---- translation ---- */

/* What a value on the machine's stack is: a scalar, or an array of the model. */
typedef struct LoopValue {
  BaseType base;
  bool is_array, is_linear;
  uint32_t component; /* of an array */
  uint32_t first;     /* the first of its steps */
  Linear linear;
} LoopValue;

typedef struct Translation {
  Elaboration *el;
  LoopCode *code;
  LoopValue stack[LOOP_STACK];
  uint32_t count;
} Translation;

static bool push_value(Translation *t, LoopValue value, LoopStep step) {
  if (t->count == LOOP_STACK) return false;
  value.first = t->code->steps.count;
  if (!value.is_array) vec_push(t->el->heap, &t->code->steps, step);
  t->stack[t->count++] = value;
  return true;
}

static bool push_constant(Translation *t, BaseType base, uint32_t constant) {
  LoopValue value = {.base = base};
  double number = t->code->routine.constants.data[constant];
  LoopStep step = {.kind = LOOP_NODE, .number = dag_constant(t->el->dag, number)};
  if (base == TYPE_INTEGER && number >= INT32_MIN && number <= INT32_MAX) {
    value.is_linear = true;
    value.linear.constant = (int64_t)number;
  }
  for (uint32_t i = 0; i < t->code->iterated.count; i += 2) {
    if (t->code->iterated.data[i] != constant) continue;
    step = (LoopStep){.kind = LOOP_ITERATOR, .number = t->code->iterated.data[i + 1]};
    value.linear = (Linear){0};
    if (value.is_linear) value.linear.factor[step.number] = 1;
  }
  return push_value(t, value, step);
}

static bool push_component(Translation *t, uint32_t number) {
  const Component *component = &t->el->components.data[number];
  BaseType base = (BaseType)component->type.base;
  if (base > TYPE_BOOLEAN && base != TYPE_ENUMERATION) return false;
  LoopValue value = {.base = base, .is_array = component->type.dimensions, .component = number};
  return push_value(t, value, (LoopStep){.kind = LOOP_ELEMENT, .number = number});
}

/* The topmost values, if all of them are scalars. */
static LoopValue *scalars(Translation *t, uint32_t count) {
  if (count > t->count || !count) return NULL;
  LoopValue *values = t->stack + t->count - count;
  for (uint32_t i = 0; i < count; i++)
    if (values[i].is_array) return NULL;
  return values;
}

/* The machine checks whole numbers for overflow. Linear numbers are too small to overflow. */
static bool replace_values(Translation *t, uint32_t count, LoopValue value, LoopStep step) {
  value.first = t->stack[t->count - count].first;
  if (value.base == TYPE_INTEGER && !value.is_linear) return false;
  vec_push(t->el->heap, &t->code->steps, step);
  t->count -= count;
  t->stack[t->count++] = value;
  return true;
}

static bool select_element(Translation *t, uint32_t count) {
  if (count >= t->count) return false;
  LoopValue *array = &t->stack[t->count - count - 1], element = {.base = array->base, .first = array->first};
  if (!array->is_array || t->el->components.data[array->component].type.dimensions != count) return false;
  LoopStep step = {LOOP_ELEMENT, count, array->component, t->code->linears.count};
  for (uint32_t i = 1; i <= count; i++) {
    if (array[i].base != TYPE_INTEGER || !array[i].is_linear) return false;
    vec_push(t->el->heap, &t->code->linears, array[i].linear);
  }
  t->count -= count + 1;
  t->code->steps.count = element.first;
  return push_value(t, element, step);
}

static BaseType common_base(const LoopValue *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (values[i].base != TYPE_INTEGER) return values[i].base;
  return TYPE_INTEGER;
}

/* factor * value is added to sum; false: it becomes too large. */
static bool add_linear(Linear *sum, const Linear *value, int64_t factor) {
  sum->constant += factor * value->constant;
  bool fits = sum->constant >= INT32_MIN && sum->constant <= INT32_MAX;
  for (uint32_t k = 0; k < LOOP_ITERATORS; k++) {
    sum->factor[k] += factor * value->factor[k];
    fits = fits && sum->factor[k] >= -LARGEST_FACTOR && sum->factor[k] <= LARGEST_FACTOR;
  }
  return fits;
}

static bool translate_sum(Translation *t, uint32_t count, uint32_t signs) {
  const LoopValue *terms = scalars(t, count);
  if (!terms) return false;
  LoopValue sum = {.base = common_base(terms, count), .is_linear = true};
  for (uint32_t i = 0; i < count; i++) {
    bool is_minus = t->code->routine.extra.data[signs + i / 32] >> i % 32 & 1;
    sum.is_linear = sum.is_linear && terms[i].is_linear && add_linear(&sum.linear, &terms[i].linear, is_minus ? -1 : 1);
  }
  return replace_values(t, count, sum, (LoopStep){.kind = LOOP_SUM, .count = count, .number = signs});
}

static bool is_number(const Linear *value) {
  for (uint32_t k = 0; k < LOOP_ITERATORS; k++)
    if (value->factor[k]) return false;
  return value->constant >= -LARGEST_FACTOR && value->constant <= LARGEST_FACTOR;
}

static bool translate_product(Translation *t, Op op) {
  const LoopValue *pair = scalars(t, 2);
  if (!pair) return false;
  LoopValue product = {.base = op == OP_MULTIPLY ? common_base(pair, 2) : TYPE_REAL};
  for (uint32_t k = 0; k < 2 && op == OP_MULTIPLY && pair[0].is_linear && pair[1].is_linear && !product.is_linear; k++)
    product.is_linear =
        is_number(&pair[k].linear) && add_linear(&product.linear, &pair[!k].linear, pair[k].linear.constant);
  return replace_values(t, 2, product, (LoopStep){.kind = LOOP_APPLY, .count = 2, .number = op});
}

static bool translate_apply(Translation *t, Op op, uint32_t count) {
  const LoopValue *values = scalars(t, count);
  Type types[3] = {{0}};
  if (!values) return false;
  for (uint32_t i = 0; i < count && i < 3; i++) types[i].base = (uint8_t)values[i].base;
  LoopValue value = {.base = (BaseType)apply_type(op, types, count < 3 ? count : 3).base};
  return replace_values(t, count, value, (LoopStep){.kind = LOOP_APPLY, .count = count, .number = op});
}

static bool translate_special(Translation *t, Special special) {
  LoopValue value = {.base = TYPE_REAL};
  if (special == SPECIAL_TIME) return push_value(t, value, (LoopStep){.kind = LOOP_TIME});
  return scalars(t, 1) && replace_values(t, 1, value, (LoopStep){.kind = LOOP_DERIVATIVE});
}

static bool translate_instruction(Translation *t, Instruction i) {
  switch (i.code) {
  case CODE_CONSTANT: return push_constant(t, (BaseType)i.a, i.b);
  case CODE_STRING:
    return push_value(t, (LoopValue){.base = TYPE_STRING},
                      (LoopStep){.kind = LOOP_NODE, .number = dag_string(t->el->dag, i.b)});
  case CODE_GLOBAL: return push_component(t, i.b);
  case CODE_INDEX: return select_element(t, i.b);
  case CODE_SUM: return translate_sum(t, i.a, i.b);
  case CODE_MULTIPLY: return translate_product(t, OP_MULTIPLY);
  case CODE_DIVIDE: return translate_product(t, OP_DIVIDE);
  case CODE_POWER: return translate_product(t, OP_POWER);
  case CODE_COMPARE: return translate_apply(t, (Op)i.a, 2);
  case CODE_APPLY: return translate_apply(t, (Op)i.b, i.a);
  case CODE_SPECIAL: return translate_special(t, (Special)i.b);
  default: return i.code == CODE_ASSERT;
  }
}

/* The sides of an equation remain, or the condition, the message and the level of an assertion. */
static bool translate(Elaboration *el, LoopCode *code) {
  Translation t = {.el = el, .code = code};
  const Routine *routine = &code->routine;
  if (code->names.count > LOOP_ITERATORS) return false;
  for (uint32_t i = 0; i < routine->code.count; i++)
    if (!translate_instruction(&t, routine->code.data[i])) return false;
  code->base = common_base(t.stack, 2);
  uint32_t wanted = vec_last(&routine->code).code == CODE_ASSERT ? 3 : 2;
  return t.count == wanted && scalars(&t, wanted);
}

void loop_keep(Elaboration *el, const AstStatement *statement, Compiler *c) {
  if (c->names.count == 0 || c->is_decided || !is_arithmetic(c->routine)) return;
  LoopCode code = {.routine = *c->routine, .iterated = c->iterated};
  *c->routine = (Routine){0};
  c->iterated = (IndexVec){0};
  for (uint32_t i = 0; i < c->names.count; i++) vec_push(el->heap, &code.names, c->names.data[i]);
  if (!translate(el, &code)) code.steps.count = 0;
  map_put(&el->loop_code_of, statement->left, el->loop_codes.count);
  vec_push(el->heap, &el->loop_codes, code);
}

/* ---- running ---- */

static bool push_element(Elaboration *el, const LoopCode *code, const LoopStep *step, const int64_t *iterators,
                         Expr *out) {
  const Value *value = component_load(el, &el->components.data[step->number]);
  if (!value) return false;
  int64_t place = 0;
  for (uint32_t d = 0; d < step->count; d++) {
    const Linear *linear = &code->linears.data[step->first + d];
    int64_t subscript = linear->constant;
    for (uint32_t k = 0; k < code->names.count; k++) subscript += linear->factor[k] * iterators[k];
    if (subscript < 1 || subscript > value->sizes[d]) return false;
    place = place * value->sizes[d] + subscript - 1;
  }
  *out = value_exprs(value)[place];
  return true;
}

static bool run_step(Elaboration *el, const LoopCode *code, const LoopStep *step, const int64_t *iterators,
                     Expr **top) {
  Expr *at = *top - step->count;
  switch (step->kind) {
  case LOOP_NODE: *at = step->number; break;
  case LOOP_ITERATOR: *at = dag_constant(el->dag, el->compiler->names.data[step->number].value); break;
  case LOOP_ELEMENT:
    at = *top;
    if (!push_element(el, code, step, iterators, at)) return false;
    break;
  case LOOP_TIME: *at = dag_time(el->dag); break;
  case LOOP_DERIVATIVE:
    if (dag_op(el->dag, *--at) == OP_DISCRETE) return false;
    *at = dag_time_derivative(el->dag, *at);
    break;
  case LOOP_SUM: el->domain.sum(el, at, code->routine.extra.data + step->number, step->count, at); break;
  case LOOP_APPLY:
    if (!el->domain.apply(el, (Op)step->number, at, step->count, at)) return false;
    break;
  }
  *top = at + 1;
  return true;
}

static bool run_steps(Elaboration *el, const LoopCode *code, Expr *stack) {
  int64_t iterators[LOOP_ITERATORS];
  if (!code->steps.count || !machine_is_idle(el->machine)) return false;
  for (uint32_t k = 0; k < code->names.count; k++) iterators[k] = (int64_t)el->compiler->names.data[k].value;
  heap_work(el->heap, (uint64_t)code->steps.count * STEP_WORK);
  for (uint32_t i = 0; i < code->steps.count; i++)
    if (!run_step(el, code, &code->steps.data[i], iterators, &stack)) return false;
  return true;
}

bool loop_sides(Elaboration *el, LoopCode *code, Expr *left, Expr *right, BaseType *base) {
  Expr stack[LOOP_STACK];
  if (!run_steps(el, code, stack)) return false;
  *left = stack[0];
  *right = stack[1];
  *base = code->base;
  return true;
}

bool loop_assert(Elaboration *el, LoopCode *code, Span span) {
  Expr stack[LOOP_STACK];
  double truth;
  if (!run_steps(el, code, stack)) return false;
  if (dag_is_constant(el->dag, stack[0], &truth) && truth != 0) return true;
  el->domain.assertion(el, NULL, &stack[0], &stack[1], &stack[2], span);
  return true;
}
