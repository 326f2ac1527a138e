/* libFuzzer target: the files that a model reads. Result files as CSV and MAT (inputs, start values, data of a fit, tables,
 * results to draw and to compare), lists of start values, journals of sweeps, saved states of runs; and models that call a
 * LAPACK routine.
 *
 * An input is a head of three bytes followed by the file. The head chooses the kind of file, its use, and whether checksums are
 * corrected first. The program makes its own samples of every kind at the start, and changes them: a journal or a state that
 * another version has written is refused because of its first line. For every file and every refused allocation there must be
 * no crash and no leak, and a failure must have a reason. LAPACK has no sanitizer; the fences of the meter detect writes
 * outside of its arguments. */
#include "base/map.h"
#include "generate.h"
#include "meter.h"
#include "text.h"

#include <unistd.h>

enum { HEAD = 3, LONGEST = 8192, VARIANTS = 9, STEPS = 60 };

typedef enum Kind { CSV, MAT, START_VALUES, JOURNAL, PART_ROWS, PART_STATE, LAPACK_CALL, KINDS } Kind;

static const char *const KIND_NAMES[KINDS] = {"csv",   "mat", "start values", "journal", "part", "state of a part",
                                              "lapack"};

typedef struct Bytes {
  uint8_t data[LONGEST];
  size_t size;
} Bytes;

static Bytes samples[KINDS][VARIANTS];
static uint64_t counts[KINDS], went_well[KINDS];
static char directory[] = "/tmp/daedal-fuzz-XXXXXX", data_path[64], part_path[64], state_path[64];

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* ---- models ---- */

static const char WITH_INPUT[] =
    "model M\n  input Real u;\n  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\n"
    "equation\n  der(x) = u - k*x;\nend M;\n";

/* Models whose saved states cover the choice of states, events and their memory, delays, clocks, and the history of each solver. */
static const struct {
  const char *solver, *text;
} RUNS[VARIANTS] = {
    {"auto", WITH_INPUT},
    {"radau",
     "model M\n  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), l;\nequation\n"
     "  der(x) = vx; der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - 9.81; x^2 + y^2 = 1;\nend M;\n"},
    {"bdf", "model M\n  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), l;\nequation\n"
            "  der(x) = vx; der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - 9.81; x^2 + y^2 = 1;\nend M;\n"},
    {"erk",
     "model M\n  Real h(start = 0.01, fixed = true), v(fixed = true); discrete Integer n(start = 0, fixed = true);\n"
     "equation\n  der(h) = v; der(v) = -9.81;\n  when h < 0 then reinit(v, -0.7*pre(v)); n = pre(n) + 1; end "
     "when;\nend M;\n"},
    {"radau",
     "model M\n  Real x(start = 1, fixed = true), y = delay(x, 0.02);\n  discrete Real s(start = 0, fixed = true);\n"
     "equation\n  der(x) = -y + s;\n  when sample(0, 0.03) then s = pre(s) + x; end when;\nend M;\n"},
    {"auto",
     "model M\n  type E = enumeration(a, b, c);\n  E e(start = E.a, fixed = true);\n  Boolean on = time > 0.05;\n"
     "  Real x(start = 1, fixed = true);\nequation\n  der(x) = if on then -x else x;\n"
     "  when x > 1.04 then e = E.b; elsewhen on then e = E.c; end when;\nend M;\n"},
    {"auto", "model M\n  Real x(start = 0, fixed = true), a, b;\nequation\n  der(x) = 20 + 8*sin(90*time);\n"
             "  (a, b) = spatialDistribution(time, 0, x, true, {0.0, 0.5, 1.0}, {0.0, 1.0, 0.0});\nend M;\n"},
    {"cvode", "model M\n  Real x(start = 1, fixed = true), y(start = 0, fixed = true);\nequation\n  der(x) = y; der(y) "
              "= -100*x - 20*y;\nend M;\n"},
    {"ida", "model M\n  Real a(start = 1, fixed = true), b, c;\nequation\n  der(a) = -0.04*a + 1e4*b*c;\n  0 = a + b + "
            "c - 1;\n"
            "  der(c) = 3e7*b^2;\nend M;\n"},
};

