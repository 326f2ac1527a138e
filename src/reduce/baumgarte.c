/* baumgarte: Baumgarte's stabilization (1972; Numra book, technique 2). An equation g = 0 that is differentiated twice
 * is replaced by g'' + 2 alpha g' + beta^2 g = 0, so that a deviation from g = 0 decays. An equation that is
 * differentiated once is replaced by g' + alpha g = 0, and one that is differentiated c times by the product of such
 * factors. */
#include "reduce/method.h"

#include <math.h>

/* By default both parameters are this multiple of the fastest rate of change at the start; the book uses 5 to 20. */
static const double RATE_FACTOR = 10;

/* An equation for the highest derivatives contains beta^2 g, so round-off in g must stay below the tolerance. */
static const double ROUNDING = 1e-16;

/* weight *= D^2 + 2 alpha D + beta^2, or D + alpha; degree is that of the result. */
static void multiply_factor(double *weight, int32_t degree, const double *factor, int32_t factor_degree) {
  for (int32_t l = degree; l >= 0; l--) {
    double sum = 0;
    for (int32_t k = 0; k <= factor_degree && k <= l; k++)
      if (l - k <= degree - factor_degree) sum += factor[k] * weight[l - k];
    weight[l] = sum;
  }
}

static void fill_weights(double *weight, int32_t c, double alpha, double beta) {
  const double twice[] = {beta * beta, 2 * alpha, 1}, once[] = {alpha, 1};
  weight[0] = 1;
  for (int32_t degree = 2; degree <= c; degree += 2) multiply_factor(weight, degree, twice, 2);
  if (c % 2) multiply_factor(weight, c, once, 1);
}

/* The fastest rate at which an unknown of a differentiated equation changes at the start: (|x^(k)| / size of x)^(1/k). */
static double fastest_rate(const Reduction *reduction) {
  const Array *array = reduction->array;
  const Incidence *incidence = &array->problem->incidence;
  double fastest = 0;
  for (uint32_t i = 0; i < array->problem->equations; i++) {
    for (int32_t e = incidence->row_start[i]; array->c[i] && e < incidence->row_start[i + 1]; e++) {
      uint32_t base = array->column_start[incidence->column[e]];
      double size = reduction->at.evaluator->nominal[base] + fabs(reduction->at.y[base]);
      for (int32_t k = 1; k <= array->d[incidence->column[e]]; k++)
        fastest = fmax(fastest, pow(fabs(reduction->at.y[base + (uint32_t)k]) / size, 1.0 / k));
    }
  }
  return fastest;
}

static void choose_parameters(const Reduction *reduction, double *alpha, double *beta) {
  if (!isnan(reduction->options.alpha) && !isnan(reduction->options.beta)) {
    *alpha = reduction->options.alpha, *beta = reduction->options.beta;
    return;
  }
  double least = RATE_FACTOR / reduction->duration, most = sqrt(0.1 * reduction->tolerance / ROUNDING);
  double chosen = fmin(fmax(RATE_FACTOR * fastest_rate(reduction), isfinite(least) ? least : 1), most);
  *alpha = isnan(reduction->options.alpha) ? chosen : reduction->options.alpha;
  *beta = isnan(reduction->options.beta) ? chosen : reduction->options.beta;
}

static bool apply(Reduction *reduction) {
  const Array *array = reduction->array;
  int32_t depth = reduction_depth(reduction);
  if (reduction_keep_unconstrained(reduction)) return true;
  if (!depth) {
    diag_error(reduction->diags, DIAG_METHOD_UNFIT, (Span){0},
               "method baumgarte stabilizes equations that must be differentiated, and this model has none; "
               "methods dummy and none work");
    return false;
  }
  double alpha, beta;
  choose_parameters(reduction, &alpha, &beta);
  reduction->options.alpha = alpha, reduction->options.beta = beta; /* reductions for other modes use them, too */
  form_use_highest_rows(reduction);
  Form *form = &reduction->form;
  Expr *residual = arena_array(reduction->arena, form->rows.count, sizeof *residual);
  for (uint32_t i = 0; i < form->rows.count; i++) {
    double *weight = arena_array(reduction->arena, (size_t)array->c[i] + 1, sizeof *weight);
    fill_weights(weight, array->c[i], alpha, beta);
    form->rows.data[i].weight = weight;
    residual[i] = form_residual(reduction, &form->rows.data[i]);
  }
  reduction->remark = arena_printf(reduction->arena, "alpha = %.6g, beta = %.6g", alpha, beta);
  reduction->reduced.rate = fmax(alpha, beta);
  return reduction_replace(reduction, residual);
}

const Method method_baumgarte = {
    .name = "baumgarte",
    .description = "derivatives of an equation combined so that deviations decay",
    .apply = apply,
};
