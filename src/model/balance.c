/* balance: how many equations and unknowns there are (see model.h). Branches of one when, and whens of one algorithm section, that
 * assign the same discrete variable count as one equation for it. Two other whens count as two equations, which is one too many. */
#include "model/model.h"

/* Counts the discrete variables that a when assigns, each once. `stamps` holds, for each variable, the last when that assigned
 * it. */
static uint32_t count_assigned(const When *when, uint32_t *stamps, uint32_t stamp) {
  uint32_t count = 0;
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    for (uint32_t i = 0; i < branch->actions.count; i++) {
      const Action *action = &branch->actions.data[i];
      if (action->kind != ACTION_ASSIGN || stamps[action->target] == stamp) continue;
      stamps[action->target] = stamp;
      count++;
    }
  }
  return count;
}

/* Whens of one algorithm section count as one. */
static uint32_t stamp_of(const Model *model, uint32_t when) {
  uint32_t algorithm = model->whens.data[when].algorithm;
  return algorithm ? model->whens.count + algorithm : when + 1;
}

Balance model_balance(const Model *model) {
  Balance balance = {.equations = model->equations.count, .unknowns = model->unknowns.count};
  balance.discrete_equations = model->discrete_equations.count;
  balance.discrete_unknowns = model->discretes.count;
  uint32_t *stamps = heap_array(model->heap, model->variables.count, sizeof *stamps);
  for (uint32_t i = 0; i < model->whens.count; i++)
    balance.discrete_equations += count_assigned(&model->whens.data[i], stamps, stamp_of(model, i));
  heap_free(model->heap, stamps);
  return balance;
}

/* ---- discrete variables one by one ---- */

/* The equation or when that determines a discrete variable. */
typedef struct Owner {
  uint32_t stamp; /* stamp_of the last when that assigns the variable; UINT32_MAX: an equation does; 0: nothing yet */
  Span span;
} Owner;

typedef struct Owners {
  Heap *heap;
  const Model *model;
  Diags *diags;
  Owner *list; /* by discrete variable */
  bool is_fine;
} Owners;

static void report_again(Owners *owners, const char *name, Span span, Span first) {
  Diag *diag = diag_error(owners->diags, DIAG_UNBALANCED, span, "`%s` is determined a second time here", name);
  diag_note(owners->diags, diag, first, "first here");
  owners->is_fine = false;
}

static void owners_add(Owners *owners, uint32_t discrete, uint32_t stamp, Span span) {
  const Model *model = owners->model;
  Owner *owner = &owners->list[discrete];
  bool is_same = owner->stamp == stamp && stamp != UINT32_MAX;
  if (owner->stamp && !is_same)
    report_again(owners, model_name(model, model->discretes.data[discrete]), span, owner->span);
  *owner = (Owner){stamp, span};
}

/* Lists a guard and the conditions whose conjunction it is. */
static void list_conjuncts(const Dag *dag, Heap *heap, Expr guard, ExprVec *list) {
  list->count = 0;
  vec_push(heap, list, guard);
  for (uint32_t k = 0; k < list->count; k++)
    for (uint32_t c = 0; dag_op(dag, list->data[k]) == OP_AND && c < dag_child_count(dag, list->data[k]); c++)
      vec_push(heap, list, dag_child(dag, list->data[k], c));
}

static bool has_opposite(const Dag *dag, const ExprVec *list, const ExprVec *others) {
  for (uint32_t i = 0; i < list->count; i++)
    for (uint32_t k = 0; dag_op(dag, list->data[i]) == OP_NOT && k < others->count; k++)
      if (dag_child(dag, list->data[i], 0) == others->data[k]) return true;
  return false;
}

/* Are the two equations of a when branch in different branches of an inner if? */
static bool exclude_each_other(const Owners *owners, const Action *a, const Action *b) {
  const Dag *dag = owners->model->dag;
  ExprVec of_a = {0}, of_b = {0};
  if (a->guard == EXPR_NONE || b->guard == EXPR_NONE) return false;
  list_conjuncts(dag, owners->heap, a->guard, &of_a);
  list_conjuncts(dag, owners->heap, b->guard, &of_b);
  bool is = has_opposite(dag, &of_a, &of_b) || has_opposite(dag, &of_b, &of_a);
  vec_free(owners->heap, &of_a, &of_b);
  return is;
}

