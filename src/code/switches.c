/* switches: see switches.h. */
#include "code/switches.h"

#include "base/constants.h"
#include "base/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Changes of a mode that went to and fro, but does not slide where others do. */
enum { LED_AWAY = UINT8_MAX };

Switches *switches_new(Heap *heap, Evaluator *evaluator) {
  const Modes *modes = evaluator->code->modes;
  uint32_t count = modes->count;
  Decisions *decisions = decisions_new(heap, evaluator);
  if (!count && !decisions && !evaluator->inputs) return NULL;
  Switches *switches = heap_alloc(heap, sizeof *switches);
  switches->modes = modes;
  switches->evaluator = evaluator;
  switches->is_at_start = true;
  switches->schedule = schedule_new(heap, evaluator);
  switches->decisions = decisions;
  if (count) {
    switches->workspace = workspace_new(heap, evaluator->code->conditions);
    switches->rates = workspace_new(heap, evaluator->code->rates);
  }
  switches->op = heap_array(heap, count, sizeof *switches->op);
  for (uint32_t m = 0; m < count; m++) {
    switches->op[m] = dag_op(evaluator->model->dag, modes->relation[m]);
    switches->has_rates = switches->has_rates || evaluator->code->has_rate[m];
  }
  switches->difference = heap_array(heap, 2 * (size_t)count, sizeof(double));
  double **const own[] = {&switches->rate,    &switches->before,  &switches->speed, &switches->slack, &switches->peak,
                          &switches->largest, &switches->nominal, &switches->end,   &switches->slope, &switches->at};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) *own[k] = heap_array(heap, count, sizeof(double));
  switches->times = heap_array(heap, count, sizeof(EventTimes));
  switches->hovers = heap_array(heap, count, sizeof(uint32_t));
  switches->changes = heap_array(heap, count, sizeof(uint8_t));
  switches->jumps = heap_array(heap, count, sizeof(bool));
  switches->is_widened = heap_array(heap, count, sizeof(bool));
  switches->slid = heap_array(heap, count, sizeof(bool));
  switches->rests = heap_array(heap, count, sizeof(bool));
  switches->slides_with = heap_array(heap, count, sizeof(uint32_t));
  for (uint32_t m = 0; m < count; m++) switches->slides_with[m] = MAP_NONE;
  switches->crossing = MAP_NONE;
  for (uint32_t m = 0; m < count; m++) switches->some_meet = switches->some_meet || modes->meets[m];
  return switches;
}

void switches_forget(Switches *switches) {
  uint32_t count = switches->modes->count;
  double *const learned[] = {switches->rate, switches->before,  switches->speed, switches->slack,
                             switches->peak, switches->largest, switches->end};
  for (size_t k = 0; k < sizeof learned / sizeof *learned; k++) memset(learned[k], 0, count * sizeof(double));
  memset(switches->times, 0, count * sizeof(EventTimes));
  memset(switches->hovers, 0, count * sizeof(uint32_t));
  memset(switches->jumps, 0, count * sizeof(bool));
  memset(switches->is_widened, 0, count * sizeof(bool));
  memset(switches->slid, 0, count * sizeof(bool));
  memset(switches->rests, 0, count * sizeof(bool));
  switches_forget_slides(switches);
  switches->crossing = MAP_NONE;
  switches->begun = false;
  switches->is_at_start = true;
}

void switches_adopt(Switches *switches, const Switches *before) {
  size_t count = switches->modes->count;
  double *const to[] = {switches->speed, switches->slack, switches->largest, switches->nominal};
  const double *const from[] = {before->speed, before->slack, before->largest, before->nominal};
  for (size_t k = 0; k < sizeof to / sizeof *to && count; k++) memcpy(to[k], from[k], count * sizeof(double));
  if (!count) return;
  memcpy(switches->times, before->times, count * sizeof(EventTimes));
  memcpy(switches->is_widened, before->is_widened, count * sizeof(bool));
}

void switches_go_on(Switches *switches, const Switches *before) {
  if (switches->modes->count) memcpy(switches->changes, before->changes, switches->modes->count * sizeof(uint8_t));
  switches->goes_on = true;
}

/* ---- kept and restored ---- */

enum { KEPT_NUMBERS = 4, KEPT_COUNTS = 2, KEPT_FLAGS = 2 };

struct SwitchesState {
  double *number[KEPT_NUMBERS];
  uint32_t *count[KEPT_COUNTS];
  bool *flag[KEPT_FLAGS];
  EventTimes *times;
  Slide slide[SLIDE_LIMIT];
  uint32_t slides;
};

/* What is kept of each mode, where it is. */
static SwitchesState state_within(const Switches *switches) {
  SwitchesState state = {{switches->speed, switches->nominal, switches->slack, switches->largest},
                         {switches->hovers, switches->slides_with},
                         {switches->jumps, switches->is_widened},
                         .times = switches->times,
                         .slides = switches->slides};
  memcpy(state.slide, switches->slide, sizeof state.slide);
  return state;
}

SwitchesState *switches_save(const Switches *switches, Heap *heap) {
  size_t modes = switches->modes->count;
  SwitchesState own = state_within(switches), *state = heap_copy(heap, &own, 1, sizeof own);
  for (int k = 0; k < KEPT_NUMBERS; k++) state->number[k] = heap_copy(heap, own.number[k], modes, sizeof(double));
  for (int k = 0; k < KEPT_COUNTS; k++) state->count[k] = heap_copy(heap, own.count[k], modes, sizeof(uint32_t));
  for (int k = 0; k < KEPT_FLAGS; k++) state->flag[k] = heap_copy(heap, own.flag[k], modes, sizeof(bool));
  state->times = heap_copy(heap, own.times, modes, sizeof(EventTimes));
  return state;
}

