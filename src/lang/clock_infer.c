/* clock_infer: see clock.h. Variables of one equation have one clock. sample and hold are the boundary between a clock and
 * continuous time. subSample and similar operators are the boundary between two clocks whose ticks are counted in ticks of the same
 * base clock (Modelica Language Specification 3.6, 16.7). Rates spread as fractions from the constructed clocks along the
 * conversions, in both directions. */
#include "lang/clock.h"

#include <stdlib.h>
#include <string.h>

typedef struct Inference {
  Elaboration *el;
  ClockPartition *partition;
  uint32_t *parent; /* per variable */
  uint32_t count;
  IndexVec leaves;       /* scratch */
  IndexVec *conversions; /* per clock: operators that convert from or to it */
} Inference;

/* ---- fractions ---- */

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

Fraction fraction_make(int64_t n, int64_t d) {
  int64_t divisor = common_divisor(n, d);
  return divisor ? (Fraction){n / divisor, d / divisor} : (Fraction){0, 0};
}

Fraction fraction_multiply(Fraction a, Fraction b) {
  Fraction left = fraction_make(a.n, b.d), right = fraction_make(b.n, a.d), out;
  bool is_far = __builtin_mul_overflow(left.n, right.n, &out.n) || __builtin_mul_overflow(left.d, right.d, &out.d);
  return is_far ? (Fraction){0, 0} : out;
}

Fraction fraction_add(Fraction a, Fraction b) {
  int64_t left, right, n, d;
  bool is_far = __builtin_mul_overflow(a.n, b.d, &left) || __builtin_mul_overflow(b.n, a.d, &right) ||
                __builtin_add_overflow(left, right, &n) || __builtin_mul_overflow(a.d, b.d, &d);
  return is_far || d == 0 ? (Fraction){0, 0} : fraction_make(n, d);
}

static bool fractions_equal(Fraction a, Fraction b) { return a.n == b.n && a.d == b.d; }

static Fraction inverse(Fraction a) { return (Fraction){a.d, a.n}; }

/* ---- sets of variables ---- */

static uint32_t find(Inference *s, uint32_t at) {
  while (s->parent[at] != at) at = s->parent[at] = s->parent[s->parent[at]];
  return at;
}

static void unite(Inference *s, uint32_t a, uint32_t b) {
  a = find(s, a);
  b = find(s, b);
  if (a < b) s->parent[b] = a;
  else s->parent[a] = b;
}

/* Collects the variables below the roots in s->leaves. */
static void collect_leaves(Inference *s, const Expr *roots, uint32_t count) {
  const Elaboration *el = s->el;
  const Dag *dag = el->dag;
  IndexVec below = {0};
  s->leaves.count = 0;
  dag_below(dag, dag_scratch(el->dag), roots, count, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    Expr e = below.data[k];
    Op op = dag_op(dag, e);
    if (op == OP_VARIABLE) vec_push(el->heap, &s->leaves, el->model->unknowns.data[dag_index(dag, e)]);
    if (op == OP_DISCRETE || op == OP_PRE) vec_push(el->heap, &s->leaves, el->model->discretes.data[dag_index(dag, e)]);
  }
  vec_free(el->heap, &below);
}

static void unite_leaves(Inference *s) {
  for (uint32_t k = 1; k < s->leaves.count; k++) unite(s, s->leaves.data[0], s->leaves.data[k]);
}

static void unite_equations(Inference *s) {
  const EquationVec *equations = s->el->equations;
  for (uint32_t i = 0; i < equations->count; i++) {
    const RawEquation *equation = &equations->data[i];
    collect_leaves(s, (const Expr[]){equation->left, equation->right}, 2);
    if (equation->clock) vec_push(s->el->heap, &s->leaves, equation->clock - 1);
    unite_leaves(s);
  }
}

/* Is the first argument in continuous time? */
static bool reads_continuous(Special special) { return special == SPECIAL_SAMPLED || special == SPECIAL_CLOCK_EVENT; }

/* Do the argument and the result tick together? */
static bool keeps_clock(Special special) { return !reads_continuous(special) && special != SPECIAL_HOLD; }

