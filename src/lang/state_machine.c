/* state_machine: see state_machine.h. */
#include "lang/state_machine.h"

#include "lang/clock.h"

#include <string.h>

typedef struct State {
  Name name;
  uint32_t machine, number; /* number in the machine, from 1; 1 is the initial state */
  uint32_t parent;          /* the state that contains it; NONE: none */
  Expr active, reset;
  bool is_final; /* no transition leaves it */
} State;

typedef struct StateMachine {
  uint32_t initial; /* initial state */
  uint32_t parent;  /* state that contains it; NONE: none */
  uint32_t count;   /* states */
  Expr number;      /* number of the active state */
  Expr active;      /* EXPR_NONE: always */
  Expr reset;
  Expr fired; /* number of the transition taken; 0: none */
} StateMachine;

/* The equations of states for a variable that is declared outside of them. */
typedef struct Merge {
  uint32_t variable;
  Expr value;
  BaseType base;
  Span span;
} Merge;

typedef struct StateWriter {
  Elaboration *el;
  Dag *dag;
  VEC(State) states;
  Map state_of;   /* Name -> state */
  uint32_t *root; /* per state, while machines are found */
  VEC(StateMachine) machines;
  IndexVec order; /* transitions by priority */
  VEC(Merge) merges;
  Map merge_of; /* variable -> merge */
} StateWriter;

/* ---- expressions ---- */

static Expr number(const StateWriter *w, double value) { return dag_constant(w->dag, value); }

static Expr both(const StateWriter *w, Expr a, Expr b) { return dag_binary(w->dag, OP_AND, a, b); }

static Expr either(const StateWriter *w, Expr a, Expr b) { return dag_binary(w->dag, OP_OR, a, b); }

static Expr equal(const StateWriter *w, Expr a, double value) {
  return dag_binary(w->dag, OP_EQUAL, a, number(w, value));
}

static Expr previous(StateWriter *w, Expr e, BaseType base, Span span) {
  Expr out = EXPR_NONE;
  clock_operator(w->el, SPECIAL_PREVIOUS, type_scalar(base), &e, 1, span, &out);
  return out;
}

static void add_equation(StateWriter *w, Expr variable, Expr value, BaseType base, Span span) {
  RawEquation equation = {.left = variable, .right = value, .base = base, .span = span};
  vec_push(w->el->heap, w->el->equations, equation);
}

static Expr add_variable(StateWriter *w, const char *kind, Name name, BaseType base, double start, Span span) {
  const char *text = arena_printf(&w->el->arena, "%s(%s)", kind, names_text(w->el->names, name));
  return model_leaf(w->el->model, clock_variable(w->el, text, base, number(w, start), span), 0);
}

/* The given value while the machine is active; otherwise the previous one. */
static Expr while_active(StateWriter *w, const StateMachine *machine, Expr variable, Expr value, BaseType base,
                         Span span) {
  if (machine->active == EXPR_NONE) return value;
  return dag_if(w->dag, machine->active, value, previous(w, variable, base, span));
}

/* ---- states and machines ---- */

static uint32_t find_state(const StateWriter *w, Name name) {
  uint32_t found = map_get(&w->state_of, name);
  return found == MAP_NONE ? NONE : found;
}

/* The innermost state that contains a dotted name. */
static uint32_t state_around(const StateWriter *w, Name name) {
  const char *text = names_text(w->el->names, name);
  for (size_t length = names_length(w->el->names, name); length-- > 0;) {
    if (text[length] != '.') continue;
    Name prefix = names_find(w->el->names, text, length);
    if (prefix && find_state(w, prefix) != NONE) return find_state(w, prefix);
  }
  return NONE;
}

static void add_state(StateWriter *w, Name name) {
  if (find_state(w, name) != NONE) return;
  map_put(&w->state_of, name, w->states.count);
  vec_push(w->el->heap, &w->states, (State){.name = name, .machine = NONE, .parent = NONE, .is_final = true});
}

static uint32_t root_of(StateWriter *w, uint32_t state) {
  while (w->root[state] != state) state = w->root[state] = w->root[w->root[state]];
  return state;
}

