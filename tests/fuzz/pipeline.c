/* pipeline: shared by the targets fuzz_pipeline, fuzz_netlist and fuzz_library: the whole path from a text to every report, with
 * several runs on one handle. Each target has its own mutator.
 *
 * The input is a model, a netlist, or a model with the files of libraries (files.h); a number in a comment on its first line
 * chooses the runs. For every input and every refused allocation there must be no crash, no leak, and a status that fits its
 * diagnostics. Repeated results must agree: a second run on the handle gives the same numbers, and the flat text, compiled code and
 * the exported program have the same solution. Methods that disagree are not fatal: they are counted, and kept in the directory
 * that FUZZ_NOTES names. See tools/fuzz. */
#include "files.h"
#include "generate.h"
#include "meter.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 6, STEPS = 150, INTERVALS = 4, EQUATIONS = 60 };

/* Values differ if their difference, relative to 1 and their size, exceeds these. Runs have a tolerance of 1e-6. */
static const double SAME_MODEL = 1e-3, SAME_SOLUTION = 1e-2;

/* Starting a compiler takes longer than everything else, so only one input in this many has a comparison that needs it. */
enum { COMPILER = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* One pass over an input. `sound` becomes false when an allocation is refused: then only safety is checked. */
typedef struct Pass {
  Meter meter;
  Random random;
  const char *text;
  const InputFiles *files;
  double stop_time;
  daedal_model *model;
  daedal_result *results[RUNS];
  uint32_t count;
} Pass;

static char directory[] = "/tmp/daedal-fuzz-XXXXXX";

static bool sound(const Pass *pass) { return !pass->meter.refused; }

static bool is_netlist(const char *text) { return *text == '*'; }

/* The model of the input, on a separate handle. */
static daedal_model *load_input(const Pass *pass, const daedal_allocator *allocator) {
  daedal_load_options options = {.size = sizeof options, .allocator = allocator};
  if (pass->files->folder[0]) options.modelica_path = pass->files->folder;
  const char *path = is_netlist(pass->text) ? "fuzz.cir" : "fuzz.mo";
  return daedal_load(path, pass->text, pass->files->main_length, &options);
}

/* ---- checks of one answer ---- */

/* JSON: brackets match, strings end, and the only words are null, true and false (so no nan or inf). */
static void check_json(const char *json) {
  char open[64];
  uint32_t depth = 0;
  if (!json || !*json) finding("an empty JSON text", json);
  for (const char *p = json; *p; p++) {
    if (*p == '"') {
      for (p++; *p && *p != '"'; p++)
        if ((unsigned char)*p < ' ' || (*p == '\\' && !*++p))
          finding("a JSON string with a raw control character", json);
      if (!*p) finding("a JSON string without an end", json);
    } else if (*p == '{' || *p == '[') {
      if (depth == sizeof open) finding("JSON nested too deeply", json);
      open[depth++] = *p;
    } else if (*p == '}' || *p == ']') {
      if (!depth || open[--depth] != (*p == '}' ? '{' : '[')) finding("JSON brackets do not match", json);
    } else if (strncmp(p, "null", 4) == 0 || strncmp(p, "true", 4) == 0) p += 3;
    else if (strncmp(p, "false", 5) == 0) p += 4;
    else if (!strchr("0123456789+-.eE,: \n", *p)) finding("JSON with a word it does not have", json);
  }
  if (depth) finding("JSON brackets are not closed", json);
}

static void check_diagnostic(daedal_diagnostic diagnostic) {
  if (!diagnostic.message || !*diagnostic.message) finding("a diagnostic without a message", "");
  if (strchr(diagnostic.message, '\n')) finding("a message of more than one line", diagnostic.message);
  if (diagnostic.place.line && (!diagnostic.place.text || !diagnostic.place.column))
    finding("a place without its line or column", diagnostic.message);
}

/* Status and diagnostics of a run: a failure has a reason, and is not an internal error. */
static void check_status(const daedal_result *result) {
  uint32_t errors = 0;
  for (uint32_t k = 0; k < daedal_diagnostic_count(result); k++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(result, k);
    check_diagnostic(diagnostic);
    errors += diagnostic.severity == DAEDAL_ERROR;
  }
  daedal_status status = daedal_status_of(result);
  if (status == DAEDAL_INTERNAL) finding("an internal error", errors ? daedal_diagnostic_get(result, 0).message : "");
  if (status == DAEDAL_OK && errors)
    finding("a run is well although there is an error", daedal_diagnostic_get(result, 0).message);
  if (status != DAEDAL_OK && !errors) finding("a run failed and nothing says why", "");
}

/* Did a mode of the run have its own equations? */
static bool has_changed(const char *json) {
  static const char KEY[] = "\"replans\":";
  const char *found = json ? strstr(json, KEY) : NULL;
  return found && strtod(found + sizeof KEY - 1, NULL) > 0;
}

/* In rows of a mode, a derivative is NaN if the equations of the mode do not have it (docs/events.md); the first mode may last
 * to the end. */
static bool is_known(const daedal_result *result, uint32_t signal, uint32_t row, bool has_changed) {
  double value = daedal_result_value(result, signal, row);
  return isfinite(value) || ((has_changed || isnan(daedal_result_value(result, signal, 0))) && isnan(value) &&
                             strncmp(daedal_result_name(result, signal), "der(", 4) == 0);
}

/* A trajectory has finite values, and its time never decreases. */
static void check_trajectory(const daedal_result *result, const char *json) {
  if (daedal_status_of(result) != DAEDAL_OK) return;
  bool changes = has_changed(json);
  for (uint32_t row = 0; row < daedal_result_rows(result); row++) {
    if (row && daedal_result_value(result, 0, row) < daedal_result_value(result, 0, row - 1))
      finding("time runs backward", "");
    for (uint32_t signal = 0; signal < daedal_result_signals(result); signal++)
      if (!is_known(result, signal, row, changes))
        finding("a value that is no number, in a run that is well", daedal_result_name(result, signal));
  }
}

/* ---- comparing two runs ---- */

static bool ended(const Pass *pass, const daedal_result *result) {
  return result && daedal_status_of(result) == DAEDAL_OK && daedal_result_rows(result) &&
         daedal_result_statistics(result).end_time == pass->stop_time;
}

typedef enum Moment { FIRST, LAST } Moment;

static double value_at(const daedal_result *result, uint32_t signal, Moment moment) {
  return daedal_result_value(result, signal, moment == LAST ? daedal_result_rows(result) - 1 : 0);
}

/* The difference relative to 1 and to the size of the signal. In a stiff system, a derivative at rest is the small difference of
 * large terms and only as accurate as these. So its size is its largest value in the run, and a rate that moves its variable by 1
 * within the run counts as 1 (circuits run for microseconds). */
static double difference(const daedal_result *result, uint32_t signal, double a, double b) {
  double size = fmax(fabs(a), fabs(b)), one = 1;
  bool is_derivative = strncmp(daedal_result_name(result, signal), "der(", 4) == 0;
  for (uint32_t row = 0; is_derivative && row < daedal_result_rows(result); row++)
    size = fmax(size, fabs(daedal_result_value(result, signal, row)));
  if (is_derivative) one = fmax(1, 1 / (value_at(result, 0, LAST) - value_at(result, 0, FIRST)));
  return fabs(a - b) / (one + size);
}

/* The voltages of a circuit are accurate to the tolerance. Their rates are accurate only over picoseconds, and are not
 * compared. */
static bool is_compared(const Pass *pass, const char *name) {
  return !is_netlist(pass->text) || strncmp(name, "der(", 4) != 0;
}

/* The first variable with different values in two runs; NULL if all are within the limit. */
static const char *differing(const Pass *pass, const daedal_result *one, const daedal_result *other, Moment moment,
                             double limit) {
  for (uint32_t signal = 1; signal < daedal_result_signals(one); signal++) {
    const char *name = daedal_result_name(one, signal);
    uint32_t there = daedal_result_find(other, name);
    if (there == UINT32_MAX || !is_compared(pass, name)) continue;
    if (difference(one, signal, value_at(one, signal, moment), value_at(other, there, moment)) > limit) return name;
  }
  return NULL;
}

static bool bit_equal(const daedal_result *one, const daedal_result *other) {
  uint32_t rows = daedal_result_rows(one), signals = daedal_result_signals(one);
  if (rows != daedal_result_rows(other) || signals != daedal_result_signals(other)) return false;
  for (uint32_t row = 0; row < rows; row++)
    for (uint32_t signal = 0; signal < signals; signal++)
      if (daedal_result_value(one, signal, row) != daedal_result_value(other, signal, row)) return false;
  return true;
}

/* ---- notes: findings that are not fatal ---- */

static struct { uint64_t passes, models, runs, ended, compared, notes; } tally;

static void print_tally(void) {
  fprintf(stderr,
          "tally: %llu texts, %llu models, %llu runs, %llu of them to the end; %llu comparisons, %llu "
          "disagreements\n",
          (unsigned long long)tally.passes, (unsigned long long)tally.models, (unsigned long long)tally.runs,
          (unsigned long long)tally.ended, (unsigned long long)tally.compared, (unsigned long long)tally.notes);
  rmdir(directory);
}

static void note(const Pass *pass, const char *what, const char *detail) {
  const char *where = getenv("FUZZ_NOTES");
  tally.notes++;
  if (!where) return;
  char path[400];
  snprintf(path, sizeof path, "%s/%d-%llu.mo", where, (int)getpid(), (unsigned long long)tally.notes);
  FILE *file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "%s\n// %s: %s\n", pass->text, what, detail);
  fclose(file);
}

