/* array_code: see array_code.h. */
#include "code/array_code.h"

#include "code/compile.h"

#include <string.h>

Program *array_code_program(ArrayCode *code, const Expr *roots, uint32_t count) {
  Program *program = program_new(code->heap, code->model, &code->layout, roots, count);
  vec_push(code->heap, &code->programs, program);
  return program;
}

Jacobian *array_code_jacobian(ArrayCode *code, const Expr *rows, uint32_t count) {
  Jacobian *jacobian = jacobian_new(code->heap, code->model, &code->layout, rows, count, NULL, 0);
  vec_push(code->heap, &code->programs, jacobian->program);
  return jacobian;
}

/* A rate if columns give it, otherwise 0. */
static Expr known_rate(ArrayCode *code, Expr rate) {
  return array_holds(code->array, rate) ? rate : dag_constant(code->array->dag, 0);
}

/* Adds the kinks, where steps may have to end without an event. */
static void add_kinks(ArrayCode *code, const Modes *modes) {
  uint32_t count = modes->kinks;
  Expr *roots = heap_array(code->heap, 2 * (size_t)count, sizeof *roots);
  memcpy(roots, modes->kink, count * sizeof *roots);
  for (uint32_t k = 0; k < count; k++) roots[count + k] = known_rate(code, modes->kink_rate[k]);
  code->kinks = array_code_program(code, roots, 2 * count);
  code->kink_sizes = array_code_program(code, modes->kink_size, count);
  heap_free(code->heap, roots);
}

/* Adds the conditions that cause events. */
static void add_conditions(ArrayCode *code, const Modes *modes) {
  uint32_t count = modes->count;
  Expr *roots = heap_array(code->heap, 2 * (size_t)count, sizeof *roots);
  code->has_rate = heap_array(code->heap, count, sizeof *code->has_rate);
  memcpy(roots, modes->difference, count * sizeof *roots);
  memcpy(roots + count, modes->size, count * sizeof *roots);
  code->conditions = array_code_program(code, roots, 2 * count);
  memcpy(roots, modes->written, count * sizeof *roots);
  code->written = array_code_program(code, roots, 2 * count);
  for (uint32_t m = 0; m < count; m++) {
    code->has_rate[m] = array_holds(code->array, modes->rate[m]);
    roots[m] = known_rate(code, modes->rate[m]);
  }
  code->rates = array_code_program(code, roots, count);
  heap_free(code->heap, roots);
}

/* Per node below the roots, in the order of a walk: does it call a function? */
static bool *find_calls(const Dag *dag, DagScratch *scratch, const ExprVec *roots) {
  IndexVec order = {0};
  dag_below(dag, scratch, roots->data, roots->count, &order);
  bool *calls = heap_array(scratch->heap, order.count, sizeof *calls);
  for (uint32_t i = 0; i < order.count; i++) {
    calls[i] = dag_op(dag, order.data[i]) == OP_CALL;
    for (uint32_t k = 0; k < dag_child_count(dag, order.data[i]) && !calls[i]; k++)
      calls[i] = calls[scratch->slots.data[dag_child(dag, order.data[i], k)]];
  }
  vec_free(scratch->heap, &order);
  return calls;
}

/* A discrete leaf without which the condition does not hold; EXPR_NONE if none is visible. */
static Expr guard_of(const Dag *dag, Expr condition) {
  while (dag_op(dag, condition) == OP_AND && dag_op(dag, dag_child(dag, condition, 1)) != OP_DISCRETE)
    condition = dag_child(dag, condition, 0);
  if (dag_op(dag, condition) == OP_AND) condition = dag_child(dag, condition, 1);
  return dag_op(dag, condition) == OP_DISCRETE ? condition : EXPR_NONE;
}

/* The value of a when is `if guard then value else pre`. If the value calls functions, pre is used instead, which is right while
 * no guard holds. */
