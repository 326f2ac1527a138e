/* report: one HTML page with everything about a model. The page is the template report.html with its style, its script and one JSON
 * object, from which the script makes the contents; the three files are in cli/page. A model that fails also gets a page, which
 * says how far it got and has the messages. */
#include "cli/buffer.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char report_html[], report_css[], report_js[];

enum {
  SHOWN_FIRST = 6,        /* signals drawn before the user chooses others */
  MOST_EVENTS = 20000,    /* listed and marked in the plot */
  NAME_SIZE = 256,        /* for a coordinate */
  EXACT_VALUES = 1 << 20, /* a larger number of values is stored in single precision */
};

typedef struct Page {
  Session *session;
  Buffer data;
  bool is_single; /* values are stored in single precision */
} Page;

/* ---- JSON ---- */

/* A script element must not contain `<`, which could begin its end tag. */
static void put_escaped(Buffer *data, const char *json) {
  for (const char *at = json; *at;) {
    size_t plain = strcspn(at, "<");
    buffer_append(data, at, plain);
    at += plain;
    if (*at == '<') buffer_text(data, "\\u003c"), at++;
  }
}

static void put_string(Buffer *data, const char *text) {
  buffer_text(data, "\"");
  for (const char *at = text ? text : ""; *at; at++) {
    unsigned char c = (unsigned char)*at;
    if (c == '"' || c == '\\') buffer_print(data, "\\%c", c);
    else if (c < 0x20 || c == '<') buffer_print(data, "\\u%04x", c);
    else buffer_append(data, at, 1);
  }
  buffer_text(data, "\"");
}

static void put_number(Buffer *data, double value) {
  if (isfinite(value)) buffer_print(data, "%.17g", value);
  else buffer_text(data, "null");
}

static void put_key(Page *page, const char *key) {
  buffer_print(&page->data, "%s\"%s\": ", page->data.count > 1 ? ",\n" : "", key);
}

static void put_text(Page *page, const char *key, const char *text) {
  put_key(page, key);
  put_string(&page->data, text);
}

/* Adds a report that is already JSON. */
static void put_report(Page *page, const char *key, const char *json) {
  put_key(page, key);
  put_escaped(&page->data, json && *json ? json : "null");
}

static void put_base64(Buffer *data, const void *bytes, size_t length) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *at = bytes;
  buffer_text(data, "\"");
  for (size_t k = 0; k < length; k += 3) {
    size_t left = length - k;
    uint32_t group = (uint32_t)at[k] << 16 | (left > 1 ? (uint32_t)at[k + 1] << 8 : 0) | (left > 2 ? at[k + 2] : 0);
    char text[4] = {digits[group >> 18], digits[group >> 12 & 63], left > 1 ? digits[group >> 6 & 63] : '=',
                    left > 2 ? digits[group & 63] : '='};
    buffer_append(data, text, sizeof text);
  }
  buffer_text(data, "\"");
}

/* ---- the trajectory ---- */

static void put_values(Page *page, const double *values, uint32_t rows) {
  if (!page->is_single) {
    put_base64(&page->data, values, rows * sizeof *values);
    return;
  }
  float *single = malloc(rows * sizeof *single);
  for (uint32_t k = 0; single && k < rows; k++) single[k] = (float)values[k];
  put_base64(&page->data, single, single ? rows * sizeof *single : 0);
  free(single);
}

static bool is_constant(const double *values, uint32_t rows) {
  for (uint32_t k = 1; k < rows; k++)
    if (values[k] != values[0]) return false;
  return true;
}

static void put_signal(Page *page, uint32_t signal, uint32_t rows) {
  daedal_result *result = page->session->result;
  const double *values = daedal_result_values(result, signal);
  buffer_text(&page->data, signal > 1 ? ",\n {\"name\": " : "\n {\"name\": ");
  put_string(&page->data, daedal_result_name(result, signal));
  buffer_text(&page->data, ", \"unit\": ");
  put_string(&page->data, daedal_result_unit(result, signal));
  if (values && is_constant(values, rows)) {
    buffer_text(&page->data, ", \"constant\": ");
    put_number(&page->data, rows ? values[0] : NAN);
  } else if (values) {
    buffer_text(&page->data, ", \"values\": ");
    put_values(page, values, rows);
  }
  buffer_text(&page->data, "}");
}

static void put_signals(Page *page) {
  daedal_result *result = page->session->result;
  uint32_t rows = daedal_result_rows(result), signals = daedal_result_signals(result);
  page->is_single = (uint64_t)rows * signals > EXACT_VALUES;
  put_key(page, "rows");
  buffer_print(&page->data, "%" PRIu32, rows);
  put_text(page, "format", page->is_single ? "f4" : "f8");
  put_key(page, "time");
  put_base64(&page->data, rows ? daedal_result_values(result, 0) : NULL, rows * sizeof(double));
  put_key(page, "signals");
  buffer_text(&page->data, "[");
  for (uint32_t s = 1; s < signals; s++) put_signal(page, s, rows);
  buffer_text(&page->data, "]");
}