/* ---- runs ---- */

typedef struct Count {
  uint64_t steps;
} Count;

static bool enough_steps(void *context, const daedal_progress *progress) {
  (void)progress;
  return ++((Count *)context)->steps >= STEPS;
}

static const char *pick(Random *random, const char *const *names) {
  uint32_t count = 0;
  while (names[count]) count++;
  return names[random_below(random, count)];
}

/* Half of all runs have the default method, half the default solver. */
static daedal_options draw_options(Pass *pass, Count *count) {
  static const char *const names[] = {"x.*", NULL};
  daedal_options options = daedal_default_options();
  Random *random = &pass->random;
  if (random_below(random, 2)) options.method = pick(random, daedal_method_names());
  if (random_below(random, 2)) options.solver = pick(random, daedal_solver_names());
  options.stop_time = pass->stop_time;
  options.intervals = INTERVALS;
  options.tolerance = 1e-6;
  if (!random_below(random, 8)) options.variables = names;
  if (!random_below(random, 8)) options.max_step = 0.02;
  options.on_step = enough_steps;
  options.context = count;
  return options;
}

static daedal_result *simulate(const Pass *pass, daedal_model *model, const daedal_options *given, const char *method,
                               const char *solver) {
  Count count = {0};
  daedal_options options = *given;
  options.method = method;
  options.solver = solver;
  options.context = &count;
  daedal_result *result = daedal_simulate(model, &options);
  tally.runs++;
  tally.ended += ended(pass, result);
  return result;
}

