/* decide: see decide.h. */
#include "core/decide.h"

#include "core/condition.h"
#include "core/constants.h"
#include "core/rounds.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- samples ---- */

/* Up to this number a double represents every integer. */
static const double COUNT_LIMIT = 9007199254740992;

static double sample_time(const Decide *decide, int k) {
  return decide->count[k] ? decide->start[k] + (double)decide->count[k] * decide->interval[k] : decide->start[k];
}

/* Times that differ only by round-off count as one. */
static bool is_due(double due, double t) { return due <= t + 8 * DBL_EPSILON * fmax(fabs(t), fabs(due)); }

int decide_begin_samples(Decide *decide, double t, const double *y) {
  int wrong = -1;
  if (decide->plan.samples) decide->methods->evaluate(decide->host, DECIDE_SAMPLES, 0, t, y, decide->values);
  for (int k = decide->plan.samples - 1; k >= 0; k--) {
    decide->start[k] = decide->values[2 * k];
    decide->interval[k] = decide->values[2 * k + 1];
    bool is_defined = isfinite(decide->start[k]) && isfinite(decide->interval[k]);
    if (!is_defined || !(decide->interval[k] > 0)) wrong = k;
    double over = (t - decide->start[k]) / decide->interval[k];
    decide->count[k] = over > 0 ? (uint64_t)ceil(fmin(over, COUNT_LIMIT) - 1e-9) : 0;
  }
  return wrong;
}

double decide_next_time(const Decide *decide, double t) {
  double first = HUGE_VAL;
  for (int k = 0; k < decide->plan.samples; k++) {
    double next = sample_time(decide, k);
    if (next < first && next > t) first = next;
  }
  return first;
}

static bool is_sample_due(const Decide *decide, int k, double t) {
  return decide->interval[k] > 0 && is_due(sample_time(decide, k), t);
}

bool decide_are_due(const Decide *decide, double t) {
  for (int k = 0; k < decide->plan.samples; k++)
    if (is_sample_due(decide, k, t)) return true;
  return false;
}

static void set_samples(Decide *decide, double t) {
  for (int k = 0; k < decide->plan.samples; k++) {
    double *leaf = &decide->discretes[decide->plan.sample[k]];
    *leaf = 0;
    while (!decide->samples_wait && is_sample_due(decide, k, t)) {
      decide->count[k]++;
      *leaf = 1;
    }
  }
}

/* ---- steps ---- */

void decide_copy_pre(Decide *decide) {
  memcpy(decide->pre, decide->discretes, (size_t)decide->plan.all * sizeof(double));
}

/* Sets pre() of the continuous variables. */
static void set_lefts(Decide *decide, double t, const double *y) {
  if (!decide->plan.lefts) return;
  decide->methods->evaluate(decide->host, DECIDE_LEFTS, 0, t, y, decide->values);
  for (int k = 0; k < decide->plan.lefts; k++) decide->discretes[decide->plan.left[k]] = decide->values[k];
}

static void forget_calls(const Decide *decide, bool is_new_event) {
  if (decide->methods->forget_calls) decide->methods->forget_calls(decide->host, is_new_event);
}

void decide_begin(Decide *decide, double t, const double *y) {
  set_lefts(decide, t, y);
  decide_copy_pre(decide);
  decide->matter = false;
  set_samples(decide, t);
  forget_calls(decide, true);
}

/* Columns are accurate to round-off only, so values computed from them are compared with this margin. */
static bool is_near(double a, double b) { return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)); }

/* Has this event already changed the leaf, and does it now get the same value again? */
static bool comes_again(const Decide *decide, const DecideStep *step, double value) {
  double now = decide->discretes[step->leaf];
  return step->reads_columns && now != decide->pre[step->leaf] && is_near(now, value);
}

/* An undefined value leaves its leaf unchanged. */
static int set_leaf(Decide *decide, double *values, int leaf, double value) {
  if (!isfinite(value) || values[leaf] == value) return 0;
  values[leaf] = value;
  decide->matter = decide->matter || decide->plan.matters[leaf];
  return 1;
}

static int set_parameter(Decide *decide, int parameter, double value) {
  if (!decide->methods->set_parameter(decide->host, parameter, value)) return 0;
  decide->matter = true;
  return 1;
}

/* Records that output k of a program is undefined. */
static void note_undefined(Decide *decide, const DecideStep *step, DecideProgram program, int level, int k, double t,
                           const double *y) {
  if (isfinite(decide->values[k])) return;
  decide->undefined = step;
  if (decide->methods->undefined) decide->methods->undefined(decide->host, program, level, k, t, y);
}

/* Sets pre() and parameters as the initial equations say. */
static int set_initial(Decide *decide, double t, const double *y) {
  int changed = 0;
  if (!decide->plan.initial_steps || decide->discretes[decide->plan.initial] == 0) return 0;
  decide->methods->evaluate(decide->host, DECIDE_INITIAL, 0, t, y, decide->values);
  for (int k = 0; k < decide->plan.initial_steps; k++) {
    const DecideStep *step = &decide->plan.initial_step[k];
    note_undefined(decide, step, DECIDE_INITIAL, 0, k, t, y);
    changed += step->is_parameter ? set_parameter(decide, step->leaf, decide->values[k])
                                  : set_leaf(decide, decide->pre, step->leaf, decide->values[k]);
  }
  return changed;
}