/* Reports equations of one when branch that determine the same variable. */
static void check_branch(Owners *owners, const WhenBranch *branch) {
  const Model *model = owners->model;
  Map last = map_make(owners->heap); /* by variable: the equation that determined it */
  uint32_t *earlier = heap_array(owners->heap, branch->actions.count, sizeof *earlier);
  for (uint32_t i = 0; i < branch->actions.count; i++) {
    const Action *action = &branch->actions.data[i];
    if (action->kind != ACTION_ASSIGN) continue;
    earlier[i] = map_get(&last, action->target);
    map_put(&last, action->target, i);
    for (uint32_t k = earlier[i]; k != MAP_NONE; k = earlier[k]) {
      const Action *other = &branch->actions.data[k];
      if (exclude_each_other(owners, other, action)) continue;
      report_again(owners, model_name(model, action->target), action->span, other->span);
      break;
    }
  }
  heap_free(owners->heap, earlier);
  map_free(&last);
}

static void owners_add_when(Owners *owners, uint32_t position) {
  const When *when = &owners->model->whens.data[position];
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    if (!when->algorithm) check_branch(owners, branch);
    for (uint32_t i = 0; i < branch->actions.count; i++) {
      const Action *action = &branch->actions.data[i];
      const Variable *target = &owners->model->variables.data[action->target];
      if (action->kind == ACTION_ASSIGN && target->role == ROLE_DISCRETE)
        owners_add(owners, target->index, stamp_of(owners->model, position), action->span);
    }
  }
}

/* Finds the equation or when that determines each discrete variable, and reports variables that more than one
 * determines. */
static Owners find_owners(const Model *model, Heap *heap, Arena *arena, Diags *diags) {
  Owners owners = {.heap = heap, .model = model, .diags = diags, .is_fine = true};
  owners.list = arena_array(arena, model->discretes.count, sizeof *owners.list);
  for (uint32_t i = 0; i < model->discrete_equations.count; i++) {
    const Equation *equation = &model->discrete_equations.data[i];
    owners_add(&owners, dag_index(model->dag, equation->left), UINT32_MAX, equation->span);
  }
  for (uint32_t i = 0; i < model->whens.count; i++) owners_add_when(&owners, i);
  return owners;
}

/* ---- loops of discrete equations ---- */

typedef struct LoopSearch {
  Heap *heap;
  const Model *model;
  uint32_t *equation_of; /* by discrete variable; MAP_NONE */
  uint32_t *waits;       /* per equation: how many equations it reads that are not sorted yet */
  IndexVec *readers;     /* per equation */
} LoopSearch;

/* Lists the equations whose variables equation i reads. pre() of a variable is not read: its value is known. */
static void list_read(const LoopSearch *search, uint32_t i, IndexVec *below, IndexVec *read) {
  Dag *dag = search->model->dag;
  Expr right = search->model->discrete_equations.data[i].right;
  below->count = read->count = 0;
  if (dag_depends(dag, right, OP_DISCRETE)) dag_below(dag, dag_scratch(dag), &right, 1, below);
  for (uint32_t k = 0; k < below->count; k++) {
    if (dag_op(dag, below->data[k]) != OP_DISCRETE) continue;
    uint32_t equation = search->equation_of[dag_index(dag, below->data[k])];
    if (equation != MAP_NONE) vec_push(search->heap, read, equation);
  }
}