void switches_restore(Switches *switches, const SwitchesState *state) {
  size_t modes = switches->modes->count;
  SwitchesState own = state_within(switches);
  memcpy(switches->slide, state->slide, sizeof state->slide);
  switches->slides = state->slides;
  if (!modes) return;
  for (int k = 0; k < KEPT_NUMBERS; k++) memcpy(own.number[k], state->number[k], modes * sizeof(double));
  for (int k = 0; k < KEPT_COUNTS; k++) memcpy(own.count[k], state->count[k], modes * sizeof(uint32_t));
  for (int k = 0; k < KEPT_FLAGS; k++) memcpy(own.flag[k], state->flag[k], modes * sizeof(bool));
  memcpy(own.times, state->times, modes * sizeof(EventTimes));
}

void switches_transfer(const Switches *switches, SwitchesState *state, Transfer *transfer) {
  size_t modes = switches->modes->count;
  for (int k = 0; k < KEPT_NUMBERS; k++) transfer_array(transfer, state->number[k], modes, sizeof(double));
  for (int k = 0; k < KEPT_COUNTS; k++) transfer_array(transfer, state->count[k], modes, sizeof(uint32_t));
  for (int k = 0; k < KEPT_FLAGS; k++) transfer_flags(transfer, state->flag[k], modes);
  transfer_array(transfer, state->times, modes, sizeof(EventTimes));
  transfer_array(transfer, state->slide, SLIDE_LIMIT, sizeof(Slide));
  transfer_value(transfer, &state->slides);
  transfer_require(transfer, state->slides <= SLIDE_LIMIT);
  for (uint32_t k = 0; k < state->slides && k < SLIDE_LIMIT; k++)
    transfer_require(transfer, state->slide[k].mode < modes);
}

/* The size of a difference as far as it tells one. */
static double known_size(double difference) { return fabs(difference) < INFINITE ? fabs(difference) : 0; }

/* Runs a program of conditions. Whatever overflows still has a sign; only values that are no numbers tell nothing. */
static bool run_conditions(const Switches *switches, Workspace *workspace, double t, const double *y) {
  Point point = evaluator_point(switches->evaluator, t, y);
  bool all_known = workspace_run(workspace, &point, switches->difference) == EVAL_OK;
  if (all_known) return true;
  for (uint32_t k = 0; k < 2 * switches->modes->count; k++)
    if (isnan(switches->difference[k])) return false;
  return true;
}

void switches_set_nominal(Switches *switches, double t, const double *nominal) {
  uint32_t count = switches->modes->count;
  if (!count) return;
  bool all_known = run_conditions(switches, switches->workspace, t, nominal);
  for (uint32_t m = 0; m < count; m++)
    switches->nominal[m] = all_known ? known_size(switches->difference[count + m]) : 0;
}

bool switches_evaluate(Switches *switches, double t, const double *y) {
  switches->time = t;
  return !switches->modes->count || run_conditions(switches, switches->workspace, t, y);
}

static uint32_t set_timed(Switches *switches, double t) {
  return schedule_set(switches->schedule, switches->is_at_start ? t : schedule_behind(t), switches->waits);
}

void switches_guess(Switches *switches, double t, const double *y) {
  if (!switches->modes->count) {
    switches_set(switches, t, y);
    return;
  }
  if (switches->schedule) set_timed(switches, t); /* whatever a guess leaves undefined */
  Workspace *written = workspace_new(switches->evaluator->heap, switches->evaluator->code->written);
  if (run_conditions(switches, written, t, y)) switches_set(switches, t, y);
}

static void evaluate_rates(Switches *switches, double t, const double *y) {
  if (!switches->has_rates) return;
  Point point = evaluator_point(switches->evaluator, t, y);
  if (workspace_run(switches->rates, &point, switches->rate) == EVAL_OK) return;
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (!isfinite(switches->rate[m])) switches->rate[m] = 0;
}

static Op op_of(const Switches *switches, uint32_t m) { return switches->op[m]; }

static double *mode_of(const Switches *switches, uint32_t m) {
  return &switches->evaluator->discretes[switches->modes->first + m];
}

static bool is_sliding(const Switches *switches, uint32_t m) { return switches->slides_with[m] != MAP_NONE; }

static bool waits(const Switches *switches, uint32_t m) { return switches->waits && switches->waits[m]; }

static double round_off(const Switches *switches, uint32_t m) {
  double size = fmax(known_size(switches->difference[switches->modes->count + m]), known_size(switches->before[m]));
  double blur = 4 * DBL_EPSILON * fabs(switches->time) * switches->speed[m]; /* what round-off of time makes of it */
  return fmax(DIFFERENCE_ROUND_OFF * size, blur);
}

static double band(const Switches *switches, uint32_t m) {
  double slack = switches->slack[m];
  if (slack > 0 && switches->time > switches->times[m].last + switches->times[m].hold) slack = 0;
  return fmax(round_off(switches, m), slack);
}

/* Does what a change of mode m does last? */
static bool is_remembered(const Switches *switches, uint32_t m) {
  return switches->evaluator->code->remembered[switches->modes->first + m];
}

