/* arcs: finds the arcs of an optimal control that occurs linearly. On each arc the control is at a bound or singular
 * (docs/control.md).
 *
 * With a smoothing cost the problem has no arcs, and it is solved even from poor guesses (Silva and Trelat 2010). As that cost
 * decreases, the control spends more of the run at its bounds. An interval that stays between the bounds is a singular
 * arc. An interval that shrinks with the cost is a switch. The sequence of arcs gives a boundary value problem whose unknowns
 * include the switching times. Its solution is accepted if the signs of the switching functions, the bounds, and on singular arcs
 * the generalized Legendre-Clebsch condition agree. */
#include "api/boundary.h"
#include "base/number.h"
#include "core/constants.h"

#include <math.h>
#include <string.h>

typedef struct BoundArc {
  ArcKind kind; /* ARC_SINGULAR: between the bounds */
  double from, to;
} BoundArc;
typedef VEC(BoundArc) StretchVec;

enum {
  HIGHEST_ORDER = 3
}; /* the highest order of a singular arc that messages name: it needs six derivatives of the switching function */

typedef struct ArcSearch {
  daedal_model *model; /* as the user wrote it */
  daedal_options options;
  uint32_t controls;
  Heap *heap;
  Arena *arena;
  daedal_result *run, *earlier; /* the last run found, and the run before it */
  double smoothing, ratio;      /* smoothing of `run`, and its ratio to that of `earlier` */
  StretchVec *before, *now;     /* per control: the intervals of the last two runs */
  BoundaryArcs arcs;
  ArcOrder *order; /* one per arc and control */
  daedal_result *found;
  Budget *budget;
  uint32_t chattered; /* runs with arcs that no finite sequence can join */
  uint32_t tried;     /* index into boundary_segments for runs with smoothing */
} ArcSearch;

static daedal_result *attempt_run(ArcSearch *search, const Attempt *attempt, double tolerance) {
  daedal_options options = search->options;
  options.tolerance = tolerance;
  return boundary_shoot(search->model, &options, attempt);
}

/* ---- smoothing ---- */

/* Makes a run with this smoothing. true: it was found and is now the last run. */
static bool smooth(ArcSearch *search, double smoothing) {
  Attempt attempt = {.segments = boundary_segments[search->tried],
                     .smoothing = smoothing,
                     .examined = EXAMINED_LEVELS,
                     .most_iterations = ROUNDS,
                     .budget = search->budget,
                     .guess = search->run,
                     .before = search->earlier,
                     .lead = search->earlier ? log(smoothing / search->smoothing) / log(search->ratio) : 0};
  daedal_result *next = attempt_run(search, &attempt, PRESENT);
  if (!result_is_ok(next)) {
    daedal_free(next);
    return false;
  }
  daedal_free(search->earlier);
  search->earlier = search->run;
  search->run = next;
  search->ratio = smoothing / search->smoothing;
  search->smoothing = smoothing;
  return true;
}

/* ---- arcs in a run ---- */

static uint32_t find_signal(const ArcSearch *search, const daedal_result *run, uint32_t control,
                            const char *name(const Model *, uint32_t, Arena *)) {
  return daedal_result_find(run, name(search->model->model, control, search->arena));
}

/* A level this near to 1 is at the bound: the smoothing is less than a seventh of the switching function. */
static ArcKind kind_of_level(double level) {
  return fabs(level) < 1 - MINOR ? ARC_SINGULAR : level > 0 ? ARC_MAX : ARC_MIN;
}

/* Appends one row of a run to the list. */
static void add_row(const ArcSearch *search, StretchVec *list, ArcKind kind, double time) {
  if (!list->count || vec_last(list).kind != kind) vec_push(search->heap, list, ((BoundArc){kind, time, time}));
  vec_last(list).to = time;
}

static void find_stretches(const ArcSearch *search, uint32_t control, StretchVec *found) {
  uint32_t level = find_signal(search, search->run, control, boundary_level_name),
           rows = daedal_result_rows(search->run);
  found->count = 0;
  for (uint32_t r = 0; r < rows; r++) {
    double time = daedal_result_value(search->run, 0, r);
    add_row(search, found, kind_of_level(daedal_result_value(search->run, level, r)), time);
  }
}

/* An interval between the bounds that shrinks with the smoothing is a switch at its middle; any other one is a singular arc. false:
 * the runs differ too much to decide. */
