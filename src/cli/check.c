/* check and flatten: the commands that only read a model. */
#include "cli/check_all.h"
#include "cli/session.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <stdio.h>

static void say_counts(const daedal_model *model, bool verbose) {
  daedal_counts counts = daedal_model_counts(model);
  terminal_say("%s: %" PRIu32 " equation%s, %" PRIu32 " unknown%s: fine", daedal_model_name(model), counts.equations,
               counts.equations == 1 ? "" : "s", counts.variables, counts.variables == 1 ? "" : "s");
  if (!verbose) return;
  fprintf(stderr, "  discrete equations %" PRIu32 ", discrete variables %" PRIu32 "\n", counts.discrete_equations,
          counts.discrete_variables);
  fprintf(stderr, "  parameters %" PRIu32 ", functions %" PRIu32 "\n", counts.parameters, counts.functions);
}

/* Gives the same verdict on the structure as a run would. */
static void check_structure(Session *session) {
  daedal_analysis analysis = daedal_analyze(session->model);
  session_report(session);
  session->status = first_failure(session->status, (int)analysis.status);
}

/* Checks every file of the libraries. */
static int check_libraries(const Arguments *arguments) {
  Session session = {.arguments = arguments};
  daedal_load_options reading = session_reading(arguments);
  daedal_library_counts counts;
  session_take(&session, daedal_parse_libraries(&reading, &counts));
  if (!session.status && session_talks(&session))
    terminal_say("%" PRIu32 " file%s, %" PRIu32 " class%s: fine", counts.files, counts.files == 1 ? "" : "s",
                 counts.classes, counts.classes == 1 ? "" : "es");
  return session_close(&session);
}

int check_command(const Arguments *arguments) {
  if (arguments->all) return check_all(arguments);
  if (!arguments->model_path && !arguments->class_name) return check_libraries(arguments);
  Session session = session_open(arguments);
  if (!session.status) check_structure(&session);
  if (session.model && arguments->json_path) session_write_json(&session, session.model, DAEDAL_REPORT_ANALYSIS);
  if (!session.status && session_talks(&session)) say_counts(session.model, arguments->verbose);
  return session_close(&session);
}

int flatten_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  if (!session.status) session_write(&session, "-", daedal_report(session.model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT));
  return session_close(&session);
}
