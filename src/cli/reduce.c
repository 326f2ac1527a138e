/* reduce and compare: show the results of the methods of index reduction, one at a time or side by side. */
#include "cli/session.h"
#include "cli/terminal.h"

#include <string.h>

static void reduce(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_initialize(session->model, &arguments->run));
  if (!session->result) return;
  session_say_choice(session);
  const char *text = session->status ? NULL : daedal_report(session->result, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT);
  bool is_fine =
      !session->status && daedal_status_of(session->result) == DAEDAL_OK; /* memory may have run out just now */
  if (is_fine && !(text && *text)) {
    terminal_say("structural analysis is wrong about these equations; method strangeness selects rows by numerical "
                 "ranks, so there are no equations to print; simulate can run the model");
    session->status = DAEDAL_STRUCTURE;
  } else if (!session->status && !is_standard_output(arguments->json_path)) {
    session_write(session, "-", text);
  }
}

int reduce_command(const Arguments *arguments) { return session_run(arguments, reduce, DAEDAL_REPORT_REDUCED); }

static void compare(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_compare(session->model, &arguments->run, arguments->methods, arguments->solvers));
  if (!session->result) return;
  if (!is_standard_output(arguments->json_path))
    session_write(session, "-", daedal_report(session->result, DAEDAL_REPORT_COMPARISON, DAEDAL_TEXT));
  session_write_plots(session, session->result, (daedal_plot){.size = sizeof(daedal_plot)});
}

int compare_command(const Arguments *arguments) { return session_run(arguments, compare, DAEDAL_REPORT_COMPARISON); }