static void leave_calls_out(ArrayCode *code, DagScratch *scratch, ExprVec *roots, IndexVec *guards) {
  Dag *dag = code->array->dag;
  bool *calls = find_calls(dag, scratch, roots);
  for (uint32_t k = 0; k < roots->count; k++) {
    Expr root = roots->data[k];
    Expr guard = dag_op(dag, root) == OP_IF ? guard_of(dag, dag_child(dag, root, 0)) : EXPR_NONE;
    if (guard == EXPR_NONE) continue;
    Expr value = dag_child(dag, root, 1), otherwise = dag_child(dag, root, 2);
    if (!calls[scratch->slots.data[value]] || calls[scratch->slots.data[otherwise]]) continue;
    roots->data[k] = otherwise;
    if (!guards->count || vec_last(guards) != dag_index(dag, guard))
      vec_push(code->heap, guards, dag_index(dag, guard));
  }
  heap_free(code->heap, calls);
}

/* Adds the other changes at events. */
static void add_logic(ArrayCode *code, const Logic *logic) {
  Dag *dag = code->array->dag;
  DagScratch scratch = dag_scratch_make(code->heap); /* one for all levels, because there may be thousands of them */
  ExprVec roots = {0};
  uint32_t levels = logic->level_start.count - 1;
  code->levels = heap_array(code->heap, levels, sizeof *code->levels);
  code->idle_levels = heap_array(code->heap, levels, sizeof *code->idle_levels);
  code->guards = heap_array(code->heap, levels, sizeof *code->guards);
  for (uint32_t l = 0; l < levels; l++) {
    roots.count = 0;
    for (uint32_t k = logic->level_start.data[l]; k < logic->level_start.data[l + 1]; k++)
      vec_push(code->heap, &roots, logic->steps.data[k].value);
    code->levels[l] = array_code_program(code, roots.data, roots.count);
    leave_calls_out(code, &scratch, &roots, &code->guards[l]);
    if (code->guards[l].count) code->idle_levels[l] = array_code_program(code, roots.data, roots.count);
  }
  roots.count = 0;
  for (uint32_t k = 0; k < logic->initial_steps.count; k++)
    vec_push(code->heap, &roots, logic->initial_steps.data[k].value);
  if (roots.count) code->initial_steps = array_code_program(code, roots.data, roots.count);
  roots.count = 0;
  for (uint32_t k = 0; k < logic->lefts.count; k++) vec_push(code->heap, &roots, logic->lefts.data[k].value);
  if (roots.count) code->lefts = array_code_program(code, roots.data, roots.count);
  roots.count = 0;
  for (uint32_t k = 0; k < logic->actions.count; k++) {
    const LogicAction *action = &logic->actions.data[k];
    vec_push(code->heap, &roots, action->fires == EXPR_NONE ? dag_constant(dag, 1) : action->fires);
    Expr none = dag_constant(dag, 0), value = action->value == EXPR_NONE ? none : action->value;
    vec_push(code->heap, &roots, action->in_when ? dag_if(dag, action->fires, value, none) : value);
  }
  if (roots.count) code->actions = array_code_program(code, roots.data, roots.count);
  leave_calls_out(code, &scratch, &roots, &code->action_guards);
  if (code->action_guards.count) code->idle_actions = array_code_program(code, roots.data, roots.count);
  dag_scratch_free(&scratch);
  vec_free(code->heap, &roots);
}

static void add_delays(ArrayCode *code, const Logic *logic) {
  uint32_t count = logic->delays.count;
  Expr *roots = heap_array(code->heap, 3 * (size_t)count, sizeof *roots), zero = dag_constant(code->array->dag, 0);
  if (count) {
    for (uint32_t k = 0; k < count; k++) roots[k] = logic->delays.data[k].value;
    code->delayed = array_code_program(code, roots, count);
    for (uint32_t k = 0; k < count; k++) {
      const LogicDelay *delay = &logic->delays.data[k];
      Expr rate = delay->pipe ? dag_time_derivative(code->array->dag, delay->pipe->x) : zero;
      roots[k] = delay->pipe ? delay->pipe->x : delay->time;
      roots[count + k] = delay->pipe ? delay->pipe->positive : delay->longest;
      roots[2 * count + k] = array_holds(code->array, rate) ? rate : zero;
    }
    code->delay_times = array_code_program(code, roots, 3 * count);
  }
  heap_free(code->heap, roots);
}