/* The margin that mode m would have with this value. */
static double margin_with(const Switches *switches, uint32_t m, double value, double difference) {
  Interval range = mode_range(op_of(switches, m), value);
  return fmin(difference - range.low, range.high - difference) + band(switches, m);
}

/* Is an event of mode m to be looked for? */
static bool is_watched(const Switches *switches, uint32_t m) {
  if (switches->modes->timed[m] || is_sliding(switches, m) || waits(switches, m)) return false;
  return !switches->modes->meets[m] || switches->looks_inside;
}

double switches_margin(const Switches *switches, uint32_t m, double difference) {
  if (!is_watched(switches, m)) return INFINITY;
  if (switches->rests[m]) return fabs(difference - mode_edge(op_of(switches, m), difference)) - band(switches, m);
  return margin_with(switches, m, *mode_of(switches, m), difference);
}

/* How far all differences between two are inside of the range of the mode. */
static double least_depth(const Switches *switches, uint32_t m, double a, double b) {
  Interval range = mode_range(op_of(switches, m), *mode_of(switches, m));
  return fmin(fmin(a, b) - range.low, range.high - fmax(a, b));
}

/* The least margin of all of them. */
static double least_margin(const Switches *switches, uint32_t m, double a, double b) {
  if (!is_watched(switches, m)) return INFINITY;
  if (switches->rests[m]) return fmin(switches_margin(switches, m, a), switches_margin(switches, m, b));
  return least_depth(switches, m, a, b) + band(switches, m);
}

double switches_least_margin(const Switches *switches, uint32_t m, double a, double b) {
  return least_margin(switches, m, a, b);
}

bool switches_are_off_edges(const Switches *switches, uint32_t m, double a, double b) {
  return !is_watched(switches, m) || least_depth(switches, m, a, b) > band(switches, m);
}

/* Is the last difference on an edge, where the relation says otherwise than the mode? */
static bool is_open(const Switches *switches, uint32_t m) {
  double difference = switches->difference[m], edge = mode_edge(op_of(switches, m), difference);
  if (switches->modes->timed[m] || switches->modes->meets[m] || is_sliding(switches, m)) return false;
  return fabs(difference - edge) <= band(switches, m) && *mode_of(switches, m) != mode_value(op_of(switches, m), edge);
}

void switches_rest(Switches *switches, double t, const double *y) {
  uint32_t count = switches->modes->count, open = 0;
  for (uint32_t m = 0; m < count; m++) {
    switches->rests[m] = switches->evaluator->code->has_rate[m] && switches->slack[m] == 0 && is_open(switches, m);
    open += switches->rests[m];
  }
  if (!open) return;
  memcpy(switches->slope, switches->rate, count * sizeof(double));
  evaluate_rates(switches, t, y);
  for (uint32_t m = 0; m < count; m++) switches->rests[m] = switches->rests[m] && switches->rate[m] == 0;
  memcpy(switches->rate, switches->slope, count * sizeof(double));
}

/* Keeps the last difference of a mode whose branches meet; the mode follows it. */
static void keep_meeting(Switches *switches, uint32_t m) {
  double difference = switches->difference[m];
  *mode_of(switches, m) = mode_value(op_of(switches, m), difference);
  switches->before[m] = difference;
}

/* Keeps the last differences and rates. */
static void keep(Switches *switches, double t, double step) {
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (switches->modes->meets[m]) {
      keep_meeting(switches, m);
      continue;
    }
    double mean = step > 0 ? known_size(switches->difference[m] - switches->before[m]) / step : 0;
    switches->speed[m] = fmax(fmax(fabs(switches->rate[m]), mean), switches->speed[m] / 2);
    switches->before[m] = switches->difference[m];
    switches->slid[m] = switches->rests[m] = false;
    double margin = switches_margin(switches, m, switches->difference[m]);
    if (margin < INFINITY) switches->peak[m] = fmax(switches->peak[m], margin); /* what slides stays on its edge */
  }
  switches->kept = t;
  switches->begun = true;
}

void switches_keep(Switches *switches, double t, const double *y, double step) {
  evaluate_rates(switches, t, y);
  keep(switches, t, step);
}

/* Does a difference with these values and rates at the ends of a step, on one side of zero, pass it inside? By Hermite's cubic, whose
 * slope is a parabola: its extremes are at the roots of that. */
static bool dips(double left, double left_rate, double right, double right_rate, double step) {
  if (left < 0) return dips(-left, -left_rate, -right, -right_rate, step);
  double a = left_rate * step, b = right_rate * step, rise = right - left;
  if (!(a < 0 && b > 0 && right > 0)) return false;
  double square = a + b - 2 * rise, line = 3 * rise - 2 * a - b; /* left + a s + line s^2 + square s^3 */
  double root = sqrt(fmax(line * line - 3 * a * square, 0));
  double s = -a / (line + root);
  return left + s * (a + s * (line + s * square)) < 0;
}

bool switches_bend(Switches *switches, double t, const double *y) {
  if (!switches->some_meet || !switches_evaluate(switches, t, y)) return false;
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (switches->modes->meets[m] && *mode_of(switches, m) != mode_value(op_of(switches, m), switches->difference[m]))
      return true;
  return false;
}

/* As switches_dip, but leaves the rates at the end of the step. */
static bool dips_until(Switches *switches, double t, const double *y, double step) {
  const Modes *modes = switches->modes;
  memcpy(switches->slope, switches->rate, modes->count * sizeof(double));
  evaluate_rates(switches, t, y);
  for (uint32_t m = 0; m < modes->count; m++)
    if (modes->meets[m] &&
        dips(switches->before[m], switches->slope[m], switches->difference[m], switches->rate[m], step))
      return true;
  return false;
}

