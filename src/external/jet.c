/* jet: see jet.h. */
#include "external/jet.h"

#include <stddef.h>
#include <string.h>

void jet_multiply(uint32_t n, const double *a, const double *b, double *out) {
  uint32_t size = 1u << n;
  for (uint32_t set = 0; set < size; set++) {
    double sum = a[0] * b[set];
    for (uint32_t part = set; part; part = (part - 1) & set) sum += a[part] * b[set & ~part];
    out[set] = sum;
  }
}

/* The nilpotent part of an element: all but its value. */
static void take_nilpotent(uint32_t n, const double *u, double *rest) {
  memcpy(rest, u, sizeof *u << n);
  rest[0] = 0;
}

void jet_compose(uint32_t n, const double *derivative, const double *u, double *out) {
  double rest[JET_SIZE], product[JET_SIZE];
  take_nilpotent(n, u, rest);
  memset(out, 0, sizeof *out << n);
  out[0] = derivative[n];
  for (uint32_t k = n; k-- > 0;) {
    jet_multiply(n, out, rest, product);
    for (uint32_t set = 0; set < 1u << n; set++) out[set] = product[set] / (k + 1.0);
    out[0] += derivative[k];
  }
}

void jet_compose_two(uint32_t n, const double *derivative, const double *u, const double *v, double *out) {
  double rest[JET_SIZE], product[JET_SIZE], inner[JET_SIZE];
  take_nilpotent(n, u, rest);
  memset(out, 0, sizeof *out << n);
  for (uint32_t j = n + 1; j-- > 0;) {
    jet_multiply(n, out, rest, product);
    jet_compose(n, derivative + (size_t)j * (n + 1), v, inner);
    for (uint32_t set = 0; set < 1u << n; set++) out[set] = product[set] / (j + 1.0) + inner[set];
  }
}
