/* session: a model during a command: loads it, reports messages, writes the requested files. `status` is the exit status so far,
 * which is that of the first failure. */
#pragma once

#include "cli/command.h"

typedef struct Session {
  const Arguments *arguments;
  daedal_model *model;
  void *result;          /* a run, comparison or linearization; NULL: none */
  uint32_t seen;         /* diagnostics of the model already drawn or skipped */
  uint32_t seen_of_run;  /* diagnostics of the result already drawn or skipped */
  uint32_t drawn_errors; /* errors of model and result that were drawn */
  bool is_internal_said; /* so that only one of model and result reports that memory ran out */
  bool is_json_refused;  /* another output goes to the same file, or an output cannot be written */
  int status;
} Session;

/* Loads the model, prints the messages, and checks that the outputs can be written. Close the session also after a failure. */
Session session_open(const Arguments *arguments);

/* The options for loading models that the arguments give. */
daedal_load_options session_reading(const Arguments *arguments);

/* Takes a model (NULL: there was no memory for it) and reports. */
void session_take(Session *session, daedal_model *model);

/* Checks again where the outputs go, after the arguments were completed. */
void session_check_outputs(Session *session);

/* Adds to the arguments a path for an output that has none. path NULL: there is no memory for it. */
void session_complete(Session *session, Arguments *complete, const char *path);

/* Takes the result of a run (NULL: there was no memory for it) and reports. */
void session_keep(Session *session, void *result);

/* Simulates and shows the progress, keeps the result, and returns the signal that interrupted the run, or 0. */
int session_simulate(Session *session, const daedal_options *options);

/* MODELNAME followed by the ending; characters unsuitable for a file name become '_'. NULL without memory. The caller frees it. */
char *session_default_path(const Session *session, const char *ending);

/* With --verbose: prints the matrices that decided the choice of states. */
void session_say_choice(Session *session);

/* Draws the new diagnostics of model and result; if one of them failed, the session has failed. */
void session_report(Session *session);

/* Draws the new diagnostics of another handle. */
void session_report_list(Session *session, const void *handle);

/* Writes a text to a file, or to standard output for "-"; does nothing for a NULL path. If there is no text, reports the reason. */
void session_write(Session *session, const char *path, const char *text);

/* Writes an SVG text in the format that the path requests. */
void session_write_picture(Session *session, const char *path, const char *svg);

/* Draws a picture of a handle to every path of --plot; on standard output it consists of characters. */
void session_write_plots(Session *session, void *handle, daedal_plot plot);

/* Writes the JSON of a handle for --json. If the model failed before there was a handle, writes a report without values. */
void session_write_json(Session *session, void *handle, daedal_report_kind kind);

/* Writes the JSON of a refused model, with its messages. */
void session_write_refusal(Session *session, daedal_report_kind kind);

/* Runs a command whose JSON is a report of its result: if the model is valid, work(session) keeps the result and writes the rest.
 * Returns the exit status. */
int session_run(const Arguments *arguments, void (*work)(Session *session), daedal_report_kind kind);

/* Should text be printed that is neither an error nor data? */
bool session_talks(const Session *session);

/* Frees model and result, prints the number of errors, returns the exit status. */
int session_close(Session *session);
