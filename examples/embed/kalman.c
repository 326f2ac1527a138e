/* An unscented Kalman filter: a swinging pendulum, an index-3 model, whose angle is measured with noise. Each sample clones the run
 * into five, moves them to the sigma points, advances them to the next measurement, and takes the mean of their results.
 *
 *   cc kalman.c -ldaedal -lm -o kalman && ./kalman
 */
#include <daedal.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MODEL[] =
    "model Pendulum\n"
    "  Real x(start = 0.6), y(start = -0.8), u(start = 0), v, s, angle(start = 0.6, fixed = true), rate(start = 0, fixed = true);\n"
    "equation\n"
    "  der(x) = u; der(y) = v; der(u) = -s*x; der(v) = -s*y - 9.81; x^2 + y^2 = 1;\n"
    "  angle = atan2(x, -y); rate = der(angle);\n"
    "end Pendulum;\n";

enum { POINTS = 5, SAMPLES = 40 };
static const double INTERVAL = 0.05, NOISE = 0.1;

typedef struct Estimate {
  double mean[2];  /* angle and rate */
  double factor[2][2]; /* the covariance is factor times its transpose */
} Estimate;

/* Indices of the estimated variables: the position and speed that represent angle and rate. */
typedef struct Handles {
  uint32_t x, y, u, v, angle, rate;
} Handles;

static double noise(unsigned *seed) {
  double sum = -6;
  for (int k = 0; k < 12; k++) sum += (double)((*seed = *seed * 1103515245u + 12345u) >> 16 & 0x7fff) / 32768.0;
  return NOISE * sum;
}

/* Sigma point number n: the mean, moved along a column of the factor. */
static void sigma_point(const Estimate *estimate, int n, double *out) {
  double sign = n == 0 ? 0 : n % 2 ? sqrt(2) : -sqrt(2);
  int column = n > 2;
  for (int i = 0; i < 2; i++) out[i] = estimate->mean[i] + sign * estimate->factor[i][column];
}

/* A clone of the run, moved to an angle and a rate, and advanced. */
static int predict(daedal_run *run, const Handles *at, const double *point, double time, double *out) {
  daedal_run *clone = daedal_run_clone(run);
  daedal_run_set_value(clone, at->x, sin(point[0]));
  daedal_run_set_value(clone, at->y, -cos(point[0]));
  daedal_run_set_value(clone, at->u, cos(point[0]) * point[1]);
  daedal_run_set_value(clone, at->v, sin(point[0]) * point[1]);
  int ok = daedal_run_advance(clone, time) == DAEDAL_OK;
  const double *values = ok ? daedal_run_values(clone) : NULL;
  out[0] = values ? values[at->angle] : NAN;
  out[1] = values ? values[at->rate] : NAN;
  daedal_free(clone);
  return values != NULL;
}

/* Mean and covariance of the points, and their correction by the measured angle. */
static void update(double points[POINTS][2], double measured, Estimate *estimate) {
  double mean[2] = {0, 0}, p[2][2] = {{1e-5, 0}, {0, 1e-4}};
  for (int n = 1; n < POINTS; n++)
    for (int i = 0; i < 2; i++) mean[i] += points[n][i] / (POINTS - 1);
  for (int n = 1; n < POINTS; n++)
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++) p[i][j] += (points[n][i] - mean[i]) * (points[n][j] - mean[j]) / (POINTS - 1);
  double variance = p[0][0] + NOISE * NOISE, gain[2] = {p[0][0] / variance, p[1][0] / variance};
  for (int i = 0; i < 2; i++) estimate->mean[i] = mean[i] + gain[i] * (measured - mean[0]);
  double first[2] = {p[0][0], p[0][1]};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) p[i][j] -= gain[i] * first[j];
  estimate->factor[0][0] = sqrt(p[0][0]);
  estimate->factor[0][1] = 0;
  estimate->factor[1][0] = p[1][0] / estimate->factor[0][0];
  estimate->factor[1][1] = sqrt(p[1][1] - estimate->factor[1][0] * estimate->factor[1][0]);
}

int main(void) {
  daedal_options options = daedal_default_options();
  options.stop_time = 10;
  daedal_model *model = daedal_load_text(MODEL, strlen(MODEL), "pendulum", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, &options);
  daedal_run *truth = daedal_run_make(plan);
  Handles at = {daedal_variable_find(model, "x"), daedal_variable_find(model, "y"),     daedal_variable_find(model, "u"),
                daedal_variable_find(model, "v"), daedal_variable_find(model, "angle"), daedal_variable_find(model, "rate")};
  Estimate estimate = {{0.2, 0.5}, {{0.3, 0}, {0, 0.5}}}; /* far off */
  unsigned seed = 7;
  int ok = daedal_run_start(truth) == DAEDAL_OK;
  for (int k = 1; ok && k <= SAMPLES; k++) {
    double points[POINTS][2];
    for (int n = 0; n < POINTS; n++) {
      double point[2];
      sigma_point(&estimate, n, point);
      ok = predict(truth, &at, point, k * INTERVAL, points[n]) && ok;
    }
    ok = ok && daedal_run_advance(truth, k * INTERVAL) == DAEDAL_OK;
    if (ok) update(points, daedal_run_values(truth)[at.angle] + noise(&seed), &estimate);
  }
  double error = ok ? fabs(estimate.mean[0] - daedal_run_values(truth)[at.angle]) : NAN;
  printf("after %d measurements with noise of %g the angle is known to %.3f\n", SAMPLES, NOISE, error);
  daedal_free(truth);
  daedal_free(plan);
  daedal_free(model);
  return error < 0.5 * NOISE ? 0 : 1;
}
