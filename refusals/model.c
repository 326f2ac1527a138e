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
    "der(der(x))",
    "y",
    "der(y)",
    "der(der(y))",
    "h",
    "lambda_rod",
    ""};

const char *const model_row_names[] = {
    "h = 2*x",
    "0.2222222222222222*der(x) + der(der(x)) = 2*x*lambda_rod",
    "der(der(y)) = sin(time) + 2*y*lambda_rod - 9.81",
    "x^2 + y^2 = 1",
    "2*x*der(x) + 2*y*der(y) = 0",
    ""};

const char *const model_parameter_names[] = {
    ""};

const char *const model_discrete_names[] = {
    "initial()",
    "terminal()",
    ""};

const double model_time = 0.0;

const double model_start[] = {
    0.59999999999999998, 0.0, (-4.7088000000000001), (-0.80000000000000004), 0.0, (-3.5316000000000001),
    1.2, (-3.9240000000000004),
    0};

const double model_parameters[] = {
    0};

const double model_discretes[] = {
    0.0, 0.0,
    0};

const double model_pre[] = {
    0.0, 0.0,
    0};

const int model_column_start[] = {
    0, 4, 7, 9, 12, 14, 16, 17, 19,
    0};

const int model_row_index[] = {
    0, 1, 3, 4, 1, 3, 4, 1, 4, 2, 3, 4,
    3, 4, 2, 4, 0, 1, 2,
    0};

const int model_positions[] = {
    0, 1, 2, 3, 4, 5, 6, 7,
    0};

static double residual_f0(const Run *r, const uint32_t *s, uint32_t n, uint32_t first) {
  (void)r; (void)s; (void)n; (void)first;
  const double *restrict t = r->read[1];
  const double *restrict y = r->read[2];
  double *restrict o = r->write[7];
  double sum0 = 0;
  double sum1 = 0;
  double sum2 = 0;
  double sum3 = 0;
    const double v0 = (-2.0) * y[0];
    const double v1 = v0 + y[6];
    o[0] = v1;
    sum0 += v1;
    const double v2 = y[0] * y[7];
    const double v3 = 0.22222222222222221 * y[1];
    const double v4 = v3 + y[2];
    const double v5 = v4 + (-2.0) * v2;
    o[1] = v5;
    sum1 += v5;
    const double v6 = sin(t[0]);
    const double v7 = y[3] * y[7];
    const double v8 = 9.8100000000000005 - v6 + y[5];
    const double v9 = v8 + (-2.0) * v7;
    o[2] = v9;
    sum2 += v9;
    const double v10 = y[0] * y[1];
    const double v11 = y[3] * y[4];
    const double v12 = 2.0 * v10;
    const double v13 = v12 + 2.0 * v11;
    o[3] = v13;
    sum3 += v13;
    const double v14 = y[1] * y[1];
    const double v15 = y[4] * y[4];
    const double v16 = y[0] * y[2];
    const double v17 = y[3] * y[5];
    const double v18 = 2.0 * v14;
    const double v19 = v18 + 2.0 * v15;
    const double v20 = v19 + 2.0 * v16;
    const double v21 = v20 + 2.0 * v17;
    o[4] = v21;
    sum0 += v21;
  return 0 + sum0 + sum1 + sum2 + sum3;
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
    (-2.0), 0.22222222222222221, 9.8100000000000005, 2.0,
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
  const double *restrict y = r->read[2];
  double *restrict o = r->write[7];
  double sum0 = 0;
  double sum1 = 0;
  double sum2 = 0;
  double sum3 = 0;
    const double v0 = (-2.0) * y[7];
    o[1] = v0;
    sum0 += v0;
    const double v1 = (-2.0) * y[0];
    o[17] = v1;
    sum1 += v1;
    const double v2 = (-2.0) * y[3];
    o[18] = v2;
    sum2 += v2;
    const double v3 = 2.0 * y[1];
    o[2] = v3;
    sum3 += v3;
    const double v4 = 2.0 * y[0];
    o[5] = v4;
    sum0 += v4;
    const double v5 = 2.0 * y[4];
    o[10] = v5;
    sum1 += v5;
    const double v6 = 2.0 * y[3];
    o[12] = v6;
    sum2 += v6;
    const double v7 = 2.0 * y[2];
    o[3] = v7;
    sum3 += v7;
    const double v8 = 4.0 * y[1];
    o[6] = v8;
    sum0 += v8;
    const double v9 = 2.0 * y[5];
    o[11] = v9;
    sum1 += v9;
    const double v10 = 4.0 * y[4];
    o[13] = v10;
    sum2 += v10;
    const double v11 = (-2.0);
    o[0] = v11;
    sum3 += v11;
    const double v12 = 1.0;
    o[16] = v12;
    sum0 += v12;
    const double v13 = 0.22222222222222221;
    o[4] = v13;
    sum1 += v13;
    const double v14 = 1.0;
    o[7] = v14;
    sum2 += v14;
    const double v15 = v0;
    o[9] = v15;
    sum3 += v15;
    const double v16 = 1.0;
    o[14] = v16;
    sum0 += v16;
    const double v17 = v4;
    o[8] = v17;
    sum1 += v17;
    const double v18 = v6;
    o[15] = v18;
    sum2 += v18;
  return 0 + sum0 + sum1 + sum2 + sum3;
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
    (-2.0), 0.22222222222222221, 9.8100000000000005, 2.0, (-2.0), 2.0,
    4.0,
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