static bool resolve(const ArcSearch *search, uint32_t control, StretchVec *arcs) {
  const StretchVec *now = &search->now[control], *before = &search->before[control];
  arcs->count = 0;
  if (now->count != before->count) return false;
  for (uint32_t i = 0; i < now->count; i++) {
    BoundArc each = now->data[i], earlier = before->data[i];
    if (each.kind != earlier.kind) return false;
    bool is_switch =
        each.kind == ARC_SINGULAR && each.to - each.from < sqrt(search->ratio) * (earlier.to - earlier.from);
    if (is_switch) continue;
    if (arcs->count) {
      double middle = (vec_last(arcs).to + each.from) / 2;
      vec_last(arcs).to = each.from = middle;
      if (vec_last(arcs).kind == each.kind) {
        vec_last(arcs).to = each.to;
        continue;
      }
    }
    vec_push(search->heap, arcs, each);
  }
  return arcs->count > 1 || (arcs->count == 1 && (arcs->data[0].kind != ARC_SINGULAR || search->smoothing < GOOD_PART));
}

/* Merges the arcs of all controls into one sequence: a new arc begins where an arc of any control begins. */
static void merge(ArcSearch *search, const daedal_result *run, const StretchVec *arcs) {
  uint32_t most = 1, controls = search->controls;
  for (uint32_t c = 0; c < controls; c++) most += arcs[c].count;
  double *begin = arena_array(search->arena, most, sizeof *begin);
  ArcKind *kind = arena_array(search->arena, (size_t)most * controls, sizeof *kind);
  uint32_t *at = arena_array(search->arena, controls, sizeof *at), count = 0;
  begin[0] = daedal_result_value(run, 0, 0);
  for (bool is_more = true; is_more; count++) {
    double next = INFINITY;
    for (uint32_t c = 0; c < controls; c++) {
      kind[count * controls + c] = arcs[c].data[at[c]].kind;
      if (at[c] + 1 < arcs[c].count) next = fmin(next, arcs[c].data[at[c]].to);
    }
    is_more = isfinite(next);
    if (is_more) begin[count + 1] = next;
    for (uint32_t c = 0; c < controls; c++) at[c] += at[c] + 1 < arcs[c].count && arcs[c].data[at[c]].to <= next;
  }
  search->arcs = (BoundaryArcs){count, controls, begin, kind};
  search->order = arena_array(search->arena, (size_t)count * controls, sizeof *search->order);
}

/* ---- conditions on a solution ---- */

static double arc_begin(const ArcSearch *search, const daedal_result *run, uint32_t arc) {
  if (arc == 0) return daedal_result_value(run, 0, 0);
  if (arc == search->arcs.count) return result_last_time(run);
  return daedal_result_value(run, daedal_result_find(run, boundary_switch_name(arc, search->arena)), 0);
}

static ArcKind kind_on_arc(const ArcSearch *search, uint32_t arc, uint32_t control) {
  return search->arcs.kind[(size_t)arc * search->controls + control];
}

static const char *unknown_name(const ArcSearch *search, Expr leaf) {
  const Model *model = search->model->model;
  return model_name(model, model->unknowns.data[dag_index(model->dag, leaf)]);
}

static double largest_switching(const ArcSearch *search, const daedal_result *run, uint32_t control) {
  uint32_t function =
      daedal_result_find(run, unknown_name(search, search->model->model->switched.data[control].function));
  double largest = 0;
  for (uint32_t r = 0; r < daedal_result_rows(run); r++)
    largest = fmax(largest, fabs(daedal_result_value(run, function, r)));
  return largest;
}

/* Corrects the arcs of a control in a run. If the switching function has the wrong sign, the control gets the other bound.
 * If a singular control leaves its bounds, it gets the bound that it crosses. Violations within the error of runs are
 * ignored. false: something was corrected. */
