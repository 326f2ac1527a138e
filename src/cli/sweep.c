/* sweep: makes many runs, then writes the table of their outputs, a picture, JSON and a summary line. */
#include "cli/cluster.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct SweepCommand {
  Session *session;
  Cluster cluster;
  daedal_sweep *sweep;
  ProgressBar progress;
  char *journal; /* NULL: none */
} SweepCommand;

/* FILE.part; a table on standard output has no journal. */
static char *journal_path(const char *table) {
  size_t size = strlen(table) + sizeof ".part";
  char *path = is_standard_output(table) ? NULL : malloc(size);
  if (path) snprintf(path, size, "%s.part", table);
  return path;
}

static bool on_progress(void *context, const daedal_sweep_progress *now) {
  SweepCommand *run = context;
  cluster_exchange(&run->cluster, run->sweep);
  return progress_points(&run->progress, now);
}

/* Processes on one machine share its cores. */
static uint32_t threads_of(const SweepCommand *run) {
  uint32_t asked = run->session->arguments->threads;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (asked || run->cluster.beside == 1) return asked;
  uint32_t share = cores > 0 ? (uint32_t)cores / run->cluster.beside : 1;
  return share ? share : 1;
}

static void make_sweep(SweepCommand *run) {
  const Arguments *arguments = run->session->arguments;
  bool is_first = run->cluster.process == 0;
  daedal_sweep_options options = {.size = sizeof options,
                                  .vary = arguments->vary.list,
                                  .vary_count = arguments->vary.count,
                                  .distributions = arguments->distributions.list,
                                  .distribution_count = arguments->distributions.count,
                                  .samples = arguments->samples,
                                  .sampling = arguments->sampling,
                                  .seed = arguments->seed,
                                  .outputs = arguments->kept.list,
                                  .output_count = arguments->kept.count,
                                  .threads = threads_of(run),
                                  .trajectories = arguments->trajectories,
                                  .journal = is_first ? run->journal : NULL,
                                  .resume = arguments->run.resumes,
                                  .keep_courses = arguments->plots.words[0] != NULL,
                                  .process = run->cluster.process,
                                  .processes = run->cluster.processes,
                                  .on_progress = on_progress,
                                  .context = run};
  run->sweep = daedal_sweep_make(run->session->model, &arguments->run, &options);
}

/* Reports new messages of the sweep. */
static void report(SweepCommand *run) {
  session_report_list(run->session, run->sweep);
  run->session->status = first_failure(run->session->status, (int)daedal_status_of(run->sweep));
}

static void execute(SweepCommand *run) {
  run->progress = progress_begin(session_talks(run->session) && run->cluster.process == 0);
  daedal_sweep_execute(run->sweep);
  progress_end(&run->progress); /* the alarm must not end a process that waits for others */
  cluster_end(&run->cluster, run->sweep);
  report(run);
}

static bool write_bytes(void *context, const void *bytes, size_t length) {
  (void)context;
  return output_bytes(bytes, length);
}

static void write_table(SweepCommand *run) {
  const char *path = run->session->arguments->output_path;
  bool is_file = !is_standard_output(path);
  daedal_status status = is_file ? daedal_save(run->sweep, path) : daedal_stream(run->sweep, write_bytes, NULL);
  if (is_file || status == DAEDAL_INTERNAL) report(run);
  run->session->status = first_failure(run->session->status, (int)status);
  if (is_file && !status && session_talks(run->session))
    terminal_say("table written to %s: %" PRIu32 " point%s, %" PRIu32 " columns", path, daedal_sweep_points(run->sweep),
                 daedal_sweep_points(run->sweep) == 1 ? "" : "s", daedal_sweep_columns(run->sweep));
}

