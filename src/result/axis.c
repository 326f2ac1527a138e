/* axis: see axis.h. A linear tick is an integer multiple of 1, 2 or 5 times a power of ten, so labels are
 * made from integers and are exact. */
#include "result/axis.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Outside of these sizes sums of values would overflow or lose their digits; the plot shows the bound instead. */
static const double greatest = 1e300, smallest = 1e-300;

bool axis_drawable(bool logarithmic, double value) { return isfinite(value) && (!logarithmic || value > 0); }

static double clamp(bool logarithmic, double value) {
  if (value > greatest) return greatest;
  if (logarithmic) return value < smallest ? smallest : value;
  return value < -greatest ? -greatest : value;
}

double axis_place(const Axis *axis, double value) {
  value = clamp(axis->logarithmic, value);
  double place = axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
                                   : (value - axis->low) / (axis->high - axis->low);
  return fmin(fmax(place, 0), 1);
}

char *axis_superscript(char *out, int value) {
  static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  for (const char *at = text; *at; at++) {
    const char *sign = *at == '-' ? "⁻" : digit[*at - '0'];
    size_t length = strlen(sign);
    memcpy(out, sign, length);
    out += length;
  }
  *out = '\0';
  return out;
}

/* ---- linear ---- */

/* A step of factor * 10^exponent. */
typedef struct TickStep {
  int factor, exponent;
  double size;
} TickStep;

static TickStep step_choose(double range, uint32_t aim) {
  static const int factors[] = {1, 2, 5, 10};
  double rough = range / aim;
  TickStep step = {.exponent = (int)floor(log10(rough))};
  double power = pow(10, step.exponent);
  int i = 0;
  while (i < 3 && factors[i] * power < rough * (1 - 1e-9)) i++;
  step.factor = factors[i];
  if (step.factor == 10) step.factor = 1, step.exponent++;
  step.size = step.factor * pow(10, step.exponent);
  return step;
}

/* value * 10^-decimals from an integer. */
static void label_integer(char *out, double value, int decimals) {
  char digits[40];
  snprintf(digits, sizeof digits, "%0*.0f", decimals + 1, fabs(value)); /* no decimal point: any locale */
  size_t whole = strlen(digits) - (size_t)decimals;
  snprintf(out, AXIS_LABEL, "%s%.*s%s%.*s", value < 0 ? "-" : "", (int)whole, digits, decimals ? "." : "", decimals,
           digits + whole);
}

/* The power of ten to take out of labels for values up to `size`: none for ordinary numbers, else a multiple of 3. */
static int common_exponent(double size) {
  if (size == 0 || (size >= 1e-2 && size < 1e5)) return 0;
  return 3 * (int)floor(log10(size) / 3 + 1e-12);
}

/* The offset common to all values of a narrow range, as a multiple of 1000 steps; 0 if labels are short without it. */
static double common_offset(const Axis *axis, const TickStep *step) {
  double size = fmax(fabs(axis->low), fabs(axis->high));
  if (size / step->size < 1e6) return 0;
  double unit = 1000 * step->size;
  return round((axis->low / 2 + axis->high / 2) / unit) * unit;
}

static void write_note(Axis *axis, double offset, int exponent) {
  char *at = axis->note;
  if (exponent) {
    memcpy(at, "×10", sizeof "×10" - 1);
    at = axis_superscript(at + sizeof "×10" - 1, exponent);
  }
  if (offset == 0) return;
  char text[NUMBER_SIZE];
  number_format(fabs(offset), 13, text);
  snprintf(at, 2 * AXIS_LABEL, "%s%s %s", at > axis->note ? " " : "", offset < 0 ? "-" : "+", text);
}

static void linear_ticks(Axis *axis, uint32_t aim) {
  TickStep step = step_choose(axis->high - axis->low, aim);
  double offset = common_offset(axis, &step), low = axis->low - offset, high = axis->high - offset;
  int exponent = common_exponent(fmax(fabs(low), fabs(high)));
  int decimals = exponent > step.exponent ? exponent - step.exponent : 0;
  int zeros = step.exponent > exponent ? step.exponent - exponent : 0;
  double first = ceil(low / step.size - 1e-9), slack = 1e-9 * (high - low);
  for (double k = first; k * step.size <= high + slack && axis->ticks < AXIS_TICKS; k++) {
    axis->tick[axis->ticks] = fmin(fmax(k * step.size + offset, axis->low), axis->high);
    label_integer(axis->label[axis->ticks++], k * step.factor * pow(10, zeros), decimals);
  }
  write_note(axis, offset, exponent);
}

/* ---- logarithmic ---- */

static void minor_ticks(Axis *axis, int first, int last) {
  for (int decade = first; decade <= last; decade++) {
    for (int digit = 2; digit < 10; digit++) {
      double value = digit * pow(10, decade);
      if (value > axis->low && value < axis->high && axis->minor_ticks < AXIS_MINOR)
        axis->minor[axis->minor_ticks++] = value;
    }
  }
}

static void logarithmic_ticks(Axis *axis, uint32_t aim) {
  int first = (int)ceil(log10(axis->low) - 1e-9), last = (int)floor(log10(axis->high) + 1e-9);
  if (last - first < 1) { /* less than a decade: plain numbers */
    linear_ticks(axis, aim);
    return;
  }
  int stride = 1 + (last - first) / ((int)aim + 2);
  for (int decade = first; decade <= last && axis->ticks < AXIS_TICKS; decade++) {
    if (decade % stride) continue;
    axis->tick[axis->ticks] = fmin(fmax(pow(10, decade), axis->low), axis->high);
    char *out = axis->label[axis->ticks++];
    if (decade == 0 || decade == 1) snprintf(out, AXIS_LABEL, decade ? "10" : "1");
    else memcpy(out, "10", 2), axis_superscript(out + 2, decade);
  }
  if (stride == 1 && last - first <= 12) minor_ticks(axis, first - 1, last);
}

/* ---- range ---- */

static void widen_linear(Axis *axis, double margin) {
  double size = fmax(fabs(axis->low), fabs(axis->high)), range = axis->high - axis->low;
  if (range <= 1e-13 * size || range < smallest) { /* constant, up to rounding */
    double room = size < smallest ? 1.2 : 0.12 * size;
    axis->low -= room;
    axis->high += room;
    return;
  }
  axis->low -= margin * range;
  axis->high += margin * range;
}

static void widen_logarithmic(Axis *axis, double margin) {
  double ratio = axis->high / axis->low;
  double factor = ratio < 1 + 1e-12 ? 2 : isinf(ratio) ? 1 : pow(ratio, margin);
  axis->low = fmax(axis->low / factor, smallest / 10);
  axis->high = fmin(axis->high * factor, greatest * 10);
}

Axis axis_make(double low, double high, bool logarithmic, double margin, uint32_t aim) {
  Axis axis = {.logarithmic = logarithmic};
  bool none = !(low <= high);
  axis.low = none ? (logarithmic ? 0.1 : 0) : clamp(logarithmic, low);
  axis.high = none ? 1 : clamp(logarithmic, high);
  if (logarithmic) {
    widen_logarithmic(&axis, margin);
    logarithmic_ticks(&axis, aim);
  } else {
    widen_linear(&axis, margin);
    linear_ticks(&axis, aim);
  }
  return axis;
}