static void collect_states(StateWriter *w) {
  const Elaboration *el = w->el;
  for (uint32_t i = 0; i < el->initial_states.count; i++) add_state(w, el->initial_states.data[i].name);
  for (uint32_t i = 0; i < el->transitions.count; i++) {
    add_state(w, el->transitions.data[i].from);
    add_state(w, el->transitions.data[i].to);
  }
  w->root = heap_array(el->heap, w->states.count, sizeof *w->root);
  for (uint32_t i = 0; i < w->states.count; i++) {
    w->root[i] = i;
    w->states.data[i].parent = state_around(w, w->states.data[i].name);
  }
  for (uint32_t i = 0; i < el->transitions.count; i++) {
    uint32_t from = find_state(w, el->transitions.data[i].from);
    w->states.data[from].is_final = false;
    w->root[root_of(w, from)] = root_of(w, find_state(w, el->transitions.data[i].to));
  }
}

/* Adds the machine of an initial state, which must be its only one. */
static bool add_machine(StateWriter *w, AstLabel initial, uint32_t *machine_of) {
  uint32_t state = find_state(w, initial.name), root = root_of(w, state);
  if (machine_of[root] != NONE) {
    const StateMachine *other = &w->machines.data[machine_of[root]];
    diag_error(w->el->diags, DIAG_CLOCK, initial.span, "`%s` and `%s` are both initial states of one state machine",
               names_text(w->el->names, w->states.data[other->initial].name), names_text(w->el->names, initial.name));
    return false;
  }
  machine_of[root] = w->machines.count;
  vec_push(w->el->heap, &w->machines,
           (StateMachine){.initial = state, .parent = w->states.data[state].parent, .active = EXPR_NONE});
  return true;
}

static bool number_states(StateWriter *w, const uint32_t *machine_of) {
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < w->states.count; i++) {
      State *state = &w->states.data[i];
      state->machine = machine_of[root_of(w, i)];
      if (state->machine == NONE) {
        diag_error(w->el->diags, DIAG_CLOCK, w->el->transitions.data[0].span,
                   "the state machine of `%s` has no initial state; give it one: initialState(state)",
                   names_text(w->el->names, state->name));
        return false;
      }
      StateMachine *machine = &w->machines.data[state->machine];
      if ((machine->initial == i) == (pass == 0)) state->number = ++machine->count;
    }
  return true;
}

static bool find_machines(StateWriter *w) {
  uint32_t *machine_of = heap_array(w->el->heap, w->states.count, sizeof *machine_of);
  bool fits = true;
  for (uint32_t i = 0; i < w->states.count; i++) machine_of[i] = NONE;
  for (uint32_t i = 0; i < w->el->initial_states.count; i++)
    fits = add_machine(w, w->el->initial_states.data[i], machine_of) && fits;
  fits = fits && number_states(w, machine_of);
  heap_free(w->el->heap, machine_of);
  return fits;
}

/* Sorts by priority; transitions of different states with equal priority stay in the order of the text. */
static bool sort_transitions(StateWriter *w) {
  const Elaboration *el = w->el;
  for (uint32_t i = 0; i < el->transitions.count; i++) {
    const Transition *transition = &el->transitions.data[i];
    if (transition->priority < 1) {
      diag_error(el->diags, DIAG_CLOCK, transition->span, "the priority of a transition is 1 or more");
      return false;
    }
    uint32_t at = w->order.count;
    vec_push(el->heap, &w->order, i);
    for (; at > 0 && el->transitions.data[w->order.data[at - 1]].priority > transition->priority; at--)
      w->order.data[at] = w->order.data[at - 1];
    w->order.data[at] = i;
    for (uint32_t k = 0; k < i; k++) {
      const Transition *other = &el->transitions.data[k];
      if (other->from != transition->from || other->priority != transition->priority) continue;
      diag_error(el->diags, DIAG_CLOCK, transition->span, "two transitions from `%s` have priority %lld",
                 names_text(el->names, transition->from), (long long)transition->priority);
      return false;
    }
  }
  return true;
}

/* ---- equations of a machine ---- */

/* Are all machines inside a state in final states? */
static Expr are_final(StateWriter *w, uint32_t state, bool before, Span span) {
  Expr all = number(w, 1);
  for (uint32_t m = 0; m < w->machines.count; m++) {
    const StateMachine *machine = &w->machines.data[m];
    if (machine->parent != state) continue;
    Expr now = before ? previous(w, machine->number, TYPE_INTEGER, span) : machine->number, any = number(w, 0);
    for (uint32_t i = 0; i < w->states.count; i++)
      if (w->states.data[i].machine == m && w->states.data[i].is_final)
        any = either(w, any, equal(w, now, w->states.data[i].number));
    all = both(w, all, any);
  }
  return all;
}