bool switches_dip(Switches *switches, double t, const double *y, double step) {
  bool found = switches->some_meet && dips_until(switches, t, y, step);
  if (switches->some_meet) memcpy(switches->rate, switches->slope, switches->modes->count * sizeof(double));
  return found;
}

bool switches_pass(Switches *switches, double t, const double *y, double step) {
  if (!switches->some_meet) evaluate_rates(switches, t, y);
  else if (dips_until(switches, t, y, step)) {
    memcpy(switches->rate, switches->slope, switches->modes->count * sizeof(double));
    return false;
  }
  keep(switches, t, step);
  return true;
}

bool switches_contradict(const Switches *switches, uint32_t m) {
  return switches_margin(switches, m, switches->difference[m]) < 0;
}

bool switches_any_contradicts(const Switches *switches, uint32_t *mode) {
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (!switches_contradict(switches, m)) continue;
    *mode = m;
    return true;
  }
  return false;
}

static bool may_hide(const Switches *switches, uint32_t m, double step) {
  double now = switches->difference[m], before = switches->before[m];
  double margin = least_margin(switches, m, now, before);
  bool is_first = switches->speed[m] == 0 && now != before; /* that it moves at all: how fast is not known */
  return margin < fabs(now - before) + step * switches->speed[m] || (is_first && isfinite(margin));
}

bool switches_are_far(const Switches *switches, double step) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (may_hide(switches, m, step)) return false;
  return true;
}

void switches_note_peaks(Switches *switches, const double *margin) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (margin[m] < INFINITY && margin[m] > switches->peak[m]) switches->peak[m] = margin[m];
}

/* Cycles get shorter by about the same ratio, and all that are still to come, if it goes on so, come within round-off of the run. Cycles around hysteresis do not count. */
bool switches_accumulate(Switches *switches, uint32_t m, double t, double span) {
  EventTimes *times = &switches->times[m];
  double cycle = t - times->before, ratio = cycle / times->cycle_before;
  bool regular = ratio < 1 && fabs(ratio - times->ratio) < GOOD_PART * ratio;
  times->regular = regular ? times->regular + 1 : 0;
  times->before = times->last;
  times->last = t;
  times->cycle_before = times->cycle;
  times->cycle = cycle;
  times->ratio = ratio;
  times->falls = ratio < 1 && (times->falls || times->regular >= HOVER_LIMIT);
  bool accumulates = times->regular >= PATTERN && cycle * ratio < SOLVED * span * (1 - ratio);
  for (uint32_t k = 0; k < switches->modes->count && accumulates; k++) accumulates = switches->slack[k] == 0;
  return accumulates;
}

/* The size of the difference of mode m, as far as it has been seen. */
static double known_range(const Switches *switches, uint32_t m) {
  return fmax(switches->largest[m], known_size(switches->difference[switches->modes->count + m]));
}

/* Does a when or pre() remember the mode, or another one of the same edge? */
static bool is_edge_remembered(const Switches *switches, uint32_t m) {
  const uint32_t *edge = switches->modes->edge;
  for (uint32_t k = 0; k < switches->modes->count; k++)
    if (edge[k] == edge[m] && is_remembered(switches, k)) return true;
  return false;
}

bool switches_let_rest(Switches *switches, double tolerance, double span) {
  bool any = false;
  for (uint32_t m = 0; m < switches->modes->count; m++)
    any = any || (switches->times[m].falls && is_edge_remembered(switches, m));
  for (uint32_t m = 0; m < switches->modes->count && any; m++) {
    EventTimes *times = &switches->times[m];
    if (!times->falls) continue;
    double size = known_range(switches, m);
    switches->slack[m] = HOVER_RANGE * fmax(switches->peak[m], times->peak);
    times->hold = span;
    times->range = HOVER_RANGE * tolerance * fmax(size, switches->nominal[m]);
    switches->peak[m] = 0;
  }
  return any;
}

uint32_t switches_escaped(const Switches *switches, double t, double round_off) {
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    const EventTimes *times = &switches->times[m];
    if (times->range > 0 && switches->peak[m] > times->range && fabs(times->last - t) <= round_off) return m;
  }
  return MAP_NONE;
}

/* How long the next event may be held back: longer where the mode was held back in vain, and hovers still. */
static void set_hold(EventTimes *times, bool hovers, double span) {
  double hold = hovers ? times->hold : 0;
  if (times->last - times->before > hold) hold *= 2;
  times->hold = fmax(hold, NEGLIGIBLE * span);
}

/* Do events accumulate before long? They do not where the ratio of cycles comes ever nearer to 1. */
static bool will_accumulate(const EventTimes *times, double span) {
  double ratio = times->ratio, last = SOLVED * span * (1 - ratio) / ratio;
  return times->regular >= HOVER_LIMIT && log(last / times->cycle) / log(ratio) < 2 / NEGLIGIBLE;
}

/* Did another mode that is remembered change at an edge of its own within the last cycle of mode m? The edges of a thermostat take turns, while noise leads one mode to and
 * fro alone. */
