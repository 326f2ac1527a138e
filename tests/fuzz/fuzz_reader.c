/* libFuzzer target: the reader on any bytes. For all bytes and every refused allocation it must return a model or diagnostics, and
 * free every block. A model that it accepts must flatten to a text that reads back to the same flat model. A text that begins with
 * an asterisk is a netlist; one with lines "//@ PATH" is a model with files of libraries. See tools/fuzz. */
#include "files.h"
#include "meter.h"

#include <string.h>

/* Every diagnostic must have a message, and every place must lie in the text. */
static void check_diagnostics(const daedal_model *model) {
  uint32_t errors = 0;
  for (uint32_t i = 0; i < daedal_diagnostic_count(model); i++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(model, i);
    errors += diagnostic.severity == DAEDAL_ERROR;
    if (!diagnostic.message || !*diagnostic.message) finding("a diagnostic without a message", "");
    if (diagnostic.place.line && !diagnostic.place.text) finding("a place without its line", diagnostic.message);
    if (diagnostic.place.line && !diagnostic.place.column) finding("a place without a column", diagnostic.message);
  }
  bool failed = daedal_status_of(model) != DAEDAL_OK;
  if (failed != (errors > 0)) finding("status and diagnostics disagree", failed ? "failed" : "accepted");
}

/* The text from its first line that is not a comment. */
static const char *skip_comments(const char *text) {
  for (;;) {
    const char *begin = text + strspn(text, " ");
    if (strncmp(begin, "// ", 3) != 0) return text;
    text = begin + strcspn(begin, "\n");
    text += *text == '\n';
  }
}

/* Are the texts equal except for comments? Generated equations have comments, which the reader does not keep. */
static bool same_text(const char *a, const char *b) {
  for (;;) {
    a = skip_comments(a);
    b = skip_comments(b);
    size_t length = strcspn(a, "\n");
    if (length != strcspn(b, "\n") || strncmp(a, b, length) != 0) return false;
    if (!a[length] || !b[length]) return a[length] == b[length];
    a += length + 1;
    b += length + 1;
  }
}

/* Reads the flat text again and compares. Running out of memory does not count as a difference. */
static void check_flat_text(const char *flat) {
  daedal_model *again = daedal_load_text(flat, strlen(flat), "flat.mo", NULL, NULL);
  if (!again) return;
  if (daedal_status_of(again) == DAEDAL_INPUT)
    finding(daedal_diagnostic_count(again) ? daedal_diagnostic_get(again, 0).message : "no message", flat);
  if (daedal_status_of(again) == DAEDAL_OK) {
    const char *second = daedal_report(again, DAEDAL_REPORT_FLAT, DAEDAL_TEXT);
    if (second && !same_text(flat, second)) finding("the flat text changed when read again", flat);
  }
  daedal_free(again);
}

/* One pass over the text with one allocation refused (0: none); the number of allocations. */
static size_t read_once(const char *text, const InputFiles *files, size_t refuse) {
  Meter meter = {.refuse = refuse};
  daedal_allocator allocator = {meter_resize, &meter};
  size_t size = files->main_length;
  daedal_load_options options = {.size = sizeof options, .allocator = &allocator};
  if (files->folder[0]) options.modelica_path = files->folder;
  const char *path = size && text[0] == '*' ? "fuzz.cir" : "fuzz.mo";
  daedal_model *model = daedal_load(path, text, size, &options);
  if (model && !refuse && meter.bytes < METER_LIMIT / 8) check_diagnostics(model);
  if (model && daedal_status_of(model) == DAEDAL_OK) {
    const char *flat = daedal_report(model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT);
    if (flat && !refuse) check_flat_text(flat);
  }
  daedal_free(model);
  if (meter.live) finding("blocks were not given back", "");
  return meter.count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  InputFiles files;
  files_open(&files, (const char *)data, size);
  size_t count = read_once((const char *)data, &files, 0);
  size_t chosen = size;
  for (size_t i = 0; i < size; i++) chosen = chosen * 31 + data[i]; /* a different allocation for each text */
  if (count) read_once((const char *)data, &files, 1 + chosen % count);
  files_close(&files);
  return 0;
}
