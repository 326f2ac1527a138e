/* session: every command is session_open, its own work, session_close. */
#include "cli/session.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

static void session_fail(Session *session, daedal_status status) {
  session->status = first_failure(session->status, (int)status);
}

static void draw(Session *session, const daedal_diagnostic *diagnostic) {
  if (diagnostic->severity == DAEDAL_ERROR) session->drawn_errors++;
  else if (session->arguments->quiet) return;
  render_diagnostic(diagnostic, session->arguments->model_path);
}

void session_report(Session *session) {
  for (uint32_t count = daedal_diagnostic_count(session->model); session->seen < count; session->seen++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(session->model, session->seen);
    draw(session, &diagnostic);
  }
}

void session_report_result(Session *session, const daedal_result *result) {
  if (!result) {
    usage_error("out of memory");
    session_fail(session, DAEDAL_INTERNAL);
    return;
  }
  session_report(session);
  for (uint32_t count = daedal_result_diagnostic_count(result); session->seen_of_run < count; session->seen_of_run++) {
    daedal_diagnostic diagnostic = daedal_result_diagnostic(result, session->seen_of_run);
    draw(session, &diagnostic);
  }
  session_fail(session, daedal_result_status(result));
}

Session session_open(const Arguments *arguments) {
  Session session = {.arguments = arguments};
  session.model = daedal_load_file(arguments->model_path, arguments->class_name, NULL);
  if (!session.model) {
    usage_error("out of memory");
    session_fail(&session, DAEDAL_INTERNAL);
    return session;
  }
  session_report(&session);
  session_fail(&session, daedal_model_status(session.model));
  if (!session.status && arguments->dump_pass) {
    const char *text = daedal_dump(session.model, arguments->dump_pass);
    if (text) fputs(text, stderr);
  }
  return session;
}

void session_write(Session *session, const char *path, const char *text) {
  if (!path || !text) return;
  if (!strcmp(path, "-")) {
    output_text(text);
    return;
  }
  if (!session->model) return;
  daedal_status status = daedal_write_text(session->model, path, text);
  session_report(session);
  session_fail(session, status);
}

void session_write_json(Session *session, const char *text, const char *failed) {
  session_write(session, session->arguments->json_path, text ? text : failed);
}

bool session_talks(const Session *session) { return !session->arguments->quiet; }

int session_close(Session *session) {
  if (session->model) {
    uint32_t errors = daedal_error_count(session->model);
    if (errors < session->drawn_errors) errors = session->drawn_errors;
    render_count(errors, session->drawn_errors);
  }
  daedal_model_free(session->model);
  return session->status;
}
