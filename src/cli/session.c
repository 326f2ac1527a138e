/* session: every command calls session_open, does its work, and calls session_close. */
#include "cli/session.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/picture.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void session_fail(Session *session, daedal_status status) {
  session->status = first_failure(session->status, (int)status);
}

static void fail_out_of_memory(Session *session) {
  say_error("D100", "out of memory");
  session_fail(session, DAEDAL_INTERNAL);
}

static void draw(Session *session, const daedal_diagnostic *diagnostic) {
  bool is_internal = diagnostic->status == DAEDAL_INTERNAL;
  if (is_internal && session->is_internal_said) return;
  session->is_internal_said |= is_internal;
  if (diagnostic->severity == DAEDAL_ERROR) session->drawn_errors++;
  else if (session->arguments->quiet) return;
  const Arguments *arguments = session->arguments;
  const char *subject = arguments->class_name ? arguments->class_name : arguments->modelica_path;
  render_diagnostic(diagnostic, arguments->model_path ? arguments->model_path : subject);
}

static void draw_new(Session *session, const void *handle, uint32_t *seen) {
  for (uint32_t count = daedal_diagnostic_count(handle); *seen < count; (*seen)++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(handle, *seen);
    draw(session, &diagnostic);
  }
}

void session_report_list(Session *session, const void *handle) { draw_new(session, handle, &session->seen_of_run); }

void session_report(Session *session) {
  const void *result = session->result;
  draw_new(session, session->model, &session->seen);
  if (result) session_report_list(session, result);
  session_fail(session, daedal_status_of(session->model));
  if (result) session_fail(session, daedal_status_of(result));
}

void session_take(Session *session, daedal_model *model) {
  session->model = model;
  if (model) session_report(session);
  else fail_out_of_memory(session);
}

void session_keep(Session *session, void *result) {
  session->result = result;
  if (result) session_report(session);
  else fail_out_of_memory(session);
}

int session_simulate(Session *session, const daedal_options *options) {
  daedal_options watched = *options;
  ProgressBar progress = progress_begin(session_talks(session));
  const char *path = session->arguments->output_path;
  size_t length = path ? strlen(path) : 0;
  progress.announces = is_standard_output(path) || (length > 4 && !strcmp(path + length - 4, ".csv"));
  watched.on_step = progress_step;
  watched.context = &progress;
  daedal_result *result = daedal_simulate(session->model, &watched);
  progress_end(&progress);
  session_keep(session, result);
  return progress.stopped;
}

char *session_default_path(const Session *session, const char *ending) {
  const char *name = daedal_model_name(session->model);
  size_t size = strlen(name) + strlen(ending) + 1;
  char *path = malloc(size);
  if (!path) return NULL;
  snprintf(path, size, "%s%s", name, ending);
  for (char *at = path; *at; at++)
    if (*at == '/' || (unsigned char)*at < 0x20) *at = '_';
  if (path[0] == '-') path[0] = '_';
  return path;
}

void session_say_choice(Session *session) {
  if (!session->arguments->verbose || !session_talks(session)) return;
  const char *text = daedal_report(session->result, DAEDAL_REPORT_CHOICE, DAEDAL_TEXT);
  terminal_write(stderr, text, strlen(text), true);
}

void session_check_outputs(Session *session) {
  const char *json = session->arguments->json_path;
  if (!outputs_distinct(session->arguments)) {
    session_fail(session, DAEDAL_USAGE);
    session->is_json_refused = true;
  } else if (!outputs_writable(session->arguments)) {
    session_fail(session, DAEDAL_FILE);
    session->is_json_refused = json && !is_standard_output(json) && output_error(json) != 0;
  }
}

daedal_load_options session_reading(const Arguments *arguments) {
  return (daedal_load_options){.size = sizeof(daedal_load_options),
                               .class_name = arguments->class_name,
                               .strict = arguments->strict,
                               .libraries = arguments->libraries,
                               .energy = arguments->energy,
                               .mna = arguments->mna,
                               .modelica_path = arguments->modelica_path,
                               .units = arguments->units,
                               .readable = arguments->readable,
                               .memory_limit = arguments->limits.memory,
                               .work_limit = arguments->limits.work,
                               .text_limit = arguments->limits.text,
                               .boundary = arguments->boundary,
                               .fmu = arguments->fmu_kind};
}

