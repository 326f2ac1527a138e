/* linearize and steady: matrices and modes at a point; steady states. */
#include "cli/session.h"
#include "cli/terminal.h"

enum { PANEL_LINES = 12 };

static void write_bode(Session *session) {
  const char *path = session->arguments->plot_path;
  if (!path) return;
  daedal_linear form = daedal_linear_get(session->result);
  if (!form.inputs || !form.outputs) {
    terminal_say("a Bode plot needs inputs and outputs: --inputs, --outputs");
    session->status = first_failure(session->status, DAEDAL_USAGE);
    return;
  }
  daedal_plot plot = {.size = sizeof plot};
  if (is_standard_output(path)) plot.width = terminal_width() - 1, plot.height = PANEL_LINES;
  session_write(session, path, daedal_draw(session->result, &plot));
}

static void linearize(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_linearize(session->model, &arguments->run, arguments->inputs, arguments->outputs));
  if (!session->result || session->status) return;
  if (!is_standard_output(arguments->json_path) && !is_standard_output(arguments->plot_path))
    session_write(session, "-", daedal_report(session->result, DAEDAL_REPORT_LINEAR, DAEDAL_TEXT));
  if (arguments->output_path) {
    daedal_status status = daedal_save(session->result, arguments->output_path);
    session_report(session);
    session->status = first_failure(session->status, (int)status);
  }
  write_bode(session);
}

int linearize_command(const Arguments *arguments) { return session_run(arguments, linearize, DAEDAL_REPORT_LINEAR); }

static void find_steady(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_steady(session->model, &arguments->run, arguments->way));
  if (!session->result || session->status) return;
  if (!is_standard_output(arguments->json_path))
    session_write(session, "-", daedal_report(session->result, DAEDAL_REPORT_STEADY, DAEDAL_TEXT));
}

int steady_command(const Arguments *arguments) { return session_run(arguments, find_steady, DAEDAL_REPORT_STEADY); }
