/* fit: what stands behind a daedal_estimate. */
#pragma once

#include "api/handles.h"
#include "study/least_squares.h"

typedef struct FitParameter {
  daedal_parameter figures; /* handed out */
  double lower, upper;      /* bounds; infinite: none */
  const char *override;     /* "'name'=" */
} FitParameter;

typedef struct FitColumn {
  const char *name;
  uint32_t signal; /* of the data */
  double scale;    /* of its residuals: a weight, or one over the deviation of the measurements */
  uint32_t values; /* that it has */
  double squares;  /* of its residuals, not scaled */
} FitColumn;

struct daedal_estimate {
  HeapHook hook;
  daedal_result *asked; /* the model, diagnostics and memory, but no run */
  daedal_options options;
  daedal_plan *plan;
  const Trajectory *data;
  VEC(FitParameter) parameters;
  VEC(FitColumn) columns;
  uint32_t residuals;
  bool knows_deviations; /* of the measurements: the scale of the covariance is given */
  double level;          /* of the intervals */
  uint32_t most_iterations;
  char *overrides; /* list of a run */
  uint32_t runs;
  bool is_done;
  LeastSquaresResult found;
  Identification identified;
  double deviation; /* of the scaled residuals */
  double seconds;
  double *fitted; /* values of the model at all rows, column by column */
  TextVec text, json, plot;
};
