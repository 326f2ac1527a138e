/* outline: bounds of a polynomial that is known by its values at points of a step. */
#pragma once

enum { OUTLINE_LIMIT = 8 };

/* The coefficients in Bernstein's basis of the polynomial with these values at these parts of the step, ascending from 0 to 1, in place. It
 * stays between the least and the largest of them. Returns the highest divided difference. At most OUTLINE_LIMIT points; O(count^2). */
double outline_make(int count, const double *part, double *value);

/* What a polynomial that leaves out a point inside misses there at most, over the highest divided difference. O(count^2). */
double outline_miss(int count, const double *part);
