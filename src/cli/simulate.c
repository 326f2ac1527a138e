/* simulate: runs, then writes trajectory, picture and JSON, and last the summary. A run that failed also writes its trajectory so
 * far, with a message. */
#include "cli/output.h"
#include "cli/session.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct SimulateCommand {
  Session *session;
  int interrupted; /* the signal; 0: none */
  char *part;      /* receives rows during the run; NULL: none */
  char *state;     /* receives the state after these rows */
} SimulateCommand;

/* People browse MAT files, so hidden variables are left out. Programs read CSV files and rely on every name. */
static bool leaves_out_hidden(const Arguments *arguments) {
  return !arguments->with_protected && arguments->output_path && ends_with(arguments->output_path, ".mat");
}

static void run_simulation(SimulateCommand *run) {
  daedal_options options = run->session->arguments->run;
  if (run->session->arguments->plot_pairs.names) options.plot_variables = run->session->arguments->plot_pairs.names;
  options.part_path = run->part;
  options.leave_out_hidden = leaves_out_hidden(run->session->arguments);
  run->interrupted = session_simulate(run->session, &options);
}

/* A path with a text after it; NULL if there is no path, or it is standard output. The caller frees it. */
static char *path_beside(const char *path, const char *ending) {
  size_t size = path ? strlen(path) + strlen(ending) + 1 : 0;
  char *beside = path && !is_standard_output(path) ? malloc(size) : NULL;
  if (beside) snprintf(beside, size, "%s%s", path, ending);
  return beside;
}

static bool write_output(void *context, const void *bytes, size_t length) {
  (void)context;
  return output_bytes(bytes, length);
}

/* A failure of standard output is reported at the end of the command. */
static daedal_status write_rows(Session *session, const char *path) {
  bool is_file = !is_standard_output(path);
  daedal_status status =
      is_file ? daedal_save(session->result, path) : daedal_stream(session->result, write_output, NULL);
  if (is_file || status == DAEDAL_INTERNAL) session_report(session);
  session->status = first_failure(session->status, (int)status);
  return status;
}

static void write_trajectory(SimulateCommand *run) {
  Session *session = run->session;
  const char *path = session->arguments->output_path;
  bool is_file = !is_standard_output(path);
  if (daedal_result_rows(session->result) == 0 || write_rows(session, path) != DAEDAL_OK) return;
  uint32_t rows = daedal_result_rows(session->result);
  double last = daedal_result_value(session->result, 0, rows - 1);
  if (run->interrupted || session->status)
    terminal_say("%s; the trajectory up to t = %.10g is %s %s", run->interrupted ? "interrupted" : "stopped", last,
                 is_file ? "in" : "on", is_file ? path : "standard output");
  else if (is_file && session_talks(session)) terminal_say("trajectory written to %s: %" PRIu32 " rows", path, rows);
}

static void write_plot(Session *session) {
  const Arguments *arguments = session->arguments;
  const char *axes = arguments->plot_axes;
  const char *const *shown = arguments->run.plot_variables;
  if (!arguments->plots.words[0] || daedal_result_rows(session->result) == 0) return;
  daedal_plot plot = {.size = sizeof plot,
                      .variables = shown ? shown : arguments->run.variables,
                      .pairs = arguments->plot_pairs.names,
                      .deviations = arguments->plot_bands.list,
                      .deviation_count = arguments->plot_bands.count,
                      .log_x = axes && strchr(axes, 'x'),
                      .log_y = axes && strchr(axes, 'y')};
  session_write_plots(session, session->result, plot);
  session_report(session);
}

static void say_pivots(const daedal_result *result) {
  uint32_t count = daedal_result_statistics(result).pivots;
  for (uint32_t i = 0; i < count; i++) {
    daedal_pivot pivot = daedal_result_pivot(result, i);
    terminal_say("pivot at t = %.10g: state %s out, %s in", pivot.time, pivot.out, pivot.in);
  }
}

static void say_events(const daedal_result *result) {
  for (uint32_t i = 0;; i++) {
    daedal_event event = daedal_result_event(result, i);
    if (isnan(event.time)) return;
    if (isnan(event.value)) terminal_say("event at t = %.10g: %s", event.time, event.condition);
    else terminal_say("event at t = %.10g: %s becomes %.10g", event.time, event.condition, event.value);
  }
}

static void say_summary(Session *session) {
  daedal_statistics statistics = daedal_result_statistics(session->result);
  if (!session_talks(session)) return;
  session_say_choice(session);
  if (session->arguments->verbose) say_pivots(session->result);
  if (session->arguments->verbose) say_events(session->result);
  if (!statistics.solver) return;
  const char *text = daedal_report(session->result, DAEDAL_REPORT_RUN, DAEDAL_TEXT);
  terminal_say("%s: integrated to t = %.10g", daedal_model_name(session->model), statistics.end_time);
  terminal_write(stderr, text, strlen(text), true);
  if (!*text) session_report(session);
}

/* Removes the rows written during the run when the file is complete. Keeps the rows if the run was interrupted or did not begin. */
static void leave_part(const SimulateCommand *run) {
  if (!run->part || daedal_result_rows(run->session->result) == 0) return;
  if (run->interrupted && access(run->state, R_OK) == 0) terminal_say("--resume continues from %s", run->part);
  if (run->interrupted) return;
  (void)remove(run->part);
  (void)remove(run->state);
}

static void write_outputs(SimulateCommand *run) {
  Session *session = run->session;
  say_summary(session);
  write_trajectory(run);
  write_plot(session);
  if (session->arguments->json_path) session_write_json(session, session->result, DAEDAL_REPORT_RUN);
  leave_part(run);
  if (run->interrupted) session->status = 128 + run->interrupted;
}

static void simulate(Session *session) {
  SimulateCommand run = {.session = session, .part = path_beside(session->arguments->output_path, ".part")};
  run.state = path_beside(run.part, ".state");
  run_simulation(&run);
  if (session->result) write_outputs(&run);
  free(run.state);
  free(run.part);
}

int simulate_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  Arguments complete = *arguments;
  char *path = NULL;
  if (!session.status && !arguments->output_path)
    session_complete(&session, &complete, path = session_default_path(&session, ".csv"));
  if (session.status) session_write_refusal(&session, DAEDAL_REPORT_RUN);
  else simulate(&session);
  free(path);
  return session_close(&session);
}