/* The columns that an equation gives as a function of only time, such as u in u = sin(time). */
static bool *columns_of_time(const ArrayCode *code) {
  const Array *array = code->array;
  DagScratch *scratch = dag_scratch(array->dag);
  bool *of_time = heap_array(code->heap, array->columns, sizeof *of_time);
  ExprVec leaves = {0};
  for (uint32_t r = 0; r < array->rows; r++) {
    leaves.count = 0;
    dag_variables(array->dag, scratch, array->row[r], &leaves);
    if (leaves.count == 1) of_time[array_column(array, leaves.data[0])] = true;
  }
  vec_free(scratch->heap, &leaves);
  return of_time;
}

/* Does the expression depend on columns that are not functions of time alone? */
static bool has_unknowns(const ArrayCode *code, Expr e, const bool *of_time) {
  const Array *array = code->array;
  DagScratch *scratch = dag_scratch(array->dag);
  ExprVec leaves = {0};
  bool any = false;
  dag_variables(array->dag, scratch, e, &leaves);
  for (uint32_t k = 0; k < leaves.count && !any; k++) any = !of_time[array_column(array, leaves.data[k])];
  vec_free(scratch->heap, &leaves);
  return any;
}

/* May one of the nodes jump without a condition, or change by any factor over a short distance? Called functions may (loops,
 * tables, foreign code), and so may exponentials of columns. */
static bool has_rough(const ArrayCode *code, const IndexVec *nodes) {
  const Dag *dag = code->array->dag;
  bool *of_time = NULL, is_rough = false;
  for (uint32_t k = 0; k < nodes->count && !is_rough; k++) {
    Expr e = nodes->data[k];
    Op op = dag_op(dag, e);
    bool reads = dag_depends(dag, e, OP_VARIABLE);
    if (op == OP_CALL) is_rough = reads || dag_depends(dag, e, OP_TIME);
    if ((op != OP_EXP && op != OP_SINH && op != OP_COSH) || !reads) continue;
    if (!of_time) of_time = columns_of_time(code);
    is_rough = has_unknowns(code, e, of_time);
  }
  heap_free(code->heap, of_time);
  return is_rough;
}

/* Marks the discrete leaves that initial equations depend on. Without logic there are none. */
static void mark_initial_leaves(ArrayCode *code) {
  Dag *dag = code->array->dag;
  const Expr *residual = code->modes->logic->initial_residual;
  IndexVec below = {0};
  dag_below(dag, dag_scratch(dag), residual, residual ? code->model->initial_equations.count : 0, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    Op op = dag_op(dag, below.data[k]);
    if (op == OP_DISCRETE || op == OP_PRE) code->matters[dag_index(dag, below.data[k])] |= MATTERS_INITIAL;
  }
  vec_free(dag_heap(dag), &below);
}

/* Are values delayed by varying times? Their jumps and kinks are not known in advance. */
static bool has_varying_delays(const Logic *logic) {
  for (uint32_t k = 0; k < logic->delays.count; k++)
    if (!logic->delays.data[k].is_fixed && !logic->delays.data[k].pipe) return true;
  return false;
}

/* Marks the discrete leaves on which rows depend, and finds whether rows are rough. below: the nodes of the rows. */
static void mark_leaves(ArrayCode *code, const IndexVec *below) {
  Dag *dag = code->array->dag;
  code->matters = heap_array(code->heap, modes_leaves(code->modes), sizeof *code->matters);
  for (uint32_t k = 0; k < below->count; k++) {
    Expr e = below->data[k];
    Op op = dag_op(dag, e);
    if (op == OP_DISCRETE) code->matters[dag_index(dag, e)] |= MATTERS_VALUE;
    if (op == OP_PRE) code->matters[dag_index(dag, e)] |= MATTERS_PRE;
    if (op == OP_DELAYED) code->matters[dag_delayed_leaf(dag, e)] |= MATTERS_VALUE;
  }
  code->is_rough = has_rough(code, below) || has_varying_delays(code->modes->logic);
}

