/* linearize: the minimal state-space form of a system at a point, dx' = A dx + B du, dz = C dx + D du, with its modes. The
 * states are those that the method has chosen; everything follows from the exact Jacobian of the derivative array by
 * the implicit function theorem. */
#pragma once

#include "code/leaf_jacobian.h"
#include "result/record.h"
#include "view/view.h"

/* Matrices are stored by columns. */
typedef struct LinearForm {
  double time;
  uint32_t states, inputs, outputs;
  const char **state;
  const char *const *input, *const *output; /* names */
  double *value;                            /* of the states */
  double *a, *b, *c, *d;
  double *real,
      *imaginary; /* eigenvalues of A, the slowest first; in a pair, the one with the positive imaginary part first */
  /* eigenvectors: column k for a real one; for a pair, columns k and k + 1 are the real and the imaginary part */
  double *vector;
} LinearForm;

typedef struct LinearRequest {
  const LeafJacobian *varied; /* rows by the leaves of the inputs; NULL: there are none */
  const uint32_t *leaf;       /* parameter leaf of each input */
  const char *const *input;
  uint32_t inputs;
  const char *const *output; /* names of signals of the recorder, or of inputs */
  uint32_t outputs;
} LinearRequest;

/* false: an error is in diags. Lives in the arena. O(states) solves of the sparse system, O(states^3) for the modes. */
bool linear_form(View *view, const Recorder *recorder, double t, const double *y, const LinearRequest *request,
                 Arena *arena, Diags *diags, LinearForm *form);

/* The frequency w = |eigenvalue| in radians per second, and the damping ratio -real / w, of eigenvalue k. */
double linear_frequency(const LinearForm *form, uint32_t k);
double linear_damping(const LinearForm *form, uint32_t k);

/* The state with the largest component in the mode of eigenvalue k, whose vector has norm 1. MAP_NONE: there is none. */
uint32_t linear_leader(const LinearForm *form, uint32_t k);

/* The largest real part of an eigenvalue; -INFINITY without states. */
double linear_growth(const LinearForm *form);
