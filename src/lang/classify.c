/* classify: which equations determine a discrete variable, and which are continuous.
 *
 * An equation without continuous variables determines a discrete variable that is all of one side. If both sides are such
 * variables, the choice begins at the ends of the chains: an equation with one candidate left determines it, and so on
 * (peeling). A cycle is opened at its first equation. After that, an equation with continuous variables determines its discrete
 * variable if it has only one, and nothing else determines it. */
#include "lang/elaborate.h"

typedef struct DiscreteSides {
  uint32_t count;
  uint32_t variable[2]; /* indices of the discrete variables that are the whole left side and the whole right side */
  bool is_right[2], is_negated[2];
} DiscreteSides;

typedef struct Classifier {
  Elaboration *el;
  const RawEquation *equations;
  uint32_t count;
  DiscreteSides *candidates;
  uint32_t *chosen;       /* equation -> candidate 0 or 1, or NONE */
  bool *is_discrete;      /* equation determines a discrete variable */
  bool *taken;            /* discrete variable is determined */
  uint32_t *first, *next; /* equations of a variable: list through 2 * equation + candidate */
  IndexVec queue;
} Classifier;

static bool lone(const Elaboration *el, Expr e, uint32_t *variable, bool *is_negated) {
  const Expr *arguments;
  *is_negated = false;
  if (dag_op(el->dag, e) == OP_NOT && dag_arguments(el->dag, e, &arguments) == 1) {
    *is_negated = true;
    e = arguments[0];
  }
  if (dag_op(el->dag, e) != OP_DISCRETE) return false;
  *variable = dag_index(el->dag, e);
  return true;
}

static DiscreteSides candidates_of(const Elaboration *el, const RawEquation *equation) {
  DiscreteSides out = {0};
  for (uint32_t side = 0; side < 2; side++) {
    uint32_t variable;
    bool is_negated;
    if (!lone(el, side ? equation->right : equation->left, &variable, &is_negated)) continue;
    if (out.count && out.variable[0] == variable) continue;
    out.variable[out.count] = variable;
    out.is_right[out.count] = side;
    out.is_negated[out.count++] = is_negated;
  }
  return out;
}

static void mark_assigned_by_whens(Classifier *s) {
  const Model *model = s->el->model;
  for (uint32_t i = 0; i < model->whens.count; i++)
    for (uint32_t k = 0; k < model->whens.data[i].branches.count; k++) {
      const WhenBranch *branch = &model->whens.data[i].branches.data[k];
      for (uint32_t a = 0; a < branch->actions.count; a++)
        if (branch->actions.data[a].kind == ACTION_ASSIGN)
          s->taken[model->variables.data[branch->actions.data[a].target].index] = true;
    }
}

static uint32_t free_candidates(const Classifier *s, uint32_t equation, uint32_t *choice) {
  uint32_t count = 0;
  const DiscreteSides *c = &s->candidates[equation];
  for (uint32_t i = c->count; i-- > 0;)
    if (!s->taken[c->variable[i]]) count++, *choice = i;
  return count;
}

static void choose(Classifier *s, uint32_t equation, uint32_t choice) {
  uint32_t variable = s->candidates[equation].variable[choice];
  s->chosen[equation] = choice;
  s->taken[variable] = true;
  for (uint32_t at = s->first[variable]; at != NONE; at = s->next[at]) vec_push(s->el->heap, &s->queue, at / 2);
}

static void peel(Classifier *s) {
  uint32_t choice;
  while (s->queue.count) {
    uint32_t equation = vec_pop(&s->queue);
    if (s->chosen[equation] == NONE && s->is_discrete[equation] && free_candidates(s, equation, &choice) == 1)
      choose(s, equation, choice);
  }
}

static void solve(Classifier *s) {
  uint32_t choice;
  for (uint32_t i = s->count; i-- > 0;) vec_push(s->el->heap, &s->queue, i);
  peel(s);
  for (uint32_t i = 0; i < s->count; i++)
    if (s->is_discrete[i] && s->chosen[i] == NONE && free_candidates(s, i, &choice)) {
      choose(s, i, choice);
      peel(s);
    }
  /* Equations with continuous variables and a single discrete variable that nothing else determines. */
  for (uint32_t i = 0; i < s->count; i++)
    if (!s->is_discrete[i] && free_candidates(s, i, &choice)) {
      s->is_discrete[i] = true;
      choose(s, i, choice);
      s->queue.count = 0;
    }
}