/* May a transition be taken now? A delayed transition uses the value that its condition had at the previous tick. */
static Expr may_fire(StateWriter *w, const Transition *transition) {
  uint32_t from = find_state(w, transition->from);
  Expr condition = transition->condition;
  if (transition->is_synchronized)
    condition = both(w, condition, are_final(w, from, transition->is_immediate, transition->span));
  if (transition->is_immediate) return condition;
  Expr held = add_variable(w, "condition", transition->from, TYPE_BOOLEAN, 0, transition->span);
  const StateMachine *machine = &w->machines.data[w->states.data[from].machine];
  condition = while_active(w, machine, held, condition, TYPE_BOOLEAN, transition->span);
  add_equation(w, held, condition, TYPE_BOOLEAN, transition->span);
  return previous(w, held, TYPE_BOOLEAN, transition->span);
}

static bool belongs(const StateWriter *w, const Transition *transition, uint32_t machine) {
  return w->states.data[find_state(w, transition->from)].machine == machine;
}

/* The number of the transition that is taken: the first one by priority. */
static void write_fired(StateWriter *w, uint32_t number_of_machine, Span span) {
  StateMachine *machine = &w->machines.data[number_of_machine];
  Expr selected = previous(w, machine->number, TYPE_INTEGER, span), fired = number(w, 0);
  for (uint32_t k = w->order.count; k-- > 0;) {
    const Transition *transition = &w->el->transitions.data[w->order.data[k]];
    if (!belongs(w, transition, number_of_machine)) continue;
    Expr is_here = equal(w, selected, w->states.data[find_state(w, transition->from)].number);
    fired = dag_if(w->dag, both(w, is_here, may_fire(w, transition)), number(w, k + 1), fired);
  }
  fired = dag_if(w->dag, machine->reset, number(w, 0), fired);
  if (machine->active != EXPR_NONE) fired = dag_if(w->dag, machine->active, fired, number(w, 0));
  add_equation(w, machine->fired, fired, TYPE_INTEGER, span);
}

static void write_number(StateWriter *w, uint32_t number_of_machine, Span span) {
  StateMachine *machine = &w->machines.data[number_of_machine];
  Expr next = previous(w, machine->number, TYPE_INTEGER, span);
  for (uint32_t k = w->order.count; k-- > 0;) {
    const Transition *transition = &w->el->transitions.data[w->order.data[k]];
    if (!belongs(w, transition, number_of_machine)) continue;
    next = dag_if(w->dag, equal(w, machine->fired, k + 1),
                  number(w, w->states.data[find_state(w, transition->to)].number), next);
  }
  next = dag_if(w->dag, machine->reset, number(w, 1), next);
  add_equation(w, machine->number, while_active(w, machine, machine->number, next, TYPE_INTEGER, span), TYPE_INTEGER,
               span);
}

/* Is the state entered with a reset, if it is active? */
static Expr resets(StateWriter *w, uint32_t state) {
  const StateMachine *machine = &w->machines.data[w->states.data[state].machine];
  Expr any = machine->reset;
  for (uint32_t k = 0; k < w->order.count; k++) {
    const Transition *transition = &w->el->transitions.data[w->order.data[k]];
    if (transition->is_reset && find_state(w, transition->to) == state)
      any = either(w, any, equal(w, machine->fired, k + 1));
  }
  return any;
}

static bool holds_machine(const StateWriter *w, const State *state) {
  for (uint32_t m = 0; m < w->machines.count; m++)
    if (w->machines.data[m].parent == (uint32_t)(state - w->states.data)) return true;
  return false;
}

/* After a reset of the machine, each state is reset when it is next entered, once. */
static Expr pending_reset(StateWriter *w, const StateMachine *machine, const State *state, Span span) {
  if (machine->parent == NONE && !holds_machine(w, state)) return number(w, 0);
  Expr pending = add_variable(w, "pending", state->name, TYPE_BOOLEAN, 0, span);
  Expr before = previous(w, pending, TYPE_BOOLEAN, span);
  Expr next = dag_if(w->dag, equal(w, machine->number, state->number), number(w, 0), either(w, machine->reset, before));
  add_equation(w, pending, while_active(w, machine, pending, next, TYPE_BOOLEAN, span), TYPE_BOOLEAN, span);
  return before;
}

static void write_state(StateWriter *w, uint32_t number_of_state, Span span) {
  const State *state = &w->states.data[number_of_state];
  const StateMachine *machine = &w->machines.data[state->machine];
  Expr active = equal(w, machine->number, state->number);
  if (machine->active != EXPR_NONE) active = both(w, machine->active, active);
  add_equation(w, state->active, active, TYPE_BOOLEAN, span);
  Expr reset = either(w, resets(w, number_of_state), pending_reset(w, machine, state, span));
  add_equation(w, state->reset, both(w, state->active, reset), TYPE_BOOLEAN, span);
}

