/* switches: see switches.h. */
#include "code/switches.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* To, fro, and to again. */
enum { CHANGE_LIMIT = 3 };

/* After so many events in a row at which a difference has not got away from its edge, hysteresis grows, up to the limit. */
enum { HOVER_LIMIT = 6 };
static const double SLACK_LIMIT = 1e-3;

/* Round-off of a difference as a part of what it is taken of, and of a rate as a part of its size of late. */
static const double ROUND_OFF = 1e-13, STILL = 1e-9;

/* A difference is looked at again when it may have moved by this part of its size. */
static const double SMALL_PART = 0.1;

/* Events are located a little beyond an edge's band: so many of them are still the edge. */
static const double EDGE_BANDS = 100;

Switches *switches_new(Heap *heap, Evaluator *evaluator) {
  const Modes *modes = evaluator->code->modes;
  uint32_t count = modes->count;
  Decisions *decisions = decisions_new(heap, evaluator);
  if (!count && !decisions && !evaluator->inputs) return NULL;
  Switches *switches = heap_alloc(heap, sizeof *switches);
  switches->modes = modes;
  switches->evaluator = evaluator;
  switches->schedule = schedule_new(heap, evaluator);
  switches->decisions = decisions;
  if (count) {
    switches->workspace = workspace_new(heap, evaluator->code->conditions);
    switches->rates = workspace_new(heap, evaluator->code->rates);
  }
  switches->difference = heap_array(heap, 2 * (size_t)count, sizeof(double));
  switches->rate = heap_array(heap, count, sizeof(double));
  switches->before = heap_array(heap, count, sizeof(double));
  switches->speed = heap_array(heap, count, sizeof(double));
  switches->slack = heap_array(heap, count, sizeof(double));
  switches->peak = heap_array(heap, count, sizeof(double));
  switches->hovers = heap_array(heap, count, sizeof(uint8_t));
  switches->changes = heap_array(heap, count, sizeof(uint8_t));
  switches->slide.mode = switches->crossing = MAP_NONE;
  return switches;
}

void switches_forget(Switches *switches) {
  uint32_t count = switches->modes->count;
  double *const learned[] = {switches->rate, switches->before, switches->speed, switches->slack, switches->peak};
  for (size_t k = 0; k < sizeof learned / sizeof *learned; k++) memset(learned[k], 0, count * sizeof(double));
  memset(switches->hovers, 0, count * sizeof(uint8_t));
  switches->slide.mode = switches->crossing = MAP_NONE;
  switches->begun = false;
}

bool switches_evaluate(Switches *switches, double t, const double *y) {
  switches->time = t;
  if (!switches->modes->count) return true;
  Point point = evaluator_point(switches->evaluator, t, y);
  return workspace_run(switches->workspace, &point, switches->difference) == EVAL_OK;
}

void switches_guess(Switches *switches, double t, const double *y) {
  if (!switches->modes->count) {
    switches_set(switches, t, y);
    return;
  }
  Point point = evaluator_point(switches->evaluator, t, y);
  Workspace *written = workspace_new(switches->evaluator->heap, switches->evaluator->code->written);
  if (workspace_run(written, &point, switches->difference) == EVAL_OK) switches_set(switches, t, y);
}

static void evaluate_rates(Switches *switches, double t, const double *y) {
  if (!switches->modes->count) return;
  Point point = evaluator_point(switches->evaluator, t, y);
  if (workspace_run(switches->rates, &point, switches->rate) != EVAL_OK)
    memset(switches->rate, 0, switches->modes->count * sizeof(double));
}

static Op op_of(const Switches *switches, uint32_t m) {
  return dag_op(switches->evaluator->model->dag, switches->modes->relation[m]);
}

static double *mode_of(const Switches *switches, uint32_t m) {
  return &switches->evaluator->discretes[switches->modes->first + m];
}

static double band(const Switches *switches, uint32_t m) {
  double size = fmax(switches->difference[switches->modes->count + m], fabs(switches->before[m]));
  double blur = 4 * DBL_EPSILON * fabs(switches->time) * switches->speed[m]; /* what round-off of time makes of it */
  return fmax(fmax(ROUND_OFF * size, blur), switches->slack[m]);
}

double switches_margin(const Switches *switches, uint32_t m, double difference) {
  if (switches->modes->timed[m] || switches->slide.mode == m) return INFINITY;
  Interval range = mode_range(op_of(switches, m), *mode_of(switches, m));
  return fmin(difference - range.low, range.high - difference) + band(switches, m);
}

