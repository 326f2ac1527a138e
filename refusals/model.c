/* Data, residual and Jacobian of the model; see model.h. */
#include "model.h"

#include <math.h>
#include <stdint.h>

typedef struct { uint32_t function, count, first, starts; } Step;
typedef struct {
  const double *const *read;
  double *const *write;
  double *work;
  const uint32_t *const *tables;
} Run;
typedef double (*Function)(const Run *run, const uint32_t *starts, uint32_t count, uint32_t first);

const char *const model_column_names[] = {
    "x",
    "der(x)",
    ""};

const char *const model_row_names[] = {
    "der(x) = -p*x",
    ""};

const char *const model_parameter_names[] = {
    "p",
    ""};

const char *const model_discrete_names[] = {
    "initial()",
    "terminal()",
    ""};

const double model_time = 0.0;

const double model_start[] = {
    1.0, (-0.5),
    0};

const double model_parameters[] = {
    0.5,
    0};

const double model_discretes[] = {
    0.0, 0.0,
    0};

const double model_pre[] = {
    0.0, 0.0,
    0};

const int model_column_start[] = {
    0, 1, 2,
    0};

const int model_row_index[] = {
    0, 0,
    0};

const int model_positions[] = {
    0, 1,
    0};

static double residual_f0(const Run *r, const uint32_t *s, uint32_t n, uint32_t first) {
  (void)r; (void)s; (void)n; (void)first;
  const double *restrict y = r->read[2];
  const double *restrict p = r->read[3];
  double *restrict o = r->write[7];
  double sum0 = 0;
    const double v0 = y[1] + p[0] * y[0];
    o[0] = v0;
    sum0 += v0;
  return 0 + sum0;
}

static const Function residual_functions[] = {
    residual_f0,
};

static const Step residual_steps[] = {
    {0, 0, 0, 0},
    {0, 0, 0, 0}};

static const uint32_t residual_starts[] = {
    0};

static const uint32_t *const residual_tables[] = {0};

static const double residual_numbers[] = {
    0};

int model_residual(double time, const double *y, const double *parameters, const double *discretes, const double *pre,
             double *work, double *out) {
  const double *const read[] = {residual_numbers, &time, y, parameters, discretes, pre, work, out};
  double *const write[] = {0, 0, 0, 0, 0, 0, work, out};
  const Run run = {read, write, work + 0, residual_tables};
  double sum = 0;
  for (const Step *step = residual_steps; step < residual_steps + 1; step++)
    sum += residual_functions[step->function](&run, residual_starts + step->starts, step->count, step->first);
  if (sum - sum == 0) return 0;
  for (int i = 0; i < MODEL_ROWS; i++)
    if (!(out[i] - out[i] == 0)) return 1;
  return 0;
}

static double jacobian_f0(const Run *r, const uint32_t *s, uint32_t n, uint32_t first) {
  (void)r; (void)s; (void)n; (void)first;
  const double *restrict p = r->read[3];
  double *restrict o = r->write[7];
  double sum0 = 0;
  double sum1 = 0;
    const double v0 = p[0];
    o[0] = v0;
    sum0 += v0;
    const double v1 = 1.0;
    o[1] = v1;
    sum1 += v1;
  return 0 + sum0 + sum1;
}

static const Function jacobian_functions[] = {
    jacobian_f0,
};

static const Step jacobian_steps[] = {
    {0, 0, 0, 0},
    {0, 0, 0, 0}};

static const uint32_t jacobian_starts[] = {
    0};

static const uint32_t *const jacobian_tables[] = {0};

static const double jacobian_numbers[] = {
    0};

int model_jacobian(double time, const double *y, const double *parameters, const double *discretes, const double *pre,
             double *work, double *out) {
  const double *const read[] = {jacobian_numbers, &time, y, parameters, discretes, pre, work, out};
  double *const write[] = {0, 0, 0, 0, 0, 0, work, out};
  const Run run = {read, write, work + 0, jacobian_tables};
  double sum = 0;
  for (const Step *step = jacobian_steps; step < jacobian_steps + 1; step++)
    sum += jacobian_functions[step->function](&run, jacobian_starts + step->starts, step->count, step->first);
  if (sum - sum == 0) return 0;
  for (int i = 0; i < MODEL_NONZEROS; i++)
    if (!(out[i] - out[i] == 0)) return 1;
  return 0;
}

