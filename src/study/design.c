/* design: see design.h. */
#include "study/design.h"

#include "base/suggest.h"

#include <math.h>
#include <string.h>

static const uint64_t MOST_POINTS = 100000000;

static bool refuse(Diags *diags, const char *message) {
  diag_error(diags, DIAG_USAGE, (Span){0}, "%s", message);
  return false;
}

static bool find_sampling(const char *name, uint32_t *kind, Diags *diags) {
  Suggestion best = {.word = name};
  for (*kind = 0; sampling_names[*kind]; ++*kind) {
    if (strcmp(sampling_names[*kind], name) == 0) return true;
    suggest_offer(&best, sampling_names[*kind]);
  }
  Diag *diag =
      diag_error(diags, DIAG_USAGE, (Span){0}, "there is no sampling '%s'; there are sobol, lhs and random", name);
  if (best.nearest) diag_note(diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
  return false;
}

uint32_t design_variables(const Design *design) { return design->vary_count + design->distribution_count; }

const char *design_name(const Design *design, uint32_t variable) {
  if (variable < design->vary_count) return design->vary[variable].name;
  return design->distributions[variable - design->vary_count].name;
}

static bool names_differ(const Design *design, Diags *diags) {
  for (uint32_t a = 0; a < design_variables(design); a++)
    for (uint32_t b = 0; b < a; b++) {
      if (strcmp(design_name(design, a), design_name(design, b)) != 0) continue;
      diag_error(diags, DIAG_USAGE, (Span){0}, "'%s' is varied twice", design_name(design, a));
      return false;
    }
  return true;
}

static bool read_samples(Design *design, const DesignRequest *request, Arena *arena, Diags *diags) {
  uint32_t kind;
  design->samples = 1;
  if (!design->distribution_count)
    return !request->samples || refuse(diags, "samples need a distribution, such as L=normal(1,0.1)");
  if (!request->samples) return refuse(diags, "distributions need a number of samples");
  if (!find_sampling(request->sampling ? request->sampling : sampling_names[0], &kind, diags)) return false;
  if (kind == 0 && design->distribution_count > SOBOL_DIMENSIONS)
    return refuse(diags, "sobol has 21 dimensions; use sampling lhs or random for more");
  design->samples = request->samples;
  design->sampling = sampling_new(arena, kind, request->samples, design->distribution_count, request->seed);
  return true;
}

static bool count_points(Design *design, Diags *diags) {
  uint64_t points = design->samples;
  for (uint32_t k = 0; k < design->vary_count && points <= MOST_POINTS; k++) points *= design->vary[k].count;
  if (points > MOST_POINTS) return refuse(diags, "that makes more than 10^8 points");
  design->points = (uint32_t)points;
  return true;
}

/* Does the axis have values, all of them numbers? */
static bool check_values(const Vary *vary, Diags *diags) {
  bool ok = vary->name && vary->count > 0 && vary->values;
  for (uint32_t k = 0; ok && k < vary->count; k++) ok = isfinite(vary->values[k]);
  if (!ok)
    diag_error(diags, DIAG_USAGE, (Span){0}, "'%s' needs values to vary, all of them finite",
               vary->name ? vary->name : "");
  return ok;
}

bool design_check(Design *design, const DesignRequest *request, Arena *arena, Diags *diags) {
  if (!design_variables(design)) return refuse(diags, "there is nothing to vary: neither values nor distributions");
  for (uint32_t k = 0; k < design->vary_count; k++)
    if (!check_values(&design->vary[k], diags)) return false;
  for (uint32_t k = 0; k < design->distribution_count; k++)
    if (!design->distributions[k].name) return refuse(diags, "a distribution needs the name of a variable");
  return names_differ(design, diags) && read_samples(design, request, arena, diags) && count_points(design, diags);
}

double design_value(const Design *design, uint32_t point, uint32_t variable) {
  if (variable >= design->vary_count) {
    uint32_t dimension = variable - design->vary_count;
    double u = sampling_at(design->sampling, point % design->samples, dimension);
    return distribution_quantile(&design->distributions[dimension], u);
  }
  uint32_t combination = point / design->samples;
  for (uint32_t k = design->vary_count - 1; k > variable; k--) combination /= design->vary[k].count;
  return design->vary[variable].values[combination % design->vary[variable].count];
}

bool design_is_map(const Design *design) {
  return design->vary_count == 2 && !design->distribution_count && design->vary[0].count > 1 &&
         design->vary[1].count > 1;
}
