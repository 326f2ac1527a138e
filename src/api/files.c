/* files: reads results back from files, draws several of them, and compares two. */
#include "api/handles.h"

#include "base/number.h"
#include "result/file.h"
#include "result/json.h"
#include "result/load.h"
#include "result/plot.h"
#include "result/signal_choice.h"

#include <math.h>
#include <string.h>

/* ---- protected calls ---- */

typedef struct FilesCall {
  daedal_files *files;
  FilesWork work;
  const void *argument;
  bool ok;
} FilesCall;

static void call_files(void *context) {
  FilesCall *call = context;
  call->ok = call->work(call->files, call->argument);
  publish_files(call->files);
}

bool files_protect(daedal_files *files, FilesWork work, const void *argument) {
  FilesCall call = {.files = files, .work = work, .argument = argument};
  if (!files || files->broken) return false;
  if (heap_protect(files->heap, call_files, &call)) return call.ok;
  files->broken = true;
  files->status = DAEDAL_INTERNAL;
  return false;
}

/* ---- reading ---- */

typedef struct ReadRequest {
  Heap *heap;
  const char *const *paths;
  uint32_t count;
  daedal_files *files;
} ReadRequest;

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void label_files(daedal_files *files) {
  for (uint32_t k = 0; k < files->count; k++) {
    uint32_t alike = 0;
    for (uint32_t other = 0; other < files->count; other++)
      alike += !strcmp(last_part(files->paths[k]), last_part(files->paths[other]));
    files->labels[k] = alike > 1 ? files->paths[k] : last_part(files->paths[k]);
  }
}

static bool read_file(daedal_files *files, uint32_t k, const char *path) {
  files->paths[k] = arena_copy(&files->arena, path, strlen(path));
  const Trajectory *result = files->results[k] = load_result(files->heap, &files->diags, path);
  if (result && result->rows == 0) diag_error(&files->diags, DIAG_FILE_CONTENT, (Span){0}, "'%s' has no rows", path);
  return result && result->rows > 0;
}

static void read_files(void *context) {
  ReadRequest *request = context;
  daedal_files *files = request->files = heap_alloc(request->heap, sizeof *files);
  files->kind = HANDLE_FILES;
  files->heap = request->heap;
  files->arena = arena_make(files->heap);
  files->diags = diags_make(files->heap);
  files->source = source_make(files->heap, "", "", 0);
  files->paths = arena_array(&files->arena, request->count, sizeof *files->paths);
  files->labels = arena_array(&files->arena, request->count, sizeof *files->labels);
  files->results = arena_array(&files->arena, request->count, sizeof *files->results);
  bool ok = true;
  for (uint32_t k = 0; ok && k < request->count; k++)
    ok = read_file(files, k, request->paths[k] ? request->paths[k] : "");
  if (ok) files->count = request->count;
  label_files(files);
  files->status = (daedal_status)diags_code(&files->diags);
  publish_files(files);
}

daedal_files *daedal_files_read(const char *const *paths, uint32_t count, const daedal_allocator *allocator) {
  HeapHook hook = {0};
  if (allocator) hook = (HeapHook){.resize = allocator->resize, .context = allocator->context};
  ReadRequest request = {.heap = heap_new(&hook), .paths = paths, .count = paths ? count : 0};
  if (!request.heap) return NULL;
  if (heap_protect(request.heap, read_files, &request)) return request.files;
  heap_destroy(request.heap);
  return NULL;
}

/* ---- choices ---- */

/* The names of all files, one file after the other. */
static const char *name_at(void *context, uint32_t index) {
  const daedal_files *files = context;
  for (uint32_t k = 0; k < files->count; k++) {
    const SignalTable *signals = files->results[k]->signals;
    if (index < signals->list.count) return signals->list.data[index].name;
    index -= signals->list.count;
  }
  return NULL;
}