static bool takes_turns(const Switches *switches, uint32_t m) {
  const Modes *modes = switches->modes;
  const EventTimes *own = &switches->times[m];
  if (!is_remembered(switches, m)) return false;
  for (uint32_t k = 0; k < modes->count; k++) {
    double last = switches->times[k].last;
    bool is_between = last > own->last - own->cycle && last <= own->last;
    if (is_between && modes->edge[k] != modes->edge[m] && is_remembered(switches, k)) return true;
  }
  return false;
}

/* An event is one of hovering if the difference has not been farther from its edge since the event before than HOVER_RANGE tolerances, relative to the largest it has
 * been or, where events come fast, to its nominal size. After HOVER_LIMIT in a row hysteresis grows, from a small part of the tolerance up to it: it turns a bend into a
 * jump, around which the solution may cycle, so it begins small; only where rates jump anyway it may be larger than the tolerance. Where that does not end it, and
 * events are fast, it doubles after DOUBLING_LIMIT more: whatever keeps the solution at the edge, the mode makes so many events a run, and these for each doubling. A
 * difference that stays beyond its edge, if by less than the tolerance, is there, and the equations say what follows from it, which may be large: so hysteresis holds
 * an event back for a time only, which doubles where the mode was held back in vain and hovers still. Events of a mode that is remembered and that others keep apart
 * may be counted: they hover only if hysteresis makes them, or a part of it would. */
bool switches_hover(Switches *switches, uint32_t m, double tolerance, double span) {
  EventTimes *times = &switches->times[m];
  double *slack = &switches->slack[m], peak = switches->peak[m];
  switches->largest[m] = fmax(switches->largest[m], known_size(peak));
  double size = known_range(switches, m);
  bool is_fast = times->cycle < NEGLIGIBLE * span;
  if (is_fast) size = fmax(size, switches->nominal[m]);
  double limit = fmax(tolerance, switches->jumps[m] ? NEGLIGIBLE : 0) * size;
  double range = takes_turns(switches, m) ? HOVER_LIMIT * fmax(*slack, NEGLIGIBLE * tolerance * size)
                                          : HOVER_RANGE * fmax(*slack, tolerance * size);
  bool hovers = peak <= range && (*slack > 0 || !will_accumulate(times, span));
  set_hold(times, hovers, span);
  times->range = times->falls && is_remembered(switches, m) && fmax(peak, times->peak) <= range ? range : 0;
  times->peak = peak;
  switches->peak[m] = 0;
  switches->hovers[m] = hovers ? switches->hovers[m] + 1 : 0;
  bool doubles = *slack >= limit;
  if (switches->hovers[m] < (doubles ? DOUBLING_LIMIT : HOVER_LIMIT) || (doubles && !is_fast)) return false;
  *slack = doubles ? 2 * *slack : fmin(fmax(SLACK_GROWTH * *slack, NEGLIGIBLE * tolerance * size), limit);
  switches->is_widened[m] = *slack > tolerance * size;
  switches->hovers[m] = 0;
  return true;
}

void switches_begin(Switches *switches, uint32_t m) {
  if (!switches->goes_on) memset(switches->changes, 0, switches->modes->count * sizeof(uint8_t));
  switches->crossing = m;
}

/* The edge nearest to the last difference of mode m. */
static double nearest_edge(const Switches *switches, uint32_t m) {
  return mode_edge(op_of(switches, m), switches->difference[m]);
}

/* Do the modes change at one edge, near to which their last differences are? */
static bool share_edge(const Switches *switches, uint32_t a, uint32_t b) {
  const Modes *modes = switches->modes;
  if (modes->edge[a] != modes->edge[b] || modes->timed[b] || modes->meets[b]) return false;
  double sign = modes->is_mirrored[a] == modes->is_mirrored[b] ? 1 : -1;
  return nearest_edge(switches, a) == sign * nearest_edge(switches, b);
}

/* How far the difference of mode m came in the step in which its event was located. */
static double way(const Switches *switches, uint32_t m) {
  return fmax(known_size(switches->before[m]), known_size(switches->end[m]));
}

/* Is mode m on the edge whose event was located, or on one that it slid along? */
static bool is_on_located_edge(const Switches *switches, uint32_t m) {
  bool is_crossing = switches->crossing != MAP_NONE && share_edge(switches, switches->crossing, m);
  return is_crossing || m == switches->crossing || switches->slid[m];
}

/* Was the difference of mode m beyond its edge from the beginning of the step on, where no edge could be located? */
static bool was_beyond(const Switches *switches, uint32_t m) {
  double at = switches->at[m], edge = mode_edge(op_of(switches, m), at), before = switches->before[m];
  double near = fmax(band(switches, m), PRESENT * way(switches, m));
  return !switches->slid[m] && fmin(fabs(at - edge), fabs(before - edge)) > near && (at > edge) == (before > edge);
}

/* Is a mode that is remembered off its edge, if by less than its hysteresis? At an event, of its own or of another mode, it is as its difference says: a
 * thermostat that turns at its lower edge has left the upper one, or it would never get to that again. */
static bool is_off_edge(const Switches *switches, uint32_t m) {
  return switches->slack[m] > 0 && is_remembered(switches, m) && !switches->slid[m] &&
         fabs(switches->difference[m] - nearest_edge(switches, m)) > round_off(switches, m);
}

/* The value that mode m should have by its difference: on an edge by its rate, and where nothing is known as it is. A mode that
 * contradicts never stays, but for one whose event was located: that is beyond the edge by the accuracy of location only. Where no
 * row depends on the mode its rate is the same on both sides, so that it does not lead back to a side that is contradicted: only
 * the error of the columns makes it seem so. */
