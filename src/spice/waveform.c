/* waveform: functions of time of independent sources. Their corners are conditions that depend only on time, so that steps end
 * there. Defaults are those of ngspice: a missing or zero time is the step of .tran, a missing period is its end. */
#include "spice/circuit.h"

#include <math.h>
#include <string.h>

typedef struct Waveform {
  Circuit *circuit;
  Dag *dag;
  const Scope *scope;
  const Card *card;
  ExprVec arguments;
} Waveform;

static Expr number(const Waveform *wave, double value) { return dag_constant(wave->dag, value); }

/* Argument k, or this value if it is missing. */
static Expr argument(const Waveform *wave, uint32_t k, double missing) {
  return k < wave->arguments.count ? wave->arguments.data[k] : number(wave, missing);
}

/* An argument that is a time: 0 counts as missing. */
static Expr duration(const Waveform *wave, uint32_t k, double missing) {
  double value;
  Expr given = argument(wave, k, missing);
  return dag_is_constant(wave->dag, given, &value) && value == 0 ? number(wave, missing) : given;
}

static Expr before(const Waveform *wave, Expr t, Expr edge) { return dag_binary(wave->dag, OP_LESS, t, edge); }

/* a + (b - a)*t/span */
static Expr line(const Waveform *wave, Expr a, Expr b, Expr t, Expr span) {
  Dag *dag = wave->dag;
  Expr rise = dag_subtract(dag, b, a), part = dag_divide(dag, t, span);
  return dag_add(dag, a, dag_multiply(dag, rise, part));
}

/* The time since the beginning of the period, from the time since the first one. */
static Expr within_period(const Waveform *wave, Expr t, Expr period) {
  double value;
  if (dag_is_constant(wave->dag, period, &value) && value >= wave->circuit->stop) return t;
  Expr count = dag_unary(wave->dag, OP_FLOOR, dag_divide(wave->dag, t, period));
  return dag_subtract(wave->dag, t, dag_multiply(wave->dag, period, count));
}

/* PULSE(v1 v2 td tr tf pw per) */
static Expr pulse(const Waveform *wave) {
  Dag *dag = wave->dag;
  const Circuit *circuit = wave->circuit;
  Expr low = argument(wave, 0, 0), high = argument(wave, 1, 0), delay = argument(wave, 2, 0);
  Expr rise = duration(wave, 3, circuit->step), fall = duration(wave, 4, circuit->step);
  Expr width = duration(wave, 5, circuit->stop), period = duration(wave, 6, circuit->stop);
  Expr since = dag_subtract(dag, circuit_time(wave->circuit), delay), t = within_period(wave, since, period);
  Expr down = dag_add(dag, rise, width), end = dag_add(dag, down, fall);
  Expr falling = line(wave, high, low, dag_subtract(dag, t, down), fall);
  Expr value = dag_if(dag, before(wave, t, end), falling, low);
  value = dag_if(dag, before(wave, t, down), high, value);
  value = dag_if(dag, before(wave, t, rise), line(wave, low, high, t, rise), value);
  return dag_if(dag, before(wave, circuit_time(wave->circuit), delay), low, value);
}

static Expr sine_of_turns(const Waveform *wave, Expr turns) {
  return dag_unary(wave->dag, OP_SIN, dag_scale(wave->dag, 2 * 3.14159265358979323846, turns));
}

/* SIN(vo va freq td theta phase) */
static Expr sine(const Waveform *wave) {
  Dag *dag = wave->dag;
  Expr offset = argument(wave, 0, 0), amplitude = argument(wave, 1, 0), delay = argument(wave, 3, 0);
  Expr frequency = duration(wave, 2, 1 / wave->circuit->stop), damping = argument(wave, 4, 0);
  Expr phase = dag_divide(dag, argument(wave, 5, 0), number(wave, 360));
  Expr t = dag_subtract(dag, circuit_time(wave->circuit), delay);
  Expr turns = dag_add(dag, dag_multiply(dag, frequency, t), phase);
  Expr decay = dag_unary(dag, OP_EXP, dag_negate(dag, dag_multiply(dag, damping, t)));
  Expr swing = dag_multiply(dag, dag_multiply(dag, amplitude, decay), sine_of_turns(wave, turns));
  Expr still = dag_multiply(dag, amplitude, sine_of_turns(wave, phase));
  Expr value = swing;
  double start;
  if (!dag_is_constant(dag, delay, &start) || start > 0)
    value = dag_if(dag, before(wave, circuit_time(wave->circuit), delay), still, swing);
  return dag_add(dag, offset, value);
}

/* 1 - exp(-(t - delay)/constant) */
static Expr approach(const Waveform *wave, Expr delay, Expr constant) {
  Dag *dag = wave->dag;
  Expr t = dag_subtract(dag, delay, circuit_time(wave->circuit));
  return dag_subtract(dag, number(wave, 1), dag_unary(dag, OP_EXP, dag_divide(dag, t, constant)));
}

