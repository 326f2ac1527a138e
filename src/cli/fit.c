/* fit: estimates parameters of the model from measurements. */
#include "cli/output.h"
#include "cli/session.h"
#include "cli/terminal.h"

#include <string.h>

static void report(Session *session, daedal_estimate *estimate) {
  session_report_list(session, estimate);
  session->status = first_failure(session->status, (int)daedal_status_of(estimate));
}

static daedal_estimate *make_estimate(const Session *session) {
  const Arguments *arguments = session->arguments;
  daedal_fit_options options = {.size = sizeof options,
                                .data = arguments->data,
                                .parameters = arguments->parameters.list,
                                .parameter_count = arguments->parameters.count,
                                .weights = arguments->weights.list,
                                .weight_count = arguments->weights.count,
                                .deviations = arguments->deviations.list,
                                .deviation_count = arguments->deviations.count};
  return daedal_fit(session->model, &arguments->run, &options);
}

static void fit(Session *session) {
  const Arguments *arguments = session->arguments;
  daedal_estimate *estimate = make_estimate(session);
  report(session, estimate);
  const char *text = daedal_report(estimate, DAEDAL_REPORT_FIT, DAEDAL_TEXT);
  if (text && !is_standard_output(arguments->json_path)) output_text(text);
  if (text) session_write_plots(session, estimate, (daedal_plot){.size = sizeof(daedal_plot)});
  if (arguments->json_path) session_write_json(session, estimate, DAEDAL_REPORT_FIT);
  daedal_free(estimate);
}

/* A model that cannot be read also gets a report, with its messages. */
static void report_failure(Session *session) {
  bool is_refused = session->model && daedal_status_of(session->model) != DAEDAL_OK;
  daedal_estimate *estimate = is_refused ? make_estimate(session) : NULL;
  session_write_json(session, estimate, DAEDAL_REPORT_FIT);
  daedal_free(estimate);
}

int fit_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  if (!session.status) fit(&session);
  else if (arguments->json_path) report_failure(&session);
  return session_close(&session);
}
