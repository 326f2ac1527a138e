/* hand: see hand.h. -DFUSED gives the functions the prefix fused_. */
#include "hand.h"

#ifdef FUSED
#define hand_ladder fused_ladder
#define hand_reactor fused_reactor
#define hand_pendulum fused_pendulum
#endif

#include <math.h>

/* A ladder of n resistors and capacitors with all connection equations written out, as a Modelica front end writes it (the
 * SciML benchmark RCCircuit). Columns: src_v, src_i, p0_v, gnd_i; then 13 a section. */
enum { R_V, R_I, R_PV, R_PI, R_NV, R_NI, C_V, DER_C_V, C_I, C_PV, C_PI, C_NV, C_NI, SECTION };

void hand_ladder(int n, double t, const double *y, const double *p, double *out) {
  const double *s = y + 4;
  *out++ = y[0] - sin(20 * 3.141592653589793 * t);
  *out++ = y[2] - y[0];
  *out++ = s[R_PV] - y[2];
  *out++ = y[1] + s[R_PI];
  for (int i = 0; i < n; i++, s += SECTION, p += 2) {
    *out++ = s[R_V] - (s[R_PV] - s[R_NV]);
    *out++ = s[R_I] - s[R_PI];
    *out++ = s[R_PI] + s[R_NI];
    *out++ = s[R_V] - p[0] * s[R_I];
    *out++ = s[C_V] - (s[C_PV] - s[C_NV]);
    *out++ = s[C_I] - s[C_PI];
    *out++ = s[C_PI] + s[C_NI];
    *out++ = s[C_I] - p[1] * s[DER_C_V];
    *out++ = s[C_PV] - s[R_NV];
    *out++ = s[C_NV];
    if (i + 1 < n) {
      *out++ = s[SECTION + R_PV] - s[R_NV];
      *out++ = s[R_NI] + s[SECTION + R_PI] + s[C_PI];
    } else {
      *out++ = s[R_NI] + s[C_PI];
    }
  }
  *out++ = y[3];
}

/* A tube of n reacting cells. Columns: temperature, its rate, concentration, its rate, reaction, loss; 6 a
 * cell. Parameters: conduction, diffusion, heat, frequency, activation, radiation, ambient temperature. */
enum { T_, DER_T, C_, DER_C, RATE, LOSS, CELL };

void hand_reactor(int n, double t, const double *y, const double *p, double *out) {
  (void)t;
  const double k = p[0], diffusion = p[1], heat = p[2], frequency = p[3], activation = p[4], radiation = p[5];
  const double ambient = p[6];
  const double a2 = ambient * ambient, a4 = a2 * a2;
  for (int i = 0; i < n; i++, y += CELL) {
    const double *l = i > 0 ? y - CELL : y, *r = i + 1 < n ? y + CELL : y;
    const double t2 = y[T_] * y[T_];
    *out++ = y[RATE] - frequency * y[C_] * y[C_] * exp(-activation / y[T_]);
    *out++ = y[LOSS] - radiation * (t2 * t2 - a4);
    *out++ = y[DER_T] - (k * (l[T_] - 2 * y[T_] + r[T_]) + heat * y[RATE] - y[LOSS]);
    *out++ = y[DER_C] - (diffusion * (l[C_] - 2 * y[C_] + r[C_]) - y[RATE]);
  }
}

/* The pendulum's derivative array: small code, where overhead shows. Columns x x' x'' y y' y'' F. */
void hand_pendulum(int n, double t, const double *y, const double *p, double *out) {
  (void)n, (void)t;
  out[0] = p[0] * y[2] + y[0] * y[6];
  out[1] = p[0] * y[5] + y[3] * y[6] + p[0] * p[1];
  out[2] = y[0] * y[0] + y[3] * y[3] - p[2] * p[2];
  out[3] = 2 * y[0] * y[1] + 2 * y[3] * y[4];
  out[4] = 2 * y[1] * y[1] + 2 * y[0] * y[2] + 2 * y[4] * y[4] + 2 * y[3] * y[5];
}
