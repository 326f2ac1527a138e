/* The car axis for IDA, by hand: constraints differentiated twice. y = positions, velocities, multipliers. */
#include "ida_peer.h"

#include <math.h>
#include <string.h>

static const double eps = 0.01, M = 10, L = 1, L0 = 0.5, r = 0.1, w = 10, g = 1;

static int residual(double t, const double *y, const double *yp, double *out) {
  double k = M * eps * eps / 2;
  double xl = y[0], yl = y[1], xr = y[2], yr = y[3], l1 = y[8], l2 = y[9];
  const double *v = y + 4, *a = yp + 4;
  double yb = r * sin(w * t), yb1 = r * w * cos(w * t), yb2 = -r * w * w * sin(w * t);
  double xb = sqrt(L * L - yb * yb), xb1 = -yb * yb1 / xb, xb2 = -(yb1 * yb1 + yb * yb2 + xb1 * xb1) / xb;
  double Ll = sqrt(xl * xl + yl * yl), Lr = sqrt((xr - xb) * (xr - xb) + (yr - yb) * (yr - yb));
  for (int i = 0; i < 4; i++) out[i] = yp[i] - v[i];
  out[4] = k * a[0] - ((L0 - Ll) * xl / Ll + l1 * xb + 2 * l2 * (xl - xr));
  out[5] = k * a[1] - ((L0 - Ll) * yl / Ll + l1 * yb + 2 * l2 * (yl - yr) - k * g);
  out[6] = k * a[2] - ((L0 - Lr) * (xr - xb) / Lr - 2 * l2 * (xl - xr));
  out[7] = k * a[3] - ((L0 - Lr) * (yr - yb) / Lr - 2 * l2 * (yl - yr) - k * g);
  out[8] = a[0] * xb + 2 * v[0] * xb1 + xl * xb2 + a[1] * yb + 2 * v[1] * yb1 + yl * yb2;
  out[9] = (v[0] - v[2]) * (v[0] - v[2]) + (xl - xr) * (a[0] - a[2]) + (v[1] - v[3]) * (v[1] - v[3]) +
           (yl - yr) * (a[1] - a[3]);
  return 0;
}

static void start(double *y, double *yp) {
  static const double y0[10] = {0, 0.5, 1, 0.5, -0.5, 0, -0.5, 0, 0, 0};
  memcpy(y, y0, sizeof y0);
  memset(yp, 0, sizeof y0);
  memcpy(yp, y0 + 4, 4 * sizeof *yp);
}

int main(int count, char **arguments) {
  static const double differential[10] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
  static const char *const names[] = {"xl", "yl", "xr", "yr", "vxl", "vyl", "vxr", "vyr", "lam1", "lam2", 0};
  Peer peer = {10, 3, residual, start, differential, names};
  return peer_main(&peer, count, arguments);
}
