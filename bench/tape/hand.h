/* The residuals of the benchmark's models as a person writes them in C. Unknowns and rows are numbered as
 * in bench.c. hand.c is compiled twice by cc -O2: without fused multiply-add (-ffp-contract=off), as daedal
 * computes everywhere so that results do not depend on the machine; and with the compiler's own choice, with the
 * prefix fused_. On machines without such instructions both versions are the same. */
#ifndef HAND_H
#define HAND_H

typedef void Residual(int n, double t, const double *y, const double *p, double *out);

Residual hand_ladder, hand_reactor, hand_pendulum;
Residual fused_ladder, fused_reactor, fused_pendulum;

#endif