static int set_level(Decide *decide, int level, double t, const double *y) {
  int changed = 0, begin = decide->plan.level_start[level], end = decide->plan.level_start[level + 1];
  decide->methods->evaluate(decide->host, DECIDE_LEVEL, level, t, y, decide->values);
  for (int k = 0; k < end - begin; k++) {
    const DecideStep *step = &decide->plan.step[begin + k];
    double value = decide->values[k];
    note_undefined(decide, step, DECIDE_LEVEL, level, k, t, y);
    bool acted = step->fires && decide->discretes[step->leaf] != 0 && decide->pre[step->leaf] == 0;
    if ((acted && decide->latches) || comes_again(decide, step, value)) continue;
    decide->retracted = decide->retracted || (acted && value == 0);
    changed += set_leaf(decide, decide->discretes, step->leaf, value);
  }
  return changed;
}

int decide_set(Decide *decide, double t, const double *y) {
  decide->undefined = 0;
  decide->refused = decide->rival = -1;
  if (decide->discretes[decide->plan.initial] != 0) set_lefts(decide, t, y);
  int changed = set_initial(decide, t, y);
  for (int l = 0; l < decide->plan.levels; l++) changed += set_level(decide, l, t, y);
  return changed;
}

void decide_end(Decide *decide, double t, const double *y) {
  bool any = false;
  forget_calls(decide, false);
  for (int k = 0; k < decide->plan.samples; k++) {
    double *leaf = &decide->discretes[decide->plan.sample[k]];
    any = any || *leaf != 0;
    *leaf = 0;
  }
  if (!any) return;
  decide_set(decide, t, y);
  decide_copy_pre(decide);
}

bool decide_accept(Decide *decide, double t, const double *y) {
  const double *pre = decide->pre;
  double *now = decide->discretes;
  set_lefts(decide, t, y);
  for (int k = 0; k < decide->plan.lefts; k++) {
    int leaf = decide->plan.left[k];
    if (is_near(pre[leaf], now[leaf])) now[leaf] = pre[leaf];
  }
  bool differ = decide->is_stale = false;
  for (int leaf = 0; leaf < decide->plan.leaves; leaf++) {
    if (pre[leaf] == now[leaf]) continue;
    differ = true;
    decide->is_stale = decide->is_stale || decide->plan.matters[leaf] & MATTERS_PRE;
  }
  decide_copy_pre(decide);
  forget_calls(decide, false);
  return differ;
}

bool decide_is_end(const Decide *decide) {
  int terminal = decide->plan.terminal;
  return terminal >= 0 && decide->discretes[terminal] != 0 && decide->plan.matters[terminal];
}

/* Each term includes the hash before it, so the order counts. */
uint64_t decide_hash(Decide *decide, uint64_t hash, double t, const double *y) {
  for (int l = 0; l < decide->plan.levels; l++) {
    decide->methods->evaluate(decide->host, DECIDE_LEVEL, l, t, y, decide->values);
    hash = 31 * hash +
           rounds_hash(decide->values, (size_t)(decide->plan.level_start[l + 1] - decide->plan.level_start[l]));
  }
  decide_act(decide, t, y);
  return 31 * hash + rounds_hash(decide->values, 2 * (size_t)decide->plan.actions);
}

void decide_look(Decide *decide, double t, const double *y) {
  bool starts = decide->plan.initial_steps && decide->discretes[decide->plan.initial] != 0;
  if (starts) decide->methods->evaluate(decide->host, DECIDE_INITIAL, 0, t, y, decide->values);
  decide_hash(decide, 0, t, y);
}

/* ---- actions ---- */

void decide_act(Decide *decide, double t, const double *y) {
  if (decide->plan.actions) decide->methods->evaluate(decide->host, DECIDE_ACTIONS, 0, t, y, decide->values);
}

bool decide_fires(const Decide *decide, int action) {
  bool counts = decide->is_starting || !decide->plan.action[action].is_initial;
  return counts && decide->values[2 * action] != 0;
}

double decide_value(const Decide *decide, int action) { return decide->values[2 * action + 1]; }

static int reinit_of(const Decide *decide, int column, int before) {
  for (int a = 0; a < before; a++)
    if (decide->plan.action[a].column == column && decide_fires(decide, a)) return a;
  return -1;
}

void decide_reinit(Decide *decide, double *y, unsigned char *held) {
  for (int a = 0; a < decide->plan.actions; a++) {
    int column = decide->plan.action[a].column;
    if (column < 0 || !decide_fires(decide, a)) continue;
    double value = decide->plan.action[a].sign * decide_value(decide, a);
    bool is_other = held[column] && !is_near(y[column], value);
    if (is_other || !isfinite(value)) {
      decide->refused = a;
      decide->rival = is_other && isfinite(value) ? reinit_of(decide, column, a) : -1;
    }
    held[column] = 2;
    y[column] = value;
  }
}
