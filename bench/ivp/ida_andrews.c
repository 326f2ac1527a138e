/* Andrews' squeezing mechanism for IDA, by hand: constraints differentiated twice. y = angles, rates, accelerations,
 * multipliers; the accelerations and multipliers are algebraic. */
#include "ida_peer.h"

#include <math.h>
#include <string.h>

static const double m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.0705, m6 = 0.00706, m7 = 0.05498;
static const double xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072, c0 = 4530.0;
static const double i1 = 2.194e-6, i2 = 4.41e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5, i6 = 5.667e-7,
                    i7 = 1.912e-5;
static const double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092, l0 = 0.07785;
static const double ss = 0.035, sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916;
static const double u = 0.04, ua = 0.01228, ub = 0.00449, zf = 0.02, zt = 0.04, fa = 0.01421, mom = 0.033;

static int residual(double t, const double *y, const double *yp, double *out) {
  (void)t;
  double be = y[0], th = y[1], ga = y[2], ph = y[3], de = y[4], om = y[5], ep = y[6];
  const double *v = y + 7, *w = y + 14, *l = y + 21;
  double sbe = sin(be), cbe = cos(be), sth = sin(th), cth = cos(th), sga = sin(ga), cga = cos(ga);
  double sph = sin(ph), cph = cos(ph), sde = sin(de), cde = cos(de), som = sin(om), com = cos(om), sep = sin(ep),
         cep = cos(ep);
  double sbt = sin(be + th), cbt = cos(be + th), spd = sin(ph + de), cpd = cos(ph + de), soe = sin(om + ep),
         coe = cos(om + ep);
  double m11 = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * cth + da * da) + i1 + i2;
  double m12 = m2 * (da * da - da * rr * cth) + i2, m22 = m2 * da * da + i2, m33 = m3 * (sa * sa + sb * sb) + i3;
  double m44 = m4 * (e - ea) * (e - ea) + i4, m45 = m4 * ((e - ea) * (e - ea) + zt * (e - ea) * sph) + i4;
  double m55 = m4 * (zt * zt + 2 * zt * (e - ea) * sph + (e - ea) * (e - ea)) + m5 * (ta * ta + tb * tb) + i4 + i5;
  double m66 = m6 * (zf - fa) * (zf - fa) + i6, m67 = m6 * ((zf - fa) * (zf - fa) - u * (zf - fa) * som) + i6;
  double m77 = m6 * ((zf - fa) * (zf - fa) - 2 * u * (zf - fa) * som + u * u) + m7 * (ua * ua + ub * ub) + i6 + i7;
  double xd = sd * cga + sc * sga + xb, yd = sd * sga - sc * cga + yb;
  double ld = sqrt((xd - xc) * (xd - xc) + (yd - yc) * (yd - yc)), fd = -c0 * (ld - l0) / ld;
  for (int i = 0; i < 7; i++) out[i] = yp[i] - v[i], out[7 + i] = yp[7 + i] - w[i];
  double a = l[0] + l[2] + l[4], b = l[1] + l[3] + l[5];
  out[14] = m11 * w[0] + m12 * w[1] + (d * sbt - rr * sbe) * a + (rr * cbe - d * cbt) * b -
            (mom - m2 * da * rr * v[1] * (v[1] + 2 * v[0]) * sth);
  out[15] = m12 * w[0] + m22 * w[1] + d * sbt * a - d * cbt * b - m2 * da * rr * v[0] * v[0] * sth;
  out[16] = m33 * w[2] - ss * cga * l[0] - ss * sga * l[1] -
            (fd * (xd - xc) * (sc * cga - sd * sga) + fd * (yd - yc) * (sd * cga + sc * sga));
  out[17] = m44 * w[3] + m45 * w[4] - e * cpd * l[2] - e * spd * l[3] - m4 * zt * (e - ea) * v[4] * v[4] * cph;
  out[18] = m45 * w[3] + m55 * w[4] + (zt * sde - e * cpd) * l[2] - (e * spd + zt * cde) * l[3] +
            m4 * zt * (e - ea) * v[3] * (v[3] + 2 * v[4]) * cph;
  out[19] = m66 * w[5] + m67 * w[6] + zf * soe * l[4] - zf * coe * l[5] + m6 * u * (zf - fa) * v[6] * v[6] * com;
  out[20] = m67 * w[5] + m77 * w[6] + (zf * soe - u * cep) * l[4] - (zf * coe + u * sep) * l[5] -
            m6 * u * (zf - fa) * v[5] * (v[5] + 2 * v[6]) * com;
  /* second derivatives of the loop conditions: c = cos terms differentiate to -sin q'' - cos q'^2 */
  double vbt = v[0] + v[1], wbt = w[0] + w[1], vpd = v[3] + v[4], wpd = w[3] + w[4], voe = v[5] + v[6],
         woe = w[5] + w[6];
  double x2 = rr * (-sbe * w[0] - cbe * v[0] * v[0]) - d * (-sbt * wbt - cbt * vbt * vbt);
  double y2 = rr * (cbe * w[0] - sbe * v[0] * v[0]) - d * (cbt * wbt - sbt * vbt * vbt);
  out[21] = x2 - ss * (cga * w[2] - sga * v[2] * v[2]);
  out[22] = y2 + ss * (-sga * w[2] - cga * v[2] * v[2]);
  out[23] = x2 - e * (cpd * wpd - spd * vpd * vpd) - zt * (-sde * w[4] - cde * v[4] * v[4]);
  out[24] = y2 + e * (-spd * wpd - cpd * vpd * vpd) - zt * (cde * w[4] - sde * v[4] * v[4]);
  out[25] = x2 - zf * (-soe * woe - coe * voe * voe) - u * (cep * w[6] - sep * v[6] * v[6]);
  out[26] = y2 - zf * (coe * woe - soe * voe * voe) + u * (-sep * w[6] - cep * v[6] * v[6]);
  return 0;
}

static void start(double *y, double *yp) {
  static const double y0[27] = {-0.0617138900142764496358948458001,
                                0,
                                0.455279819163070380255912382449,
                                0.222668390165885884674473185609,
                                0.487364979543842550225598953530,
                                -0.222668390165885884674473185609,
                                1.23054744454982119249735015568,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                14222.4439199541138705911625887,
                                -10666.8329399655854029433719415,
                                0,
                                0,
                                0,
                                0,
                                0,
                                98.5668703962410896057654982170,
                                -6.12268834425566265503114393122,
                                0,
                                0,
                                0,
                                0};
  memcpy(y, y0, sizeof y0);
  memset(yp, 0, sizeof y0);
  memcpy(yp + 7, y0 + 14, 7 * sizeof *yp);
}

int main(int count, char **arguments) {
  static const double differential[27] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  static const char *const names[] = {"beta", "theta", "gamma", "phi", "delta", "omega", "epsilon", 0};
  Peer peer = {27, 0.03, residual, start, differential, names};
  return peer_main(&peer, count, arguments);
}