/* Marks the discrete leaves that a value reads. Returns whether some were not marked before. */
static bool mark_read(ArrayCode *code, Expr value, bool *marks) {
  Dag *dag = code->array->dag;
  IndexVec below = {0};
  bool any = false;
  dag_below(dag, dag_scratch(dag), &value, 1, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    if (dag_op(dag, below.data[k]) != OP_DISCRETE) continue;
    bool *mark = &marks[dag_index(dag, below.data[k])];
    any = any || !*mark;
    *mark = true;
  }
  vec_free(dag_heap(dag), &below);
  return any;
}

/* Marks the leaves whose values the logic stores: leaves that it compares with pre(), leaves that cause actions, and all leaves
 * from which these follow. */
static void mark_remembered(ArrayCode *code, const Logic *logic) {
  const Dag *dag = code->array->dag;
  code->remembered = heap_array(code->heap, modes_leaves(code->modes), sizeof *code->remembered);
  for (uint32_t a = 0; a < logic->actions.count; a++)
    if (logic->actions.data[a].fires != EXPR_NONE) mark_read(code, logic->actions.data[a].fires, code->remembered);
  for (bool goes_on = logic->steps.count > 0; goes_on;) {
    goes_on = false;
    for (uint32_t k = logic->steps.count; k-- > 0;) {
      const LogicStep *step = &logic->steps.data[k];
      bool remembers = code->remembered[step->leaf] || dag_depends(dag, step->value, OP_PRE);
      if (remembers && mark_read(code, step->value, code->remembered)) goes_on = true;
    }
  }
}

/* Lists the divisors in the expressions that vary and are not yet in the map. */
static void list_divisors(const Dag *dag, const Expr *roots, uint32_t count, Map *known, Heap *heap,
                          ExprVec *divisors) {
  DagScratch scratch = dag_scratch_make(heap);
  IndexVec order = {0};
  dag_below(dag, &scratch, roots, count, &order);
  for (uint32_t k = 0; k < order.count; k++) {
    if (dag_op(dag, order.data[k]) != OP_DIVIDE) continue;
    Expr divisor = dag_child(dag, order.data[k], 1);
    bool varies = dag_depends(dag, divisor, OP_TIME) || dag_depends(dag, divisor, OP_VARIABLE);
    if (!varies || map_get(known, divisor) != MAP_NONE) continue;
    map_put(known, divisor, 1);
    vec_push(heap, divisors, divisor);
  }
  vec_free(heap, &order);
  dag_scratch_free(&scratch);
}

/* If a factor that rewriting introduced is zero, the equations lose their meaning. */
static void add_divisors(ArrayCode *code) {
  const Problem *problem = code->array->problem;
  if (!problem->written) return;
  const Dag *dag = code->array->dag;
  Map known = {.heap = code->heap};
  ExprVec written = {0}, all = {0};
  list_divisors(dag, problem->written, problem->equations, &known, code->heap, &written);
  list_divisors(dag, problem->residual, problem->equations, &known, code->heap, &all);
  for (uint32_t k = 0; k < all.count; k++)
    if (array_holds(code->array, all.data[k])) vec_push(code->heap, &code->divisor, all.data[k]);
  if (code->divisor.count) code->divisors = array_code_program(code, code->divisor.data, code->divisor.count);
  vec_free(code->heap, &written, &all);
  map_free(&known);
}

/* The expression that is zero at the poles of the node; EXPR_NONE: the node has no poles. */
static Expr pole_of(Dag *dag, Expr node) {
  double exponent;
  switch (dag_op(dag, node)) {
  case OP_DIVIDE: return dag_child(dag, node, 1);
  case OP_LOG:
  case OP_LOG10: return dag_child(dag, node, 0);
  case OP_TAN: return dag_unary(dag, OP_COS, dag_child(dag, node, 0));
  case OP_POWER:
    return dag_is_constant(dag, dag_child(dag, node, 1), &exponent) && exponent < 0 ? dag_child(dag, node, 0)
                                                                                    : EXPR_NONE;
  default: return EXPR_NONE;
  }
}

