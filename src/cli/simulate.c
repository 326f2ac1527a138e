/* simulate: runs, then writes: trajectory, picture, JSON; last the summary. After a run that broke off the trajectory
 * so far is written as well, and said to be so. */
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_LINES = 12 };

typedef struct SimulateCommand {
  Session *session;
  int interrupted; /* the signal; 0 for none */
} SimulateCommand;

static void run_simulation(SimulateCommand *run) {
  daedal_options options = run->session->arguments->run;
  ProgressBar progress = progress_begin(session_talks(run->session));
  options.on_step = progress_step;
  options.context = &progress;
  daedal_result *result = daedal_simulate(run->session->model, &options);
  progress_end(&progress);
  run->interrupted = progress.stopped;
  session_keep(run->session, result);
}

static bool write_output(void *context, const void *bytes, size_t length) {
  (void)context;
  return output_bytes(bytes, length);
}

/* A standard output that fails is reported at the end of the command. */
static daedal_status write_rows(Session *session, const char *path) {
  bool is_file = !is_standard_output(path);
  daedal_status status =
      is_file ? daedal_result_write(session->result, path) : daedal_result_stream(session->result, write_output, NULL);
  if (is_file || status == DAEDAL_INTERNAL) session_report(session);
  session->status = first_failure(session->status, (int)status);
  return status;
}

static void write_trajectory(SimulateCommand *run) {
  Session *session = run->session;
  const char *path = session->arguments->output_path;
  bool is_file = !is_standard_output(path);
  if (daedal_result_rows(session->result) == 0 || write_rows(session, path) != DAEDAL_OK) return;
  double end = daedal_result_statistics(session->result).end_time;
  if (run->interrupted || session->status == DAEDAL_INTEGRATION)
    terminal_say("%s; the trajectory up to t = %.10g is %s %s", run->interrupted ? "interrupted" : "stopped", end,
                 is_file ? "in" : "on", is_file ? path : "standard output");
  else if (is_file && session_talks(session))
    terminal_say("trajectory written to %s: %" PRIu32 " signals, %" PRIu32 " rows", path,
                 daedal_result_signals(session->result), daedal_result_rows(session->result));
}

static void write_plot(Session *session) {
  const Arguments *arguments = session->arguments;
  const char *path = arguments->plot_path, *variables = arguments->run.variables;
  if (!path || daedal_result_rows(session->result) == 0) return;
  session_write(session, path,
                !is_standard_output(path)
                    ? daedal_result_plot(session->result, variables)
                    : daedal_result_plot_terminal(session->result, variables, terminal_width() - 1, PANEL_LINES));
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
    terminal_say("event at t = %.10g: %s becomes %.10g", event.time, event.condition, event.value);
  }
}

static void say_summary(Session *session) {
  daedal_statistics statistics = daedal_result_statistics(session->result);
  if (!session_talks(session)) return;
  session_say_choice(session);
  if (session->arguments->verbose) say_pivots(session->result);
  if (session->arguments->verbose) say_events(session->result);
  if (!statistics.solver) return;
  const char *text = daedal_result_text(session->result);
  terminal_say("%s: integrated to t = %.10g", daedal_model_name(session->model), statistics.end_time);
  terminal_write(stderr, text, strlen(text), true);
  if (!*text) session_report(session);
}

static void simulate(Session *session) {
  SimulateCommand run = {.session = session};
  run_simulation(&run);
  if (!session->result) return;
  say_summary(session);
  write_trajectory(&run);
  write_plot(session);
  if (session->arguments->json_path)
    session_write_json(session, daedal_result_json(session->result), daedal_result_json(NULL));
  bool is_broken_off = !session->status || daedal_result_rows(session->result) == 0;
  if (run.interrupted && is_broken_off) session->status = 128 + run.interrupted;
}

/* A model that cannot be read has a report too: what was said about it. */
static void report_failure(Session *session) {
  bool is_refused = session->model && daedal_model_status(session->model) != DAEDAL_OK;
  daedal_result *result = is_refused ? daedal_simulate(session->model, &session->arguments->run) : NULL;
  session_write_json(session, daedal_result_json(result), daedal_result_json(NULL));
  daedal_result_free(result);
}

int simulate_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  Arguments complete = *arguments;
  char *path = NULL;
  if (!session.status && !arguments->output_path)
    session_complete(&session, &complete, path = output_default(daedal_model_name(session.model), ".csv"));
  if (session.status) report_failure(&session);
  else simulate(&session);
  free(path);
  return session_close(&session);
}
