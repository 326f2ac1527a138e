/* axis: the range of an axis, its ticks and their labels.
 *
 * Invariant: low < high, both finite (and positive on a logarithmic axis); ticks ascend within [low, high]. Labels are short
 * for every range: a power of ten or an offset that is common to all values goes into `note`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { AXIS_TICKS = 24, AXIS_MINOR = 200, AXIS_LABEL = 32 };

typedef struct Axis {
  bool logarithmic;
  double low, high;
  uint32_t ticks, minor_ticks;
  double tick[AXIS_TICKS], minor[AXIS_MINOR];
  char label[AXIS_TICKS][AXIS_LABEL]; /* UTF-8: superscripts on a logarithmic axis */
  char note[3 * AXIS_LABEL];          /* "×10⁶", "+1000"; often empty */
} Axis;

/* Can a value be placed on the axis: finite, and positive if the axis is logarithmic. */
bool axis_drawable(bool logarithmic, double value);

/* An axis for data in [low, high] (low > high: no data), with about `aim` ticks. `margin` is the part of the
 * range to leave free at both ends; a range that is only rounding is widened. */
Axis axis_make(double low, double high, bool logarithmic, double margin, uint32_t aim);

/* The place of a drawable value: 0 at low, 1 at high. */
double axis_place(const Axis *axis, double value);

/* Writes the decimal digits of an integer as superscripts; returns the end. */
char *axis_superscript(char *out, int value);