static void *run_simulate(Pass *pass, const daedal_options *options) {
  return simulate(pass, pass->model, options, options->method, options->solver);
}

static void *run_initialize(Pass *pass, const daedal_options *options) {
  return daedal_initialize(pass->model, options);
}

static void *run_compare(Pass *pass, const daedal_options *options) {
  bool all = !random_below(&pass->random, 8);
  const char *const methods[] = {"dummy", options->method, NULL};
  return daedal_compare(pass->model, options, all ? NULL : methods, NULL);
}

static void *run_export(Pass *pass, const daedal_options *options) {
  return daedal_export_c(pass->model, directory, options);
}

static void *(*const RUN_KINDS[])(Pass *, const daedal_options *) = {
    run_simulate, run_simulate, run_simulate, run_initialize, run_initialize, run_compare, run_export,
};

/* ---- reports ---- */

static void read_analysis(Pass *pass) {
  daedal_analysis analysis = daedal_analyze(pass->model);
  const char *json = daedal_report(pass->model, DAEDAL_REPORT_ANALYSIS, DAEDAL_JSON);
  daedal_report(pass->model, DAEDAL_REPORT_ANALYSIS, DAEDAL_TEXT);
  daedal_draw(pass->model, NULL);
  daedal_dump(pass->model, pick(&pass->random, daedal_pass_names()));
  if (!sound(pass)) return;
  check_json(json);
  if (analysis.status != DAEDAL_OK && !daedal_error_count(pass->model))
    finding("an analysis failed and nothing says why", "");
  for (uint32_t k = 0; k < daedal_diagnostic_count(pass->model); k++)
    check_diagnostic(daedal_diagnostic_get(pass->model, k));
}

