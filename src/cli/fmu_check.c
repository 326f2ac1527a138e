/* fmu-check: checks whether an FMU follows the rules of FMI. If the FMU may be run, also checks whether it runs by model exchange
 * and by co-simulation, and whether both agree with each other and with a model. */
#include "cli/output.h"
#include "cli/render.h"
#include "cli/session.h"
#include "cli/terminal.h"

#include <math.h>

enum { VALUES_DIFFER = 8 };
static const double TOLERANCE = 1e-3;

typedef struct FmuCheck {
  const Arguments *arguments;
  int status;
  daedal_model *model;   /* model of the present run */
  daedal_result *result; /* the result to compare others with; NULL: none yet */
  const char *what;      /* the kind of run that gave `result` */
} FmuCheck;

static bool talks(const FmuCheck *check) { return !check->arguments->quiet; }

static void show(const FmuCheck *check, const daedal_model *model) {
  for (uint32_t k = 0; k < daedal_diagnostic_count(model); k++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(model, k);
    if (diagnostic.severity == DAEDAL_ERROR || talks(check))
      render_diagnostic(&diagnostic, check->arguments->model_path);
  }
}

static void check_rules(FmuCheck *check) {
  daedal_load_options reading = session_reading(check->arguments);
  daedal_model *model = daedal_check_fmu(check->arguments->model_path, &reading);
  uint32_t count = daedal_diagnostic_count(model);
  show(check, model);
  if (count) check->status = (int)daedal_status_of(model);
  else if (talks(check)) terminal_say("the rules of FMI hold");
  daedal_free(model);
}

/* Does the name belong to a signal of the model? Other names belong to the choice of states, or daedal has added them for an FMU.
 */
static bool is_compared(const char *name) {
  return strncmp(name, "der(", 4) != 0 && strncmp(name, "fmu ", 4) != 0 && *name != '$';
}

/* The largest difference at the end, relative to the largest value of the signal; *name: that signal. */
static double largest_difference(const daedal_result *a, const daedal_result *b, const char **name, uint32_t *count) {
  double worst = 0;
  *count = 0;
  for (uint32_t k = 0; k < daedal_result_signals(a); k++) {
    const char *signal = daedal_result_name(a, k);
    uint32_t other = daedal_result_find(b, signal), rows = daedal_result_rows(a);
    double size = 0;
    if (other == UINT32_MAX || !is_compared(signal) || !rows || !daedal_result_rows(b)) continue;
    for (uint32_t row = 0; row < rows; row++) size = fmax(size, fabs(daedal_result_value(a, k, row)));
    double first = daedal_result_value(a, k, rows - 1),
           second = daedal_result_value(b, other, daedal_result_rows(b) - 1);
    double difference = fabs(first - second) / fmax(size, 1e-300);
    (*count)++;
    if (first == second || !(difference > worst)) continue;
    worst = difference;
    *name = signal;
  }
  return worst;
}

static void compare(FmuCheck *check, const daedal_result *result, const char *what) {
  const char *name = "";
  uint32_t count;
  double allowed = check->arguments->difference_tolerance > 0 ? check->arguments->difference_tolerance : TOLERANCE;
  double worst = largest_difference(check->result, result, &name, &count);
  bool differs = !(worst <= allowed) || !count;
  if (differs) check->status = first_failure(check->status, VALUES_DIFFER);
  if (differs || talks(check))
    terminal_say("%s and %s: %u signal%s, the largest difference at the end is %.2g%s%s", check->what, what, count,
                 count == 1 ? "" : "s", worst, *name ? " of " : "", name);
}

/* Runs a model or an FMU. If it cannot be loaded as requested, that is a failure only if `is_needed`. */
static void run(FmuCheck *check, const char *path, const char *kind, const char *what, bool is_needed) {
  daedal_load_options reading = session_reading(check->arguments);
  reading.fmu = kind;
  daedal_model *model = daedal_load(path, NULL, 0, &reading);
  daedal_status status = daedal_status_of(model);
  if (status) {
    if (is_needed) show(check, model), check->status = first_failure(check->status, (int)status);
    daedal_free(model);
    return;
  }
  daedal_result *result = daedal_simulate(model, &check->arguments->run);
  status = daedal_status_of(result);
  for (uint32_t k = 0; k < daedal_diagnostic_count(result) && status; k++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(result, k);
    render_diagnostic(&diagnostic, path);
  }
  check->status = first_failure(check->status, (int)status);
  if (!status && talks(check)) terminal_say("%s runs to its end", what);
  if (!status && check->result) compare(check, result, what);
  if (!status && !check->result) {
    check->result = result;
    check->model = model;
    check->what = what;
    return;
  }
  daedal_free(result);
  daedal_free(model);
}

int fmu_check_command(const Arguments *arguments) {
  FmuCheck check = {.arguments = arguments};
  const char *path = arguments->model_path, *model = arguments->paths.words[1];
  check_rules(&check);
  if (arguments->libraries && check.status != DAEDAL_FILE) {
    if (model) run(&check, model, NULL, "the model", true);
    int before = check.status;
    run(&check, path, "me", "model exchange", false);
    run(&check, path, "cs", "co-simulation", check.status == before && !check.result);
  } else if (model && !check.status) {
    terminal_say("--allow-external lets the FMU be run");
    check.status = DAEDAL_USAGE;
  }
  daedal_free(check.result);
  daedal_free(check.model);
  return check.status;
}