/* Reads the matrix `name` of the file as the tables of Modelica do. */
static const char WITH_MATRIX[] =
    "model M\n  function sizes input String f; input String m; output Integer n[2];\n"
    "    external \"C\" ModelicaIO_readMatrixSizes(f, m, n); end sizes;\n"
    "  function matrix input String f; input String m; input Integer r; input Integer c; output Real a[r, c];\n"
    "    external \"C\" ModelicaIO_readRealMatrix(f, m, a, r, c, true); end matrix;\n"
    "  parameter Integer n[2] = sizes(\"%s\", \"data_2\");\n"
    "  parameter Real a[n[1], n[2]] = matrix(\"%s\", \"data_2\", n[1], n[2]);\n  Real y = sum(a)*time;\nend M;\n";

/* ---- files ---- */

static void write_bytes(const char *path, const Bytes *file) {
  FILE *stream = fopen(path, "wb");
  if (!stream) return;
  fwrite(file->data, 1, file->size, stream);
  fclose(stream);
}

/* ---- runs ---- */

static bool enough_steps(void *context, const daedal_progress *progress) {
  (void)progress;
  return ++*(uint32_t *)context >= STEPS;
}

static daedal_options options_of(uint32_t *steps) {
  daedal_options options = daedal_default_options();
  options.stop_time = 0.1;
  options.intervals = 4;
  options.on_step = enough_steps;
  options.context = steps;
  *steps = 0;
  return options;
}

static daedal_model *load(const char *text, size_t length, Meter *meter) {
  daedal_allocator allocator = {meter_resize, meter};
  daedal_load_options options = {.size = sizeof options,
                                 .allocator = meter ? &allocator : NULL,
                                 .readable = directory,
                                 .memory_limit = 200000000,
                                 .work_limit = 2000000,
                                 .text_limit = 1000000};
  return daedal_load("fuzz.mo", text, length, &options);
}

/* A failure must have a reason, unless an allocation was refused. */
static bool check_result(daedal_result *result, const Meter *meter) {
  daedal_status status = result ? daedal_status_of(result) : DAEDAL_INTERNAL;
  if (meter && meter->refused) return false;
  if (result && status == DAEDAL_INTERNAL) finding("an internal error", daedal_diagnostic_get(result, 0).message);
  if (status != DAEDAL_OK && (!result || !daedal_diagnostic_count(result)))
    finding("nothing says why a run failed", "");
  return status == DAEDAL_OK;
}

static bool simulate(daedal_model *model, const daedal_options *options, const Meter *meter) {
  daedal_result *result = daedal_simulate(model, options);
  bool ok = check_result(result, meter);
  daedal_free(result);
  return ok;
}

static const daedal_input ONE = {.name = "u", .expression = "1"};

static bool use_as_data(daedal_model *model, daedal_options *options, const Meter *meter) {
  static const daedal_guess guess = {"k", 1, 0, 10};
  daedal_fit_options fit = {
      .size = sizeof fit, .data = data_path, .parameters = &guess, .parameter_count = 1, .iterations = 3};
  options->inputs = &ONE;
  options->input_count = 1;
  daedal_estimate *estimate = daedal_fit(model, options, &fit);
  if (!estimate && !meter->refused) finding("no estimate", "");
  bool ok = estimate && daedal_status_of(estimate) == DAEDAL_OK;
  if (ok) daedal_report(estimate, DAEDAL_REPORT_FIT, DAEDAL_JSON);
  daedal_free(estimate);
  return ok;
}

/* The file as values of the input, as start values, as data, as a matrix. */
static bool use_table(uint8_t variant, Meter *meter) {
  static char text[sizeof WITH_MATRIX + 2 * sizeof data_path];
  const daedal_input input = {.file = data_path, .held = variant % 5 == 1};
  uint32_t steps;
  daedal_options options = options_of(&steps);
  snprintf(text, sizeof text, WITH_MATRIX, data_path, data_path);
  const char *model_text = variant % 5 == 4 ? text : WITH_INPUT;
  daedal_model *model = load(model_text, strlen(model_text), meter);
  bool ok = false;
  switch (variant % 5) {
  case 0:
  case 1:
    options.inputs = &input;
    options.input_count = 1;
    break;
  case 2:
    options.start_from = data_path;
    options.inputs = &ONE;
    options.input_count = 1;
    break;
  }
  if (model && daedal_status_of(model) == DAEDAL_OK)
    ok = variant % 5 == 3 ? use_as_data(model, &options, meter) : simulate(model, &options, meter);
  daedal_free(model);
  return ok;
}