static bool correct(const ArcSearch *search, const daedal_result *run, uint32_t control, StretchVec *arcs) {
  const SwitchedControl *switched = &search->model->model->switched.data[control];
  uint32_t function = daedal_result_find(run, unknown_name(search, switched->function));
  uint32_t level = find_signal(search, run, control, boundary_level_name), rows = daedal_result_rows(run);
  double largest = largest_switching(search, run, control), error = sqrt(run->simulation.facts.tolerance);
  bool is_right = true;
  for (uint32_t r = 0, arc = 0; r < rows; r++) {
    double time = daedal_result_value(run, 0, r), slope = daedal_result_value(run, function, r) / largest;
    double value = daedal_result_value(run, level, r);
    while (arc + 1 < search->arcs.count && time > arc_begin(search, run, arc + 1)) arc++;
    ArcKind written = kind_on_arc(search, arc, control), kind = written;
    bool is_inside = time != arc_begin(search, run, arc) && time != arc_begin(search, run, arc + 1);
    if (is_inside && written == ARC_MIN && slope < -error) kind = ARC_MAX;
    if (is_inside && written == ARC_MAX && slope > error) kind = ARC_MIN;
    if (is_inside && written == ARC_SINGULAR && fabs(value) > 1 + error) kind = value > 0 ? ARC_MAX : ARC_MIN;
    is_right = is_right && kind == written;
    add_row(search, arcs, kind, time);
  }
  return is_right;
}

/* Returns all variables at a time, and all parameters that were found, as overrides. */
static void override_point(const ArcSearch *search, const daedal_result *run, double time, daedal_options *options) {
  const Model *model = search->model->model;
  const BoundaryFacts *facts = run->simulation.facts.boundary;
  options->override_count = 0;
  daedal_override *next = overrides_extend(search->arena, options, facts->count + model->unknowns.count);
  for (uint32_t k = 0; k < facts->count; k++) {
    uint32_t position = model_find(model, facts->name[k]);
    if (position != MAP_NONE && model->variables.data[position].role == ROLE_PARAMETER)
      *next++ = (daedal_override){facts->name[k], facts->value[k], NULL};
  }
  for (uint32_t j = 0; j < model->unknowns.count; j++) {
    const char *name = model_name(model, model->unknowns.data[j]);
    uint32_t signal = daedal_result_find(run, name);
    if (signal != UINT32_MAX) *next++ = (daedal_override){name, result_value_at(run, signal, time), NULL};
  }
  options->override_count = (uint32_t)(next - options->overrides);
}

/* Evaluates a derivative of the control's switching function, and the control, at a point of a run with controls of these kinds. */
static bool evaluate_rate(const ArcSearch *search, const daedal_result *run, const ArcKind *kind, uint32_t control,
                          uint32_t derivative, double time, double values[2]) {
  BoundaryOptions form = {.form = BOUNDARY_KNOWN,
                          .segments = 1,
                          .start = time,
                          .stop = time,
                          .arcs = {1, search->controls, &time, kind},
                          .examined = EXAMINED_RATES,
                          .examined_derivative = derivative};
  daedal_model *known = model_load_boundary(search->model, &form);
  daedal_options options = search->options;
  override_point(search, run, time, &options);
  options.start_time = options.stop_time = time;
  daedal_result *point = known ? initial_value_simulate(known, &options) : NULL;
  bool ok = result_is_ok(point) && daedal_result_rows(point);
  if (ok) {
    uint32_t rate = find_signal(search, point, control, boundary_rate_name);
    uint32_t signal =
        daedal_result_find(point, unknown_name(search, search->model->model->switched.data[control].control));
    ok = rate != UINT32_MAX && signal != UINT32_MAX;
    values[0] = ok ? daedal_result_value(point, rate, 0) : NAN;
    values[1] = ok ? daedal_result_value(point, signal, 0) : NAN;
  }
  daedal_free(point);
  daedal_free(known);
  return ok;
}

/* The order q of a singular control at a point: d^2q/dt^2q dH/du is the first derivative that contains the control. The cost is
 * minimal only if (-1)^q d/du of that derivative is not negative (Kelley, Kopp and Moyer 1967, the generalized Legendre-Clebsch
 * condition). */
static ArcOrder order_at(const ArcSearch *search, const daedal_result *run, ArcKind *kind, uint32_t control,
                         double time) {
  double length = result_last_time(run) - daedal_result_value(run, 0, 0), low[2], high[2], sign = -1;
  double size = largest_switching(search, run, control), error = sqrt(run->simulation.facts.tolerance);
  for (uint32_t order = 1; order <= HIGHEST_ORDER; order++, sign = -sign) {
    kind[control] = ARC_MIN;
    if (!evaluate_rate(search, run, kind, control, 2 * order, time, low)) break;
    kind[control] = ARC_MAX;
    if (!evaluate_rate(search, run, kind, control, 2 * order, time, high)) break;
    double difference = high[0] - low[0], scale = fabs(high[0]) + fabs(low[0]) + size / pow(length, 2 * order);
    if (fabs(difference) > error * scale) return (ArcOrder){order, sign * difference / (high[1] - low[1])};
  }
  return (ArcOrder){0, NAN};
}

