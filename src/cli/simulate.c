/* simulate: runs, then writes: trajectory, picture, JSON; last the summary. After a run that broke off the
 * trajectory so far is written as well, and said to be so.
 */
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char failed[] =
    "{\"status\": \"input\", \"method\": null, \"conversions\": null, \"equations\": null, "
    "\"states\": null, \"rows\": null, \"solver\": null, \"solver_reason\": null, \"left_out\": null, "
    "\"steps\": null, \"rejected\": null, \"residual_evals\": null, \"output_evals\": null, "
    "\"jacobian_evals\": null, \"factorizations\": null, \"end_time\": null, \"singular\": null, "
    "\"events\": null, \"pivots\": null, \"constraint_residual\": null, \"constraint_levels\": null, "
    "\"invariants\": null, \"seconds\": null, \"final\": null}\n";

enum { PANEL_LINES = 12 };

typedef struct Run {
  Session *session;
  daedal_result *result;
  int interrupted; /* the signal; 0 for none */
  char *path;      /* of the trajectory; owned */
} Run;

/* MODELNAME.csv; what a file name should not have becomes '_'. NULL without memory. */
static char *trajectory_path(const Session *session) {
  const char *given = session->arguments->output_path, *name = daedal_model_name(session->model);
  size_t size = strlen(given ? given : name) + sizeof ".csv";
  char *path = malloc(size);
  if (!path) return NULL;
  snprintf(path, size, "%s%s", given ? given : name, given ? "" : ".csv");
  if (given) return path;
  for (char *at = path; *at; at++)
    if (*at == '/' || (unsigned char)*at < 0x20) *at = '_';
  if (path[0] == '-') path[0] = '_';
  return path;
}

static void run_simulation(Run *run) {
  daedal_options options = run->session->arguments->run;
  Progress progress = progress_begin(session_talks(run->session));
  options.on_step = progress_step;
  options.context = &progress;
  run->result = daedal_simulate(run->session->model, &options);
  progress_end(&progress);
  run->interrupted = progress.stopped;
  session_report_result(run->session, run->result);
}

static void write_trajectory(Run *run) {
  Session *session = run->session;
  if (daedal_result_rows(run->result) == 0) return;
  if (!strcmp(run->path, "-")) {
    const char *text = daedal_result_csv(run->result);
    if (text) output_text(text);
    return;
  }
  daedal_status status = daedal_result_write(run->result, run->path);
  session_report_result(session, run->result);
  session->status = first_failure(session->status, (int)status);
  if (status) return;
  double end = daedal_result_statistics(run->result).end_time;
  if (run->interrupted || session->status == DAEDAL_INTEGRATION)
    fprintf(stderr, "%s; the trajectory up to t = %.10g is in %s\n", run->interrupted ? "interrupted" : "stopped", end,
            run->path);
  else if (session_talks(session))
    fprintf(stderr, "trajectory written to %s: %" PRIu32 " signals, %" PRIu32 " rows\n", run->path,
            daedal_result_signals(run->result), daedal_result_rows(run->result));
}

static void write_plot(Run *run) {
  const Arguments *arguments = run->session->arguments;
  if (!arguments->plot_path || daedal_result_rows(run->result) == 0) return;
  if (strcmp(arguments->plot_path, "-") != 0)
    session_write(run->session, arguments->plot_path, daedal_result_plot(run->result, arguments->run.variables));
  else
    session_write(
        run->session, "-",
        daedal_result_plot_terminal(run->result, arguments->run.variables, terminal_width() - 1, PANEL_LINES));
}

static void say_pivots(const daedal_result *result) {
  uint32_t count = daedal_result_statistics(result).pivots;
  for (uint32_t i = 0; i < count; i++) {
    daedal_pivot pivot = daedal_result_pivot(result, i);
    fprintf(stderr, "pivot at t = %.10g: state %s out, %s in\n", pivot.time, pivot.out, pivot.in);
  }
}

static void say_summary(Run *run) {
  if (!session_talks(run->session)) return;
  if (run->session->arguments->verbose) say_pivots(run->result);
  daedal_statistics statistics = daedal_result_statistics(run->result);
  const char *text = daedal_result_text(run->result);
  if (!statistics.solver || !text) return;
  fprintf(stderr, "%s: integrated to t = %.10g\n%s", daedal_model_name(run->session->model), statistics.end_time, text);
}

static void simulate(Session *session) {
  Run run = {.session = session, .path = trajectory_path(session)};
  if (!run.path) {
    usage_error("out of memory");
    session->status = DAEDAL_INTERNAL;
    return;
  }
  run_simulation(&run);
  if (run.result) {
    say_summary(&run);
    write_trajectory(&run);
    write_plot(&run);
  }
  if (session->arguments->json_path)
    session_write_json(session, run.result ? daedal_result_json(run.result) : NULL, failed);
  if (run.interrupted) session->status = first_failure(session->status, 128 + run.interrupted);
  daedal_result_free(run.result);
  free(run.path);
}

int simulate_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  if (session.status) session_write_json(&session, NULL, failed);
  else simulate(&session);
  return session_close(&session);
}