static double wanted_value(const Switches *switches, uint32_t m) {
  Op op = op_of(switches, m);
  double difference = switches->difference[m], edge = mode_edge(op, difference), rate = switches->rate[m];
  if (is_off_edge(switches, m)) return mode_value(op, difference);
  bool is_located = is_on_located_edge(switches, m) && !was_beyond(switches, m) &&
                    fabs(difference - switches->at[m]) <= band(switches, m);
  bool on_edge = is_located || fabs(difference - edge) <= band(switches, m);
  if (switches->is_at_start) return mode_value(op, on_edge ? edge : difference);
  bool moves = on_edge && fabs(rate) > STUCK * switches->speed[m], contradicts = switches_contradict(switches, m);
  double ahead = mode_value(op, edge + copysign(0.5, rate));
  bool may_lead = switches->evaluator->code->matters[switches->modes->first + m] ||
                  margin_with(switches, m, ahead, difference) >= 0;
  if (moves && may_lead && (is_located || !contradicts || ahead != *mode_of(switches, m))) return ahead;
  if (on_edge && switches->rests[m]) return mode_value(op, edge);
  if (!on_edge || contradicts) return mode_value(op, difference);
  return switches->begun ? *mode_of(switches, m) : mode_value(op, edge);
}

/* Rows may depend on what has changed. */
static void note_change(Switches *switches, uint32_t m) {
  switches->matter = switches->matter || switches->evaluator->code->matters[switches->modes->first + m];
}

/* All that is discrete but the modes. */
static uint32_t decide(Switches *switches, double t, const double *y) {
  if (!switches->decisions) return 0;
  switches->decisions->matter = false;
  uint32_t changed = decisions_set(switches->decisions, t, y);
  switches->matter = switches->matter || switches->decisions->matter;
  return changed;
}

static bool is_spent(const Switches *switches, uint32_t m) {
  return switches->changes[m] >= (switches->one_by_one ? PIVOT_LIMIT : CHANGE_LIMIT);
}

/* ---- combinations ---- */

static bool may_try(const Switches *switches, uint32_t m) {
  return op_is_order(op_of(switches, m)) && !switches->modes->timed[m] && !switches->modes->meets[m] &&
         !waits(switches, m);
}

Trial switches_trial(const Switches *switches, uint32_t limit) {
  Trial trial = {0};
  for (int changed = 1; changed >= 0; changed--)
    for (uint32_t m = 0; m < switches->modes->count && trial.count < limit; m++)
      if (may_try(switches, m) && (switches->changes[m] > 0) == changed) trial.mode[trial.count++] = m;
  return trial;
}

/* The next larger number with as many bits is Gosper's. */
bool trial_next(Trial *trial) {
  uint32_t set = trial->flipped, lowest = set & -set, ripple = set + lowest;
  set = lowest ? ripple | ((set ^ ripple) / lowest) >> 2 : UINT32_MAX;
  if (set >> trial->count) set = (UINT32_C(1) << ++trial->changes) - 1;
  trial->flipped = set;
  return trial->changes <= trial->count;
}

void switches_try(Switches *switches, const Trial *trial, double t, const double *y) {
  switches_begin(switches, switches->crossing);
  for (uint32_t k = 0; k < trial->count; k++) {
    double *mode = mode_of(switches, trial->mode[k]);
    if (trial->flipped >> k & 1) *mode = *mode == 0;
    switches->changes[trial->mode[k]] = CHANGE_LIMIT;
  }
  for (uint32_t round = 0; round < modes_leaves(switches->modes) && decide(switches, t, y); round++) continue;
}

bool switches_agree(const Switches *switches) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (!switches->modes->timed[m] && !waits(switches, m) && wanted_value(switches, m) != *mode_of(switches, m))
      return false;
  return true;
}

/* ---- setting all ---- */

/* Is the relation of mode m made of other modes, which come before it? */
static bool has_inner(const Switches *switches, uint32_t m) {
  return dag_depends(switches->evaluator->model->dag, switches->modes->difference[m], OP_DISCRETE);
}

/* Modes inside of the relation of mode m have changed, on which it has to wait: what it did before that was no to and fro. */
static void count_anew(Switches *switches, uint32_t m) {
  uint8_t *changes = &switches->changes[m];
  if (*changes > 1 && *changes != LED_AWAY && has_inner(switches, m)) *changes = 1;
}

/* Modes of time may be those of variables that no state moves, too: they follow unless on their edges, where the schedule knows better. */
bool switches_follow(Switches *switches, Workspace *written, double t, const double *y) {
  if (!run_conditions(switches, written, t, y)) return false;
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    double *mode = mode_of(switches, m), difference = switches->difference[m];
    if (!switches->modes->timed[m] || margin_with(switches, m, *mode, difference) < 0)
      *mode = mode_value(op_of(switches, m), difference);
  }
  return true;
}

bool switches_all_agree(const Switches *switches) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (margin_with(switches, m, *mode_of(switches, m), switches->difference[m]) < 0) return false;
  return switches_agree(switches);
}

void switches_enter_start(Switches *switches, double t, const double *y) {
  switches->is_at_start = true;
  if (!switches->modes->count) return;
  switches->is_at_start = switches_evaluate(switches, t, y) && switches_agree(switches) &&
                          !(switches->schedule && schedule_changes(switches->schedule, t) != MAP_NONE);
}

