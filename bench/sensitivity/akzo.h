/* akzo: Akzo Nobel by hand, for the peers: rates, and derivatives in a direction of columns and of the parameters k1, k2, k3, k4, klA. */
#pragma once

#include <math.h>

enum { N = 6, MOST = 5 };

static const double K = 34.4, Ks = 115.83, pCO2 = 0.9, H = 737, parameters[MOST] = {18.7, 0.58, 0.09, 0.42, 3.3};

/* The last is the residual of the algebraic equation. */
static void rates(const double *y, const double *p, double *f) {
  double root = sqrt(fabs(y[1])), r1 = p[0] * y[0] * y[0] * y[0] * y[0] * root, r2 = p[1] * y[2] * y[3];
  double r3 = p[1] / K * y[0] * y[4], r4 = p[2] * y[0] * y[3] * y[3], r5 = p[3] * y[5] * y[5] * root;
  double in = p[4] * (pCO2 / H - y[1]);
  f[0] = -2 * r1 + r2 - r3 - r4;
  f[1] = -0.5 * r1 - r4 - 0.5 * r5 + in;
  f[2] = r1 - r2 + r3;
  f[3] = -r2 + r3 - 2 * r4;
  f[4] = r2 - r3 + r5;
  f[5] = Ks * y[0] * y[3] - y[5];
}

static void directional(const double *y, const double *p, const double *dy, const double *dp, double *f) {
  double root = sqrt(fabs(y[1])), droot = dy[1] / (2 * root), y3 = y[0] * y[0] * y[0];
  double r1 = dp[0] * y3 * y[0] * root + p[0] * (4 * y3 * dy[0] * root + y3 * y[0] * droot);
  double r2 = dp[1] * y[2] * y[3] + p[1] * (dy[2] * y[3] + y[2] * dy[3]);
  double r3 = (dp[1] * y[0] * y[4] + p[1] * (dy[0] * y[4] + y[0] * dy[4])) / K;
  double r4 = dp[2] * y[0] * y[3] * y[3] + p[2] * (dy[0] * y[3] * y[3] + 2 * y[0] * y[3] * dy[3]);
  double r5 = dp[3] * y[5] * y[5] * root + p[3] * (2 * y[5] * dy[5] * root + y[5] * y[5] * droot);
  double in = dp[4] * (pCO2 / H - y[1]) - p[4] * dy[1];
  f[0] = -2 * r1 + r2 - r3 - r4;
  f[1] = -0.5 * r1 - r4 - 0.5 * r5 + in;
  f[2] = r1 - r2 + r3;
  f[3] = -r2 + r3 - 2 * r4;
  f[4] = r2 - r3 + r5;
  f[5] = Ks * (dy[0] * y[3] + y[0] * dy[3]) - dy[5];
}
