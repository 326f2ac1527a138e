/* init and export: what can be had from a model without integrating it. */
#include "cli/output.h"
#include "cli/session.h"

#include <stdio.h>
#include <string.h>

static const char failed[] =
    "{\"status\": \"input\", \"fixed\": null, \"free\": null, \"iterations\": null, \"values\": null}\n";

static void initialize(Session *session) {
  const Arguments *arguments = session->arguments;
  daedal_result *result = daedal_initialize(session->model, &arguments->run);
  session_report_result(session, result);
  if (result) {
    const char *text = daedal_result_initial_text(result);
    if (text && !(arguments->json_path && !strcmp(arguments->json_path, "-"))) output_text(text);
  }
  if (arguments->json_path)
    session_write_json(session, result ? daedal_result_initial_json(result) : NULL, failed);
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
    if (!session.status && session_talks(&session))
      fprintf(stderr, "C source written to %s\n", arguments->c_directory);
  }
  return session_close(&session);
}