/* Sorts the equations. Equations that are never sorted are in loops, or read a variable of a loop. */
static void sort_equations(LoopSearch *search, IndexVec *below, IndexVec *read) {
  uint32_t count = search->model->discrete_equations.count;
  IndexVec ready = {0};
  for (uint32_t i = 0; i < count; i++) {
    list_read(search, i, below, read);
    for (uint32_t k = 0; k < read->count; k++) vec_push(search->heap, &search->readers[read->data[k]], i);
    search->waits[i] = read->count;
    if (!read->count) vec_push(search->heap, &ready, i);
  }
  while (ready.count) {
    const IndexVec *readers = &search->readers[vec_pop(&ready)];
    for (uint32_t k = 0; k < readers->count; k++)
      if (--search->waits[readers->data[k]] == 0) vec_push(search->heap, &ready, readers->data[k]);
  }
  for (uint32_t i = 0; i < count; i++) vec_free(search->heap, &search->readers[i]);
  vec_free(search->heap, &ready);
}

/* The next equation of the loop, or on the way to it. */
static uint32_t next_waiting(const LoopSearch *search, uint32_t i, IndexVec *below, IndexVec *read) {
  list_read(search, i, below, read);
  uint32_t k = 0;
  while (!search->waits[read->data[k]]) k++;
  return read->data[k];
}

/* Reports the first loop. Discrete equations must be assignments in some order (appendix B of the specification). Usually events find
 * values by iterating over the loop; so only a strict model is refused. */
static bool report_loop(const LoopSearch *search, IndexVec *below, IndexVec *read, Diags *diags) {
  const Model *model = search->model;
  uint32_t count = model->discrete_equations.count, i = 0;
  while (i < count && !search->waits[i]) i++;
  if (i == count) return true;
  for (uint32_t k = 0; k < count; k++) i = next_waiting(search, i, below, read);
  uint32_t other = next_waiting(search, i, below, read);
  const Equation *equation = &model->discrete_equations.data[i], *next = &model->discrete_equations.data[other];
  const char *name = model_name(model, model->discretes.data[dag_index(model->dag, equation->left)]);
  Diag *diag =
      model->is_strict
          ? diag_error(diags, DIAG_UNBALANCED, equation->span, "`%s` depends on itself without `pre`", name)
          : diag_warning(diags, DIAG_WARNING_LENIENT, equation->span,
                         "`%s` depends on itself without `pre`: if several values satisfy the equations, the run keeps "
                         "the one that its iteration finds first",
                         name);
  if (other != i)
    diag_note(diags, diag, next->span, "through `%s`",
              model_name(model, model->discretes.data[dag_index(model->dag, next->left)]));
  return !model->is_strict;
}

static bool check_loops(const Model *model, Heap *heap, Arena *arena, Diags *diags) {
  LoopSearch search = {.heap = heap, .model = model};
  uint32_t count = model->discrete_equations.count;
  IndexVec below = {0}, read = {0};
  search.equation_of = arena_array(arena, model->discretes.count, sizeof *search.equation_of);
  search.waits = arena_array(arena, count, sizeof *search.waits);
  search.readers = arena_array(arena, count, sizeof *search.readers);
  for (uint32_t d = 0; d < model->discretes.count; d++) search.equation_of[d] = MAP_NONE;
  for (uint32_t i = 0; i < count; i++)
    search.equation_of[dag_index(model->dag, model->discrete_equations.data[i].left)] = i;
  sort_equations(&search, &below, &read);
  bool is_fine = report_loop(&search, &below, &read, diags);
  vec_free(dag_heap(model->dag), &below);
  vec_free(heap, &read);
  return is_fine;
}

bool model_check_discrete(const Model *model, Heap *heap, Diags *diags) {
  Arena arena = arena_make(heap);
  Owners owners = find_owners(model, heap, &arena, diags);
  for (uint32_t i = 0; i < model->discretes.count; i++) {
    const Variable *variable = &model->variables.data[model->discretes.data[i]];
    if (owners.list[i].stamp || variable->is_held) continue;
    const char *name = names_text(model->names, variable->name);
    Diag *diag = diag_error(diags, DIAG_UNBALANCED, variable->span, "no equation determines `%s`", name);
    if (variable->causality == CAUSALITY_INNER_INPUT)
      diag_note(diags, diag, (Span){0}, "nothing is connected to the input %s: connect it, or give it a value", name);
    owners.is_fine = false;
  }
  owners.is_fine = owners.is_fine && check_loops(model, heap, &arena, diags);
  arena_free(&arena);
  return owners.is_fine;
}