static void unite_operators(Inference *s) {
  for (uint32_t i = 0; i < s->el->clock_operators.count; i++) {
    const ClockOperator *use = &s->el->clock_operators.data[i];
    if (use->count == 0) continue;
    collect_leaves(s, use->arguments, 1);
    if (!reads_continuous(use->special)) unite_leaves(s);
    if (keeps_clock(use->special) && !clock_is_conversion(use->special) && s->leaves.count)
      unite(s, s->leaves.data[0], use->result);
    if (use->special == SPECIAL_SAMPLED && use->count == 2)
      unite(s, variable_of_leaf(s->el, use->arguments[1]), use->result);
  }
}

/* ---- clocks ---- */

static void make_clocks(Inference *s) {
  ClockPartition *partition = s->partition;
  for (uint32_t v = 0; v < s->count; v++) {
    uint32_t root = find(s, v);
    if (root == v) {
      partition->clock_of[v] = partition->clocks.count;
      vec_push(s->el->heap, &partition->clocks,
               (Clock){.witness = v,
                       .clocked = NONE,
                       .continuous = NONE,
                       .definer = NONE,
                       .base = NONE,
                       .tick = EXPR_NONE,
                       .ticks = NONE,
                       .interval = EXPR_NONE});
    } else {
      partition->clock_of[v] = partition->clock_of[root];
    }
  }
}

static Clock *clock_of(const Inference *s, uint32_t variable) {
  return &s->partition->clocks.data[s->partition->clock_of[variable]];
}

static void mark_continuous(Inference *s) {
  for (uint32_t k = 0; k < s->leaves.count; k++) {
    Clock *clock = clock_of(s, s->leaves.data[k]);
    if (clock->continuous == NONE) clock->continuous = s->leaves.data[k];
  }
}

static const char *variable_text(const Inference *s, uint32_t variable) { return model_name(s->el->model, variable); }

static void mark_operators(Inference *s) {
  Elaboration *el = s->el;
  for (uint32_t i = 0; i < el->clock_operators.count; i++) {
    const ClockOperator *use = &el->clock_operators.data[i];
    if (use->count) collect_leaves(s, use->arguments, 1);
    if (use->count && reads_continuous(use->special)) mark_continuous(s);
    uint32_t side = use->result;
    if (use->special == SPECIAL_HOLD) {
      side = s->leaves.data[0];
      s->leaves.data[0] = use->result;
      mark_continuous(s);
    }
    Clock *clock = clock_of(s, side);
    if (clock->clocked == NONE) clock->clocked = i;
    if (use->count && clock_is_conversion(use->special)) {
      collect_leaves(s, use->arguments, 1);
      if (s->leaves.count && clock_of(s, s->leaves.data[0])->clocked == NONE)
        clock_of(s, s->leaves.data[0])->clocked = i;
    }
  }
}

/* Whens without a clock act in continuous time. */
static void mark_whens(Inference *s) {
  const Model *model = s->el->model;
  for (uint32_t i = 0; i < model->whens.count; i++)
    for (uint32_t k = 0; k < model->whens.data[i].branches.count; k++) {
      const WhenBranch *branch = &model->whens.data[i].branches.data[k];
      collect_leaves(s, branch->conditions.data, branch->conditions.count);
      mark_continuous(s);
      for (uint32_t a = 0; a < branch->actions.count; a++) {
        const Action *action = &branch->actions.data[a];
        s->leaves.count = 0;
        if (action->kind == ACTION_ASSIGN || action->kind == ACTION_REINIT) {
          collect_leaves(s, &action->value, 1);
          vec_push(s->el->heap, &s->leaves, action->target);
        }
        mark_continuous(s);
      }
    }
}