/* Makes the filter for a list of words; for NULL there is none. false: a diagnostic names the word that matches nothing. */
static bool filter_files(daedal_files *files, const char *const *words, const SignalFilter **filter) {
  *filter = words ? signal_filter_new(files->heap, &files->diags, words, (NameList){name_at, files}) : NULL;
  return !words || *filter;
}

/* ---- pictures ---- */

typedef VEC(const char *) NameVec;

/* The names to draw, each once, in the order of the files. */
static void choose_names(const daedal_files *files, const SignalFilter *filter, Arena *arena, NameVec *names) {
  Names known = names_make(files->heap);
  for (uint32_t k = 0; k < files->count; k++) {
    const SignalTable *signals = files->results[k]->signals;
    uint32_t *chosen = arena_array(arena, signals->list.count, sizeof *chosen);
    uint32_t count = signals_choose(signals, filter, chosen);
    for (uint32_t c = 0; c < count; c++) {
      const char *name = signals->list.data[chosen[c]].name;
      if (names_find(&known, name, strlen(name)) != MAP_NONE) continue;
      names_add(&known, name, strlen(name));
      vec_push(files->heap, names, name);
    }
  }
  names_free(&known);
}

static const char *name_of(const daedal_files *files, const SignalDifference *difference) {
  return files->results[0]->signals->list.data[difference->signal[0]].name;
}

/* The signals to plot: those chosen, or those that differ most. */
static void list_names(const daedal_files *files, const SignalFilter *filter, Arena *arena, NameVec *names) {
  const ResultDifference *difference = files->difference;
  for (uint32_t s = 0; difference && !filter && s < difference->count; s++)
    vec_push(files->heap, names, name_of(files, &difference->list[s]));
  if (!names->count) choose_names(files, filter, arena, names);
}

/* The curves of one name, one for each file that has it, in a separate panel. */
static uint32_t add_curves(const daedal_files *files, const char *name, uint32_t group, Arena *arena,
                           PlotSeries *series) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < files->count; k++) {
    uint32_t signal = signals_find(files->results[k]->signals, name);
    if (signal == MAP_NONE) continue;
    PlotSeries *curve = &series[count++];
    *curve = plot_signals(arena, files->results[k], NULL, &signal, 1).series[0];
    if (files->count == 1) continue;
    curve->group = group;
    curve->label = arena_printf(arena, "%s (%s)", name, files->labels[k]);
  }
  return count;
}

/* Plots as many names as fit legibly, at least one. */
static Plot plot_names(daedal_files *files, const NameVec *names, Arena *arena) {
  uint32_t most = MOST_SERIES / files->count ? MOST_SERIES / files->count : 1;
  uint32_t shown = names->count < most ? names->count : most;
  PlotSeries *series = arena_array(arena, (size_t)shown * files->count, sizeof *series);
  Plot plot = {.title = files->count == 1 ? files->labels[0] : NULL, .series = series};
  for (uint32_t n = 0; n < shown; n++) plot.count += add_curves(files, names->data[n], n, arena, &series[plot.count]);
  plot.left_out = names->count - shown;
  if (plot.left_out)
    diag_warning(&files->diags, DIAG_PICTURE_CUT, (Span){0}, "the picture shows %u of %u signals", (unsigned)shown,
                 (unsigned)names->count);
  return plot;
}

static bool draw(daedal_files *files, const daedal_plot *request, const SignalFilter *filter) {
  Arena arena = arena_make(files->heap);
  NameVec names = {0};
  list_names(files, filter, &arena, &names);
  Plot plot = plot_names(files, &names, &arena);
  plot.log_x = request->log_x;
  plot.log_y = request->log_y;
  TextVec *text = request->width ? &files->terminal : &files->plot;
  text->count = 0;
  if (request->width) plot_text(files->heap, &plot, request->width, request->height, text);
  else plot_svg(files->heap, &plot, text);
  vec_free(files->heap, &names);
  arena_free(&arena);
  return true;
}

static bool work_plot(daedal_files *files, const void *argument) {
  const daedal_plot *request = argument;
  const SignalFilter *filter;
  return files->count && filter_files(files, request->variables, &filter) && draw(files, request, filter);
}