uint32_t switches_leave_start(Switches *switches, double t, const double *y) {
  switches->is_at_start = false;
  if (!switches->modes->count || !switches_evaluate(switches, t, y)) return MAP_NONE;
  evaluate_rates(switches, t, y);
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (switches->modes->timed[m] || switches->modes->meets[m]) continue;
    if (wanted_value(switches, m) != *mode_of(switches, m)) return m;
  }
  return switches->schedule ? schedule_changes(switches->schedule, schedule_behind(t)) : MAP_NONE;
}

uint32_t switches_set(Switches *switches, double t, const double *y) {
  Inputs *inputs = switches->evaluator->inputs;
  uint32_t changed = switches->schedule ? set_timed(switches, t) : 0;
  if (inputs) changed += inputs_pass(inputs, t);
  if (changed) switches->matter = true;
  evaluate_rates(switches, t, y);
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (switches->modes->timed[m] || is_sliding(switches, m) || waits(switches, m)) continue;
    if (changed) count_anew(switches, m);
    if (is_spent(switches, m)) continue;
    double value = wanted_value(switches, m), *mode = mode_of(switches, m);
    if (value == *mode) continue;
    switches->changes[m]++;
    *mode = value;
    note_change(switches, m);
    changed++;
    if (switches->one_by_one) break;
  }
  return changed + decide(switches, t, y);
}

bool switches_settle(Switches *switches, double t, const double *y) {
  switches->matter = false;
  for (uint32_t round = 0; round <= modes_leaves(switches->modes) && !switches->matter; round++)
    if (!switches_evaluate(switches, t, y) || !switches_set(switches, t, y)) return false;
  return switches->matter;
}

bool switches_undecided(const Switches *switches) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (switches->changes[m] >= CHANGE_LIMIT) return true;
  return false;
}

/* Did the mode go to and fro on its edge? */
static bool is_torn(const Switches *switches, uint32_t m) {
  uint8_t changes = switches->changes[m];
  if (changes < CHANGE_LIMIT || changes == LED_AWAY || !switches->evaluator->code->has_rate[m]) return false;
  double off = fabs(switches->difference[m] - nearest_edge(switches, m));
  return switches->slid[m] || off <= PRESENT * way(switches, m);
}

static void add_slide(Switches *switches, uint32_t m) {
  switches->slide[switches->slides++] = (Slide){.mode = m, .weight = 0.5};
  for (uint32_t k = 0; k < switches->modes->count; k++)
    if (!is_sliding(switches, k) && share_edge(switches, m, k)) switches->slides_with[k] = m;
}

bool switches_slide(Switches *switches) {
  uint32_t before = switches->slides;
  for (uint32_t m = 0; m < switches->modes->count && switches->slides < SLIDE_LIMIT; m++)
    if (!is_sliding(switches, m) && is_torn(switches, m)) add_slide(switches, m);
  return switches->slides > before;
}

/* Sets all modes of a slide to their values above its edge, or below. */
static void set_side(const Switches *switches, uint32_t mode, bool is_above) {
  const Modes *modes = switches->modes;
  for (uint32_t m = 0; m < modes->count; m++) {
    if (switches->slides_with[m] != mode) continue;
    bool is_up = is_above == (modes->is_mirrored[m] == modes->is_mirrored[mode]);
    *mode_of(switches, m) = mode_value(op_of(switches, m), nearest_edge(switches, m) + (is_up ? 0.5 : -0.5));
  }
}

static double jump_of(const Switches *switches, uint32_t k) {
  return switches->slide[k].rate[k + 1] - switches->slide[k].rate[0];
}

/* The k-th no longer slides. */
static void drop_slide(Switches *switches, uint32_t k) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (switches->slides_with[m] == switches->slide[k].mode) switches->slides_with[m] = MAP_NONE;
  switches->slides--;
  memmove(&switches->slide[k], &switches->slide[k + 1], (switches->slides - k) * sizeof(Slide));
}

/* The modes of the k-th are as their last differences say. */
static void set_as_they_are(const Switches *switches, uint32_t k) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (switches->slides_with[m] == switches->slide[k].mode)
      *mode_of(switches, m) = mode_value(op_of(switches, m), switches->difference[m]);
}

/* The modes of the k-th do not slide until the event of now is over. Those that change nothing went to and fro with others, and go where these
 * lead them. */
static void lead_away(Switches *switches, uint32_t k, bool are_led) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (switches->slides_with[m] == switches->slide[k].mode) switches->changes[m] = are_led ? 0 : LED_AWAY;
}

bool switches_leads_back(Switches *switches) {
  bool all = true;
  for (uint32_t k = switches->slides; k-- > 0;) {
    const Slide *slide = &switches->slide[k];
    double jump = jump_of(switches, k);
    uint32_t m = slide->mode;
    switches->jumps[m] =
        jump != 0 && (switches->slid[m] || fabs(jump) * switches->step >= NEGLIGIBLE * way(switches, m));
    if (switches->jumps[m] && slide->weight > 0 && slide->weight < 1) continue;
    bool is_led = switches->slides > 1 && switches->jumps[m] && jump < 0;
    if (is_led) set_side(switches, m, slide->weight > 0.5);
    else set_as_they_are(switches, k);
    if (switches->slides > 1) lead_away(switches, k, jump == 0);
    drop_slide(switches, k);
    all = false;
  }
  return all;
}

void switches_slide_first(Switches *switches, uint32_t count) {
  while (switches->slides > count) {
    set_as_they_are(switches, switches->slides - 1);
    lead_away(switches, switches->slides - 1, false);
    drop_slide(switches, switches->slides - 1);
  }
}