/* ---- ticksInState(), timeInState() ---- */

static Expr is_entered(StateWriter *w, const StateMachine *machine) {
  return either(w, machine->reset, dag_binary(w->dag, OP_GREATER, machine->fired, number(w, 0)));
}

/* Returns `going_on` if the machine was active at the previous tick, otherwise `again`. */
static Expr without_break(StateWriter *w, const StateMachine *machine, Expr going_on, Expr anew, Span span) {
  if (machine->active == EXPR_NONE) return going_on;
  return dag_if(w->dag, previous(w, machine->active, TYPE_BOOLEAN, span), going_on, anew);
}

/* An immediate condition is evaluated before it is known whether the state remains active. */
static void write_ticks(StateWriter *w, const StateMachine *machine, const Transition *transition) {
  Span span = transition->span;
  Expr ticks = add_variable(w, "ticks in", transition->from, TYPE_INTEGER, 0, span), one = number(w, 1);
  Expr next = dag_add(w->dag, previous(w, ticks, TYPE_INTEGER, span), one);
  next = without_break(w, machine, next, one, span);
  Expr value = dag_if(w->dag, is_entered(w, machine), one, next);
  add_equation(w, ticks, while_active(w, machine, ticks, value, TYPE_INTEGER, span), TYPE_INTEGER, span);
  add_equation(w, model_leaf(w->el->model, transition->ticks, 0), transition->is_immediate ? next : ticks, TYPE_INTEGER,
               span);
}

static void write_time(StateWriter *w, const StateMachine *machine, const Transition *transition) {
  Span span = transition->span;
  Expr time = dag_time(w->dag), now = EXPR_NONE;
  clock_operator(w->el, SPECIAL_SAMPLED, type_scalar(TYPE_REAL), &time, 1, span, &now);
  Expr entry = add_variable(w, "entry of", transition->from, TYPE_REAL, 0, span);
  Expr before = without_break(w, machine, previous(w, entry, TYPE_REAL, span), now, span);
  add_equation(w, entry, dag_if(w->dag, is_entered(w, machine), now, before), TYPE_REAL, span);
  add_equation(w, model_leaf(w->el->model, transition->time, 0),
               dag_subtract(w->dag, now, transition->is_immediate ? before : entry), TYPE_REAL, span);
}

static void write_durations(StateWriter *w) {
  for (uint32_t i = 0; i < w->el->transitions.count; i++) {
    Transition transition = w->el->transitions.data[i];
    const StateMachine *machine = &w->machines.data[w->states.data[find_state(w, transition.from)].machine];
    if (transition.ticks != NONE) write_ticks(w, machine, &transition);
    if (transition.time != NONE) write_time(w, machine, &transition);
  }
}

/* ---- writing ---- */

static Span machine_span(const StateWriter *w, const StateMachine *machine) {
  for (uint32_t i = 0; i < w->el->initial_states.count; i++)
    if (w->el->initial_states.data[i].name == w->states.data[machine->initial].name)
      return w->el->initial_states.data[i].span;
  return (Span){0, 0};
}

static void name_states(StateWriter *w) {
  for (uint32_t i = 0; i < w->states.count; i++) {
    State *state = &w->states.data[i];
    Span span = machine_span(w, &w->machines.data[state->machine]);
    const char *text = arena_printf(&w->el->arena, "activeState(%s)", names_text(w->el->names, state->name));
    state->active = model_leaf(w->el->model, model_find(w->el->model, text), 0);
    state->reset = add_variable(w, "reset", state->name, TYPE_BOOLEAN, 0, span);
  }
}

/* The variables of all machines, and their inputs from outside. */
static void name_machines(StateWriter *w) {
  for (uint32_t m = 0; m < w->machines.count; m++) {
    StateMachine *machine = &w->machines.data[m];
    Span span = machine_span(w, machine);
    Name name = w->states.data[machine->initial].name;
    if (machine->parent != NONE) {
      machine->active = w->states.data[machine->parent].active;
      machine->reset = w->states.data[machine->parent].reset;
    } else clock_operator(w->el, SPECIAL_FIRST_TICK, type_scalar(TYPE_BOOLEAN), NULL, 0, span, &machine->reset);
    machine->number = add_variable(w, "state", name, TYPE_INTEGER, 1, span);
    machine->fired = add_variable(w, "fired", name, TYPE_INTEGER, 0, span);
  }
}