/* The signals drawn at first: those that the options choose, or the states. */
static void put_shown(Page *page) {
  daedal_result *result = page->session->result;
  uint32_t chosen[SHOWN_FIRST], most = SHOWN_FIRST;
  uint32_t count = daedal_result_choose(result, page->session->arguments->run.plot_variables, chosen, most);
  put_key(page, "shown");
  buffer_text(&page->data, "[");
  for (uint32_t k = 0; k < count && k < most; k++) {
    if (k) buffer_text(&page->data, ", ");
    put_string(&page->data, daedal_result_name(result, chosen[k]));
  }
  buffer_text(&page->data, "]");
}

static void put_events(Page *page) {
  put_key(page, "events");
  buffer_text(&page->data, "[");
  for (uint32_t k = 0; k < MOST_EVENTS; k++) {
    daedal_event event = daedal_result_event(page->session->result, k);
    if (isnan(event.time)) break;
    buffer_text(&page->data, k ? ", {\"time\": " : "{\"time\": ");
    put_number(&page->data, event.time);
    buffer_text(&page->data, ", \"condition\": ");
    put_string(&page->data, event.condition);
    buffer_text(&page->data, ", \"value\": ");
    put_number(&page->data, event.value);
    buffer_text(&page->data, "}");
  }
  buffer_text(&page->data, "]");
}

static void put_residuals(Page *page) {
  daedal_residuals residuals = daedal_result_residuals(page->session->result);
  size_t points = residuals.points;
  put_key(page, "residuals");
  buffer_print(&page->data, "{\"points\": %zu, \"levels\": %" PRIu32 ", \"times\": ", points, residuals.levels);
  put_base64(&page->data, residuals.times, points * sizeof(double));
  buffer_text(&page->data, ", \"values\": ");
  put_base64(&page->data, residuals.values, points * residuals.levels * sizeof(double));
  buffer_text(&page->data, "}");
}

/* ---- points of the moving picture ---- */

/* Reads the next coordinate of 'x,y;x2,y2', without blanks around it, and the character after it. false: there is none. */
static bool next_coordinate(const char **at, char name[NAME_SIZE], char *stop) {
  const char *begin = *at, *end;
  if (!*begin) return false;
  while (*begin == ' ') begin++;
  int depth = 0;
  for (end = begin; *end && (depth > 0 || (*end != ',' && *end != ';')); end++) depth += (*end == '[') - (*end == ']');
  *stop = *end;
  *at = *end ? end + 1 : end;
  while (end > begin && end[-1] == ' ') end--;
  snprintf(name, NAME_SIZE, "%.*s", (int)(end - begin), begin);
  return true;
}

static void put_points(Page *page) {
  const char *at = page->session->arguments->points ? page->session->arguments->points : "";
  char name[NAME_SIZE], stop = ';';
  put_key(page, "points");
  buffer_text(&page->data, "[");
  for (bool is_first = true; stop == ',' || *at; is_first = false) {
    if (!is_first) buffer_text(&page->data, ", ");
    if (stop != ',') buffer_text(&page->data, "[");
    if (next_coordinate(&at, name, &stop)) put_string(&page->data, name);
    if (stop != ',') buffer_text(&page->data, "]");
  }
  buffer_text(&page->data, "]");
}

static bool is_known(const daedal_result *result, const char *name) {
  char *end;
  strtod(name, &end);
  return (*name && !*end) || daedal_result_find(result, name) != UINT32_MAX;
}

static bool unknown_coordinate(const daedal_result *result, const char *name) {
  uint32_t count = daedal_result_signals(result);
  const char **names = calloc((size_t)count + 1, sizeof *names);
  for (uint32_t k = 0; names && k < count; k++) names[k] = daedal_result_name(result, k);
  say_error("D201", "--animate: there is no variable '%s' in the result", name);
  const char *nearest = names ? daedal_nearest_name(name, names) : NULL;
  if (nearest) terminal_say("  did you mean %s?", nearest);
  free(names);
  return false;
}

/* Each coordinate must be a number or a signal of the result, and each point has two or three; false after a message. */
static bool check_points(const Session *session) {
  const char *at = session->arguments->points ? session->arguments->points : "";
  char name[NAME_SIZE], stop;
  for (uint32_t coordinates = 1; next_coordinate(&at, name, &stop); coordinates = stop == ',' ? coordinates + 1 : 1) {
    if (!is_known(session->result, name)) return unknown_coordinate(session->result, name);
    if (coordinates > 3 || (coordinates < 2 && stop != ',') || (stop == ',' && !*at))
      return usage_error("--animate: a point has two or three coordinates, 'x,y;x2,y2'");
  }
  return true;
}

