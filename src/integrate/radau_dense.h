/* radau_dense: the scalar polynomials of the corrected continuous output of a Radau IIA method.
 *
 * Within a step, x in [0, 1], the states are interpolated by p(x), the collocation polynomial plus rise(x) times the
 * defect of its slope at 0 (radau_coefficients.h). What is left of the slope is, with J = df/dy and smooth j and q,
 *
 *   delta = f(p) - p' = rise(x) j(x) + B(x) q(x),  j = J defect,  B = x prod (x - c),
 *
 * so two nodes, where B is 0, give j and two samples between nodes then q, both up to O(h^2). The error e of p obeys e'
 * = J e + delta. With z = h J, a = h delta at one of these points, and phi and Phi the first and second integrals of
 * its polynomial, e is the sum of (phi + z Phi + O(z^2)) a: with p of order s + 2, this is of order s + 4 where the
 * Jacobian is constant and s + 3 where it is not, but taken as such. It is computed as
 *
 *   (phi + z (Phi - 3 mu phi) + z^2 mu^3 omega) / (1 - mu z)^3 a
 *     = phi a3 + (Phi - 3 mu phi) (a3 - a2) / mu + mu omega (a3 - 2 a2 + a1)
 *
 * where omega is the polynomial itself, a1 = (1 - mu z)^-1 a, a2 and a3 the same of a1 and a2, and mu the real
 * eigenvalue, whose matrix is factored: the same up to O(z^2), and -omega / z a where z is large, which is what f(y) =
 * 0 asks for. At the ends of the step e is 0.
 */
#pragma once

#include "integrate/radau_coefficients.h"

enum { RADAU_SAMPLES = 4, RADAU_DENSE_TERMS = RADAU_STAGES_MAX + 5 };

typedef struct RadauDense {
  double sample[RADAU_SAMPLES];                      /* the points: two nodes, two others */
  double slope[RADAU_SAMPLES][RADAU_STAGES_MAX + 1]; /* weights of the values at 0 and c for p' there... */
  double rise_slope[RADAU_SAMPLES];                  /* ...and of the defect */
  double share[RADAU_SAMPLES][RADAU_DENSE_TERMS];    /* omega, lowest power first */
  double once[RADAU_SAMPLES][RADAU_DENSE_TERMS];     /* phi */
  double twice[RADAU_SAMPLES][RADAU_DENSE_TERMS];    /* Phi */
} RadauDense;

/* For 5 stages or more. */
RadauDense radau_dense_make(const RadauCoefficients *method);

/* The correction at x is the sum over the points k of weight[k][i] times a1, a2, a3. */
void radau_dense_weights(const RadauDense *dense, const RadauCoefficients *method, double x, double (*weight)[3]);
