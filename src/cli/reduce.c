/* reduce and compare: what the methods of index reduction make of a model, one at a time or side by side. */
#include "cli/output.h"
#include "cli/session.h"

#include <string.h>

static const char failed_reduction[] = "{\"status\": \"input\", \"method\": null}\n";
static const char failed_comparison[] = "{\"status\": \"input\", \"runs\": null}\n";

static bool is_standard_output(const char *path) { return path && !strcmp(path, "-"); }

static void reduce(Session *session) {
  const Arguments *arguments = session->arguments;
  daedal_result *result = daedal_initialize(session->model, &arguments->run);
  session_report_result(session, result);
  const char *text = result && !session->status ? daedal_result_model(result) : NULL;
  if (text && !is_standard_output(arguments->json_path)) output_text(text);
  if (arguments->json_path)
    session_write_json(session, result ? daedal_result_model_json(result) : NULL, failed_reduction);
  daedal_result_free(result);
}

int reduce_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  if (session.status) session_write_json(&session, NULL, failed_reduction);
  else reduce(&session);
  return session_close(&session);
}

static void compare(Session *session) {
  const Arguments *arguments = session->arguments;
  daedal_result *result = daedal_compare(session->model, &arguments->run, arguments->methods, arguments->solvers);
  const char *text = result ? daedal_compare_text(result) : NULL;
  if (text && !is_standard_output(arguments->json_path)) output_text(text);
  session_report_result(session, result);
  if (result) session_write(session, arguments->plot_path, daedal_compare_plot(result));
  if (arguments->json_path) session_write_json(session, result ? daedal_compare_json(result) : NULL, failed_comparison);
  daedal_result_free(result);
}

int compare_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  if (session.status) session_write_json(&session, NULL, failed_comparison);
  else compare(&session);
  return session_close(&session);
}
