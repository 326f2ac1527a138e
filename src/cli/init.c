/* init and export: what can be had from a model without integrating it. */
#include "cli/session.h"
#include "cli/terminal.h"

static void write_values(Session *session) {
  const char *path = session->arguments->write_path, *text = path ? daedal_result_start_values(session->result) : NULL;
  int before = session->status;
  session_write(session, path, text);
  if (text && session->status == before && !is_standard_output(path) && session_talks(session))
    terminal_say("start values written to %s", path);
}

static void initialize(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_initialize(session->model, &arguments->run));
  if (!session->result) return;
  if (!is_standard_output(arguments->json_path) && !is_standard_output(arguments->write_path))
    session_write(session, "-", daedal_result_initial_text(session->result));
  write_values(session);
}

int init_command(const Arguments *arguments) { return session_run(arguments, initialize, daedal_result_initial_json); }

int export_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  if (!session.status) {
    session_keep(&session, (arguments->standalone ? daedal_export_solver : daedal_export_c)(
                               session.model, arguments->c_directory, &arguments->run));
    if (!session.status && session_talks(&session)) terminal_say("C source written to %s", arguments->c_directory);
  }
  return session_close(&session);
}
