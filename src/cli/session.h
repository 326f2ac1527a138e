/* session: a model while a command works on it: loads it, reports messages, writes the requested files. `status` is the exit status
 * so far; it is that of the first failure. */
#pragma once

#include "cli/command.h"

typedef struct Session {
  const Arguments *arguments;
  daedal_model *model;
  void *result;          /* of its run, or a comparison or linearization; NULL without one */
  uint32_t seen;         /* diagnostics of the model already drawn or passed over */
  uint32_t seen_of_run;  /* the same of its run */
  uint32_t drawn_errors; /* of model and result */
  bool is_internal_said; /* model and result both report that memory ran out */
  bool is_json_refused;  /* it would go where another output goes, or cannot be written */
  int status;
} Session;

/* Loads the model, prints the messages, and checks that the outputs can be written. Close the session also after a failure. */
Session session_open(const Arguments *arguments);

/* How the arguments say that models are read. */
daedal_load_options session_reading(const Arguments *arguments);

/* Takes a model (NULL: there was no memory for it) and reports. */
void session_take(Session *session, daedal_model *model);

/* Looks again at where the outputs go, when the arguments have become more complete. */
void session_check_outputs(Session *session);

/* The arguments with a path (NULL: there is no memory for it) for the output that none was given for. */
void session_complete(Session *session, Arguments *complete, const char *path);

/* Takes the result of a run (NULL: there was no memory for it) and reports. */
void session_keep(Session *session, void *result);

/* Simulates with the progress shown, keeps the result, and returns the signal that interrupted it, 0 for none. */
int session_simulate(Session *session, const daedal_options *options);

/* MODELNAME and the ending; what a file name should not have becomes '_'. NULL without memory. The caller frees it. */
char *session_default_path(const Session *session, const char *ending);

/* With --verbose: the matrices by which the states were chosen. */
void session_say_choice(Session *session);

/* Draws the new diagnostics of model and run; their failure becomes the session's. */
void session_report(Session *session);

/* Draws those diagnostics of another handle that were not drawn yet. */
void session_report_list(Session *session, const void *handle);

/* Writes a text to a file, or to standard output for "-"; nothing for a NULL path. Where there is no text, the reason
 * is reported. */
void session_write(Session *session, const char *path, const char *text);

/* Writes an SVG text in the format that the path asks for. */
void session_write_picture(Session *session, const char *path, const char *svg);

/* Writes the JSON of a handle for --json; that of NULL stands for it when the model failed before there was one. */
void session_write_json(Session *session, void *handle, daedal_report_kind kind);

/* Writes the JSON of a refused model: its messages. */
void session_write_refusal(Session *session, daedal_report_kind kind);

/* A command whose JSON is a report of its result: work(session), if the model is sound, keeps the result and writes the
 * rest. Returns the exit status. */
int session_run(const Arguments *arguments, void (*work)(Session *session), daedal_report_kind kind);

/* Should text that is neither errors nor data be printed? */
bool session_talks(const Session *session);

/* Frees model and result, says the number of errors, returns the exit status. */
int session_close(Session *session);