/* ---- several edges ---- */

void switches_set_corner(Switches *switches, uint32_t corner) {
  for (uint32_t k = 0; k < switches->slides; k++)
    set_side(switches, switches->slide[k].mode, corner == k + 1 || corner > switches->slides);
}

void switches_keep_corner(Switches *switches, uint32_t corner, double t, const double *y) {
  evaluate_rates(switches, t, y);
  for (uint32_t k = 0; k < switches->slides; k++)
    switches->slide[k].rate[corner] = switches->rate[switches->slide[k].mode];
}

/* All rates are zero: a linear system of the weights. */
void switches_weigh(Switches *switches) {
  double matrix[SLIDE_LIMIT * (SLIDE_LIMIT + 1)];
  uint32_t n = switches->slides;
  for (uint32_t i = 0; i < n; i++) {
    const double *rate = switches->slide[i].rate;
    for (uint32_t j = 0; j < n; j++) matrix[i * (n + 1) + j] = rate[0] - rate[j + 1];
    matrix[i * (n + 1) + n] = rate[0];
  }
  bool is_regular = dense_eliminate(matrix, (int32_t)n, (int32_t)n + 1) != 0;
  for (uint32_t i = 0; i < n; i++) switches->slide[i].weight = is_regular ? matrix[i * (n + 1) + n] : 0.5;
}

bool switches_add_up(Switches *switches, double t, const double *y) {
  evaluate_rates(switches, t, y);
  for (uint32_t i = 0; i < switches->slides; i++) {
    const double *rate = switches->slide[i].rate;
    double off = switches->rate[switches->slide[i].mode] - rate[0], size = fabs(off);
    for (uint32_t k = 1; k <= switches->slides; k++) {
      off -= rate[k] - rate[0];
      size += fabs(rate[k] - rate[0]);
    }
    if (fabs(off) > PRESENT * size) return false;
  }
  return true;
}

double switches_leaving(const Switches *switches, uint32_t *mode) {
  double most = -INFINITY;
  for (uint32_t k = 0; k < switches->slides; k++) {
    double weight = switches->slide[k].weight, outside = fmax(-weight, weight - 1);
    if (!(outside > most)) continue;
    most = outside;
    *mode = switches->slide[k].mode;
  }
  return most;
}

void switches_forget_slides(Switches *switches) {
  while (switches->slides) drop_slide(switches, switches->slides - 1);
}

void switches_leave(Switches *switches) {
  for (uint32_t k = 0; k < switches->slides; k++)
    set_side(switches, switches->slide[k].mode, switches->slide[k].weight > 0.5);
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (!is_sliding(switches, m)) continue;
    switches->slid[m] = true;
    switches->at[m] = switches->difference[m];
  }
  switches_forget_slides(switches);
}

bool switches_slid(const Switches *switches) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (switches->slid[m]) return true;
  return false;
}

void switches_locate(Switches *switches, uint32_t m, double t, const double *y) {
  if ((m == MAP_NONE && !switches_slid(switches)) || !switches_evaluate(switches, t, y)) return;
  memcpy(switches->at, switches->difference, switches->modes->count * sizeof(double));
}

/* ---- what changes by itself at an event ---- */

void switches_mark_crossing(Switches *switches, uint32_t m, double t, const double *y, bool *marks) {
  switches_begin(switches, m);
  switches_locate(switches, m, t, y);
  if (switches->modes->count && !switches_evaluate(switches, t, y)) return;
  evaluate_rates(switches, t, y);
  if (switches->schedule)
    schedule_mark_changes(switches->schedule, switches->is_at_start ? t : schedule_behind(t), marks);
  for (uint32_t k = 0; k < switches->modes->count; k++) {
    if (switches->modes->timed[k] || switches->modes->meets[k] || is_sliding(switches, k)) continue;
    marks[k] = wanted_value(switches, k) != *mode_of(switches, k);
  }
}

enum { MARKED_NUMBERS = 4, MARKED_FLAGS = 2 };

struct SwitchesMark {
  double *number[MARKED_NUMBERS], kept;
  bool *flag[MARKED_FLAGS];
};

/* What is marked of each mode, where it is. */
static SwitchesMark mark_within(const Switches *switches) {
  return (SwitchesMark){{switches->rate, switches->before, switches->speed, switches->peak},
                        switches->kept,
                        {switches->slid, switches->rests}};
}

SwitchesMark *switches_keep_mark(const Switches *switches, Heap *heap) {
  size_t modes = switches->modes->count;
  SwitchesMark own = mark_within(switches), *mark = heap_copy(heap, &own, 1, sizeof own);
  for (int k = 0; k < MARKED_NUMBERS; k++) mark->number[k] = heap_copy(heap, own.number[k], modes, sizeof(double));
  for (int k = 0; k < MARKED_FLAGS; k++) mark->flag[k] = heap_copy(heap, own.flag[k], modes, sizeof(bool));
  return mark;
}

void switches_go_back(Switches *switches, const SwitchesMark *mark) {
  size_t modes = switches->modes->count;
  SwitchesMark own = mark_within(switches);
  switches_forget_slides(switches);
  switches->kept = mark->kept;
  for (int k = 0; k < MARKED_NUMBERS && modes; k++) memcpy(own.number[k], mark->number[k], modes * sizeof(double));
  for (int k = 0; k < MARKED_FLAGS && modes; k++) memcpy(own.flag[k], mark->flag[k], modes * sizeof(bool));
}
