/* init and export: what can be had from a model without integrating it. */
#include "cli/output.h"
#include "cli/session.h"

#include <stdio.h>
#include <string.h>

static const char failed[] =
    "{\"status\": \"input\", \"dof\": null, \"fixed\": null, \"free\": null, \"initial_equations\": null, \"way\": "
    "null, "
    "\"iterations\": null, \"form\": null, \"parts\": null, \"steps\": null, \"residual\": null, \"condition\": null, "
    "\"redundant_equations\": null, \"conflict\": null, \"values\": null}\n";

static bool is_standard_output(const char *path) { return path && !strcmp(path, "-"); }

static void write_values(Session *session, daedal_result *result) {
  const char *path = session->arguments->write_path, *text = daedal_result_start_values(result);
  if (!path || !text) return;
  if (is_standard_output(path)) {
    output_text(text);
    return;
  }
  daedal_status status = daedal_write_text(session->model, path, text);
  session_report(session);
  session->status = first_failure(session->status, (int)status);
  if (!status && session_talks(session)) fprintf(stderr, "start values written to %s\n", path);
}

static void initialize(Session *session) {
  const Arguments *arguments = session->arguments;
  daedal_result *result = daedal_initialize(session->model, &arguments->run);
  session_report_result(session, result);
  if (result) {
    const char *text = daedal_result_initial_text(result);
    bool taken = is_standard_output(arguments->json_path) || is_standard_output(arguments->write_path);
    if (text && !taken) output_text(text);
    write_values(session, result);
  }
  if (arguments->json_path) session_write_json(session, result ? daedal_result_initial_json(result) : NULL, failed);
  daedal_result_free(result);
}

int init_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  if (session.status) session_write_json(&session, NULL, failed);
  else initialize(&session);
  return session_close(&session);
}

int export_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  if (!session.status) {
    daedal_result *result = daedal_export_c(session.model, arguments->c_directory, &arguments->run);
    session_report_result(&session, result);
    daedal_result_free(result);
    if (!session.status && session_talks(&session)) fprintf(stderr, "C source written to %s\n", arguments->c_directory);
  }
  return session_close(&session);
}
