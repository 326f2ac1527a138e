/* check_all: see check_all.h. Threads take the models one after another; each model has its own handle. Messages appear in the
 * order of the models, not in the order in which they were finished. */
#include "cli/check_all.h"

#include "cli/buffer.h"
#include "cli/session.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

typedef struct CheckResult {
  daedal_status status;
  Buffer lines; /* one per message */
  Buffer json;
} CheckResult;

typedef struct Linter {
  const Arguments *arguments;
  const daedal_model *libraries;
  uint32_t count;
  atomic_uint next;
  CheckResult *verdicts;
} Linter;

/* ---- one model ---- */

static void add_line(CheckResult *verdict, const daedal_diagnostic *said) {
  if (said->place.path && said->place.line)
    buffer_print(&verdict->lines, "%s:%" PRIu32 ":%" PRIu32 ": ", said->place.path, said->place.line,
                 said->place.column);
  buffer_print(&verdict->lines, "%s: %s [%s]\n", said->severity == DAEDAL_ERROR ? "error" : "warning", said->message,
               said->code);
}

/* Checks that there are as many equations as unknowns. Whether they can be solved is known only after the connectors are
 * connected. */
static daedal_status balance(daedal_model *model) {
  daedal_counts counts = daedal_model_counts(model);
  daedal_analyze(model);
  bool is_balanced = counts.equations == counts.variables && counts.discrete_equations == counts.discrete_variables;
  return is_balanced ? DAEDAL_OK : DAEDAL_STRUCTURE;
}

static void judge(const Linter *linter, uint32_t number) {
  CheckResult *verdict = &linter->verdicts[number];
  daedal_load_options reading = session_reading(linter->arguments);
  reading.class_name = daedal_library_model(linter->libraries, number);
  daedal_model *model = daedal_load(NULL, NULL, 0, &reading);
  verdict->status = model ? daedal_status_of(model) : DAEDAL_INTERNAL;
  if (!model) return;
  if (verdict->status == DAEDAL_OK) verdict->status = balance(model);
  for (uint32_t i = 0; i < daedal_diagnostic_count(model); i++) {
    daedal_diagnostic said = daedal_diagnostic_get(model, i);
    bool is_error = said.severity == DAEDAL_ERROR && verdict->status != DAEDAL_OK;
    if (is_error || (said.severity == DAEDAL_WARNING && linter->arguments->verbose)) add_line(verdict, &said);
  }
  if (linter->arguments->json_path)
    buffer_text(&verdict->json, daedal_report(model, DAEDAL_REPORT_ANALYSIS, DAEDAL_JSON));
  daedal_free(model);
}

static void *work(void *context) {
  Linter *linter = context;
  for (uint32_t k; (k = atomic_fetch_add(&linter->next, 1)) < linter->count;) judge(linter, k);
  return NULL;
}

static void run_threads(Linter *linter) {
  pthread_t threads[MOST_THREADS];
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  uint32_t wanted = linter->arguments->threads, started = 0;
  if (!wanted) wanted = cores > 0 ? (uint32_t)cores : 1;
  while (started + 1 < wanted && started < MOST_THREADS && !pthread_create(&threads[started], NULL, work, linter))
    started++;
  work(linter);
  for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/* ---- all of them ---- */

/* Did an earlier model give the same message? An error in a base class would otherwise be repeated for every class
 * that extends it. */
static bool is_repeated(const Linter *linter, uint32_t number, const char *line, size_t length) {
  for (uint32_t i = 0; i < number; i++) {
    const char *text = linter->verdicts[i].lines.data;
    for (const char *at = text; at && *at; at = strchr(at, '\n') + 1)
      if (strncmp(at, line, length) == 0) return true;
  }
  return false;
}

static void say(const Linter *linter, uint32_t number) {
  const char *name = daedal_library_model(linter->libraries, number);
  const CheckResult *verdict = &linter->verdicts[number];
  for (const char *line = verdict->lines.data; line && *line;) {
    size_t length = strcspn(line, "\n") + 1;
    if (!is_repeated(linter, number, line, length)) terminal_say("%.*s (%s)", (int)length - 1, line, name);
    line += length;
  }
}

static void write_report(Session *session, const Linter *linter, uint32_t wrong) {
  Buffer all = {0};
  buffer_print(&all, "{\"models\": %" PRIu32 ", \"wrong\": %" PRIu32 ", \"reports\": {", linter->count, wrong);
  for (uint32_t i = 0; i < linter->count; i++) {
    const char *json = linter->verdicts[i].json.data;
    buffer_print(&all, "%s\n\"%s\": ", i ? "," : "", daedal_library_model(linter->libraries, i));
    buffer_text(&all, json && *json ? json : "null");
  }
  buffer_text(&all, "}}\n");
  if (!session->is_json_refused) session_write(session, session->arguments->json_path, all.is_short ? "{}" : all.data);
  buffer_free(&all);
}

static void finish(Session *session, const Linter *linter) {
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < linter->count; i++) {
    if (linter->verdicts[i].status == DAEDAL_OK && !session->arguments->verbose) continue;
    say(linter, i);
    wrong += linter->verdicts[i].status != DAEDAL_OK;
    if (!session->status) session->status = (int)linter->verdicts[i].status;
  }
  if (session_talks(session))
    terminal_say("%" PRIu32 " of %" PRIu32 " models are fine", linter->count - wrong, linter->count);
  if (session->arguments->json_path) write_report(session, linter, wrong);
}

int check_all(const Arguments *arguments) {
  Session session = {.arguments = arguments};
  daedal_load_options reading = session_reading(arguments);
  char *given = arguments->modelica_path ? strdup(arguments->modelica_path) : NULL;
  if (given && arguments->given_path)
    given[arguments->given_path] = '\0'; /* libraries of MODELICAPATH are used, but not checked */
  reading.modelica_path = given;
  session_take(&session, daedal_parse_libraries(&reading, NULL));
  free(given);
  if (!session.model) return session_close(&session);
  Linter linter = {.arguments = arguments, .libraries = session.model};
  while (daedal_library_model(session.model, linter.count)) linter.count++;
  linter.verdicts = calloc(linter.count + 1u, sizeof *linter.verdicts);
  if (linter.verdicts) {
    run_threads(&linter);
    finish(&session, &linter);
  } else session.status = DAEDAL_INTERNAL;
  for (uint32_t i = 0; linter.verdicts && i < linter.count; i++) {
    buffer_free(&linter.verdicts[i].lines);
    buffer_free(&linter.verdicts[i].json);
  }
  free(linter.verdicts);
  return session_close(&session);
}