const char *api_files_draw(daedal_files *files, const daedal_plot *plot) {
  if (!files_protect(files, work_plot, plot)) return NULL;
  return plot->width ? files->terminal.data : files->plot.data;
}

/* ---- differences ---- */

static bool is_chosen(const void *filter, const char *name) { return !filter || signal_filter_match(filter, name); }

static bool refuse(daedal_files *files, const char *message) {
  diag_error(&files->diags, DIAG_USAGE, (Span){0}, "%s", message);
  return false;
}

static bool work_compare(daedal_files *files, const void *argument) {
  const daedal_difference_options *options = argument;
  const SignalFilter *filter;
  files->difference = NULL;
  files->text.count = files->json.count = 0;
  if (files->count < 2) return refuse(files, "a comparison needs two files");
  if (!filter_files(files, options->variables, &filter)) return false;
  ResultDifference difference = difference_find(&files->arena, files->results, is_chosen, filter);
  if (!difference.times) return refuse(files, "the two results have no time in common");
  if (!difference.count) return refuse(files, "the two results have no signal in common");
  files->tolerance = options->tolerance;
  files->absolute = options->absolute;
  files->difference = arena_array(&files->arena, 1, sizeof difference);
  *files->difference = difference;
  return true;
}

daedal_status daedal_files_compare(daedal_files *files, const daedal_difference_options *options) {
  daedal_difference_options given = {0};
  if (options) memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
  if (!files || files->status) return files ? files->status : DAEDAL_INTERNAL;
  if (!(given.tolerance >= 0) || !(given.absolute >= 0)) return DAEDAL_USAGE;
  if (files_protect(files, work_compare, &given)) return DAEDAL_OK;
  return files->broken ? DAEDAL_INTERNAL : DAEDAL_USAGE;
}

static bool is_beyond(const daedal_files *files, const SignalDifference *difference) {
  double scale = difference->relative > 0 ? difference->largest / difference->relative : 0;
  return difference->largest > 0 &&
         !(isfinite(difference->largest) && difference->largest <= files->tolerance * scale + files->absolute);
}

static uint32_t count_beyond(const daedal_files *files) {
  const ResultDifference *difference = files->difference;
  uint32_t count = 0;
  for (uint32_t s = 0; s < difference->count; s++) count += is_beyond(files, &difference->list[s]);
  return count;
}

uint32_t daedal_files_different(const daedal_files *files) {
  const ResultDifference *difference = files ? files->difference : NULL;
  return difference ? count_beyond(files) + difference->single_count[0] + difference->single_count[1] +
                          difference->is_span_different
                    : 0;
}

static daedal_difference difference_at(const daedal_files *files, uint32_t index) {
  const ResultDifference *difference = files ? files->difference : NULL;
  if (!difference || index >= difference->count) return (daedal_difference){0};
  const SignalDifference *found = &difference->list[index];
  return (daedal_difference){name_of(files, found), found->largest,  found->relative,
                             found->time,           found->value[0], found->value[1]};
}

void daedal_files_difference_(const daedal_files *files, uint32_t index, daedal_difference *out, size_t size) {
  daedal_difference value = difference_at(files, index);
  hand_out(out, size, &value, sizeof value);
}

/* ---- reports ---- */

static const char *single_name(const daedal_files *files, uint32_t k, uint32_t s) {
  return files->results[k]->signals->list.data[files->difference->single[k][s]].name;
}

/* The ending of a noun after a count. */
static void print_signals(const daedal_files *files, TextVec *text) {
  const ResultDifference *difference = files->difference;
  uint32_t equal = 0;
  for (uint32_t s = 0; s < difference->count; s++) equal += difference->list[s].largest == 0;
  if (equal < difference->count)
    text_printf(files->heap, text, "\n  %-12s %-10s %-14s %s\n", "difference", "relative", "at time", "signal");
  for (uint32_t s = 0; s + equal < difference->count; s++) {
    const SignalDifference *found = &difference->list[s];
    text_printf(files->heap, text, "  %-12.5g %-10.3g %-14.8g %s%s\n", found->largest, found->relative, found->time,
                name_of(files, found), is_beyond(files, found) ? "" : "  (within the tolerance)");
  }
  if (equal) text_printf(files->heap, text, "\n  %u signal%s equal\n", (unsigned)equal, plural(equal));
}

