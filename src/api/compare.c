/* compare: methods side by side. */
#include "api/handles.h"

typedef struct CompareNames {
  const daedal_options *options;
  const char *const *methods, *const *solvers;
} CompareNames;

/* Reads names of methods. Requested methods must apply; others are included only if they apply. */
static bool read_methods(daedal_result *result, const char *const *names) {
  CompareRequest *comparing = &result->comparing;
  Arena *arena = &result->diags.arena;
  uint32_t count = names_count(names);
  while (!names && method_at(count)) count++;
  comparing->methods = arena_array(arena, count, sizeof *comparing->methods);
  comparing->method_count = count;
  for (uint32_t m = 0; m < count; m++) {
    comparing->methods[m] = names ? method_find(names[m]) : method_at(m);
    if (!comparing->methods[m]) return refuse_method(result, names[m]);
  }
  return count > 0 || refuse_usage(result, "no method is named");
}

static bool read_solvers(daedal_result *result, const char *const *solvers) {
  static const char *const usual[] = {SOLVER_AUTO, NULL};
  CompareRequest *comparing = &result->comparing;
  Arena *arena = &result->diags.arena;
  const char *const *names = solvers ? solvers : usual;
  uint32_t count = names_count(names);
  comparing->solvers = arena_array(arena, count, sizeof *comparing->solvers);
  comparing->solver_count = count;
  for (uint32_t s = 0; s < count; s++)
    if (!find_solver(result, names[s], &comparing->solvers[s])) return false;
  return count > 0 || refuse_usage(result, "no solver is named");
}

/* If no run succeeded, the comparison fails like its first run. It also fails if a requested method does not apply. */
static void judge_comparison(daedal_result *result, bool named) {
  const Comparison *comparison = result->comparison;
  const CompareRun *blamed = NULL;
  bool any = false;
  for (uint32_t k = 0; k < comparison->count; k++) any = any || comparison->runs[k].ok;
  for (uint32_t k = 0; k < comparison->count && !blamed; k++) {
    const CompareRun *run = &comparison->runs[k];
    if (!run->ok && (!any || (named && diags_code(&run->diags) == DIAG_STRUCTURE))) blamed = run;
  }
  if (!blamed) return;
  for (uint32_t k = 0; k < blamed->diags.list.count; k++) {
    const Diag *diag = &blamed->diags.list.data[k];
    if (diag->severity != SEVERITY_ERROR) continue;
    diags_copy(&result->diags, diag);
  }
}

static bool run_comparison(daedal_result *result, const void *argument) {
  const CompareNames *names = argument;
  const daedal_options *options = names->options;
  CompareRequest *comparing = &result->comparing;
  bool ok = check_analysis(result, options) && read_options(result, options, &comparing->request) &&
            read_starts(result, options, &comparing->request) && read_invariants(result, options) &&
            read_methods(result, names->methods) && read_solvers(result, names->solvers);
  Bridge bridge;
  hand_on_steps(result, &comparing->request, &bridge, options);
  if (ok) {
    result->comparison = compare_run(result->heap, result->model->model, comparing);
    judge_comparison(result, names->methods != NULL);
  }
  result->status = (daedal_status)diags_code(&result->diags);
  publish_result(result);
  return ok;
}

daedal_comparison *daedal_compare(daedal_model *model, const daedal_options *options, const char *const *methods,
                                  const char *const *solvers) {
  daedal_options given = options_given(options);
  daedal_result *made = result_make(model, &given, run_comparison, &(CompareNames){&given, methods, solvers});
  if (made) made->kind = HANDLE_COMPARISON;
  return (daedal_comparison *)made;
}

static void print_text(daedal_result *result, TextVec *text) {
  if (result->comparison) compare_text(result->comparison, text);
}

static void print_json(daedal_result *result, TextVec *text) {
  if (result->comparison) compare_json(result->comparison, text);
  else text_printf(result->heap, text, "%s", compare_nothing);
}

static void print_picture(daedal_result *result, TextVec *text) {
  if (result->comparison) compare_svg(result->comparison, text);
}

const char *api_compare_text(daedal_result *result) { return result_report(result, REPORT_COMPARISON, print_text); }

const char *api_compare_json(daedal_result *result) {
  return result ? result_report(result, REPORT_COMPARISON_JSON, print_json) : compare_nothing;
}

const char *api_compare_plot(daedal_result *result) { return result_report(result, REPORT_PICTURE, print_picture); }