/* The order in the middle of a singular arc. */
static ArcOrder order_on_arc(const ArcSearch *search, const daedal_result *run, uint32_t arc, uint32_t control) {
  ArcKind *kind = arena_array(search->arena, search->controls, sizeof *kind);
  for (uint32_t c = 0; c < search->controls; c++) kind[c] = kind_on_arc(search, arc, c);
  if (kind[control] != ARC_SINGULAR) return (ArcOrder){0, NAN};
  double middle = (arc_begin(search, run, arc) + arc_begin(search, run, arc + 1)) / 2;
  return order_at(search, run, kind, control, middle);
}

static bool is_extremal(ArcSearch *search, const daedal_result *run) {
  for (uint32_t a = 0; a < search->arcs.count; a++)
    if (!(arc_begin(search, run, a) < arc_begin(search, run, a + 1))) return false;
  for (uint32_t c = 0; c < search->controls; c++) {
    for (uint32_t a = 0; a < search->arcs.count; a++) {
      ArcOrder *order = &search->order[(size_t)a * search->controls + c];
      *order = order_on_arc(search, run, a, c);
      if (order->legendre <= 0) return false;
    }
  }
  return true;
}

/* ---- the search ---- */

/* The values found become the guess for the requested run. */
static void keep_arcs(ArcSearch *search, daedal_result *run) {
  double *begin = arena_array(search->arena, search->arcs.count, sizeof *begin);
  for (uint32_t a = 0; a < search->arcs.count; a++) begin[a] = arc_begin(search, run, a);
  search->arcs.begin = begin;
  search->found = run;
}

/* Solves once with these arcs. Keeps a solution that satisfies all conditions; otherwise corrects the arcs. true: the search is
 * over. */
static bool try_once(ArcSearch *search, StretchVec *arcs, daedal_result **guess) {
  merge(search, *guess, arcs);
  Attempt attempt = {.segments = search->arcs.count,
                     .arcs = search->arcs,
                     .examined = EXAMINED_LEVELS,
                     .most_iterations = ROUNDS,
                     .budget = search->budget,
                     .guess = *guess};
  daedal_result *run = attempt_run(search, &attempt, search->options.tolerance);
  bool is_right = true, ok = result_is_ok(run);
  for (uint32_t c = 0; ok && c < search->controls; c++) {
    arcs[c].count = 0;
    is_right = correct(search, run, c, &arcs[c]) && is_right;
  }
  if (*guess != search->run) daedal_free(*guess);
  *guess = run;
  if (!ok || !is_right) return !ok;
  if (is_extremal(search, run)) keep_arcs(search, run);
  return true;
}

/* The longest singular interval of a control in the last run, and its order. */
static ArcOrder order_of_longest(const ArcSearch *search, uint32_t control, double *middle) {
  ArcKind *kind = arena_array(search->arena, search->controls, sizeof *kind);
  const StretchVec *list = &search->now[control];
  BoundArc longest = {0};
  for (uint32_t i = 0; i < list->count; i++) {
    BoundArc each = list->data[i];
    if (each.kind == ARC_SINGULAR && each.to - each.from > longest.to - longest.from) longest = each;
  }
  *middle = (longest.from + longest.to) / 2;
  for (uint32_t c = 0; c < search->controls; c++) {
    uint32_t level = find_signal(search, search->run, c, boundary_level_name);
    kind[c] = kind_of_level(result_value_at(search->run, level, *middle));
  }
  return longest.to > longest.from ? order_at(search, search->run, kind, control, *middle) : (ArcOrder){0, NAN};
}

/* A control that jumps between its bounds reaches an arc of even order only after infinitely many switches (McDanell
 * and Powers 1971). */
static bool chatters(const ArcSearch *search) {
  double middle;
  for (uint32_t c = 0; c < search->controls; c++) {
    uint32_t order = search->now[c].count > 1 ? order_of_longest(search, c, &middle).order : 0;
    if (order && order % 2 == 0) return true;
  }
  return false;
}

