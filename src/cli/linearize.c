/* linearize and steady: matrices and modes at a point; steady states. */
#include "cli/session.h"
#include "cli/terminal.h"

static void write_bode(Session *session) {
  if (!session->arguments->plots.words[0]) return;
  daedal_linear form = daedal_linear_get(session->result);
  if (!form.inputs || !form.outputs) {
    terminal_say("a Bode plot needs inputs and outputs: --inputs, --outputs");
    session->status = first_failure(session->status, DAEDAL_USAGE);
    return;
  }
  session_write_plots(session, session->result, (daedal_plot){.size = sizeof(daedal_plot)});
}

static void linearize(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_linearize(session->model, &arguments->run, arguments->inputs, arguments->outputs));
  if (!session->result || session->status) return;
  if (!is_standard_output(arguments->json_path) && !standard_outputs(&arguments->plots))
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
