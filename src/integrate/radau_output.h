/* radau_output: a step of Radau IIA between its stages: the collocation polynomial, and its correction (radau_dense.h). Solutions
 * and their variations are looked at alike. */
#pragma once

#include "integrate/radau_dense.h"
#include "integrate/stages.h"

typedef struct RadauOutput {
  Stages *stages; /* with the factors of the step */
  const RadauCoefficients *method;
  const RadauDense *dense;
  double h;
  double *const *value; /* all columns at the start and at the stages */
  const double *defect; /* [columns] states: h times the rate at the start minus the stages' there; else 0 */
  double *missing[RADAU_SAMPLES][3]; /* [columns] a1, a2, a3 of radau_dense.h */
} RadauOutput;

/* Room for what is missing, in the heap. */
void radau_output_make(RadauOutput *output, Heap *heap, int32_t columns);

/* The collocation polynomial at x; for states plus the term that makes its slope right at the start of the step
 * too, which gives one order more. */
void radau_output_continue(const RadauOutput *output, double x, double *y);

/* What is missing at sample k, where the polynomial has the columns y and the rows the residual, which is spoilt: for each state h
 * times the rate that the equations give there minus the slope, filtered once, twice and three times. */
void radau_output_sample(RadauOutput *output, int k, const double *y, double *residual);

/* Weights at x, for all that is looked at there: of the start and the stages, the defect, what is missing. */
typedef struct RadauWeights {
  double node[RADAU_STAGES_MAX + 1], rise;
  double missing[RADAU_SAMPLES][3];
} RadauWeights;

RadauWeights radau_output_weights(const RadauOutput *output, double x, bool is_corrected);

/* One column at these weights; with the correction, which only states have, if it was asked for. */
double radau_output_value(const RadauOutput *output, const RadauWeights *weights, bool is_corrected, int32_t column);

/* The states at these weights into y, with the correction if it was asked for. */
void radau_output_states(const RadauOutput *output, const RadauWeights *weights, bool is_corrected, double *y);
