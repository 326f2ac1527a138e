/* diagnostics_report: see diagnostics_report.h. */
#include "result/diagnostics_report.h"

#include "result/json.h"

#include <math.h>

static void json_place(const Source *source, Span span, JsonWriter *json) {
  bool known = span.end > span.begin && span.begin <= source->length;
  json_key_string(json, "file", source->path);
  json_key_number(json, "line", known ? (double)source_line(source, span.begin) : NAN);
  json_key_number(json, "column", known ? (double)source_column(source, span.begin) : NAN);
}

static void json_diagnostic(const Source *source, const Diag *diag, JsonWriter *json) {
  static const char *const severity[] = {
      [SEVERITY_NOTE] = "note", [SEVERITY_WARNING] = "warning", [SEVERITY_ERROR] = "error"};
  json_object_begin(json);
  json_key_string(json, "severity", severity[diag->severity]);
  json_key_string(json, "code", diag->label);
  json_key_string(json, "message", diag->message);
  json_place(source, diag->span, json);
  json_key(json, "notes");
  for (uint32_t n = 0; json_next_object(json, n, diag->notes.count); n++) {
    json_key_string(json, "message", diag->notes.data[n].message);
    json_place(source, diag->notes.data[n].span, json);
  }
  json_object_end(json);
}

static void json_list(const Source *source, const Diags *diags, JsonWriter *json) {
  for (uint32_t d = 0; diags && d < diags->list.count; d++) json_diagnostic(source, &diags->list.data[d], json);
}

void diagnostics_report_json(const Source *source, const Diags *model, const Diags *run, Heap *heap, TextVec *text) {
  JsonWriter json = json_make(heap, text);
  json_reopen(&json);
  json_key(&json, "diagnostics");
  json_array_begin(&json);
  json_list(source, model, &json);
  json_list(source, run, &json);
  json_array_end(&json);
  json_object_end(&json);
}