/* Reports operators that exist only in continuous time, in an equation of a clock. */
static bool check_equation(Inference *s, const RawEquation *equation) {
  static const Op refused[] = {OP_PRE, OP_EDGE, OP_CHANGE, OP_INITIAL, OP_TERMINAL, OP_SAMPLE, OP_DELAY, OP_TIME};
  static const char *const words[] = {"pre", "edge", "change", "initial()", "terminal()", "sample", "delay", "time"};
  const Dag *dag = s->el->dag;
  const Expr sides[] = {equation->left, equation->right};
  if (equation->is_unclocked)
    return diag_error(s->el->diags, DIAG_CLOCK, equation->span,
                      "an algorithm with a clock that follows from elsewhere may leave a variable unchanged; put "
                      "it in a when: when Clock() then"),
           false;
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
    for (uint32_t side = 0; side < 2; side++)
      if (dag_contains(dag, dag_scratch(s->el->dag), sides[side], refused[k])) {
        Diag *diag = diag_error(s->el->diags, DIAG_CLOCK, equation->span,
                                "`%s` is not allowed in an equation of a clock", words[k]);
        if (refused[k] == OP_TIME) diag_note(s->el->diags, diag, (Span){0, 0}, "use sample(time)");
        return false;
      }
  return true;
}

static bool mark_equations(Inference *s) {
  const EquationVec *equations = s->el->equations;
  bool fits = true;
  for (uint32_t i = 0; i < equations->count; i++) {
    const RawEquation *equation = &equations->data[i];
    if (equation->base == TYPE_CLOCK) continue;
    collect_leaves(s, (const Expr[]){equation->left, equation->right}, 2);
    if (s->leaves.count == 0) continue;
    Clock *clock = clock_of(s, s->leaves.data[0]);
    clock->has_equations = true;
    if (clock->clocked != NONE) fits = check_equation(s, equation) && fits;
  }
  return fits;
}

static bool check_sides(Inference *s) {
  bool fits = true;
  for (uint32_t c = 0; c < s->partition->clocks.count; c++) {
    const Clock *clock = &s->partition->clocks.data[c];
    if (clock->clocked == NONE || clock->continuous == NONE) continue;
    fits = false;
    Diag *diag = diag_error(s->el->diags, DIAG_CLOCK, s->el->clock_operators.data[clock->clocked].span,
                            "`%s` is both clocked and of continuous time; sample() and hold() convert between them",
                            variable_text(s, clock->continuous));
    diag_note(s->el->diags, diag, s->el->model->variables.data[clock->continuous].span, "declared here");
  }
  return fits;
}

/* ---- rates ---- */

static int64_t whole(const Elaboration *el, Expr e) { return (int64_t)dag_value(el->dag, e); }

bool clock_is_irregular(const Elaboration *el, const ClockOperator *base) {
  return base->special == SPECIAL_CLOCK_EVENT || dag_depends(el->dag, base->arguments[0], OP_VARIABLE) ||
         dag_depends(el->dag, base->arguments[0], OP_DISCRETE);
}

/* The interval of a constructed clock in ticks of another one, if both are known; false if they cannot be compared. */
static bool compare_bases(const Elaboration *el, uint32_t a, uint32_t b, Fraction *ratio) {
  const ClockOperator *own = &el->clock_operators.data[a], *other = &el->clock_operators.data[b];
  double counter[2];
  *ratio = (Fraction){1, 1};
  if (a == b) return true;
  if (own->special != other->special || clock_is_irregular(el, own) || clock_is_irregular(el, other)) return false;
  if (own->special == SPECIAL_CLOCK_TIMED) return own->arguments[0] == other->arguments[0];
  if (!dag_is_constant(el->dag, own->arguments[0], &counter[0])) return false;
  if (!dag_is_constant(el->dag, other->arguments[0], &counter[1]) || counter[1] == 0) return false;
  *ratio = fraction_multiply(fraction_make((int64_t)counter[0], own->count > 1 ? whole(el, own->arguments[1]) : 1),
                             fraction_make(other->count > 1 ? whole(el, other->arguments[1]) : 1, (int64_t)counter[1]));
  return true;
}

/* A clock may have two constructors if both count in whole numbers and give the same interval. */
static bool is_same_clock(const Elaboration *el, uint32_t a, uint32_t b) {
  Fraction ratio;
  return el->clock_operators.data[a].special == SPECIAL_CLOCK_COUNTED && compare_bases(el, a, b, &ratio) &&
         ratio.n == 1 && ratio.d == 1;
}