static void say_summary(const SweepCommand *run) {
  daedal_sweep_progress progress = daedal_sweep_progress_get(run->sweep);
  uint32_t computed = progress.finished - progress.resumed;
  if (!session_talks(run->session)) return;
  terminal_say("%s: %" PRIu32 " of %" PRIu32 " points, %" PRIu32 " failed, in %.3g s",
               daedal_model_name(run->session->model), progress.finished, progress.points, progress.failed,
               progress.seconds);
  if (progress.resumed) terminal_say("  already finished: %" PRIu32 ", new: %" PRIu32, progress.resumed, computed);
}

/* If all points failed, the status is that of the first. */
static void judge(SweepCommand *run) {
  daedal_sweep_progress progress = daedal_sweep_progress_get(run->sweep);
  if (progress.failed < progress.points) return;
  usage_error("all points failed, the first because: %s", daedal_sweep_point_cause(run->sweep, 0));
  run->session->status = first_failure(run->session->status, (int)daedal_sweep_point_status(run->sweep, 0));
}

static void write_plot(SweepCommand *run) {
  if (!run->session->arguments->plots.words[0]) return;
  if (daedal_draw(run->sweep, NULL))
    session_write_plots(run->session, run->sweep, (daedal_plot){.size = sizeof(daedal_plot)});
  else usage_error("there is nothing to draw: no output is a variable"), run->session->status = DAEDAL_USAGE;
}

/* Another process may have been interrupted or have failed before all its points were done. */
static bool has_all_points(SweepCommand *run) {
  daedal_sweep_progress progress = daedal_sweep_progress_get(run->sweep);
  if (progress.finished == progress.points) return true;
  usage_error("a process of the sweep ended before its points were finished%s%s",
              run->journal ? "; --resume continues with those in " : "", run->journal ? run->journal : "");
  run->session->status = DAEDAL_INTERNAL;
  return false;
}

static void hand_over(SweepCommand *run) {
  Session *session = run->session;
  say_summary(run);
  if (run->progress.stopped) {
    session->status = 128 + run->progress.stopped;
    if (run->journal) terminal_say("interrupted; --resume continues with the points in %s", run->journal);
    return;
  }
  if (session->status || !has_all_points(run)) return;
  write_table(run);
  write_plot(run);
  judge(run);
}

static void sweep(Session *session, Cluster cluster) {
  SweepCommand run = {.session = session, .cluster = cluster, .journal = journal_path(session->arguments->output_path)};
  make_sweep(&run);
  report(&run);
  bool is_sound = cluster_begin(&run.cluster, run.sweep, !session->status);
  if (is_sound) execute(&run);
  bool is_first = run.cluster.process == 0;
  if (is_sound && is_first) hand_over(&run);
  if (is_first && session->arguments->json_path) session_write_json(session, run.sweep, DAEDAL_REPORT_SWEEP);
  daedal_free(run.sweep);
  free(run.journal);
}

/* A model that cannot be read also gets a report, with its messages. */
static void report_failure(Session *session, Cluster cluster) {
  SweepCommand run = {.session = session, .cluster = cluster};
  if (cluster.process > 0 || !session->arguments->json_path) return;
  if (session->model && daedal_status_of(session->model) != DAEDAL_OK) make_sweep(&run);
  session_write_json(session, run.sweep, DAEDAL_REPORT_SWEEP);
  daedal_free(run.sweep);
}

/* Only the first process prints messages. */
static Arguments arguments_of(const Arguments *given, const Cluster *cluster) {
  Arguments arguments = *given;
  arguments.quiet |= cluster->process > 0;
  return arguments;
}

int sweep_command(const Arguments *given) {
  Cluster cluster;
  if (!cluster_join(&cluster)) return DAEDAL_USAGE;
  Arguments arguments = arguments_of(given, &cluster), complete = arguments;
  Session session = session_open(&arguments);
  char *path = NULL;
  if (!session.status && !arguments.output_path)
    session_complete(&session, &complete, path = session_default_path(&session, "_sweep.csv"));
  if (!session.status) sweep(&session, cluster);
  else report_failure(&session, cluster);
  free(path);
  int status = session_close(&session);
  cluster_leave(&cluster);
  return status;
}