/* Uses the file as a result of an earlier run, together with an undamaged one: plots, and differences. */
static bool use_as_result(Kind kind, uint8_t variant, Meter *meter) {
  daedal_allocator allocator = {meter_resize, meter};
  const char *paths[] = {variant % 2 ? data_path : part_path, variant % 2 ? part_path : data_path};
  daedal_plot plot = {.size = sizeof plot, .log_x = variant % 3 == 1, .log_y = variant % 3 == 2};
  write_bytes(part_path, &samples[kind][variant]);
  daedal_files *files = daedal_files_read(paths, 2, &allocator);
  daedal_status status = daedal_status_of(files);
  if (!files && !meter->refused) finding("no handle of files", "");
  if (files && status != DAEDAL_OK && !meter->refused && !daedal_diagnostic_count(files))
    finding("files are refused and nothing says why", "");
  if (status == DAEDAL_INTERNAL && !meter->refused) finding("an internal error of files", "");
  if (files) {
    daedal_draw(files, &plot);
    plot.width = 1 + 9 * (uint32_t)variant;
    plot.height = 2 * (uint32_t)variant;
    daedal_draw(files, &plot);
    if (daedal_files_compare(files, NULL) == DAEDAL_OK) {
      daedal_report(files, DAEDAL_REPORT_DIFFERENCE, DAEDAL_TEXT);
      daedal_report(files, DAEDAL_REPORT_DIFFERENCE, DAEDAL_JSON);
      daedal_draw(files, NULL);
    }
  }
  daedal_free(files);
  return status == DAEDAL_OK;
}

static bool use_start_values(uint8_t variant, Meter *meter) {
  const char *text = RUNS[variant % VARIANTS].text;
  uint32_t steps;
  daedal_options options = options_of(&steps);
  options.start_values = data_path;
  options.open_inputs = true;
  daedal_model *model = load(text, strlen(text), meter);
  bool ok = model && simulate(model, &options, meter);
  daedal_free(model);
  return ok;
}

static bool some_points(void *context, const daedal_sweep_progress *progress) {
  return context && progress->finished >= 3;
}

/* A sweep of six points; two of them fail. `stops` keeps its journal. */
static bool sweep(bool stops, bool resumes, Meter *meter) {
  static const double VALUES[] = {1, 2, -1e9, 3, 4, -1e9};
  static const daedal_axis VARY = {"k", VALUES, 6};
  uint32_t steps;
  daedal_options options = options_of(&steps);
  daedal_sweep_options given = {.size = sizeof given,
                                .vary = &VARY,
                                .vary_count = 1,
                                .threads = 1,
                                .journal = data_path,
                                .resume = resumes,
                                .on_progress = some_points,
                                .context = stops ? &steps : NULL};
  options.inputs = &ONE;
  options.input_count = 1;
  daedal_model *model = load(WITH_INPUT, strlen(WITH_INPUT), meter);
  daedal_sweep *made = model ? daedal_sweep_make(model, &options, &given) : NULL;
  bool ok = made && daedal_status_of(made) == DAEDAL_OK && daedal_sweep_execute(made) == DAEDAL_OK;
  for (uint32_t point = 0; ok && point < daedal_sweep_points(made); point++) daedal_sweep_point_cause(made, point);
  if (ok) daedal_report(made, DAEDAL_REPORT_SWEEP, DAEDAL_JSON);
  if (ok && !stops) daedal_save(made, part_path);
  daedal_free(made);
  daedal_free(model);
  return ok;
}

static bool run_part(uint8_t variant, bool resumes, Meter *meter) {
  const char *text = RUNS[variant % VARIANTS].text;
  uint32_t steps;
  daedal_options options = options_of(&steps);
  options.solver = RUNS[variant % VARIANTS].solver;
  options.part_path = part_path;
  options.part_interval = 0;
  options.resumes = resumes;
  options.inputs = &ONE;
  options.input_count = text == WITH_INPUT;
  if (!resumes) steps = STEPS - 12;
  daedal_model *model = load(text, strlen(text), meter);
  bool ok = model && simulate(model, &options, meter);
  daedal_free(model);
  return ok;
}

