/* problems: small systems written by hand against solve/integrator.h, with their counters and known solutions. */
#ifndef DAEDAL_TESTS_PROBLEMS_H
#define DAEDAL_TESTS_PROBLEMS_H

#include "solve/integrator.h"

#include <math.h>
#include <string.h>

/* ---- The pendulum of Mattsson and Soderlind, section 5: m = g = L = 1, y up. ----
 * Columns x, y, x1, y1, x2, y2, lam. Rows: x2 + lam x, y2 + lam y + 1, and the length with two derivatives. */
enum { PX, PY, PX1, PY1, PX2, PY2, PLAM, PENDULUM_COLUMNS, PENDULUM_ROWS = 5 };

typedef struct Pendulum {
  System system;
  int32_t from[2], to[2];
  uint64_t residuals, jacobians, closes, newton;
  double row_evaluations; /* in units of all rows */
} Pendulum;

static const int32_t pendulum_start[] = {0, 4, 8, 10, 12, 14, 16, 18};
static const int32_t pendulum_row[] = {0, 2, 3, 4, 1, 2, 3, 4, 3, 4, 3, 4, 0, 4, 1, 4, 0, 1};
static const int32_t pendulum_successor[] = {PX1, PY1, PX2, PY2, -1, -1, -1};
static const double pendulum_nominal[] = {1, 1, 1, 1, 1, 1, 1};

static inline EvalStatus pendulum_residual(void *context, double t, const double *y, double *r) {
  Pendulum *p = context;
  (void)t;
  p->residuals++;
  p->row_evaluations += 1;
  r[0] = y[PX2] + y[PLAM] * y[PX];
  r[1] = y[PY2] + y[PLAM] * y[PY] + 1;
  r[2] = y[PX] * y[PX] + y[PY] * y[PY] - 1;
  r[3] = 2 * (y[PX] * y[PX1] + y[PY] * y[PY1]);
  r[4] = 2 * (y[PX] * y[PX2] + y[PX1] * y[PX1] + y[PY] * y[PY2] + y[PY1] * y[PY1]);
  return EVAL_OK;
}

static inline EvalStatus pendulum_jacobian(void *context, double t, const double *y, double *v) {
  Pendulum *p = context;
  (void)t;
  p->jacobians++;
  const double values[18] = {
    y[PLAM], 2 * y[PX], 2 * y[PX1], 2 * y[PX2], y[PLAM], 2 * y[PY], 2 * y[PY1], 2 * y[PY2], 2 * y[PX],
    4 * y[PX1], 2 * y[PY], 4 * y[PY1], 1, 2 * y[PX], 1, 2 * y[PY], y[PX], y[PY],
  };
  memcpy(v, values, sizeof values);
  return EVAL_OK;
}

static inline EvalStatus pendulum_close(void *context, double t, double *y) {
  Pendulum *p = context;
  (void)t;
  p->closes++;
  bool x_state = p->from[0] == PX;
  int a = x_state ? PX : PY, b = x_state ? PY : PX;
  for (int i = 0;; i++) {
    double r = y[a] * y[a] + y[b] * y[b] - 1, d = -r / (2 * y[b]);
    p->row_evaluations += 0.2;
    if (!isfinite(d) || i > 8) return EVAL_DOMAIN;
    y[b] += d;
    p->newton++;
    if (fabs(d) < 1e-7) break; /* the next correction would be below 1e-14 */
  }
  p->row_evaluations += 0.8;
  y[b + 2] = -y[a] * y[a + 2] / y[b];
  y[PLAM] = y[PX1] * y[PX1] + y[PY1] * y[PY1] - y[PY];
  y[PX2] = -y[PLAM] * y[PX];
  y[PY2] = -y[PLAM] * y[PY] - 1;
  return EVAL_OK;
}

/* Rates (x1, x2) by the states (x, x1), from the angle: x = sin a; or the same with y = -cos a. */
static inline EvalStatus pendulum_rates_jacobian(void *context, double t, const double *y, double *jacobian) {
  Pendulum *p = context;
  (void)t;
  bool x_state = p->from[0] == PX;
  int a = x_state ? PX : PY, b = x_state ? PY : PX;
  double q = y[a], v = y[a + 2], s = y[b], w = y[b + 2];
  double s_q = -q / s, w_v = -q / s, w_q = -v / s + q * v / (s * s) * s_q;
  double lam_q = 2 * w * w_q - (x_state ? s_q : 1), lam_v = 2 * v + 2 * w * w_v;
  jacobian[0] = 0;
  jacobian[1] = -lam_q * q - y[PLAM];
  jacobian[2] = 1;
  jacobian[3] = -lam_v * q;
  return EVAL_OK;
}

static inline void pendulum_choose(Pendulum *p, bool x_state) {
  p->from[0] = x_state ? PX : PY;
  p->from[1] = x_state ? PX1 : PY1;
  p->to[0] = x_state ? PX1 : PY1;
  p->to[1] = x_state ? PX2 : PY2;
}

static inline void pendulum_make(Pendulum *p, double angle, double speed, double *y) {
  memset(p, 0, sizeof *p);
  pendulum_choose(p, fabs(sin(angle)) <= fabs(cos(angle)));
  p->system = (System){
    .context = p, .columns = PENDULUM_COLUMNS, .rows = PENDULUM_ROWS, .links = 2, .link_from = p->from,
    .link_to = p->to, .successor = pendulum_successor, .column_start = pendulum_start,
    .row_index = pendulum_row, .nominal = pendulum_nominal, .residual = pendulum_residual,
    .jacobian = pendulum_jacobian, .close = pendulum_close, .rates_jacobian = pendulum_rates_jacobian,
  };
  y[PX] = sin(angle);
  y[PY] = -cos(angle);
  y[PX1] = cos(angle) * speed;
  y[PY1] = sin(angle) * speed;
  y[PLAM] = speed * speed - y[PY];
  y[PX2] = -y[PLAM] * y[PX];
  y[PY2] = -y[PLAM] * y[PY] - 1;
}

static inline double pendulum_energy(const double *y) {
  return 0.5 * (y[PX1] * y[PX1] + y[PY1] * y[PY1]) + 1 + y[PY];
}

/* Switches when the dummy position gets small; true if it did. y is projected on the new choice. */
static inline bool pendulum_pivot(Pendulum *p, double *y, double threshold) {
  bool x_state = p->from[0] == PX;
  double dummy = fabs(y[x_state ? PY : PX]);
  if (dummy > threshold) return false;
  pendulum_choose(p, !x_state);
  pendulum_close(p, 0, y);
  return true;
}

#endif