static bool swallow(void *context, const void *bytes, size_t length) {
  (void)context, (void)bytes, (void)length;
  return true;
}

static void read_reports(Pass *pass, daedal_result *result) {
  daedal_report(result, DAEDAL_REPORT_RUN, DAEDAL_TEXT);
  const char *json = daedal_report(result, DAEDAL_REPORT_RUN, DAEDAL_JSON);
  daedal_stream(result, swallow, NULL);
  daedal_draw(result, NULL);
  daedal_draw(result, &(daedal_plot){.size = sizeof(daedal_plot), .width = 60, .height = 12});
  daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_TEXT);
  const char *initial = daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON);
  daedal_report(result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT);
  daedal_report(result, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT);
  const char *reduced = daedal_report(result, DAEDAL_REPORT_REDUCED, DAEDAL_JSON);
  daedal_report(result, DAEDAL_REPORT_COMPARISON, DAEDAL_TEXT);
  const char *compared = daedal_report(result, DAEDAL_REPORT_COMPARISON, DAEDAL_JSON);
  daedal_draw(result, NULL);
  daedal_statistics statistics = daedal_result_statistics(result);
  for (uint32_t k = 0; k < statistics.pivots; k++) daedal_result_pivot(result, k);
  if (!sound(pass)) return;
  if (json && *json) check_json(json);
  if (initial && *initial) check_json(initial);
  if (reduced && *reduced) check_json(reduced);
  if (compared && *compared) check_json(compared);
  check_status(result);
  check_trajectory(result, json);
}

/* ---- what must agree ---- */

/* Methods that should integrate the same solution. The tally counts the cases in which they do not. */
static void compare_methods(Pass *pass, const daedal_options *options) {
  daedal_result *one = simulate(pass, pass->model, options, "dummy", "radau");
  daedal_result *other = simulate(pass, pass->model, options, options->method, options->solver);
  if (sound(pass) && ended(pass, one) && ended(pass, other)) {
    const char *name = differing(pass, one, other, LAST, SAME_SOLUTION);
    tally.compared++;
    if (name) note(pass, options->method, name);
  }
  daedal_free(one);
  daedal_free(other);
}

/* Compares a run on a handle that has had other runs with the same run on a new handle. */
static void compare_again(Pass *pass, const daedal_options *options) {
  daedal_model *fresh = load_input(pass, NULL);
  if (!fresh) return;
  daedal_result *first = simulate(pass, fresh, options, options->method, options->solver);
  daedal_result *later = simulate(pass, pass->model, options, options->method, options->solver);
  if (sound(pass) && first && later) {
    if (daedal_status_of(first) != daedal_status_of(later))
      finding("a later run on a handle ends otherwise", options->method);
    if (!bit_equal(first, later)) finding("a later run on a handle has other values", options->method);
  }
  daedal_free(first);
  daedal_free(later);
  daedal_free(fresh);
}

static void check_same_analysis(const Pass *pass, daedal_model *other, const char *text) {
  daedal_analysis a = daedal_analyze(pass->model), b = daedal_analyze(other);
  if (!sound(pass)) return;
  if (a.status != b.status || strcmp(a.verdict, b.verdict) != 0) finding("the flat text has another verdict", text);
  if (a.equations != b.equations || a.variables != b.variables) finding("the flat text has another size", text);
  if (a.structural_index != b.structural_index || a.dof != b.dof || a.differentiations != b.differentiations)
    finding("the flat text has another index", text);
  if (a.blocks != b.blocks || a.aliases != b.aliases) finding("the flat text has other blocks", text);
  /* the bindings of inputs come before other equations there, so the offsets of equations are in another order */
  for (uint32_t k = 0; a.d && k < a.variables; k++)
    if (a.d[k] != b.d[k]) finding("the flat text has other offsets", text);
}

/* Reads the flat text again: it must be the same model, and run to the same end. If several initial values are equally near,
 * round-off decides between them; the tally counts these cases. */
