/* radau_coefficients: the s-stage Radau IIA methods of orders 2s - 1.
 *
 * A is the method's matrix: A = T diag(mu) T^-1. mu[0] is real, and the others are (s-1)/2 conjugate pairs. T and its inverse are
 * kept as real matrices, which multiply real and imaginary parts.
 */
#pragma once

enum { RADAU_STAGES_MAX = 7, RADAU_METHODS = 3, RADAU_WEIGHTS = RADAU_STAGES_MAX + 2 };

typedef struct RadauCoefficients {
  int stages;                                   /* s = 3, 5 or 7 */
  double node[RADAU_STAGES_MAX];                /* c, the last one is 1 */
  double a[RADAU_STAGES_MAX][RADAU_STAGES_MAX]; /* the method's matrix */
  double mu_real;                               /* real eigenvalue of A */
  double mu[RADAU_STAGES_MAX / 2][2]; /* the other eigenvalues, one of each conjugate pair: real and imaginary part */

  /* Transforms stages to eigenvectors. Row 0 gives the real component; rows 2k-1 and 2k give the real and imaginary part of
   * component k. */
  double forward[RADAU_STAGES_MAX][RADAU_STAGES_MAX];

  /* Transforms eigenvectors to stages. Column 0 acts on the real component; columns 2k-1 and 2k act on the real and imaginary part
   * of component k. */
  double back[RADAU_STAGES_MAX][RADAU_STAGES_MAX];

  double at_zero[RADAU_STAGES_MAX];         /* value at 0 of the polynomial through the stages, by stage */
  double lower_error[RADAU_STAGES_MAX + 1]; /* error estimate of s - 2 stages over h, from the rates at 0 and c */
  double rise[RADAU_STAGES_MAX + 2];        /* integral from 0 of prod (1 - x / c), lowest power first; 0 at 1 */
  double barycentric[RADAU_STAGES_MAX + 1]; /* weights of the nodes 0, c[0], ..., c[s-1] */
  double bulge;                             /* largest |x prod (x - c)| in [0, 1], over (s + 1)! */
} RadauCoefficients;

extern const RadauCoefficients radau_methods[RADAU_METHODS]; /* s = 3, 5, 7 */

/* Weights that give the value at x, in units of the step: first the weights of the values at 0 and at the nodes (the
 * polynomial through them), then the weight of the error of its slope at 0. */
void radau_output_weights(const RadauCoefficients *method, double x, double *weight);