static bool call_lapack(const Bytes *file, Meter *meter) {
  uint32_t steps;
  daedal_options options = options_of(&steps);
  daedal_model *model = load((const char *)file->data, file->size, meter);
  if (model && daedal_status_of(model) == DAEDAL_INTERNAL) finding("an internal error", "");
  bool ok = model && daedal_status_of(model) == DAEDAL_OK && simulate(model, &options, meter);
  daedal_free(model);
  return ok;
}

/* ---- changed files ---- */

static void read_bytes(const char *path, Bytes *file) {
  FILE *stream = fopen(path, "rb");
  file->size = stream ? fread(file->data, 1, LONGEST - HEAD, stream) : 0;
  if (stream) fclose(stream);
}

/* Where the checksums of journals and states are (journal.c, part.c), and what they cover. */
enum { JOURNAL_HEAD = 24, STATE_HEAD = 48, STATE_SIZE = 32 };

static void put_checksums_right(Kind kind, uint8_t variant, Bytes *file) {
  static const size_t CAUSE_AND_NUMBERS = 8 + 200;
  uint64_t check;
  if (kind == JOURNAL && file->size > JOURNAL_HEAD) {
    uint32_t columns;
    memcpy(file->data, samples[kind][variant].data, JOURNAL_HEAD);
    memcpy(&columns, file->data + 16, sizeof columns);
    size_t size = 8 + CAUSE_AND_NUMBERS + 8 * (size_t)columns;
    for (size_t at = JOURNAL_HEAD; at + size <= file->size; at += size) {
      check = hash_bytes(file->data + at + 8, size - 8);
      memcpy(file->data + at, &check, sizeof check);
    }
  } else if (kind == PART_STATE && file->size >= STATE_HEAD) {
    uint64_t size = file->size - STATE_HEAD;
    check = hash_bytes(file->data + STATE_HEAD, size);
    memcpy(file->data, samples[kind][variant].data, 16); /* the mark, and the run */
    memcpy(file->data + STATE_SIZE, &size, sizeof size);
    memcpy(file->data + STATE_SIZE + 8, &check, sizeof check);
  }
}

static bool use(Kind kind, uint8_t variant, const Bytes *file, Meter *meter) {
  switch (kind) {
  case CSV:
  case MAT:
    write_bytes(data_path, file);
    bool is_result = use_as_result(kind, variant, meter);
    return use_table(variant, meter) || is_result;
  case START_VALUES: write_bytes(data_path, file); return use_start_values(variant, meter);
  case JOURNAL: write_bytes(data_path, file); return sweep(false, true, meter);
  case PART_ROWS:
  case PART_STATE:
    write_bytes(part_path, kind == PART_ROWS ? file : &samples[PART_ROWS][variant]);
    write_bytes(state_path, kind == PART_STATE ? file : &samples[PART_STATE][variant]);
    return run_part(variant, true, meter);
  case LAPACK_CALL: return call_lapack(file, meter);
  case KINDS: break;
  }
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Bytes file;
  if (size < HEAD || size > LONGEST) return -1;
  Kind kind = data[0] % KINDS;
  uint8_t variant = data[1] % VARIANTS;
  file.size = size - HEAD;
  memcpy(file.data, data + HEAD, file.size);
  if (data[2] % 2) put_checksums_right(kind, variant, &file);
  Random random = {hash_bytes(data, size)};
  Meter meter = {.refuse = 0};
  counts[kind]++;
  went_well[kind] += use(kind, variant, &file, &meter);
  if (meter.live) finding("blocks were not given back", "");
  if (!meter.count || random_below(&random, 4)) return 0;
  Meter refusing = {.refuse = 1 + random_below(&random, (uint32_t)meter.count)};
  use(kind, variant, &file, &refusing);
  if (refusing.live) finding("blocks were not given back after a refused allocation", "");
  return 0;
}

/* ---- calls of LAPACK ---- */