static void compare_flat(Pass *pass, const daedal_options *options) {
  const char *flat = daedal_report(pass->model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT);
  daedal_model *again = flat ? daedal_load_text(flat, strlen(flat), "flat.mo", NULL, NULL) : NULL;
  if (!again || !sound(pass)) {
    daedal_free(again);
    return;
  }
  if (daedal_status_of(again) != DAEDAL_OK) finding("the flat text is refused", flat);
  check_same_analysis(pass, again, flat);
  daedal_result *one = simulate(pass, pass->model, options, options->method, options->solver);
  daedal_result *other = simulate(pass, again, options, options->method, options->solver);
  if (sound(pass) && ended(pass, one) && ended(pass, other)) {
    const char *start = differing(pass, one, other, FIRST, SAME_MODEL),
               *end = differing(pass, one, other, LAST, SAME_MODEL);
    tally.compared++;
    if (start) note(pass, "flat", start);
    else if (end) finding("the flat text has another solution", flat);
  }
  daedal_free(one);
  daedal_free(other);
  daedal_free(again);
}

/* Reads the system that a method made: it must be a model that runs to the same end. */
static void compare_reduced(Pass *pass, const daedal_options *options) {
  daedal_result *one = simulate(pass, pass->model, options, options->method, "radau");
  const char *text = one ? daedal_report(one, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT) : NULL;
  /* Derivatives of functions that stay calls, with respect to parts of arrays and records, cannot be written in the language. */
  bool is_readable = text && *text && !strstr(text, "'$d") && !strstr(text, "$output");
  daedal_model *again = is_readable ? daedal_load_text(text, strlen(text), "reduced.mo", NULL, NULL) : NULL;
  if (again && sound(pass)) {
    if (daedal_status_of(again) != DAEDAL_OK) finding("the reduced model is refused", text);
    daedal_result *other = simulate(pass, again, options, "dummy", "radau");
    const char *name = ended(pass, one) && ended(pass, other) ? differing(pass, one, other, LAST, SAME_SOLUTION) : NULL;
    tally.compared++;
    if (name) note(pass, "reduced", name);
    daedal_free(other);
  }
  daedal_free(again);
  daedal_free(one);
}

/* Compares compiled code with the tape. */
static void compare_compiled(Pass *pass, const daedal_options *given) {
  daedal_options options = *given;
  daedal_result *one = simulate(pass, pass->model, &options, options.method, options.solver);
  options.compile = true;
  daedal_result *other = simulate(pass, pass->model, &options, options.method, options.solver);
  if (sound(pass) && ended(pass, one) && ended(pass, other)) {
    const char *name = differing(pass, one, other, LAST, SAME_MODEL);
    tally.compared++;
    if (name) finding("compiled code has another solution", name);
  }
  daedal_free(one);
  daedal_free(other);
}

/* The next value of a line of a CSV file, without its quotes; NULL at the end of the line. */
static const char *next_field(char **line) {
  char *from = *line, *to = from, *field = from;
  if (!*from || *from == '\n') return NULL;
  for (bool quoted = false; *from && *from != '\n' && (quoted || *from != ','); from++) {
    if (*from != '"' || (quoted && from[1] == '"')) {
      from += *from == '"';
      *to++ = *from;
    } else quoted = !quoted;
  }
  *line = from + (*from == ',');
  *to = '\0';
  return field;
}

/* The first variable of a CSV text whose last value differs from that of the result; NULL: none. */
static const char *differing_csv(const Pass *pass, const daedal_result *result, char *text) {
  char *header = text, *last = NULL;
  for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(last, '\n')) last = line + 1;
  for (const char *name; last && (name = next_field(&header));) {
    const char *value = next_field(&last);
    uint32_t signal = daedal_result_find(result, name);
    if (!value || signal == UINT32_MAX || !is_compared(pass, name)) continue;
    if (difference(result, signal, value_at(result, signal, LAST), strtod(value, NULL)) > SAME_MODEL) return name;
  }
  return NULL;
}

/* Standard output of a command in the directory, in `text`; its exit status. */
static int run_in_directory(const char *command, char *text, size_t limit) {
  char line[200];
  snprintf(line, sizeof line, "cd %s && %s 2>/dev/null", directory, command);
  FILE *output = popen(line, "r");
  if (!output) return -1;
  text[fread(text, 1, limit - 1, output)] = '\0';
  while (fgetc(output) != EOF) continue;
  return pclose(output);
}