void array_code_pole_factors(Dag *dag, Expr node, Heap *heap, ExprVec *factors) {
  double constant;
  const Term *terms;
  ExprVec open = {0};
  Expr pole = pole_of(dag, node);
  if (pole != EXPR_NONE) vec_push(heap, &open, pole);
  while (open.count) {
    Expr e = vec_pop(&open);
    switch (dag_op(dag, e)) {
    case OP_MULTIPLY:
      vec_push(heap, &open, dag_child(dag, e, 0));
      vec_push(heap, &open, dag_child(dag, e, 1));
      break;
    case OP_DIVIDE:
    case OP_POWER:
    case OP_SQRT:
    case OP_ABS: vec_push(heap, &open, dag_child(dag, e, 0)); break;
    default:
      if (dag_op(dag, e) == OP_SUM && dag_terms(dag, e, &constant, &terms) == 1 && constant == 0)
        vec_push(heap, &open, terms[0].node);
      else vec_push(heap, factors, e);
    }
  }
  vec_free(heap, &open);
}

/* Adds differences that are constant, or already only round-off. */
static void add_held_divisors(ArrayCode *code, const ExprVec *factors) {
  Dag *dag = code->array->dag;
  ExprVec roots = {0};
  for (uint32_t k = 0; k < factors->count; k++) {
    Expr e = factors->data[k];
    bool varies = dag_depends(dag, e, OP_TIME) || dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_DISCRETE);
    code->has_residue |= dag_is_residue(dag, e);
    if (varies || dag_op(dag, e) != OP_SUM) continue;
    vec_push(code->heap, &roots, e);
    vec_push(code->heap, &roots, modes_sum_sizes(dag, e));
  }
  if (roots.count) code->held_divisors = array_code_program(code, roots.data, roots.count);
  vec_free(code->heap, &roots);
}

/* below: the nodes of the equations. */
static void add_poles(ArrayCode *code, const IndexVec *below) {
  Dag *dag = code->array->dag;
  Map known = {.heap = code->heap};
  ExprVec factors = {0};
  for (uint32_t k = 0; k < below->count; k++) array_code_pole_factors(dag, below->data[k], code->heap, &factors);
  add_held_divisors(code, &factors);
  for (uint32_t k = 0; k < factors.count; k++) {
    bool varies = dag_depends(dag, factors.data[k], OP_TIME) || dag_depends(dag, factors.data[k], OP_VARIABLE);
    if (!varies || map_get(&known, factors.data[k]) != MAP_NONE || !array_holds(code->array, factors.data[k])) continue;
    map_put(&known, factors.data[k], 1);
    vec_push(code->heap, &code->pole, factors.data[k]);
  }
  if (code->pole.count) code->poles = array_code_program(code, code->pole.data, code->pole.count);
  vec_free(code->heap, &factors);
  map_free(&known);
}

/* Examines the nodes of the equations and of the rows; they are the same if no equation is differentiated. */
static void examine_nodes(ArrayCode *code) {
  const Array *array = code->array;
  const Problem *problem = array->problem;
  IndexVec below = {0};
  DagScratch *scratch = dag_scratch(array->dag);
  dag_below(array->dag, scratch, problem->residual, problem->equations, &below);
  add_poles(code, &below);
  if (array->rows > problem->equations) {
    below.count = 0;
    dag_below(array->dag, scratch, array->row, array->rows, &below);
  }
  mark_leaves(code, &below);
  vec_free(dag_heap(array->dag), &below);
}

ArrayCode *array_code_new(Heap *heap, Array *array, const Modes *modes) {
  ArrayCode *code = heap_alloc(heap, sizeof *code);
  Model *model = array->problem->model;
  code->heap = heap;
  code->model = model;
  code->array = array;
  code->modes = modes;
  code->layout = (Layout){model->unknowns.count, array->columns, array->model_column};
  for (uint32_t r = 0; r < array->rows; r++) array_row(array, r);
  code->rows = array_code_program(code, array->row, array->rows);
  code->jacobian = array_code_jacobian(code, array->row, array->rows);
  if (modes->count) add_conditions(code, modes);
  if (modes->kinks) add_kinks(code, modes);
  add_divisors(code);
  examine_nodes(code);
  add_logic(code, modes->logic);
  add_delays(code, modes->logic);
  mark_initial_leaves(code);
  mark_remembered(code, modes->logic);
  return code;
}

bool array_code_compile(ArrayCode *code, Diags *diags) {
  return program_compile(code->heap, code->programs.data, code->programs.count, diags);
}