static void prepare(Classifier *s) {
  Elaboration *el = s->el;
  uint32_t discretes = el->model->discretes.count;
  s->candidates = heap_array(el->heap, s->count, sizeof *s->candidates);
  s->chosen = heap_array(el->heap, s->count, sizeof *s->chosen);
  s->is_discrete = heap_array(el->heap, s->count, sizeof *s->is_discrete);
  s->taken = heap_array(el->heap, discretes, sizeof *s->taken);
  s->first = heap_array(el->heap, discretes, sizeof *s->first);
  s->next = heap_array(el->heap, 2 * (size_t)s->count, sizeof *s->next);
  for (uint32_t i = 0; i < discretes; i++) s->first[i] = NONE;
  for (uint32_t i = 0; i < s->count; i++) {
    const RawEquation *equation = &s->equations[i];
    s->chosen[i] = NONE;
    s->candidates[i] = candidates_of(el, equation);
    bool is_continuous =
        dag_depends(el->dag, equation->left, OP_VARIABLE) || dag_depends(el->dag, equation->right, OP_VARIABLE);
    bool has_discrete =
        dag_depends(el->dag, equation->left, OP_DISCRETE) || dag_depends(el->dag, equation->right, OP_DISCRETE);
    bool is_number = equation->base == TYPE_REAL || (equation->base == TYPE_INTEGER && !has_discrete);
    s->is_discrete[i] = !is_number || (!is_continuous && has_discrete);
    for (uint32_t k = 0; k < s->candidates[i].count; k++) {
      uint32_t variable = s->candidates[i].variable[k];
      s->next[2 * i + k] = s->first[variable];
      s->first[variable] = 2 * i + k;
    }
  }
}

/* A Real that is declared `discrete` gets its values only from whens (section 4.5.4), possibly through other such variables that
 * connections make equal. In files written by tools, equations may give it values too: values of clocks are written as
 * equations. */
static void check_discrete_real(Elaboration *el, uint32_t variable, Span span) {
  if (el->model->variables.data[variable].type == TYPE_REAL && !el->is_base)
    input_error(el, span, "`%s` is a discrete Real, and must be assigned in a when",
                names_text(el->names, el->model->variables.data[variable].name));
}

static void emit_discrete(Classifier *s, uint32_t i) {
  Elaboration *el = s->el;
  RawEquation raw = s->equations[i];
  Equation equation = {
      .left = raw.left, .right = raw.right, .residual = EXPR_NONE, .span = raw.span, .is_declared = raw.is_declared};
  const DiscreteSides *c = &s->candidates[i];
  if (c->count) {
    bool is_chosen = s->chosen[i] != NONE; /* if not, the variable is determined twice; the balance check reports it */
    uint32_t choice = is_chosen ? s->chosen[i] : 0;
    Expr other = c->is_right[choice] ? raw.left : raw.right;
    equation.left = dag_discrete(el->dag, c->variable[choice]);
    uint32_t variable = el->model->discretes.data[c->variable[choice]];
    if (is_chosen) integer_is_real(el, variable, raw.base, raw.span);
    if (is_chosen && c->count == 1 && !raw.is_made) check_discrete_real(el, variable, raw.span);
    equation.right = c->is_negated[choice] ? dag_unary(el->dag, OP_NOT, other) : other;
  } else {
    input_error(el, raw.span, "an equation between discrete values must have a variable alone on one side");
  }
  if (raw.base != TYPE_STRING) equation.residual = dag_subtract(el->dag, equation.left, equation.right);
  vec_push(el->heap, &el->model->discrete_equations, equation);
}

/* Do all equations contain only numbers and continuous variables? */
static bool are_continuous(const Elaboration *el, const EquationVec *equations) {
  for (uint32_t i = 0; i < equations->count; i++) {
    const RawEquation *raw = &equations->data[i];
    bool is_number = raw->base == TYPE_REAL || raw->base == TYPE_INTEGER;
    if (!is_number || dag_depends(el->dag, raw->left, OP_DISCRETE) || dag_depends(el->dag, raw->right, OP_DISCRETE))
      return false;
  }
  return true;
}

void equations_classify(Elaboration *el, const EquationVec *equations) {
  routines_finish(el); /* inverses of functions may call others */
  Classifier s = {.el = el, .equations = equations->data, .count = equations->count};
  if (!are_continuous(el, equations)) {
    prepare(&s);
    mark_assigned_by_whens(&s);
    solve(&s);
  }
  vec_reserve(el->heap, &el->model->equations, s.count);
  for (uint32_t i = 0; i < s.count; i++) {
    const RawEquation *raw = &s.equations[i];
    if (s.is_discrete && s.is_discrete[i]) {
      emit_discrete(&s, i);
      continue;
    }
    Equation equation = {.left = raw->left,
                         .right = raw->right,
                         .residual = dag_subtract(el->dag, raw->left, raw->right),
                         .span = raw->span,
                         .is_declared = raw->is_declared};
    inverse_use(el, raw->left, raw->right);
    vec_push(el->heap, &el->model->equations, equation);
  }
  heap_free_all(el->heap, s.candidates, s.chosen, s.is_discrete, s.taken, s.first, s.next);
  vec_free(el->heap, &s.queue);
}
