/* The residuals of the benchmark's models as a person writes them in C. Unknowns and rows are numbered as in bench.c. */
#ifndef HAND_H
#define HAND_H

void hand_ladder(int n, double t, const double *y, const double *p, double *out);
void hand_reactor(int n, double t, const double *y, const double *p, double *out);
void hand_pendulum(double t, const double *y, const double *p, double *out);

#endif