static bool define(Inference *s, uint32_t number) {
  const ClockOperator *use = &s->el->clock_operators.data[number];
  Clock *clock = clock_of(s, use->result);
  if (use->special == SPECIAL_CLOCK) return true;
  if (use->special == SPECIAL_CLOCK_SOLVER) {
    if (dag_op(s->el->dag, use->arguments[1]) == OP_STRING) clock->solver = dag_index(s->el->dag, use->arguments[1]);
    return true;
  }
  if (clock->definer == NONE) return clock->definer = number, true;
  if (is_same_clock(s->el, number, clock->definer)) return true;
  Diag *diag = diag_error(s->el->diags, DIAG_CLOCK, use->span, "`%s` has two clocks", variable_text(s, clock->witness));
  diag_note(s->el->diags, diag, s->el->clock_operators.data[clock->definer].span, "the other one is here");
  return false;
}

static bool define_clocks(Inference *s) {
  bool fits = true;
  for (uint32_t i = 0; i < s->el->clock_operators.count; i++)
    if (clock_is_constructor(s->el->clock_operators.data[i].special)) fits = define(s, i) && fits;
  return fits;
}

/* Rate of the result relative to the rate of the argument, and the delay of the result in ticks of the argument. false: not
 * specified. */
static bool conversion(const Elaboration *el, const ClockOperator *use, Fraction *rate, Fraction *late) {
  *rate = (Fraction){1, 1};
  *late = (Fraction){0, 1};
  if (use->special == SPECIAL_NO_CLOCK || use->count < 2) return false;
  int64_t number = whole(el, use->arguments[1]);
  int64_t resolution = use->count > 2 ? whole(el, use->arguments[2]) : 1;
  switch (use->special) {
  case SPECIAL_SUB_SAMPLE: *rate = (Fraction){number, 1}; return number > 0;
  case SPECIAL_SUPER_SAMPLE: *rate = (Fraction){1, number}; return number > 0;
  case SPECIAL_SHIFT_SAMPLE: *late = fraction_make(number, resolution); return true;
  case SPECIAL_BACK_SAMPLE: *late = fraction_make(-number, resolution); return true;
  default: return false;
  }
}

/* The clock of the argument of a conversion. */
static uint32_t argument_clock(Inference *s, const ClockOperator *use) {
  collect_leaves(s, use->arguments, 1);
  return s->leaves.count ? s->partition->clock_of[s->leaves.data[0]] : NONE;
}

static void list_conversions(Inference *s) {
  s->conversions = heap_array(s->el->heap, s->partition->clocks.count, sizeof *s->conversions);
  for (uint32_t i = 0; i < s->el->clock_operators.count; i++) {
    const ClockOperator *use = &s->el->clock_operators.data[i];
    if (!clock_is_conversion(use->special)) continue;
    uint32_t from = argument_clock(s, use), to = s->partition->clock_of[use->result];
    if (from != NONE) vec_push(s->el->heap, &s->conversions[from], i);
    if (from != NONE) vec_push(s->el->heap, &s->conversions[to], i);
  }
}

static bool report_conflict(Inference *s, const ClockOperator *use, const Clock *clock) {
  diag_error(
      s->el->diags, DIAG_CLOCK, use->span,
      "the clock of `%s` can be inferred in two ways that do not agree: ticks %lld/%lld apart, the first at %lld/%lld, "
      "in ticks of its base clock",
      variable_text(s, clock->witness), (long long)clock->rate.n, (long long)clock->rate.d, (long long)clock->shift.n,
      (long long)clock->shift.d);
  return false;
}

/* Gives the clock at the other end of a conversion its rate, from a known clock. */
static bool spread(Inference *s, uint32_t number, uint32_t known, IndexVec *open) {
  const ClockOperator *use = &s->el->clock_operators.data[number];
  uint32_t from = argument_clock(s, use), to = s->partition->clock_of[use->result];
  Fraction factor, late;
  if (!conversion(s->el, use, &factor, &late)) return true;
  const Clock *source = &s->partition->clocks.data[known];
  Clock *target = &s->partition->clocks.data[known == from ? to : from];
  Fraction rate = fraction_multiply(source->rate, known == from ? factor : inverse(factor));
  Fraction shift = fraction_multiply(late, known == from ? source->rate : rate);
  if (known != from) shift.n = -shift.n;
  shift = fraction_add(source->shift, shift);
  if (rate.d == 0 || shift.d == 0)
    return diag_error(s->el->diags, DIAG_CLOCK, use->span, "the rate of the clock is not a fraction of 64-bit numbers"),
           false;
  if (target->is_known && known != from) return true; /* checked from the other end */
  if (target->is_known) {
    Fraction ratio;
    bool fits = compare_bases(s->el, target->base, source->base, &ratio) &&
                fractions_equal(fraction_multiply(ratio, target->rate), rate) &&
                fractions_equal(fraction_multiply(ratio, target->shift), shift);

    return fits || report_conflict(s, use, target);
  }
  target->is_known = true;
  target->base = source->base;
  target->rate = rate;
  target->shift = shift;
  vec_push(s->el->heap, open, (uint32_t)(target - s->partition->clocks.data));
  return true;
}

