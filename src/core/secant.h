/* secant: factors of an old Jacobian brought up to date by Broyden's secant updates.
 *
 * Between factorizations the corrector of a multistep method sees residuals before and after its corrections; each such pair says
 * how the true matrix differs from the factored one in that direction. The pairs are kept across steps, because successive
 * corrections point in nearly the same direction. They are applied as a product of rank-one matrices (the good update of Broyden
 * 1965, in the form of Kelley 1995, section 7.3). Invariant: with B the factored matrix, the updated inverse is (I + u[k-1]
 * s[k-1]^T W) ... (I + u[0] s[0]^T W) B^-1, W the weights squared. Exported solvers contain it unchanged. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Secant {
  int32_t n, capacity, count;
  double *update, *direction; /* u, and W s / (s^T W s): each `capacity` vectors of length n */
} Secant;

/* Makes an object for vectors of length n and up to `capacity` updates, with none yet. `memory` has room for secant_room
 * numbers. */
size_t secant_room(int32_t n, int32_t capacity);
Secant secant_make(int32_t n, int32_t capacity, double *memory);

/* Forgets all updates: the factors are new. */
void secant_reset(Secant *secant);

/* d = B^-1 r becomes the updated inverse times r. O(n) for each update. */
void secant_apply(const Secant *secant, double *d);

/* After the correction `step` (subtracted from the point) the residual r is left, and `next` is the updated inverse times r. Stores
 * the pair, and replaces `next` by the result of the inverse with that pair. weight: components are compared as weight[i] times
 * their value. Returns false and changes nothing if there is no room or the pair adds no information. O(n). */
bool secant_learn(Secant *secant, const double *step, double *next, const double *weight);

/* Like secant_learn, for corrections that need not get shorter, as in an iteration that does not converge by itself. */
bool secant_learn_any(Secant *secant, const double *step, double *next, const double *weight);
