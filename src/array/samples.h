/* samples: values of expressions at a few random points near the start values and near 0, at the given parameter values.
 *
 * An expression that vanishes at all of them counts as identically zero (Schwartz, Zippel): so numbers decide the rank of a
 * symbolic matrix. The points depend only on the leaves' indices and the sample's number. At every second point, relations have
 * the modes that hold there; a run that begins near the start values has these modes. At the other points modes are random, so
 * that an expression that vanishes only in some modes does not count as zero. The points near 0 are for functions that
 * are flat at the start values, such as tanh(x) far out. */
#pragma once

#include "array/modes.h"

/* Number of points; the first ones are nearest to the start values. One more point consists of the given start values themselves;
 * values that are not given come from the first point. */
enum { SAMPLE_COUNT = 12, SAMPLE_START = SAMPLE_COUNT };

/* Expressions are evaluated this many at a time: their common parts are then evaluated only a few times, with little memory. */
enum { SAMPLES_BATCH = 1 << 16 };

typedef struct Samples {
  Model *model;
  const double *parameters; /* by leaf index */
  double *start, *nominal;  /* per unknown of the model */
  bool *given;              /* per unknown: has a start value */
  bool *is_zero;            /* per unknown: zero, because an equation says so at these parameter values */
  double begin, length;     /* the interval of time */
  const Modes *modes;       /* the modes that were extracted from the equations */
  double *holding;          /* per point and mode: its value according to its relation; NAN: not known */
  double *known;   /* per discrete variable: its value if its equation contains only parameters; NAN: unknown */
  ExprVec zero_by; /* residuals of the equations that make unknowns zero */
  IndexVec *slot;  /* workspace: the place of the value of a node during an evaluation */
} Samples;

/* Points for a model. Owned by the arena. O(unknowns and relations). */
Samples samples_make(Model *model, const double *parameters, const Modes *modes, Arena *arena);

/* Frees all memory that is not in the arena. */
void samples_free(Samples *samples);

/* Some unknowns must be zero because of these residuals, like x in x = p*f(y) with p = 0. Other unknowns are zero as a
 * consequence. From now on,
 * all of them are zero at all points. O(graph) for each pass that finds some. */
void samples_find_zeros(Samples *samples, const Expr *residual, uint32_t count);

/* Values of `count` expressions at point number `sample`; NAN if one is undefined there, or calls a function. `sizes`, if not
 * NULL: how large the terms of a value are; a value is zero when it is round-off of its size. `absorbed`, if not NULL: the
 * size of the terms that round-off removed from it, like a conductance of 1e-20 added to one of 1. O(graph below). */
void samples_evaluate(const Samples *samples, uint32_t sample, const Expr *roots, uint32_t count, double *values,
                      double *sizes, double *absorbed);

/* Does e vanish at every point where it is defined? It must be defined at three points at least. */
bool samples_vanish(const Samples *samples, Expr e);

/* The size of the terms of a*b, if a and b are values whose terms have these sizes. */
double sample_product_size(double a, double a_size, double b, double b_size);

/* Is a value of this size zero except for round-off? */
bool sample_is_zero(double value, double size);