static const struct {
  const char *name, *arguments;
} ROUTINES[] = {
#define LAPACK(name, result, arguments) {#name, arguments},
#include "external/functions.def"
};

/* Matrices have this many more rows than the problem. */
enum { LEADING = 2 };

/* An Integer argument: most fit a problem of size `n`. */
static long integer_for(Random *random, const char *formal, size_t length, uint32_t n) {
  static const long WILD[] = {0, -1, 2147483647, -2147483647, 1, 500, 65536, 16777216};
  bool is_width = length == 2 && formal[0] == 'k';
  if (!random_below(random, 16)) return PICK(random, WILD);
  if (is_width) return random_below(random, 2);
  return formal[length] == '>' ? (long)n + LEADING : (long)n;
}

static void put_elements(Random *random, Text *text, uint32_t rows, uint32_t columns, bool are_whole) {
  static const char *const NUMBERS[] = {"1", "2", "0", "-3.5", "1e300", "0.1", "1e-300"};
  for (uint32_t i = 0; i < rows; i++) {
    put(text, "%s", i ? "," : "{");
    for (uint32_t j = 0; j < columns; j++) {
      put(text, "%s", j ? "," : columns > 1 ? "{" : "");
      if (are_whole) put(text, "%u", random_below(random, 20) ? 1 + random_below(random, rows) : 500);
      else put(text, "%s", PICK(random, NUMBERS));
    }
    if (columns > 1) put(text, "}");
  }
  put(text, "}");
}

/* The declaration of an argument that fits its row (see functions.def), or nearly. */
static void put_argument(Random *random, Text *text, const char *formal, size_t length, uint32_t n) {
  const char *rest = formal + length;
  bool is_written = strcspn(rest, "*!") < strcspn(rest, " ");
  const char *role = is_written ? "output" : "input";
  uint32_t rows = n + (rest[0] == '(' && memchr(rest, ',', strcspn(rest, ")")) ? LEADING : 0), columns = n;
  if (!random_below(random, 12)) rows = random_below(random, 6);
  if (!random_below(random, 12)) columns = random_below(random, 6);
  bool is_real = random_below(random, 30) != 0;
  const char *real = is_real ? "Real" : random_below(random, 2) ? "Integer" : "String";
  size_t letters = rest[0] == '\'' ? strcspn(rest + 1, "'") : 0; /* none: the argument is only written */
  if (rest[0] == '\'')
    put(text, "%s String %.*s = \"%c\";\n", letters || random_below(random, 2) ? "input" : "output", (int)length,
        formal, letters && random_below(random, 12) ? rest[1 + random_below(random, (uint32_t)letters)] : 'x');
  else if (rest[0] == '.') put(text, "%s %s %.*s = 1;\n", role, real, (int)length, formal);
  else if (rest[0] == '~' || rest[0] == '#')
    put(text, "output %s %.*s[%u];\n", rest[0] == '~' ? real : "Integer", (int)length, formal,
        random_below(random, 8) ? 8 * n + 20 : random_below(random, 6));
  else if (rest[0] == '@')
    put(text, "input Integer %.*s = %ld;\n", (int)length, formal,
        random_below(random, 8) ? 8l * n + 20 : integer_for(random, formal, length, n));
  else if (rest[0] == '&') put(text, "input Integer %.*s = 0;\n", (int)length, formal);
  else if (rest[0] == '(' || rest[0] == '[') {
    bool is_matrix = memchr(rest, ',', strcspn(rest, ")]")) != NULL;
    put(text, "%s %s %.*s[%u", role, rest[0] == '[' ? "Integer" : real, (int)length, formal, rows);
    if (is_matrix) put(text, ", %u", columns);
    put(text, "]");
    if (rows && (!is_matrix || columns > 1)) {
      put(text, " = ");
      put_elements(random, text, rows, is_matrix ? columns : 1, rest[0] == '[');
    }
    put(text, ";\n");
  } else put(text, "%s Integer %.*s = %ld;\n", role, (int)length, formal, integer_for(random, formal, length, n));
}

