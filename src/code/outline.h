/* outline: bounds of a polynomial that is known by its values at points of a step. */
#pragma once

enum { OUTLINE_LIMIT = 8 };

/* The coefficients in Bernstein's basis of the polynomial with these values at these parts of the step, ascending from 0 to 1, in place. It
 * stays between the least and the largest of them. At most OUTLINE_LIMIT points; O(count^2). */
void outline_make(int count, const double *part, double *value);