/* ---- the command line ---- */

/* Quotes a word for the shell. */
static void put_word(Buffer *line, const char *word) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=,:@%+";
  bool is_plain = *word && strspn(word, plain) == strlen(word);
  buffer_text(line, is_plain ? " " : " '");
  for (const char *at = word; *at; at++) {
    if (*at == '\'') buffer_text(line, "'\\''");
    else buffer_append(line, at, 1);
  }
  if (!is_plain) buffer_text(line, "'");
}

static void put_command(Page *page) {
  Buffer line = {0};
  buffer_text(&line, "daedal");
  for (int k = 0; k < page->session->arguments->word_count; k++) put_word(&line, page->session->arguments->words[k]);
  put_text(page, "command", line.data);
  buffer_free(&line);
}

/* ---- the page ---- */

static void put_comparison(Page *page) {
  Session *session = page->session;
  const Arguments *arguments = session->arguments;
  if (!arguments->compares || session->status) return;
  daedal_options watched = arguments->run;
  ProgressBar progress = progress_begin(session_talks(session));
  watched.on_step = progress_step;
  watched.context = &progress;
  void *compared = daedal_compare(session->model, &watched, arguments->methods, arguments->solvers);
  progress_end(&progress);
  if (progress.stopped) session->status = 128 + progress.stopped;
  if (!progress.stopped) put_report(page, "comparison", daedal_report(compared, DAEDAL_REPORT_COMPARISON, DAEDAL_JSON));
  if (!progress.stopped) put_text(page, "comparisonPicture", daedal_draw(compared, NULL));
  daedal_free(compared);
}

static void put_data(Page *page) {
  Session *session = page->session;
  buffer_text(&page->data, "{");
  put_text(page, "version", daedal_version());
  put_text(page, "name", daedal_model_name(session->model));
  put_text(page, "file",
           session->arguments->model_path ? session->arguments->model_path : session->arguments->class_name);
  put_text(page, "text", daedal_model_text(session->model));
  put_command(page);
  put_report(page, "analysis", daedal_report(session->model, DAEDAL_REPORT_ANALYSIS, DAEDAL_JSON));
  put_text(page, "incidence", daedal_draw(session->model, NULL));
  put_report(page, "initial", daedal_report(session->result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON));
  put_report(page, "run", daedal_report(session->result, DAEDAL_REPORT_RUN, DAEDAL_JSON));
  put_signals(page);
  put_shown(page);
  put_events(page);
  put_residuals(page);
  put_points(page);
  put_comparison(page);
  buffer_text(&page->data, "}\n");
}

/* Fills in the template: @STYLE@, @DATA@, @SCRIPT@. */
static Buffer fill_template(const Buffer *data) {
  const struct {
    const char *place, *text;
  } parts[] = {{"@STYLE@", report_css}, {"@DATA@", data->data ? data->data : ""}, {"@SCRIPT@", report_js}};
  Buffer page = {0};
  const char *at = report_html;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    const char *place = strstr(at, parts[k].place);
    buffer_append(&page, at, (size_t)(place - at));
    buffer_text(&page, parts[k].text);
    at = place + strlen(parts[k].place);
  }
  buffer_text(&page, at);
  return page;
}

static void write_page(Session *session, const char *path) {
  Page page = {.session = session};
  put_data(&page);
  Buffer html = fill_template(&page.data);
  int before = session->status;
  if (page.data.is_short || html.is_short) {
    say_error("D100", "out of memory");
    session->status = first_failure(session->status, DAEDAL_INTERNAL);
  } else {
    session->status = first_failure(session->status, (int)daedal_write(session->model, path, html.data, html.count));
    session_report(session);
  }
  if (session->status == before && session_talks(session)) terminal_say("report written to %s", path);
  buffer_free(&page.data);
  buffer_free(&html);
}

int report_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  Arguments complete = *arguments;
  char *path = NULL;
  if (session.model && !arguments->html_path) {
    complete.html_path = path = session_default_path(&session, ".html");
    session.arguments = &complete;
    if (path && !session.status) session_check_outputs(&session);
  }
  bool is_readable = session.model && daedal_model_text(session.model) && complete.html_path;
  bool is_refused = session.status == DAEDAL_USAGE || session.status == DAEDAL_FILE;
  if (is_readable && !is_refused) {
    daedal_analyze(session.model);
    int stopped = session_simulate(&session, &complete.run);
    if (stopped) session.status = 128 + stopped;
    if (session.result && !check_points(&session)) session.status = first_failure(session.status, DAEDAL_USAGE);
    else if (session.result) write_page(&session, complete.html_path);
  }
  if (arguments->json_path) session_write_json(&session, session.result, DAEDAL_REPORT_RUN);
  int status = session_close(&session);
  free(path);
  return status;
}