/* EXP(v1 v2 td1 tau1 td2 tau2) */
static Expr exponential(const Waveform *wave) {
  Dag *dag = wave->dag;
  double step = wave->circuit->step;
  Expr first = argument(wave, 0, 0), second = argument(wave, 1, 0), rise = duration(wave, 2, step);
  Expr later = dag_add(dag, rise, number(wave, step)), fall = argument(wave, 4, 0);
  double given;
  if (dag_is_constant(dag, fall, &given) && given == 0) fall = later;
  Expr swing = dag_subtract(dag, second, first);
  Expr rising = dag_add(dag, first, dag_multiply(dag, swing, approach(wave, rise, duration(wave, 3, step))));
  Expr falling = dag_subtract(dag, rising, dag_multiply(dag, swing, approach(wave, fall, duration(wave, 5, step))));
  Expr value = dag_if(dag, before(wave, circuit_time(wave->circuit), fall), rising, falling);
  return dag_if(dag, before(wave, circuit_time(wave->circuit), rise), first, value);
}

/* SFFM(vo va fc mdi fs) */
static Expr frequency_modulated(const Waveform *wave) {
  Dag *dag = wave->dag;
  double stop = wave->circuit->stop;
  Expr carrier = dag_multiply(dag, duration(wave, 2, 1 / stop), circuit_time(wave->circuit));
  Expr signal = dag_multiply(dag, duration(wave, 4, 1 / stop), circuit_time(wave->circuit));
  Expr modulation = dag_multiply(dag, argument(wave, 3, 0), sine_of_turns(wave, signal));
  Expr turns = dag_add(dag, carrier, dag_scale(dag, 1 / (2 * 3.14159265358979323846), modulation));
  return dag_add(dag, argument(wave, 0, 0), dag_multiply(dag, argument(wave, 1, 0), sine_of_turns(wave, turns)));
}

/* AM(va vo mf fc td): amplitude modulation. */
static Expr amplitude_modulated(const Waveform *wave) {
  Dag *dag = wave->dag;
  Expr delay = argument(wave, 4, 0), t = dag_subtract(dag, circuit_time(wave->circuit), delay);
  Expr signal = sine_of_turns(wave, dag_multiply(dag, argument(wave, 2, 0), t));
  Expr carrier = sine_of_turns(wave, dag_multiply(dag, argument(wave, 3, 0), t));
  Expr envelope = dag_multiply(dag, argument(wave, 0, 0), dag_add(dag, argument(wave, 1, 0), signal));
  return dag_if(dag, before(wave, circuit_time(wave->circuit), delay), number(wave, 0),
                dag_multiply(dag, envelope, carrier));
}

/* PWL(t1 v1 t2 v2 ...); it jumps where two times are equal. */
static Expr piecewise_linear(const Waveform *wave) {
  Dag *dag = wave->dag;
  const Expr *x = wave->arguments.data;
  uint32_t count = wave->arguments.count;
  Expr now = circuit_time(wave->circuit), value = x[count - 1];
  for (uint32_t k = count - 2; k >= 2; k -= 2) {
    Expr span = dag_subtract(dag, x[k], x[k - 2]);
    double width;
    if (dag_is_constant(dag, span, &width) && width <= 0) continue;
    Expr piece = line(wave, x[k - 1], x[k + 1], dag_subtract(dag, now, x[k - 2]), span);
    value = dag_if(dag, before(wave, now, x[k]), piece, value);
  }
  double first;
  if (dag_is_constant(dag, x[0], &first) && first <= 0) return value;
  return dag_if(dag, before(wave, now, x[0]), x[1], value);
}

static const struct WaveformKind {
  const char *name;
  Expr (*build)(const Waveform *wave);
  uint32_t most; /* arguments; 0: any number */
} KINDS[] = {{"pulse", pulse, 7},
             {"sin", sine, 6},
             {"sine", sine, 6},
             {"exp", exponential, 6},
             {"pwl", piecewise_linear, 0},
             {"sffm", frequency_modulated, 5},
             {"am", amplitude_modulated, 5}};

static const struct WaveformKind *find_kind(Fields *fields, uint32_t at) {
  for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
    if (field_accept(fields, at, KINDS[k].name)) return &KINDS[k];
  return NULL;
}

bool read_waveform(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t at, Expr *value) {
  const struct WaveformKind *kind = find_kind(fields, at);
  *value = EXPR_NONE;
  if (!kind) return false;
  Waveform wave = {circuit, circuit->dag, scope, fields->card, {0}};
  for (uint32_t k = at + 1; k < fields->list.count; k++) {
    bool is_other = field_is(fields, k, "ac") || field_is(fields, k, "dc") || field_is(fields, k, "distof1") ||
                    field_is(fields, k, "distof2") || fields->list.data[k].is_used;
    if (is_other || field_assigns(fields, k)) break;
    Expr e = field_item(circuit, scope, fields, k);
    if (e == EXPR_NONE) return true;
    vec_push(circuit->heap, &wave.arguments, e);
  }
  bool is_pwl = kind->build == piecewise_linear;
  if (is_pwl ? wave.arguments.count < 2 || wave.arguments.count % 2 : wave.arguments.count > kind->most) {
    CardField field = fields->list.data[at];
    card_error(circuit->diags, fields->card, field.begin, field.end,
               is_pwl ? "pwl needs pairs of time and value" : "%s has too many values", kind->name);
  } else if (circuit->stop == 0) {
    *value = argument(&wave, is_pwl, 0); /* there is no run: the value at its beginning */
  } else {
    *value = kind->build(&wave);
  }
  vec_free(circuit->heap, &wave.arguments);
  return true;
}