static void compare_exported(Pass *pass, const daedal_options *options) {
  static char text[1 << 16];
  daedal_result *one = simulate(pass, pass->model, options, options->method, "radau");
  daedal_result *made = daedal_export_solver(pass->model, directory, options);
  bool is_made = sound(pass) && made && daedal_status_of(made) == DAEDAL_OK;
  if (is_made && run_in_directory("make -s CFLAGS='-O0 -std=c99'", text, sizeof text))
    finding("the exported program does not compile", pass->text);
  if (is_made && ended(pass, one) && run_in_directory("./model", text, sizeof text) == 0) {
    const char *name = differing_csv(pass, one, text);
    tally.compared++;
    if (name) finding("the exported program has another solution", name);
  }
  run_in_directory("rm -f *.c *.h *.o Makefile model", text, sizeof text);
  daedal_free(made);
  daedal_free(one);
}

static void compare_some(Pass *pass, const daedal_options *options) {
  static void (*const comparisons[])(Pass *, const daedal_options *) = {compare_methods, compare_again, compare_flat,
                                                                        compare_reduced};
  switch (random_below(&pass->random, COMPILER)) {
  case 0: compare_compiled(pass, options); break;
  case 1: compare_exported(pass, options); break;
  default: comparisons[random_below(&pass->random, sizeof comparisons / sizeof *comparisons)](pass, options);
  }
}

/* ---- one input ---- */

/* The number in the comment on the first line. */
static uint64_t choice_of(const char *text) {
  size_t mark = strncmp(text, "// ", 3) == 0 ? 3 : is_netlist(text);
  return mark ? strtoull(text + mark, NULL, 10) : 0;
}

static void run_all(Pass *pass) {
  Count count = {0};
  uint32_t runs = 1 + random_below(&pass->random, 3);
  if (random_below(&pass->random, 2)) read_analysis(pass);
  for (; pass->count < runs; pass->count++) {
    daedal_options options = draw_options(pass, &count);
    uint32_t kind = random_below(&pass->random, sizeof RUN_KINDS / sizeof *RUN_KINDS);
    count.steps = 0;
    pass->results[pass->count] = RUN_KINDS[kind](pass, &options);
    if (!pass->results[pass->count]) break;
  }
  for (uint32_t k = 0; k < pass->count; k++) read_reports(pass, pass->results[k]);
  read_analysis(pass);
}

static bool worth_running(const daedal_model *model) {
  return daedal_status_of(model) == DAEDAL_OK && daedal_model_counts(model).equations <= EQUATIONS;
}

/* Runs one pass with one allocation refused (0: none), and returns the number of allocations. */
static size_t pass_once(const char *text, const InputFiles *files, size_t refuse) {
  Pass pass = {.meter.refuse = refuse, .random.state = choice_of(text), .text = text, .files = files};
  daedal_allocator allocator = {meter_resize, &pass.meter};
  pass.stop_time = is_netlist(text) ? 2e-5 : 0.1; /* stop time of fuzz_netlist's circuits, and of models */
  pass.model = load_input(&pass, &allocator);
  tally.passes++;
  if (pass.model && worth_running(pass.model)) {
    tally.models++;
    run_all(&pass);
    Count count = {0};
    daedal_options options = draw_options(&pass, &count);
    options.variables = NULL;
    if (sound(&pass)) compare_some(&pass, &options);
  }
  for (uint32_t k = 0; k < pass.count; k++) daedal_free(pass.results[k]);
  daedal_free(pass.model);
  if (pass.meter.live) finding("blocks were not given back", "");
  return pass.meter.count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char text[LONGEST_INPUT + 1];
  InputFiles files;
  if (size > LONGEST_INPUT || memchr(data, 0, size)) return -1;
  memcpy(text, data, size);
  text[size] = 0;
  files_open(&files, text, size);
  text[files.main_length] = 0;
  size_t count = pass_once(text, &files, 0);
  Random random = {choice_of(text) + size};
  if (count && !random_below(&random, 4)) pass_once(text, &files, 1 + random_below(&random, (uint32_t)count));
  files_close(&files);
  return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  if (!mkdtemp(directory)) return 1;
  atexit(print_tally);
  return 0;
}