/* Reports arcs of a higher order, after no sequence of arcs was found. */
static void name_orders(const ArcSearch *search, Diags *diags) {
  const Model *model = search->model->model;
  for (uint32_t c = 0; c < search->controls; c++) {
    double middle;
    ArcOrder found = order_of_longest(search, c, &middle);
    if (found.order < 2) continue;
    uint32_t control = model->unknowns.data[dag_index(model->dag, model->switched.data[c].control)];
    diag_error(diags, DIAG_INTEGRATION, model->variables.data[control].span,
               "control `%s` has a singular arc of order %u near time %.3g: %s", model_name(model, control),
               found.order, middle,
               search->now[c].count > 1 && found.order % 2 == 0
                   ? "it would switch infinitely often before the arc begins, or after it ends"
                   : "no sequence of arcs with it was found");
  }
}

/* Tries the arcs seen in the last two runs, and then corrected ones. */
static void try_arcs(ArcSearch *search) {
  StretchVec *arcs = arena_array(search->arena, search->controls, sizeof *arcs);
  bool is_clear = true;
  for (uint32_t c = 0; c < search->controls; c++) is_clear = resolve(search, c, &arcs[c]) && is_clear;
  daedal_result *guess = search->run;
  if (is_clear && chatters(search)) is_clear = false, search->chattered++;
  for (uint32_t k = 0; is_clear && k < ATTEMPTS && !try_once(search, arcs, &guess); k++) {
  }
  if (guess != search->run && guess != search->found) daedal_free(guess);
  for (uint32_t c = 0; c < search->controls; c++) vec_free(search->heap, &arcs[c]);
}

static void look_at_run(ArcSearch *search) {
  StretchVec *before = search->before;
  search->before = search->now;
  search->now = before;
  for (uint32_t c = 0; c < search->controls; c++) find_stretches(search, c, &search->now[c]);
}

/* Uses more segments for the next runs. false: there is no larger number. */
static bool divide(ArcSearch *search) { return boundary_segments[search->tried + 1] && ++search->tried; }

/* Finds the first run, with as few segments and as little smoothing as possible. More smoothing is tried before more segments,
 * since segments cost more. */
static void find_first(ArcSearch *search) {
  do
    for (double smoothing = 1; !search->run && smoothing <= MANY; smoothing /= GOOD_PART) {
      search->smoothing = smoothing;
      smooth(search, smoothing);
    }
  while (!search->run && divide(search));
}

static bool find_arcs(daedal_result *asked, const void *argument) {
  ArcSearch *search = *(ArcSearch *const *)argument;
  search->heap = asked->heap;
  search->arena = &asked->diags.arena;
  search->before = arena_array(search->arena, search->controls, sizeof *search->before);
  search->now = arena_array(search->arena, search->controls, sizeof *search->now);
  double factor = sqrt(GOOD_PART);
  find_first(search);
  if (search->run) look_at_run(search);
  while (search->run && !search->found && search->chattered < CHANGE_LIMIT && search->smoothing > SAME &&
         factor < CLEARLY_LESS) {
    if (smooth(search, search->smoothing * factor)) {
      look_at_run(search);
      try_arcs(search);
    } else if (!divide(search)) factor = sqrt(factor);
  }
  if (search->run && !search->found) name_orders(search, &asked->diags);
  for (uint32_t c = 0; c < search->controls; c++) vec_free(search->heap, &search->now[c], &search->before[c]);
  return result_finish(asked, search->found != NULL);
}

daedal_result *arcs_simulate(daedal_model *model, const daedal_options *options, Budget *budget) {
  ArcSearch search = {.model = model, .options = *options, .budget = budget, .controls = model->model->switched.count},
            *pointer = &search;
  boundary_forget_outputs(&search.options);
  daedal_result *asked = result_make(model, NULL, find_arcs, &pointer), *result = NULL;
  if (search.found) {
    Attempt attempt = {.segments = search.arcs.count,
                       .arcs = search.arcs,
                       .order = search.order,
                       .guess = search.found,
                       .budget = budget};
    result = boundary_shoot(model, options, &attempt);
  } else if (asked && asked->diags.errors) result = asked;
  daedal_free(search.found);
  daedal_free(search.run);
  daedal_free(search.earlier);
  if (result != asked) daedal_free(asked);
  return result;
}