void session_complete(Session *session, Arguments *complete, const char *path) {
  complete->output_path = path;
  session->arguments = complete;
  if (path) session_check_outputs(session);
  else fail_out_of_memory(session);
}

/* Outputs are compared before anything is written, even a report that the model is wrong. */
Session session_open(const Arguments *arguments) {
  Session session = {.arguments = arguments};
  if (!outputs_distinct(arguments)) {
    session_fail(&session, DAEDAL_USAGE);
    return session;
  }
  daedal_load_options reading = session_reading(arguments);
  session_take(&session, daedal_load(arguments->model_path, NULL, 0, &reading));
  if (!session.model) return session;
  if (!session.status) session_check_outputs(&session);
  if (!session.status && arguments->dump_pass) {
    const char *text = daedal_dump(session.model, arguments->dump_pass);
    if (text) terminal_write(stderr, text, strlen(text), true);
    else session_report(&session);
  }
  return session;
}

void session_write(Session *session, const char *path, const char *text) {
  if (!path || !session->model) return;
  if (!text || !*text) {
    session_report(session);
  } else if (is_standard_output(path)) {
    output_text(text);
  } else {
    daedal_status status = daedal_write(session->model, path, text, strlen(text));
    session_report(session);
    session_fail(session, status);
  }
}

void session_write_picture(Session *session, const char *path, const char *svg) {
  PictureFormat format = picture_format(path);
  if (!svg || format == PICTURE_SVG) {
    session_write(session, path, svg);
    if (!svg) session_fail(session, DAEDAL_USAGE);
    return;
  }
  Buffer picture = picture_convert(svg, format);
  if (picture.count) session_fail(session, daedal_write(session->model, path, picture.data, picture.count));
  else session_fail(session, DAEDAL_FILE);
  session_report(session);
  buffer_free(&picture);
}

void session_write_plots(Session *session, void *handle, daedal_plot plot) {
  for (const char *const *path = session->arguments->plots.words; *path; path++) {
    bool is_text = is_standard_output(*path);
    plot.width = is_text ? terminal_width() - 1 : 0;
    plot.height = is_text ? PANEL_LINES : 0;
    (is_text ? session_write : session_write_picture)(session, *path, daedal_draw(handle, &plot));
  }
}

void session_write_json(Session *session, void *handle, daedal_report_kind kind) {
  const char *text = daedal_report(handle, kind, DAEDAL_JSON);
  bool has_text = text && *text;
  if (!has_text && session->model) session_report(session);
  if (session->is_json_refused || (!has_text && session->status == DAEDAL_INTERNAL)) return;
  session_write(session, session->arguments->json_path, has_text ? text : daedal_report(NULL, kind, DAEDAL_JSON));
}

void session_write_refusal(Session *session, daedal_report_kind kind) {
  bool is_refused = session->model && daedal_status_of(session->model) != DAEDAL_OK;
  daedal_result *result = is_refused ? daedal_initialize(session->model, &session->arguments->run) : NULL;
  session_write_json(session, result, kind);
  daedal_free(result);
}

int session_run(const Arguments *arguments, void (*work)(Session *session), daedal_report_kind kind) {
  Session session = session_open(arguments);
  bool is_sound = !session.status;
  if (!is_sound) session_write_refusal(&session, kind);
  else work(&session);
  if (session.result && arguments->json_path) session_write_json(&session, session.result, kind);
  return session_close(&session);
}

bool session_talks(const Session *session) { return !session->arguments->quiet; }

int session_close(Session *session) {
  if (session->model) {
    uint32_t errors = daedal_error_count(session->model);
    if (errors < session->drawn_errors) errors = session->drawn_errors;
    render_count(errors, session->drawn_errors);
  }
  daedal_free(session->result);
  daedal_free(session->model);
  return session->status;
}
