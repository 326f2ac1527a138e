/* bernstein: polynomials over a step, which is [0, 1], in Bernstein's basis.
 *
 * The first and the last coefficient are the values at the ends. A part of the polynomial has coefficients of its own, by de Casteljau's
 * algorithm, and stays between the least and the largest of them. `count` coefficients are a polynomial of degree count - 1.
 */
#pragma once

enum { BERNSTEIN_MOST = 12 }; /* coefficients, at most: those of Radau IIA of order 13, corrected inside of its step */

/* From the values of the polynomial at `count` parts of the step, ascending from 0 to 1, in place. O(count^2). */
void bernstein_from_values(int count, const double *part, double *value);

/* What lies before or after a part of the step becomes the polynomial, in place. O(count^2). */
void bernstein_keep_before(int count, double *b, double part);
void bernstein_keep_behind(int count, double *b, double part);

/* The value and the derivative at a part of the step. O(count^2). */
double bernstein_value(int count, const double *b, double part);
double bernstein_slope(int count, const double *b, double part);