static void print_singles(const daedal_files *files, uint32_t k, TextVec *text) {
  const ResultDifference *difference = files->difference;
  if (!difference->single_count[k]) return;
  text_printf(files->heap, text, "\n  only in %s:", files->labels[k]);
  for (uint32_t s = 0; s < difference->single_count[k]; s++)
    text_printf(files->heap, text, "%s %s", s ? "," : "", single_name(files, k, s));
  text_printf(files->heap, text, "\n");
}

static void print_text(daedal_files *files) {
  const ResultDifference *difference = files->difference;
  TextVec *text = &files->text;
  text_printf(files->heap, text, "%s and %s: %u signal%s compared at %zu times from %.10g to %.10g\n", files->labels[0],
              files->labels[1], (unsigned)difference->count, plural(difference->count), difference->times,
              difference->start, difference->stop);
  for (uint32_t k = 0; difference->is_span_different && k < 2; k++) {
    const Trajectory *result = files->results[k];
    text_printf(files->heap, text, "  %s goes from %.10g to %.10g\n", files->labels[k], trajectory_time(result, 0),
                trajectory_time(result, result->rows - 1));
  }
  print_signals(files, text);
  for (uint32_t k = 0; k < 2; k++) print_singles(files, k, text);
}

static void json_singles(const daedal_files *files, uint32_t k, const char *key, JsonWriter *json) {
  json_key(json, key);
  for (uint32_t s = 0; json_next(json, s, files->difference->single_count[k]); s++)
    json_string(json, single_name(files, k, s));
}

static void json_signals(const daedal_files *files, JsonWriter *json) {
  const ResultDifference *difference = files->difference;
  json_key(json, "signals");
  for (uint32_t s = 0; json_next_object(json, s, difference->count); s++) {
    const SignalDifference *found = &difference->list[s];
    json_key_string(json, "name", name_of(files, found));
    json_key_number(json, "difference", found->largest);
    json_key_number(json, "relative", found->relative);
    json_key_number(json, "time", found->time);
    json_key_number(json, "first", found->value[0]);
    json_key_number(json, "second", found->value[1]);
    json_key_bool(json, "differs", is_beyond(files, found));
  }
}

static void print_json(daedal_files *files) {
  const ResultDifference *difference = files->difference;
  JsonWriter writer = json_make(files->heap, &files->json), *json = &writer;
  json_object_begin(json);
  json_key_string(json, "status", daedal_files_different(files) ? "different" : "equal");
  json_key(json, "files");
  for (uint32_t k = 0; json_next(json, k, 2); k++) json_string(json, files->paths[k]);
  json_key_number(json, "tolerance", files->tolerance);
  json_key_number(json, "absolute", files->absolute);
  json_key_number(json, "start", difference->start);
  json_key_number(json, "stop", difference->stop);
  json_key_bool(json, "same_times", !difference->is_span_different);
  json_key_integer(json, "times", (int64_t)difference->times);
  json_key_integer(json, "different", count_beyond(files));
  json_signals(files, json);
  json_singles(files, 0, "only_first", json);
  json_singles(files, 1, "only_second", json);
  json_object_end(json);
}

static bool work_report(daedal_files *files, const void *argument) {
  const TextVec *text = argument;
  if (!files->difference) return false;
  if (!text->count && text == &files->text) print_text(files);
  else if (!text->count) print_json(files);
  return true;
}

const char *api_files_text(daedal_files *files) {
  return files && files_protect(files, work_report, &files->text) ? files->text.data : NULL;
}

const char *api_files_json(daedal_files *files) {
  return files && files_protect(files, work_report, &files->json) ? files->json.data : NULL;
}
