/* krawczyk: proof that a system g(z) = 0 has exactly one solution in a box around a point z0, and that its Jacobian is regular all over
 * the box. Let C be an approximate inverse of the Jacobian, and G bounds of the Jacobian over the box z0 + R. Then
 *
 *   K(R) = -C g(z0) + (I - C G) R
 *
 * contains r for every solution z0 + r with r in R. If K(R) is inside of R, there is exactly one solution (Krawczyk 1969; Neumaier
 * 1990, section 5.1). If g and G are bounds over an interval of time, all this is true at each time of the interval. */
#pragma once

#include "base/heap.h"
#include "expr/interval.h"

typedef struct Krawczyk Krawczyk;

/* For n unknowns. Lives in the heap. */
Krawczyk *krawczyk_new(Heap *heap, int32_t n);

/* Sets bounds of the Jacobian [n * n, by rows] and, if `inverts`, the inverse of their middle as C. false: the middle is singular,
 * or there are no bounds. O(n^3). */
bool krawczyk_set_jacobian(Krawczyk *krawczyk, const Interval *jacobian, bool inverts);

/* K(R), for bounds of g(z0). O(n^2). */
void krawczyk_image(const Krawczyk *krawczyk, const Interval *g, const Interval *box, Interval *image);

/* Only -C g, the first term of K(R). */
void krawczyk_step(const Krawczyk *krawczyk, const Interval *g, Interval *step);

/* Is the image strictly inside the box? */
bool krawczyk_proves(const Krawczyk *krawczyk, const Interval *box, const Interval *image);

/* After a proof with this box: bounds of all solutions of G w = -g, for all G and g within the bounds. false: there are none.
 * O(n^2). */
bool krawczyk_solve(const Krawczyk *krawczyk, const Interval *box, const Interval *g, Interval *w);
