/* session: a model under work by one command: loading it, saying what there is to say, writing what is asked
 * for. `status` is the exit status so far; it is that of the first failure.
 */
#ifndef DAEDAL_CLI_SESSION_H
#define DAEDAL_CLI_SESSION_H

#include "cli/command.h"

typedef struct Session {
  const Arguments *arguments;
  daedal_model *model;
  uint32_t seen;         /* diagnostics of the model already drawn or passed over */
  uint32_t seen_of_run;  /* the same of its run */
  uint32_t drawn_errors; /* of model and result */
  int status;
} Session;

/* Loads the model and draws what was said. The session is to be closed also after a failure. */
Session session_open(const Arguments *arguments);

/* Draws the model's new diagnostics. */
void session_report(Session *session);

/* Draws the new diagnostics of a run; its failure becomes the session's. */
void session_report_result(Session *session, const daedal_result *result);

/* Writes a text to a file, or to standard output for "-"; nothing for a NULL path. */
void session_write(Session *session, const char *path, const char *text);

/* Whether words that are neither errors nor data should be said. */
bool session_talks(const Session *session);

/* Frees the model, says the number of errors, returns the exit status. */
int session_close(Session *session);

#endif