static size_t generate_lapack(Random *random, char *text, size_t limit) {
  static Text whole, call;
  memset(&whole, 0, sizeof whole);
  memset(&call, 0, sizeof call);
  uint32_t routine = random_below(random, sizeof ROUTINES / sizeof *ROUTINES), n = random_below(random, 5);
  put(&whole, "model M\n  function f\n    output Real result;\n");
  for (const char *at = ROUTINES[routine].arguments; *at; at += *at == ' ') {
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    put_argument(random, &whole, at, length, n);
    if (random_below(random, 60)) put(&call, "%s%.*s", call.length ? ", " : "", (int)length, at);
    at += strcspn(at, " ");
  }
  const char *result = random_below(random, 20) ? "" : "result = ";
  put(&whole, "    external \"FORTRAN 77\" %s%s(%s) annotation(Library = \"lapack\");\n  end f;\n", result,
      ROUTINES[routine].name, call.data);
  put(&whole, "  parameter Real y = f();\n  Real x = y*time;\nend M;\n");
  return put_out(&whole, text, limit);
}

/* ---- changes ---- */

static void change_word(Random *random, uint8_t *at, size_t left) {
  static const uint64_t WILD[] = {0,
                                  1,
                                  2,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  0x7ff0000000000000,
                                  0x7ff8000000000000,
                                  0x7fffffffffffffff,
                                  UINT64_MAX,
                                  1000};
  uint64_t word = PICK(random, WILD);
  size_t size = random_below(random, 2) ? 4 : 8;
  if (size <= left) memcpy(at, &word, size);
}

/* One change of a file of numbers; `from` has bytes of the same kind. */
static size_t change_bytes(Random *random, uint8_t *bytes, size_t size, size_t limit, const Bytes *from) {
  size_t at = random_below(random, (uint32_t)size + 1), left = size - at, length = random_below(random, 64);
  if (!left) return size;
  if (random_below(random, 2)) at -= at % 4;
  left = size - at;
  if (length > left) length = left;
  switch (random_below(random, 6)) {
  case 0: bytes[at] ^= (uint8_t)(1u << random_below(random, 8)); return size;
  case 1:
  case 2: change_word(random, bytes + at, left); return size;
  case 3: memmove(bytes + at, bytes + at + length, left - length); return size - length;
  case 4:
    if (length > from->size || size + length > limit) return size;
    memmove(bytes + at + length, bytes + at, left);
    memcpy(bytes + at, from->data + random_below(random, (uint32_t)(from->size - length + 1)), length);
    return size + length;
  default: return random_below(random, 8) ? size : at;
  }
}

/* One field, line or character of a text. */
static size_t change_text(Random *random, char *text, size_t size, size_t limit) {
  static const char *const WORDS[] = {
      "",       "nan",  "inf",  "1e999", "-1",           "\"",    "\"\"",  ",",
      "\n",     "time", "u",    "x",     "0.1",          "1e308", "\r\n",  "=",
      "der(x)", "\t",   "\xff", ";",     "fixed = true", "(",     "{1,2}", "#1\ndouble data_2(2,2)\n1 2\n3 4\n"};
  size_t begin = random_below(random, (uint32_t)size + 1), end = begin;
  while (end < size && !strchr(",\n =", text[end])) end++;
  if (!random_below(random, 4)) end = begin;
  const char *word = PICK(random, WORDS);
  return replace(text, size, limit, (Span){begin, end}, word, strlen(word));
}

/* Seven of eight inputs begin with a sample. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  Random random = {seed};
  if (max_size > LONGEST) max_size = LONGEST;
  if (max_size <= HEAD) return size;
  if (size <= HEAD || random_below(&random, 8)) {
    data[0] = (uint8_t)random_below(&random, KINDS);
    data[1] = (uint8_t)random_below(&random, VARIANTS);
    data[2] = (uint8_t)(random_below(&random, 8) != 0);
    const Bytes *sample = &samples[data[0]][data[1]];
    size = HEAD + (sample->size < max_size - HEAD ? sample->size : max_size - HEAD);
    memcpy(data + HEAD, sample->data, size - HEAD);
    if (data[0] == LAPACK_CALL) size = HEAD + generate_lapack(&random, (char *)data + HEAD, max_size - HEAD);
  }
  Kind kind = data[0] % KINDS;
  const Bytes *from = &samples[kind][data[1] % VARIANTS];
  bool is_text = kind == CSV || kind == START_VALUES || kind == PART_ROWS || kind == LAPACK_CALL;
  for (uint32_t k = random_below(&random, kind == LAPACK_CALL ? 2 : 5); k > 0; k--)
    if (is_text && random_below(&random, 4))
      size = HEAD + change_text(&random, (char *)data + HEAD, size - HEAD, max_size - HEAD);
    else size = HEAD + change_bytes(&random, data + HEAD, size - HEAD, max_size - HEAD, from);
  return size;
}

/* ---- samples ---- */