static void write_machines(StateWriter *w) {
  name_machines(w);
  for (uint32_t m = 0; m < w->machines.count; m++) {
    Span span = machine_span(w, &w->machines.data[m]);
    write_fired(w, m, span);
    write_number(w, m, span);
  }
  for (uint32_t i = 0; i < w->states.count; i++)
    write_state(w, i, machine_span(w, &w->machines.data[w->states.data[i].machine]));
  write_durations(w);
}

/* ---- equations in states ---- */

static bool is_inside(const StateWriter *w, uint32_t variable, uint32_t state) {
  uint32_t at = state_around(w, w->el->model->variables.data[variable].name);
  while (at != NONE && at != state) at = w->states.data[at].parent;
  return at == state;
}

/* The state of an equation: the state of its section or, for a declaration equation, of the variable. */
static uint32_t equation_state(const StateWriter *w, const RawEquation *equation) {
  if (equation->state) return find_state(w, equation->state);
  uint32_t left = variable_of_leaf(w->el, equation->left);
  if (left == NONE || variable_of_leaf(w->el, equation->right) != NONE) return NONE;
  return state_around(w, w->el->model->variables.data[left].name);
}

/* Adds the value that a state gives to a variable declared outside. */
static void merge(StateWriter *w, uint32_t variable, Expr active, const RawEquation *equation) {
  uint32_t found = map_get(&w->merge_of, variable);
  if (found == MAP_NONE) {
    found = w->merges.count;
    map_put(&w->merge_of, variable, found);
    Expr last = previous(w, model_leaf(w->el->model, variable, 0), equation->base, equation->span);
    vec_push(w->el->heap, &w->merges, (Merge){variable, last, equation->base, equation->span});
  }
  w->merges.data[found].value = dag_if(w->dag, active, equation->right, w->merges.data[found].value);
}

/* Rewrites an equation of a state; false: it is merged with others. */
static bool rewrite_equation(StateWriter *w, RawEquation *equation, uint32_t state) {
  if (variable_of_leaf(w->el, equation->left) == NONE && variable_of_leaf(w->el, equation->right) != NONE) {
    Expr left = equation->left;
    equation->left = equation->right;
    equation->right = left;
  }
  uint32_t variable = variable_of_leaf(w->el, equation->left);
  if (variable == NONE) {
    diag_error(w->el->diags, DIAG_CLOCK, equation->span,
               "an equation of a state must have a variable alone on one side");
    return true;
  }
  Expr active = w->states.data[state].active;
  equation->base = w->el->model->variables.data[variable].type;
  if (!is_inside(w, variable, state)) return merge(w, variable, active, equation), false;
  Expr last = previous(w, equation->left, equation->base, equation->span);
  equation->right = dag_if(w->dag, active, equation->right, last);
  return true;
}

static void rewrite_equations(StateWriter *w) {
  EquationVec *equations = w->el->equations;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < equations->count; i++) {
    RawEquation equation = equations->data[i];
    uint32_t state = equation_state(w, &equation);
    if (state == NONE || rewrite_equation(w, &equation, state)) equations->data[kept++] = equation;
  }
  equations->count = kept;
  for (uint32_t i = 0; i < w->merges.count; i++) {
    const Merge *merged = &w->merges.data[i];
    add_equation(w, model_leaf(w->el->model, merged->variable, 0), merged->value, merged->base, merged->span);
  }
}

/* When a state is reset, previous() of its variables gives the start value again. */
static void note_resets(StateWriter *w, uint32_t variables) {
  for (uint32_t v = 0; v < variables; v++) {
    uint32_t state = state_around(w, w->el->model->variables.data[v].name);
    if (state != NONE) map_put(&w->el->state_resets, v, variable_of_leaf(w->el, w->states.data[state].reset));
  }
}

uint32_t state_reset_of(const Elaboration *el, uint32_t variable) {
  uint32_t found = map_get(&el->state_resets, variable);
  return found == MAP_NONE ? NONE : found;
}

void state_machines_elaborate(Elaboration *el) {
  if (!el->transitions.count && !el->initial_states.count) return;
  StateWriter w = {.el = el, .dag = el->dag, .state_of = map_make(el->heap), .merge_of = map_make(el->heap)};
  uint32_t variables = el->model->variables.count;
  collect_states(&w);
  if (find_machines(&w) && sort_transitions(&w)) {
    name_states(&w);
    note_resets(&w, variables);
    rewrite_equations(&w);
    write_machines(&w);
  }
  map_free(&w.state_of);
  map_free(&w.merge_of);
  heap_free(el->heap, w.root);
  vec_free(el->heap, &w.states, &w.machines, &w.order, &w.merges);
}
