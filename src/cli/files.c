/* files: plot and diff, the commands that read results. */
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/picture.h"
#include "cli/render.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

#include <string.h>

enum { RESULTS_DIFFER = 8 };

typedef struct FilesCommand {
  const Arguments *arguments;
  daedal_files *files;
  uint32_t seen; /* diagnostics already drawn or skipped */
  int status;    /* exit status of the first failure */
} FilesCommand;

static void report(FilesCommand *run, daedal_status status) {
  for (uint32_t count = daedal_diagnostic_count(run->files); run->seen < count; run->seen++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(run->files, run->seen);
    if (diagnostic.severity == DAEDAL_ERROR || !run->arguments->quiet)
      render_diagnostic(&diagnostic, run->arguments->model_path);
  }
  run->status = first_failure(run->status, (int)status);
}

static uint32_t count_words(const WordList *list) {
  uint32_t count = 0;
  while (list->words[count]) count++;
  return count;
}

/* Reads nothing if an output cannot be written. */
static void open_files(FilesCommand *run) {
  const WordList *paths = &run->arguments->paths;
  if (!outputs_distinct(run->arguments)) run->status = DAEDAL_USAGE;
  else if (!outputs_writable(run->arguments)) run->status = DAEDAL_FILE;
  if (run->status) return;
  run->files = daedal_files_read(paths->words, count_words(paths), NULL);
  report(run, daedal_status_of(run->files));
}

static void write_bytes(FilesCommand *run, const char *path, const void *bytes, size_t length) {
  report(run, daedal_write(run->files, path, bytes, length));
}

static void write_picture(FilesCommand *run, const char *path, const char *svg) {
  PictureFormat format = picture_format(path);
  if (format == PICTURE_SVG) {
    write_bytes(run, path, svg, strlen(svg));
    return;
  }
  Buffer picture = picture_convert(svg, format);
  if (picture.count) write_bytes(run, path, picture.data, picture.count);
  else run->status = first_failure(run->status, DAEDAL_FILE);
  buffer_free(&picture);
}

static void draw(FilesCommand *run, const char *path) {
  const Arguments *arguments = run->arguments;
  const char *axes = arguments->plot_axes;
  bool is_text = is_standard_output(path);
  daedal_plot plot = {.size = sizeof plot,
                      .variables = arguments->run.variables,
                      .log_x = axes && strchr(axes, 'x'),
                      .log_y = axes && strchr(axes, 'y')};
  if (is_text) plot.width = terminal_width() - 1, plot.height = PANEL_LINES;
  const char *picture = daedal_draw(run->files, &plot);
  report(run, picture ? DAEDAL_OK : DAEDAL_USAGE);
  if (picture && is_text) output_text(picture);
  else if (picture) write_picture(run, path, picture);
}

int plot_command(const Arguments *arguments) {
  FilesCommand run = {.arguments = arguments};
  open_files(&run);
  for (const char *const *path = arguments->plots.words; *path && !run.status; path++) draw(&run, *path);
  if (!arguments->plots.words[0] && !run.status) draw(&run, "-");
  daedal_free(run.files);
  return run.status;
}

static void compare(FilesCommand *run) {
  const Arguments *arguments = run->arguments;
  daedal_difference_options options = {.size = sizeof options,
                                       .variables = arguments->run.variables,
                                       .tolerance = arguments->difference_tolerance,
                                       .absolute = arguments->difference_absolute};
  report(run, daedal_files_compare(run->files, &options));
}

static void write_json(FilesCommand *run) {
  const char *path = run->arguments->json_path,
             *text = path ? daedal_report(run->files, DAEDAL_REPORT_DIFFERENCE, DAEDAL_JSON) : NULL;
  if (!text) return;
  if (is_standard_output(path)) output_text(text);
  else write_bytes(run, path, text, strlen(text));
}

static void write_difference(FilesCommand *run) {
  const Arguments *arguments = run->arguments;
  bool is_taken = is_standard_output(arguments->json_path) || standard_outputs(&arguments->plots);
  const char *text =
      is_taken || arguments->quiet ? NULL : daedal_report(run->files, DAEDAL_REPORT_DIFFERENCE, DAEDAL_TEXT);
  if (text) output_text(text);
  write_json(run);
  for (const char *const *path = arguments->plots.words; *path; path++) draw(run, *path);
  if (daedal_files_different(run->files)) run->status = first_failure(run->status, RESULTS_DIFFER);
}

int diff_command(const Arguments *arguments) {
  FilesCommand run = {.arguments = arguments};
  open_files(&run);
  if (!run.status) compare(&run);
  if (!run.status) write_difference(&run);
  daedal_free(run.files);
  return run.status;
}
