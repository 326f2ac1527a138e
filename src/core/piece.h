/* piece: an interval of a function as a polynomial over [-1, 1], through its values at Chebyshev nodes of the second kind.
 * Exported solvers contain it unchanged. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PIECE_DEGREE = 5, PIECE_NODES };

/* The place of a node in [-1, 1]; the first and the last node are the ends. */
double piece_node(uint32_t node);

/* The coefficients of the polynomial through the values at the nodes. The values are `stride` numbers apart. */
void piece_fit(const double *values, size_t stride, double *coefficients);

/* Estimates the error of the polynomial by how fast its last Chebyshev coefficients fall. */
double piece_error(const double *coefficients);

/* The coefficients of the same polynomial in powers of (x - s). */
void piece_expand(const double *coefficients, double s, double *expanded);

/* The value at s, and the rate there. */
double piece_value(const double *coefficients, double s, double *rate);