void switches_keep(Switches *switches, double t, const double *y, double step) {
  evaluate_rates(switches, t, y);
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    double mean = step > 0 ? fabs(switches->difference[m] - switches->before[m]) / step : 0;
    switches->speed[m] = fmax(fmax(fabs(switches->rate[m]), mean), switches->speed[m] / 2);
    switches->before[m] = switches->difference[m];
    switches->peak[m] = fmax(switches->peak[m], switches_margin(switches, m, switches->difference[m]));
  }
  switches->begun = true;
}

bool switches_contradict(const Switches *switches, uint32_t m) {
  return switches_margin(switches, m, switches->difference[m]) < 0;
}

bool switches_may_hide(const Switches *switches, uint32_t m, double step) {
  double now = switches->difference[m], before = switches->before[m];
  double margin = fmin(switches_margin(switches, m, now), switches_margin(switches, m, before));
  return margin < fabs(now - before) + step * switches->speed[m];
}

double switches_safe_time(const Switches *switches, uint32_t m) {
  double size = switches->difference[switches->modes->count + m], speed = switches->speed[m];
  if (!(speed > 0)) return INFINITY;
  return fmax(switches_margin(switches, m, switches->difference[m]), SMALL_PART * size) / speed;
}

bool switches_hover(Switches *switches, uint32_t m, double tolerance) {
  double *slack = &switches->slack[m], least = tolerance * fmax(1, switches->difference[switches->modes->count + m]);
  bool hovers = switches->peak[m] <= 16 * fmax(*slack, least);
  switches->peak[m] = 0;
  switches->hovers[m] = hovers ? (uint8_t)(switches->hovers[m] + 1) : 0;
  if (switches->hovers[m] < HOVER_LIMIT || *slack >= SLACK_LIMIT) return false;
  *slack = fmin(fmax(4 * *slack, least), SLACK_LIMIT);
  switches->hovers[m] = 0;
  return true;
}

void switches_begin(Switches *switches, uint32_t m) {
  memset(switches->changes, 0, switches->modes->count * sizeof(uint8_t));
  switches->crossing = m;
}

/* The value that mode m should have by its difference: on an edge by its rate, and where nothing is known as it is. */
static double wanted_value(const Switches *switches, uint32_t m) {
  Op op = op_of(switches, m);
  double difference = switches->difference[m], edge = mode_edge(op, difference), rate = switches->rate[m];
  bool on_edge = m == switches->crossing || fabs(difference - edge) <= EDGE_BANDS * band(switches, m);
  if (on_edge && fabs(rate) > STILL * switches->speed[m]) return mode_value(op, edge + copysign(0.5, rate));
  if (!on_edge || switches_contradict(switches, m)) return mode_value(op, difference);
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

uint32_t switches_set(Switches *switches, double t, const double *y) {
  Inputs *inputs = switches->evaluator->inputs;
  uint32_t changed = switches->schedule ? schedule_set(switches->schedule, t) : 0;
  if (inputs) changed += inputs_pass(inputs, t);
  if (changed) switches->matter = true;
  evaluate_rates(switches, t, y);
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (switches->modes->timed[m] || switches->slide.mode == m || switches->changes[m] >= CHANGE_LIMIT) continue;
    double value = wanted_value(switches, m), *mode = mode_of(switches, m);
    if (value == *mode) continue;
    switches->changes[m]++;
    *mode = value;
    note_change(switches, m);
    changed++;
  }
  return changed + decide(switches, t, y);
}

double switches_rate(Switches *switches, uint32_t m, double value, double t, const double *y) {
  *mode_of(switches, m) = value;
  evaluate_rates(switches, t, y);
  return switches->rate[m];
}

bool switches_undecided(const Switches *switches) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (switches->changes[m] >= CHANGE_LIMIT) return true;
  return false;
}

uint32_t switches_torn(const Switches *switches) {
  for (uint32_t m = 0; m < switches->modes->count; m++)
    if (switches->changes[m] >= CHANGE_LIMIT && switches->evaluator->code->has_rate[m]) return m;
  return MAP_NONE;
}

void switches_slide(Switches *switches, uint32_t m) {
  Op op = op_of(switches, m);
  double edge = mode_edge(op, switches->difference[m]);
  switches->slide = (Slide){m, {mode_value(op, edge - 0.5), mode_value(op, edge + 0.5)}, 0.5};
}

void switches_leave(Switches *switches) {
  Slide *slide = &switches->slide;
  *mode_of(switches, slide->mode) = slide->value[slide->weight > 0.5];
  slide->mode = MAP_NONE;
}
