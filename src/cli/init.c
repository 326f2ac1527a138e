/* init, plan and export: the commands that do not integrate the model. */
#include "cli/session.h"
#include "cli/terminal.h"

#include <stdlib.h>

static void write_values(Session *session) {
  const char *path = session->arguments->write_path,
             *text = path ? daedal_report(session->result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT) : NULL;
  int before = session->status;
  session_write(session, path, text);
  if (text && session->status == before && !is_standard_output(path) && session_talks(session))
    terminal_say("start values written to %s", path);
}

static void initialize(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_initialize(session->model, &arguments->run));
  if (!session->result || session->status) return; /* values of a failed run are not start values */
  if (!is_standard_output(arguments->json_path) && !is_standard_output(arguments->write_path))
    session_write(session, "-", daedal_report(session->result, DAEDAL_REPORT_INITIAL, DAEDAL_TEXT));
  write_values(session);
}

int init_command(const Arguments *arguments) { return session_run(arguments, initialize, DAEDAL_REPORT_INITIAL); }

static void write_plan(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_initialize(session->model, &arguments->run));
  if (!session->result || session->status) return;
  session_write(session, arguments->output_path, daedal_report(session->result, DAEDAL_REPORT_PLAN, DAEDAL_TEXT));
  if (!session->status && !is_standard_output(arguments->output_path) && session_talks(session))
    terminal_say("plan written to %s", arguments->output_path);
}

int plan_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  Arguments complete = *arguments;
  char *path = NULL;
  if (!session.status && !arguments->output_path)
    session_complete(&session, &complete, path = session_default_path(&session, ".plan"));
  if (!session.status) write_plan(&session);
  free(path);
  return session_close(&session);
}

static daedal_result *export_model(daedal_model *model, const Arguments *arguments) {
  if (arguments->fmu_path)
    return daedal_export_fmu(model, arguments->fmu_path, arguments->fmi_version == 2 ? 2 : 3, arguments->fmu_kind,
                             &arguments->run);
  return (arguments->standalone ? daedal_export_solver : daedal_export_c)(model, arguments->c_directory,
                                                                          &arguments->run);
}

static void export(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, export_model(session->model, arguments));
  if (!session->status && session_talks(session))
    terminal_say(arguments->fmu_path ? "FMU written to %s" : "C source written to %s",
                 arguments->fmu_path ? arguments->fmu_path : arguments->c_directory);
}

int export_command(const Arguments *arguments) { return session_run(arguments, export, DAEDAL_REPORT_RUN); }
