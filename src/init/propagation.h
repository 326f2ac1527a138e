/* propagation: the effect of a wrong start in the first steps of an integrator that works on the equations as given (Estévez
 * Schwarz 2010, end of section 3, for implicit Euler and the trapezoidal rule).
 *
 * With E and A the derivatives of the equations with respect to x' and x at the start, an error d of x satisfies E d' + A d = 0.
 * Projectors split it: the part Pi_0 d is another solution. On the rest the equations are N d' + d = 0 with a nilpotent N, whose
 * solution is 0. A method with step size h turns it into the sum of c_k (N/h)^k d, with numbers c_k of the method and the step. So
 * N^k d says which components have an error of order h^-k. */
#pragma once

#include "code/evaluator.h"

enum { PROPAGATION_STEPS = 3, PROPAGATION_LEVELS = 8 /* levels of N, at most */ };

typedef enum PropagationMethod {
  PROPAGATION_EULER,
  PROPAGATION_TRAPEZOIDAL,
  PROPAGATION_RADAU, /* IIA, of order 5 */
  PROPAGATION_BDF,   /* BDF of order 1, 2, 3 in the first steps, as integrators begin */
  PROPAGATION_METHODS,
} PropagationMethod;

extern const char *const propagation_names[PROPAGATION_METHODS];

typedef struct Propagation {
  const char *failure; /* why there is no result; NULL: there is one */
  bool is_closed;      /* equations were added for variables that are free */
  uint32_t count;      /* components of x */
  uint32_t *column;    /* column of the array, per component */
  uint32_t index;      /* of the pencil: N^index = 0 */
  double *part; /* entry i + (j + k*count)*count: component i of N^k Pi_infinite e_j, in nominal values of both */
  double factor[PROPAGATION_METHODS][PROPAGATION_STEPS][PROPAGATION_LEVELS]; /* c_k */
} Propagation;

/* For the columns y of the evaluator's array at t. Owned by the arena. O(count^3). */
Propagation propagation_find(Evaluator *evaluator, double t, const double *y, Arena *arena);

/* The highest power k of 1/h in the error of component i in a step of a method, if the start is wrong in component j; -1: there is
 * no error. */
int propagation_power(const Propagation *propagation, PropagationMethod method, int step, uint32_t i, uint32_t j);
