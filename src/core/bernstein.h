/* bernstein: polynomials over one step, mapped to [0, 1], in Bernstein's basis.
 *
 * The first and the last coefficient are the values at the ends. The polynomial on a part of the step has its own coefficients, by
 * de Casteljau's algorithm, and stays between the smallest and the largest of them. A polynomial of degree count - 1 has `count`
 * coefficients. */
#pragma once

enum {
  BERNSTEIN_MOST = 12
}; /* the most coefficients: Radau IIA of order 13, with the correction inside its step, has this many */

/* Converts values of the polynomial to coefficients, in place. The values belong to `count` fractions of the step, which ascend
 * from 0 to 1. O(count^2). */
void bernstein_from_values(int count, const double *part, double *value);

/* Restricts the polynomial to the time before or after a point of the step, in place. O(count^2). */
void bernstein_keep_before(int count, double *b, double part);
void bernstein_keep_behind(int count, double *b, double part);

/* The value and the derivative at a point of the step. O(count^2). */
double bernstein_value(int count, const double *b, double part);
double bernstein_slope(int count, const double *b, double part);
