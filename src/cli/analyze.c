/* analyze: prints the report to standard output, unless the JSON goes there. */
#include "cli/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void say_offsets(const char *name, const int32_t *offsets, uint32_t count) {
  fprintf(stderr, "  %s:", name);
  for (uint32_t i = 0; i < count; i++) fprintf(stderr, " %" PRId32, offsets[i]);
  fputc('\n', stderr);
}

static void say_more(const daedal_analysis *analysis) {
  fprintf(stderr, "blocks %" PRIu32 ", aliases that a simulation leaves out %" PRIu32 "\n", analysis->blocks,
          analysis->aliases);
  if (!analysis->c) return;
  fputs("offsets\n", stderr);
  say_offsets("c, by equation", analysis->c, analysis->equations);
  say_offsets("d, by variable", analysis->d, analysis->variables);
}

/* Analyzes by numerical ranks at the initial values; the numbers of equations and variables may differ. */
static void analyze_ranks(Session *session) {
  const Arguments *arguments = session->arguments;
  session_keep(session, daedal_initialize(session->model, &arguments->run));
  if (!session->result || session->status) return;
  if (!is_standard_output(arguments->json_path))
    session_write(session, "-", daedal_report(session->result, DAEDAL_REPORT_RUN, DAEDAL_TEXT));
}

static void analyze(Session *session) {
  const Arguments *arguments = session->arguments;
  daedal_analysis analysis = daedal_analyze(session->model);
  session_report(session);
  session->status = first_failure(session->status, (int)analysis.status);
  if (!is_standard_output(arguments->json_path))
    session_write(session, "-", daedal_report(session->model, DAEDAL_REPORT_ANALYSIS, DAEDAL_TEXT));
  if (arguments->verbose && session_talks(session)) say_more(&analysis);
  if (arguments->svg_path) session_write_picture(session, arguments->svg_path, daedal_draw(session->model, NULL));
}

int analyze_command(const Arguments *arguments) {
  Session session = session_open(arguments);
  bool by_ranks = strcmp(arguments->run.method, "strangeness") == 0;
  if (!session.status && by_ranks) analyze_ranks(&session);
  else if (!session.status) analyze(&session);
  if (arguments->json_path && by_ranks) session_write_json(&session, session.result, DAEDAL_REPORT_RUN);
  else if (arguments->json_path) session_write_json(&session, session.model, DAEDAL_REPORT_ANALYSIS);
  return session_close(&session);
}
