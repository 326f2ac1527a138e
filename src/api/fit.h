/* fit: what stands behind a daedal_estimate. */
#pragma once

#include "api/handles.h"
#include "study/least_squares.h"

typedef struct FitParameter {
  daedal_parameter figures; /* handed out */
  double lower, upper;      /* bounds; infinite: none */
  const char **derivatives; /* of the columns by it, as sensitivities are named: "der(x, name)", "der(x, name.start)" */
} FitParameter;

typedef struct FitColumn {
  const char *name;
  uint32_t signal; /* of the data */
  double scale;    /* of its residuals: a weight, or one over the deviation of the measurements */
  uint32_t values; /* that it has */
  double squares;  /* of its residuals, not scaled */
  double
      lag; /* correlation of each residual with the next; NAN: there are too few, or no more than the errors of runs */
  bool is_noise; /* nothing shows that the residuals are more than errors of measurements */
} FitColumn;

/* Residuals that shall vanish, rather than be least. */
typedef struct FitZero {
  double below;   /* which are zero; 0: the least are sought */
  bool is_long;   /* conditions of many segments */
  Budget *budget; /* what runs take of it; NULL: they are not bounded */
} FitZero;

struct daedal_estimate {
  HandleKind kind;
  HeapHook hook;
  daedal_result *asked; /* the model, diagnostics and memory, but no run */
  daedal_options options;
  daedal_plan *plan;
  daedal_plan *differentiated; /* for runs with sensitivities; NULL: there are none */
  const Trajectory *data;
  VEC(FitParameter) parameters;
  VEC(FitColumn) columns;
  uint32_t residuals;
  bool knows_deviations; /* of the measurements: the scale of the covariance is given */
  double level;          /* of the intervals */
  uint32_t most_iterations;
  FitZero zero;
  daedal_options with_values; /* those of the plan, but that the overrides end with values of the parameters */
  daedal_override *values;    /* these values */
  uint32_t runs;
  bool is_stopped; /* by the caller, or by the budget, on the way */
  /* of runs towards residuals of zero: */
  uint64_t steps, step_work;      /* so far, and the work of each */
  double usual_steps, most_steps; /* of the last run with derivatives, and of this one at most */
  bool is_done;
  LeastSquaresResult found;
  Identification identified;
  double deviation; /* of the scaled residuals */
  double seconds;
  double *fitted; /* values of the model at all rows, column by column */
  TextVec text, json, plot;
};

/* daedal_fit, or, with zero.below > 0, the search for parameters with residuals below it. */
daedal_estimate *fit_find(daedal_model *model, const daedal_options *options, const daedal_fit_options *fit_options,
                          FitZero zero);

/* ---- fit_runs.c ---- */

/* Has the column a number in this row of the data? */
bool fit_is_measured(const daedal_estimate *estimate, uint32_t column, size_t row);

/* Room for overrides, and the plan for runs with sensitivities if the model has one. */
void fit_prepare(daedal_estimate *estimate, daedal_model *model, Arena *arena);

/* A run with these parameters. */
daedal_result *fit_run(daedal_estimate *estimate, const double *p);

/* Residuals at p and their derivatives, as least_squares asks for them; context: the estimate. */
bool fit_evaluate(void *context, const double *p, double *r, double *jacobian);