/* Does the constructor of a clock agree with the rate that its neighbours give it? */
static bool agrees(const Elaboration *el, const Clock *clock) {
  Fraction ratio;
  return compare_bases(el, clock->definer, clock->base, &ratio) && clock->shift.n == 0 &&
         fractions_equal(ratio, clock->rate);
}

/* Spreads the rate of a clock that is its own base clock to all clocks derived from it. */
static bool spread_from(Inference *s, uint32_t start, IndexVec *open) {
  Clock *clock = &s->partition->clocks.data[start];
  bool fits = true;
  clock->is_known = true;
  clock->base = clock->definer;
  clock->rate = (Fraction){1, 1};
  clock->shift = (Fraction){0, 1};
  vec_push(s->el->heap, open, start);
  while (open->count) {
    uint32_t at = vec_pop(open);
    for (uint32_t k = 0; k < s->conversions[at].count; k++)
      fits = spread(s, s->conversions[at].data[k], at, open) && fits;
  }
  return fits;
}

static bool lacks_clock(const Clock *clock) {
  return clock->clocked != NONE && clock->has_equations && !clock->is_known;
}

/* Clocks without a constructor: the fastest of them ticks once a second (Modelica Language Specification, "Restrictions on Clocks
 * in a Base-Partition"). */
static bool give_default_clock(Inference *s, uint32_t start, IndexVec *open) {
  Clock *clock = &s->partition->clocks.data[start];
  ClockOperator second = {.special = SPECIAL_CLOCK_COUNTED,
                          .type = {.base = TYPE_CLOCK},
                          .count = 2,
                          .arguments = {EXPR_NONE, EXPR_NONE, EXPR_NONE}};
  second.result = clock->witness;
  second.span = s->el->clock_operators.data[clock->clocked].span;
  second.arguments[0] = second.arguments[1] = dag_constant(s->el->dag, 1);
  clock->definer = s->el->clock_operators.count;
  vec_push(s->el->heap, &s->el->clock_operators, second);
  bool fits = spread_from(s, start, open);
  Fraction fastest = {1, 1};
  for (uint32_t c = 0; c < s->partition->clocks.count; c++) {
    const Clock *other = &s->partition->clocks.data[c];
    if (!other->is_known || other->base != clock->definer) continue;
    if (other->rate.n * fastest.d < fastest.n * other->rate.d) fastest = other->rate;
  }
  Expr *interval = s->el->clock_operators.data[clock->definer].arguments;
  interval[0] = dag_constant(s->el->dag, (double)fastest.d);
  interval[1] = dag_constant(s->el->dag, (double)fastest.n);
  diag_warning(s->el->diags, DIAG_WARNING, second.span, "no clock can be inferred for `%s`: it ticks %s, by default",
               variable_text(s, clock->witness),
               fastest.d == 1 ? "once a second" : "with others that tick once a second");
  return fits;
}

static bool find_rates(Inference *s) {
  IndexVec open = {0};
  bool fits = true;
  list_conversions(s);
  for (uint32_t c = 0; c < s->partition->clocks.count; c++) {
    Clock *clock = &s->partition->clocks.data[c];
    if (clock->definer == NONE) continue;
    if (clock->is_known) {
      if (agrees(s->el, clock)) continue;
      diag_error(s->el->diags, DIAG_CLOCK, s->el->clock_operators.data[clock->definer].span,
                 "`%s` has this clock, and another one by its connection to others", variable_text(s, clock->witness));
      fits = false;
      continue;
    }
    fits = spread_from(s, c, &open) && fits;
  }
  for (uint32_t c = 0; fits && c < s->partition->clocks.count; c++)
    if (lacks_clock(&s->partition->clocks.data[c])) fits = give_default_clock(s, c, &open);
  vec_free(s->el->heap, &open);
  return fits;
}

