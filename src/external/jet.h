/* jet: numbers with derivatives in the algebra with n nilpotents (e_i^2 = 0): 2^n coefficients. The coefficient of a product of
 * some e_i is at the position whose bits are these i. The upper half of an element is its derivative in the direction of the last
 * nilpotent. */
#pragma once

#include <stdint.h>

/* The largest number of nilpotents, and so the highest order of derivatives of a table. */
enum { JET_LIMIT = 8, JET_SIZE = 1 << JET_LIMIT };

/* out = a * b; out must be neither. */
void jet_multiply(uint32_t n, const double *a, const double *b, double *out);

/* f(u) by its Taylor series, which is finite: derivative[k] is the k-th derivative at the value of u, k <= n. */
void jet_compose(uint32_t n, const double *derivative, const double *u, double *out);

/* f(u, v): derivative[j * (n + 1) + k] is the j-th in u and k-th in v. */
void jet_compose_two(uint32_t n, const double *derivative, const double *u, const double *v, double *out);
