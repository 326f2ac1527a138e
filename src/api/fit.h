/* fit: the struct of a daedal_estimate. */
#pragma once

#include "api/handles.h"
#include "study/least_squares.h"

typedef struct FitParameter {
  daedal_parameter figures; /* for the caller */
  double lower, upper;      /* bounds; infinite: none */
  const char **derivatives; /* names of the sensitivities of the columns: "der(x, name)", "der(x, name.start)" */
} FitParameter;

typedef struct FitColumn {
  const char *name;
  uint32_t signal; /* index of the column in the data */
  double scale;    /* factor of its residuals: a weight, or one over the deviation of the measurements */
  uint32_t values; /* number of measurements in the column */
  double squares;  /* sum of the squares of its residuals, not scaled */
  double lag;      /* correlation of residuals with the next ones; NAN: too few, or within errors of runs */
  bool is_noise;   /* the residuals look like independent errors of measurements */
} FitColumn;

/* For residuals that must vanish rather than be minimal. */
typedef struct FitZero {
  double below;   /* residuals below this count as zero; 0: minimize them */
  bool is_long;   /* conditions of many segments */
  Budget *budget; /* limits all runs together; NULL: no limit */
} FitZero;

struct daedal_estimate {
  HandleKind kind;
  HeapHook hook;
  daedal_result *asked; /* the model, diagnostics and memory, but no run */
  daedal_options options;
  daedal_plan *plan;
  daedal_plan *differentiated; /* for runs with sensitivities; NULL: the model has none */
  const Trajectory *data;
  VEC(FitParameter) parameters;
  VEC(FitColumn) columns;
  uint32_t residuals;
  bool knows_deviations; /* the deviations of the measurements, and so the scale of the covariance, are given */
  double level;          /* confidence level of the intervals */
  uint32_t most_iterations;
  FitZero zero;
  daedal_options with_values; /* options of the plan, with the parameter values as the last overrides */
  daedal_override *values;    /* the parameter values in `with_values` */
  uint32_t runs;
  bool is_stopped; /* stopped by the caller, or by the budget */
  /* for runs towards residuals of zero: */
  uint64_t steps, step_work;      /* steps so far, and the work of each */
  double usual_steps, most_steps; /* steps of the last run with derivatives, and the limit for this run */
  bool is_done;
  LeastSquaresResult found;
  Identification identified;
  double deviation; /* deviation of the scaled residuals */
  double seconds;
  double *fitted; /* values of the model at all rows, column by column */
  TextVec text, json, plot;
};

/* Does daedal_fit. With zero.below > 0, searches for parameters with residuals below that value. */
daedal_estimate *fit_find(daedal_model *model, const daedal_options *options, const daedal_fit_options *fit_options,
                          FitZero zero);

/* ---- fit_runs.c ---- */

/* Does the column have a number in this row of the data? */
bool fit_is_measured(const daedal_estimate *estimate, uint32_t column, size_t row);

/* Makes room for overrides and, if the model has sensitivities, the plan for runs with them. */
void fit_prepare(daedal_estimate *estimate, daedal_model *model, Arena *arena);

/* A run with these parameters. */
daedal_result *fit_run(daedal_estimate *estimate, const double *p);

/* Residuals at p and their derivatives, in the form that least_squares expects; context: the estimate. */
bool fit_evaluate(void *context, const double *p, double *r, double *jacobian);