/* A result of the model with an input, as CSV or MAT, with the columns that the use of a variant (use_table) requires. */
static void make_table(Kind kind, uint32_t variant) {
  static const char *const COLUMNS[][2] = {{"u"}, {"u"}, {NULL}, {"x"}, {NULL}};
  static const char MATRIX[] = "#1\ndouble data_2(2,3) # comment\n1 2 3\n4, 5, 6\n";
  uint32_t steps;
  char path[80];
  daedal_options options = options_of(&steps);
  options.inputs = &(daedal_input){.name = "u", .expression = "sin(40*time)"};
  options.input_count = 1;
  options.variables = COLUMNS[variant % 5][0] ? COLUMNS[variant % 5] : NULL;
  daedal_model *model = load(WITH_INPUT, strlen(WITH_INPUT), NULL);
  daedal_result *result = daedal_simulate(model, &options);
  snprintf(path, sizeof path, "%s/r.%s", directory, kind == CSV ? "csv" : "mat");
  daedal_save(result, path);
  read_bytes(path, &samples[kind][variant]);
  unlink(path);
  if (kind == CSV && variant % 5 == 4) {
    samples[kind][variant].size = strlen(MATRIX);
    memcpy(samples[kind][variant].data, MATRIX, strlen(MATRIX));
  }
  daedal_free(result);
  daedal_free(model);
}

static void make_start_values(uint32_t variant) {
  uint32_t steps;
  daedal_options options = options_of(&steps);
  Bytes *sample = &samples[START_VALUES][variant];
  options.open_inputs = true;
  daedal_model *model = load(RUNS[variant].text, strlen(RUNS[variant].text), NULL);
  daedal_result *result = daedal_initialize(model, &options);
  const char *text = daedal_report(result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT);
  sample->size = text ? strnlen(text, LONGEST - HEAD) : 0;
  if (text) memcpy(sample->data, text, sample->size);
  daedal_free(result);
  daedal_free(model);
}

static void print_tally(void) {
  fprintf(stderr, "tally:");
  for (Kind kind = 0; kind < KINDS; kind++)
    fprintf(stderr, " %s %llu, %llu of them read;", KIND_NAMES[kind], (unsigned long long)counts[kind],
            (unsigned long long)went_well[kind]);
  fprintf(stderr, "\n");
  unlink(data_path);
  unlink(part_path);
  unlink(state_path);
  rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  if (!mkdtemp(directory)) return 1;
  snprintf(data_path, sizeof data_path, "%s/data.csv", directory);
  snprintf(part_path, sizeof part_path, "%s/part.csv", directory);
  snprintf(state_path, sizeof state_path, "%s/part.csv.state", directory);
  sweep(true, false, NULL);
  for (uint32_t k = 0; k < VARIANTS; k++) {
    make_table(CSV, k);
    make_table(MAT, k);
    make_start_values(k);
    read_bytes(data_path, &samples[JOURNAL][k]);
  }
  for (uint32_t k = 0; k < VARIANTS; k++) {
    unlink(part_path);
    unlink(state_path);
    run_part((uint8_t)k, false, NULL);
    read_bytes(part_path, &samples[PART_ROWS][k]);
    read_bytes(state_path, &samples[PART_STATE][k]);
  }
  for (Kind kind = 0; kind < LAPACK_CALL; kind++)
    for (uint32_t k = 0; k < VARIANTS; k++)
      if (!samples[kind][k].size || samples[kind][k].size >= LONGEST - HEAD)
        finding("no sample of a kind", KIND_NAMES[kind]);
  atexit(print_tally);
  return 0;
}