/* ---- final checks ---- */

static bool is_whole(Fraction a) { return a.d == 1; }

static bool check_clock(Inference *s, const Clock *clock) {
  const Elaboration *el = s->el;
  if (clock->clocked == NONE) return true;
  Span span = el->clock_operators.data[clock->clocked].span;
  if (clock->is_known && clock->shift.n < 0)
    return diag_error(el->diags, DIAG_CLOCK, span, "the clock of `%s` would start before its base clock",
                      variable_text(s, clock->witness)),
           false;
  if (clock->is_known && clock_is_irregular(el, &el->clock_operators.data[clock->base]) &&
      !(is_whole(clock->rate) && is_whole(clock->shift)))
    return diag_error(el->diags, DIAG_CLOCK, span,
                      "the clock of `%s` would tick between the ticks of its base clock, whose intervals vary",
                      variable_text(s, clock->witness)),
           false;
  return true;
}

/* subSample(u) and superSample(u): the inferred factor must be a whole number. */
static bool check_factor(Inference *s, const ClockOperator *use) {
  bool is_sub = use->special == SPECIAL_SUB_SAMPLE, is_super = use->special == SPECIAL_SUPER_SAMPLE;
  Fraction rate, late;
  if ((!is_sub && !is_super) || conversion(s->el, use, &rate, &late)) return true;
  uint32_t from = argument_clock(s, use);
  if (from == NONE) return true;
  const Clock *slow = &s->partition->clocks.data[from], *fast = clock_of(s, use->result);
  if (!slow->is_known || !fast->is_known) return true;
  Fraction ratio;
  if (!compare_bases(s->el, fast->base, slow->base, &ratio)) {
    diag_error(s->el->diags, DIAG_CLOCK, use->span,
               "no factor can be inferred: the clocks on both sides have different base clocks");
    return false;
  }
  Fraction factor = fraction_multiply(fraction_multiply(ratio, fast->rate), inverse(slow->rate));
  if (is_super) factor = inverse(factor);
  if (is_whole(factor) && fractions_equal(slow->shift, fraction_multiply(ratio, fast->shift))) return true;
  diag_error(s->el->diags, DIAG_CLOCK, use->span,
             "no factor can be inferred: the clocks on both sides differ by %lld/%lld", (long long)factor.n,
             (long long)factor.d);
  return false;
}

static bool check_all(Inference *s) {
  bool fits = true;
  for (uint32_t c = 0; c < s->partition->clocks.count; c++)
    fits = check_clock(s, &s->partition->clocks.data[c]) && fits;
  for (uint32_t i = 0; i < s->el->clock_operators.count; i++)
    fits = check_factor(s, &s->el->clock_operators.data[i]) && fits;
  return fits;
}

void partition_free(Elaboration *el, ClockPartition *partition) {
  heap_free(el->heap, partition->clock_of);
  vec_free(el->heap, &partition->clocks);
  *partition = (ClockPartition){0};
}

bool clocks_infer(Elaboration *el, ClockPartition *partition) {
  Inference s = {.el = el, .partition = partition, .count = el->model->variables.count};
  s.parent = heap_array(el->heap, s.count, sizeof *s.parent);
  partition->clock_of = heap_array(el->heap, s.count, sizeof *partition->clock_of);
  for (uint32_t v = 0; v < s.count; v++) s.parent[v] = v;
  unite_equations(&s);
  unite_operators(&s);
  make_clocks(&s);
  mark_operators(&s);
  mark_whens(&s);
  bool fits = mark_equations(&s) && check_sides(&s) && define_clocks(&s) && find_rates(&s) && check_all(&s);
  for (uint32_t c = 0; s.conversions && c < partition->clocks.count; c++) vec_free(el->heap, &s.conversions[c]);
  heap_free_all(el->heap, s.parent, s.conversions);
  vec_free(el->heap, &s.leaves);
  return fits;
}
