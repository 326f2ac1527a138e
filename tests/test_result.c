/* Results: numbers, files, JSON, trajectories, CSV, MAT, plots, incidence pictures. Every test has its own heap, list of
 * diagnostics and empty directory; the files left in the directory are checked by name. */
#include "base/number.h"
#include "result/axis.h"
#include "result/csv.h"
#include "result/incidence.h"
#include "result/json.h"
#include "result/load.h"
#include "result/mat.h"
#include "result/plot.h"
#include "result/signal_filter.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Fixture {
  Heap *heap;
  Diags diags;
  jmp_buf point;
  char directory[64];
  char path[96];
} Fixture;

static int begin(void **state) {
  Fixture *f = calloc(1, sizeof *f);
  f->heap = heap_new(NULL);
  f->diags = diags_make(f->heap);
  strcpy(f->directory, "/tmp/daedal-result-XXXXXX");
  *state = f;
  return mkdtemp(f->directory) ? 0 : -1;
}

static int count_files(const Fixture *f, bool remove_them) {
  DIR *directory = opendir(f->directory);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    char path[400];
    snprintf(path, sizeof path, "%s/%s", f->directory, entry->d_name);
    if (remove_them) remove(path);
    count++;
  }
  closedir(directory);
  return count;
}

static int finish(void **state) {
  Fixture *f = *state;
  heap_destroy(f->heap);
  count_files(f, true);
  rmdir(f->directory);
  free(f);
  return 0;
}

/* Each test enters its heap's catch point first; a refused allocation then fails the test. */
#define ENTER(f)       \
  Fixture *f = *state; \
  if (!HEAP_TRY(f->heap, f->point)) fail_msg("an allocation was refused")

static const char *in_directory(Fixture *f, const char *name) {
  snprintf(f->path, sizeof f->path, "%s/%s", f->directory, name);
  return f->path;
}

static bool said(const Fixture *f, DiagCode code, const char *part) {
  for (uint32_t i = 0; i < f->diags.list.count; i++) {
    const Diag *diag = &f->diags.list.data[i];
    if (diag->code == code && strstr(diag->message, part)) return true;
  }
  return false;
}

static char *slurp(Fixture *f, const char *path) {
  uint32_t length;
  return file_read(f->heap, &f->diags, path, &length);
}

/* A small generator, so that every run tests the same values. */
static uint64_t random_bits(uint64_t *seed) {
  *seed += UINT64_C(0x9e3779b97f4a7c15);
  return hash_mix(*seed);
}

static double random_double(uint64_t *seed, int kind) {
  uint64_t bits = random_bits(seed);
  double value;
  if (kind == 0) { /* any bit pattern */
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : 1;
  }
  if (kind == 1) return (double)(bits >> 40) / 100; /* few decimals */
  if (kind == 2) return ldexp((double)(int64_t)bits, -(int)(random_bits(seed) % 130));
  double power = pow(10, (double)(bits % 40) - 20); /* close to a power of ten */
  return nextafter(power, bits & 64 ? INFINITY : 0);
}

/* ---- numbers ---- */

static void number_equals_printf(void **state) {
  ENTER(f);
  uint64_t seed = 1;
  char ours[NUMBER_SIZE], theirs[64];
  for (int i = 0; i < 400000; i++) {
    double value = random_double(&seed, i % 4);
    int digits = 17 - (int)(random_bits(&seed) % 4) * (i % 3 == 0) * 5;
    size_t length = number_format(value, digits, ours);
    snprintf(theirs, sizeof theirs, "%.*g", digits, value);
    assert_string_equal(ours, theirs);
    assert_int_equal(length, strlen(ours));
  }
}

static void number_reads_back(void **state) {
  ENTER(f);
  uint64_t seed = 2;
  char text[NUMBER_SIZE];
  for (int i = 0; i < 200000; i++) {
    double value = random_double(&seed, i % 4), again;
    size_t length = i & 1 ? number_format(value, 17, text) : number_shortest(value, text);
    assert_true(number_parse(text, text + length, &again));
    assert_memory_equal(&value, &again, sizeof value);
  }
  number_shortest(0.1, text), assert_string_equal(text, "0.1");
  number_shortest(1.0 / 3, text), assert_string_equal(text, "0.3333333333333333");
  number_shortest(-0.0, text), assert_string_equal(text, "-0");
  number_shortest(5e-324, text), assert_string_equal(text, "4.94065645841247e-324");
  number_format(NAN, 17, text), assert_string_equal(text, "nan");
  number_format(-INFINITY, 17, text), assert_string_equal(text, "-inf");
}

static bool parses(const char *text, double *value) { return number_parse(text, text + strlen(text), value); }

static void number_parses_like_strtod(void **state) {
  ENTER(f);
  static const char *const good[] = {"1",
                                     "-1.5",
                                     "+.5",
                                     "5.",
                                     "1e5",
                                     "1E-5",
                                     " 2 ",
                                     "123456789012345678901234567890",
                                     "1e400",
                                     "1e-400",
                                     "0.000000000000000000000000000000000000001e39",
                                     "2.2250738585072011e-308",
                                     "9007199254740993",
                                     "0e999999999999",
                                     "0",
                                     "1797693134862315807937289714053034150799341327100378269361737789804449"};
  static const char *const bad[] = {"",     " ",   ".",  "-",   "1e",    "1e+",  "1x",
                                    "0x10", "1,5", "e5", "--1", "1.2.3", "nanx", "tru"};
  double value;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(parses(good[i], &value));
    assert_true(value == strtod(good[i], NULL));
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(parses(bad[i], &value));
  assert_true(parses("TRUE", &value) && value == 1);
  assert_true(parses("-Infinity", &value) && value < -1e308);
  assert_true(parses("NaN", &value) && isnan(value));
  char half[1200]; /* 2^53 + 1 and a tail of zeros: only the digit at the very end breaks the tie upwards */
  memset(half, '0', sizeof half);
  memcpy(half, "9007199254740993.", 17);
  strcpy(half + sizeof half - 2, "1");
  assert_true(parses(half, &value) && value == 9007199254740994.0);
  half[sizeof half - 2] = '0';
  assert_true(parses(half, &value) && value == 9007199254740992.0);
}

/* ---- files ---- */

static void file_appears_only_at_commit(void **state) {
  ENTER(f);
  const char *path = in_directory(f, "out.txt");
  assert_true(file_save(f->heap, &f->diags, path, NULL, NULL, "old", 3));
  FileWriter *writer = file_create(f->heap, &f->diags, path, NULL, NULL);
  for (int i = 0; i < 100000; i++) file_write(writer, "0123456789", 10);
  assert_string_equal(slurp(f, path), "old");
  assert_int_equal(count_files(f, false), 2);
  assert_true(file_commit(writer));
  assert_int_equal(count_files(f, false), 1);
  char *text = slurp(f, path);
  assert_int_equal(strlen(text), 1000000);
  assert_memory_equal(text + 999990, "0123456789", 10);
}

static void file_abandoned_leaves_the_old(void **state) {
  ENTER(f);
  const char *path = in_directory(f, "out.txt");
  assert_true(file_save(f->heap, &f->diags, path, NULL, NULL, "old", 3));
  FileWriter *writer = file_create(f->heap, &f->diags, path, NULL, NULL);
  file_write(writer, "new", 3);
  file_abandon(writer);
  Heap *other = heap_new(NULL); /* a run that ends without cleaning up: its heap is freed, nothing else happens */
  jmp_buf point;
  if (!HEAP_TRY(other, point)) fail();
  writer = file_create(other, &f->diags, path, NULL, NULL);
  file_write(writer, "new", 3);
  heap_destroy(other);
  assert_int_equal(count_files(f, false), 1);
  assert_string_equal(slurp(f, path), "old");
}

static void file_permissions_follow_the_umask(void **state) {
  ENTER(f);
  mode_t before = umask(027);
  assert_true(file_save(f->heap, &f->diags, in_directory(f, "mode"), NULL, NULL, "x", 1));
  umask(before);
  struct stat info;
  assert_int_equal(stat(f->path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640);
}

static void file_follows_links(void **state) {
  ENTER(f);
  char link[96];
  strcpy(link, in_directory(f, "link"));
  assert_int_equal(symlink("target", link), 0);
  assert_true(file_save(f->heap, &f->diags, in_directory(f, "target"), NULL, NULL, "1", 1));
  assert_true(file_save(f->heap, &f->diags, link, NULL, NULL, "2", 1));
  struct stat info;
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_string_equal(slurp(f, in_directory(f, "target")), "2");
}

static void file_errors_are_reported(void **state) {
  ENTER(f);
  assert_null(file_create(f->heap, &f->diags, "/nowhere/at/all.csv", NULL, NULL));
  assert_true(said(f, DIAG_FILE, "cannot write `/nowhere/at/all.csv`: No such file"));
  assert_null(file_create(f->heap, &f->diags, f->directory, NULL, NULL));
  assert_true(said(f, DIAG_FILE, "Is a directory"));
  assert_null(file_create(f->heap, &f->diags, "", NULL, NULL));
  assert_null(file_create(f->heap, &f->diags, "-", NULL, NULL));
  assert_true(said(f, DIAG_FILE, "standard output"));
  uint32_t length;
  assert_null(file_read(f->heap, &f->diags, f->directory, &length));
  assert_null(file_read(f->heap, &f->diags, in_directory(f, "absent"), &length));
  assert_true(said(f, DIAG_FILE, "cannot read"));
  FILE *sparse = fopen(in_directory(f, "large"), "w");
  assert_int_equal(ftruncate(fileno(sparse), (off_t)1 << 31), 0);
  fclose(sparse);
  assert_null(file_read(f->heap, &f->diags, f->path, &length));
  assert_true(said(f, DIAG_FILE, "File too large"));
}

static void file_full_disk(void **state) {
  ENTER(f);
  FileWriter *writer = file_create(f->heap, &f->diags, "/dev/full", NULL, NULL);
  assert_non_null(writer);
  for (int i = 0; i < 10000; i++) file_write(writer, "0123456789", 10);
  assert_false(file_commit(writer));
  assert_true(said(f, DIAG_FILE, "cannot write `/dev/full`: No space left on device"));
  assert_true(file_save(f->heap, &f->diags, "/dev/null", NULL, NULL, "x", 1));
}

/* A limit on the size of files stands for a disk that fills up in the middle of the real path. */
static void file_limit_leaves_the_old(void **state) {
  ENTER(f);
  const char *path = in_directory(f, "out.txt");
  assert_true(file_save(f->heap, &f->diags, path, NULL, NULL, "old", 3));
  char command[400];
  snprintf(command, sizeof command, "exec 2>/dev/null; trap '' XFSZ; ulimit -f 64; RESULT_WRITE=%s exec /proc/%ld/exe",
           path, (long)getpid());
  int status = system(command);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 1);
  assert_int_equal(count_files(f, false), 1);
  assert_string_equal(slurp(f, path), "old");
}

/* The child process of the test above: 0 if the file was written completely. */
static int write_too_much(const char *path) {
  Heap *heap = heap_new(NULL);
  jmp_buf point;
  if (!HEAP_TRY(heap, point)) return 2;
  Diags diags = diags_make(heap);
  FileWriter *writer = file_create(heap, &diags, path, NULL, NULL);
  for (int i = 0; i < 1000000; i++) file_write(writer, "0123456789", 10);
  bool good = file_commit(writer);
  heap_destroy(heap);
  return good ? 0 : 1;
}

static bool append_sink(void *context, const void *bytes, size_t length) {
  strncat(context, bytes, length);
  return true;
}

static bool broken_sink(void *context, const void *bytes, size_t length) {
  (void)context, (void)bytes, (void)length;
  errno = EPIPE;
  return false;
}

static void file_sink_takes_standard_output(void **state) {
  ENTER(f);
  char got[64] = "";
  assert_true(file_save(f->heap, &f->diags, "-", append_sink, got, "hello", 5));
  assert_string_equal(got, "hello");
  assert_false(file_save(f->heap, &f->diags, "-", broken_sink, NULL, "hello", 5));
  assert_true(said(f, DIAG_FILE, "Broken pipe"));
}

/* ---- json ---- */

static void json_golden(void **state) {
  ENTER(f);
  TextVec text = {0};
  JsonWriter json = json_make(f->heap, &text);
  json_object_begin(&json);
  json_key_string(&json, "status", "ok");
  json_key(&json, "blocks");
  json_array_begin(&json);
  for (int i = 1; i <= 2; i++) {
    json_object_begin(&json);
    json_key(&json, "equations");
    json_array_begin(&json);
    json_integer(&json, i), json_integer(&json, -i);
    json_array_end(&json);
    json_key_bool(&json, "linear", i == 1);
    json_object_end(&json);
  }
  json_array_end(&json);
  json_key(&json, "c");
  json_array_begin(&json);
  json_number(&json, 0.1), json_number(&json, NAN), json_number(&json, 1e300);
  json_array_end(&json);
  json_key(&json, "none");
  json_array_begin(&json), json_array_end(&json);
  json_key(&json, "nothing");
  json_object_begin(&json), json_object_end(&json);
  json_key(&json, "a\"b\\\n\x01"), json_null(&json);
  json_object_end(&json);
  assert_string_equal(text.data, "{\n"
                                 "  \"status\": \"ok\",\n"
                                 "  \"blocks\": [\n"
                                 "    {\"equations\": [1, -1], \"linear\": true},\n"
                                 "    {\"equations\": [2, -2], \"linear\": false}\n"
                                 "  ],\n"
                                 "  \"c\": [0.1, null, 1e+300],\n"
                                 "  \"none\": [],\n"
                                 "  \"nothing\": {},\n"
                                 "  \"a\\\"b\\\\\\n\\u0001\": null\n"
                                 "}\n");
}

static void json_repairs_utf8(void **state) {
  ENTER(f);
  static const char *const pairs[][2] = {{"\xc3\xa4", "\xc3\xa4"},                                 /* fine */
                                         {"a\xff", "a\xef\xbf\xbd"},                               /* no such byte */
                                         {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong */
                                         {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* cut short */
                                         {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
                                         {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    TextVec text = {0};
    JsonWriter json = json_make(f->heap, &text);
    json_string(&json, pairs[i][0]);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\"", pairs[i][1]);
    assert_string_equal(text.data, wanted);
  }
}

/* ---- trajectories ---- */

/* time 0 .. with an event at 1; two columns, an alias, a negated alias, a constant and a parameter. */
static Trajectory *sample_trajectory(Heap *heap) {
  SignalTable *table = signals_new(heap);
  const Signal signals[] = {
      {.name = "x", .unit = "m", .description = "position", .kind = SIGNAL_STATE, .column = 0},
      {.name = "der(x)", .unit = "m/s", .kind = SIGNAL_DERIVATIVE, .column = 1},
      {.name = "a[1,2]", .kind = SIGNAL_ALGEBRAIC, .column = 0},
      {.name = "y", .unit = "m", .display_unit = "mm", .kind = SIGNAL_ALGEBRAIC, .column = 0, .negated = true},
      {.name = "q\"uote", .kind = SIGNAL_DISCRETE, .column = 1, .negated = true},
      {.name = "three", .kind = SIGNAL_ALGEBRAIC, .column = SIGNAL_CONSTANT, .value = 3},
      {.name = "p", .unit = "kg", .kind = SIGNAL_PARAMETER, .column = SIGNAL_CONSTANT, .value = 0.1},
  };
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signals_add(table, &signals[i]);
  Trajectory *trajectory = trajectory_new(heap, table);
  static const double rows[][3] = {{0, 1, 0.1}, {0.5, 1.0 / 3, 1e-300}, {1, 2, 3}, {1, -2, 4}, {1.5, 1e22, 1e-7}};
  for (size_t i = 0; i < 5; i++) memcpy(trajectory_append(trajectory, rows[i][0]), rows[i] + 1, 2 * sizeof(double));
  return trajectory;
}

static void trajectory_keeps_rows(void **state) {
  ENTER(f);
  SignalTable *table = signals_new(f->heap);
  for (uint32_t i = 0; i < 7; i++) {
    const char name[] = {(char)('a' + i), '\0'};
    signals_add(table, &(Signal){.name = name, .column = i});
  }
  Trajectory *trajectory = trajectory_new(f->heap, table);
  for (int i = 0; i < 20000; i++) {
    double *columns = trajectory_append(trajectory, i);
    for (int j = 0; j < 7; j++) columns[j] = i * 10 + j;
  }
  trajectory_cut(trajectory, 5000); /* in the middle of its chunks: rows that were removed come again */
  for (int i = 5000; i < 20000; i++) {
    double *columns = trajectory_append(trajectory, i);
    for (int j = 0; j < 7; j++) columns[j] = i * 10 + j;
  }
  const double *early = trajectory_row(trajectory, 3);
  for (size_t i = 0; i < 20000; i++) {
    assert_true(trajectory_time(trajectory, i) == (double)i);
    for (uint32_t j = 0; j < 7; j++) assert_true(trajectory_value(trajectory, i, j) == (double)(i * 10 + j));
  }
  assert_true(early[2] == 32);
  size_t before = heap_bytes(f->heap);
  trajectory_free(trajectory);
  assert_true(before - heap_bytes(f->heap) > 20000 * 8 * 8);
}

static void trajectory_samples(void **state) {
  ENTER(f);
  Trajectory *trajectory = sample_trajectory(f->heap);
  double columns[2];
  assert_true(trajectory_sample(trajectory, 0.25, columns) && fabs(columns[0] - 2.0 / 3) < 1e-15);
  assert_true(trajectory_sample(trajectory, 1, columns) && columns[0] == -2); /* after the event */
  assert_true(trajectory_sample(trajectory, 1 - 1e-9, columns) && fabs(columns[0] - 2) < 1e-8);
  assert_true(trajectory_sample(trajectory, 1.5, columns) && columns[0] == 1e22);
  assert_true(trajectory_sample(trajectory, 0, columns) && columns[0] == 1);
  assert_false(trajectory_sample(trajectory, 1.6, columns));
  assert_false(trajectory_sample(trajectory, -0.1, columns));
  assert_false(trajectory_sample(trajectory, NAN, columns));
  assert_int_equal(signals_find(trajectory->signals, "y"), 3);
  assert_int_equal(signals_find(trajectory->signals, "none"), MAP_NONE);
}

static const char *some_name(void *context, uint32_t index) {
  static const char *const names[] = {"time", "x",  "xy",     "a.b",      "axb",   "r[1]",
                                      "r[2]", "r2", "m[1,2]", "odd,name", "body.v"};
  (void)context;
  return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static const NameList some_names = {some_name, NULL};

static SignalFilter *filter_of(Fixture *f, const char *word) {
  return signal_filter_new(f->heap, &f->diags, (const char *const[]){word, NULL}, some_names);
}

static bool chooses(Fixture *f, const char *word, const char *name) {
  SignalFilter *filter = filter_of(f, word);
  assert_non_null(filter);
  return signal_filter_match(filter, name);
}

static void filter_takes_names_before_expressions(void **state) {
  ENTER(f);
  assert_true(chooses(f, "a.b", "a.b") && !chooses(f, "a.b", "axb"));
  assert_true(chooses(f, "a.[b]", "axb"));
  assert_true(chooses(f, "r", "r[2]") && !chooses(f, "r", "r2"));
  assert_true(chooses(f, "r[1]", "r[1]") && !chooses(f, "r[1]", "r[2]"));
  SignalFilter *several = signal_filter_new(f->heap, &f->diags, (const char *const[]){"x", "m", NULL}, some_names);
  assert_true(signal_filter_match(several, "m[1,2]") && signal_filter_match(several, "x"));
  assert_true(chooses(f, "odd,name", "odd,name") && chooses(f, "x{1,2}", "x"));
  assert_int_equal(f->diags.errors, 0);
  assert_null(filter_of(f, "body.c"));
  assert_true(said(f, DIAG_USAGE, "no variable is named `body.c` or matches it"));
  assert_string_equal(f->diags.list.data[0].notes.data[0].message, "did you mean `body.v`?");
}

static void filter_matches_whole_names(void **state) {
  ENTER(f);
  SignalFilter *filter = filter_of(f, "x|body\\.(v|w).*");
  assert_true(signal_filter_match(filter, "x"));
  assert_true(signal_filter_match(filter, "body.velocity"));
  assert_false(signal_filter_match(filter, "xx"));
  assert_false(signal_filter_match(filter, "body.x"));
  assert_false(signal_filter_match(filter, "der(x)"));
  filter = signal_filter_new(f->heap, &f->diags, (const char *const[]){NULL}, some_names);
  assert_false(signal_filter_match(filter, "x"));
  assert_int_equal(f->diags.errors, 0);
  assert_null(filter_of(f, "a["));
  assert_null(filter_of(f, "(a"));
  assert_null(filter_of(f, "*)|(a"));
  assert_true(said(f, DIAG_USAGE, "`a[` is neither a name nor a regular expression"));
  assert_true(said(f, DIAG_USAGE, "`(a` is neither"));
  char *endless = memset(heap_alloc(f->heap, 100001), '(', 100000);
  assert_null(filter_of(f, endless));
}

/* ---- csv ---- */

static const char sample_csv[] = "time,x,der(x),\"a[1,2]\",y,\"q\"\"uote\",three\n"
                                 "0,1,0.10000000000000001,1,-1,-0.10000000000000001,3\n"
                                 "0.5,0.33333333333333331,1e-300,0.33333333333333331,"
                                 "-0.33333333333333331,-1e-300,3\n"
                                 "1,2,3,2,-2,-3,3\n"
                                 "1,-2,4,-2,2,-4,3\n"
                                 "1.5,1e+22,9.9999999999999995e-08,1e+22,-1e+22,-9.9999999999999995e-08,3\n";

static void csv_golden(void **state) {
  ENTER(f);
  FileWriter *file = file_create(f->heap, &f->diags, in_directory(f, "r.csv"), NULL, NULL);
  csv_write(file, sample_trajectory(f->heap));
  assert_true(file_commit(file));
  assert_string_equal(slurp(f, f->path), sample_csv);
}

static void assert_same_values(const Trajectory *one, const Trajectory *other, bool parameters) {
  assert_int_equal(one->rows, other->rows);
  for (uint32_t i = 0; i < one->signals->list.count; i++) {
    const Signal *signal = &one->signals->list.data[i];
    if (signal->kind == SIGNAL_PARAMETER && !parameters) continue;
    uint32_t there = signals_find(other->signals, signal->name);
    assert_int_not_equal(there, MAP_NONE);
    for (size_t row = 0; row < one->rows; row++) {
      assert_true(trajectory_time(one, row) == trajectory_time(other, row));
      assert_true(trajectory_value(one, row, i) == trajectory_value(other, row, there));
    }
  }
}

static void csv_round_trip(void **state) {
  ENTER(f);
  Trajectory *again = csv_read(f->heap, &f->diags, "r.csv", sample_csv, sizeof sample_csv - 1);
  assert_non_null(again);
  assert_same_values(sample_trajectory(f->heap), again, false);
  assert_int_equal(again->signals->list.data[1].kind, SIGNAL_DERIVATIVE);
}

static Trajectory *read_text_csv(Fixture *f, const char *text) {
  return csv_read(f->heap, &f->diags, "r.csv", text, (uint32_t)strlen(text));
}

static void csv_reader_tolerates(void **state) {
  ENTER(f);
  Trajectory *read = read_text_csv(f, "\xef\xbb\xbf\"time\", b[1,2] ,\"c\"\r\n0,true,\"1.5\"\r\n\r\n1, false ,NaN");
  assert_non_null(read);
  assert_int_equal(read->rows, 2);
  uint32_t b = signals_find(read->signals, "b[1,2]"), c = signals_find(read->signals, "c");
  assert_true(trajectory_value(read, 0, b) == 1 && trajectory_value(read, 0, c) == 1.5);
  assert_true(trajectory_value(read, 1, b) == 0 && isnan(trajectory_value(read, 1, c)));
  assert_non_null(read_text_csv(f, "time\n0\n1\n"));
}

static void csv_reader_refuses(void **state) {
  ENTER(f);
  assert_null(read_text_csv(f, ""));
  assert_null(read_text_csv(f, "x,y\n1,2\n"));
  assert_true(said(f, DIAG_FILE, "`r.csv` line 1: the first column is not time"));
  assert_null(read_text_csv(f, "time,x\n0,1\n1\n"));
  assert_true(said(f, DIAG_FILE, "line 3: fewer cells"));
  assert_null(read_text_csv(f, "time,x\n0,1,2\n"));
  assert_null(read_text_csv(f, "time,x\n0,one\n"));
  assert_null(read_text_csv(f, "time,x\n1,1\n0,1\n"));
  assert_true(said(f, DIAG_FILE, "line 3: time decreases"));
  assert_null(read_text_csv(f, "time,x\nnan,1\n"));
  assert_null(read_text_csv(f, "time,\"x\n0,1\n"));
  assert_null(read_text_csv(f, "time,x\n"));
}

/* Python's csv module must see the same cells. */
static void csv_python_agrees(void **state) {
  ENTER(f);
  assert_true(file_save(f->heap, &f->diags, in_directory(f, "r.csv"), NULL, NULL, sample_csv, sizeof sample_csv - 1));
  char command[1000];
  snprintf(command, sizeof command,
           "python3 -c 'import csv,sys\n"
           "rows=list(csv.reader(open(sys.argv[1])))\n"
           "assert rows[0]==[\"time\",\"x\",\"der(x)\",\"a[1,2]\",\"y\",\"q\\\"uote\",\"three\"],rows[0]\n"
           "assert float(rows[2][1])==1/3 and float(rows[5][3])==1e22 and len(rows)==6' %s",
           f->path);
  assert_int_equal(system(command), 0);
}

/* ---- mat ---- */

static void mat_round_trip(void **state) {
  ENTER(f);
  Trajectory *trajectory = sample_trajectory(f->heap);
  FileWriter *file = file_create(f->heap, &f->diags, in_directory(f, "r.mat"), NULL, NULL);
  assert_true(mat_write(f->heap, &f->diags, file, trajectory));
  assert_true(file_commit(file));
  uint32_t length = 0;
  assert_non_null(file_read(f->heap, &f->diags, f->path, &length));
  assert_int_equal(length, mat_size(trajectory->signals, trajectory->rows));
  Trajectory *again = load_result(f->heap, &f->diags, f->path);
  assert_non_null(again);
  assert_same_values(trajectory, again, true);
  const Signal *y = &again->signals->list.data[signals_find(again->signals, "y")];
  const Signal *x = &again->signals->list.data[signals_find(again->signals, "x")];
  assert_string_equal(x->description, "position");
  assert_string_equal(x->unit, "m");
  assert_string_equal(y->display_unit, "mm");
  assert_true(y->negated && y->column == x->column);
}

/* A separate reader, written from the description of the format. */
static const char mat_python[] =
    "import struct, sys\n"
    "data = open(sys.argv[1], 'rb').read()\n"
    "at, m, order = 0, {}, []\n"
    "while at < len(data):\n"
    "    kind, rows, cols, imag, length = struct.unpack_from('<5i', data, at)\n"
    "    name = data[at+20:at+20+length-1].decode()\n"
    "    assert data[at+20+length-1] == 0 and imag == 0\n"
    "    at += 20 + length\n"
    "    code, size = {0: ('d', 8), 20: ('i', 4), 51: ('B', 1)}[kind]\n"
    "    flat = struct.unpack_from('<%d%s' % (rows * cols, code), data, at)\n"
    "    at += rows * cols * size\n"
    "    m[name] = [flat[c*rows:(c+1)*rows] for c in range(cols)]\n"
    "    order.append(name)\n"
    "text = lambda row: bytes(row).rstrip(b'\\0').decode()\n"
    "assert order == ['Aclass', 'name', 'description', 'dataInfo', 'data_1', 'data_2'], order\n"
    "assert [text(c[i] for c in m['Aclass']) for i in range(4)] == ['Atrajectory', '1.1', '', 'binTrans']\n"
    "names = [text(n) for n in m['name']]\n"
    "assert names == ['time', 'x', 'der(x)', 'a[1,2]', 'y', 'q\"uote', 'three', 'p'], names\n"
    "about = [text(d) for d in m['description']]\n"
    "assert about[:5] == ['simulation time [s]', 'position [m]', '[m/s]', '', '[m|mm]'], about\n"
    "assert m['dataInfo'] == "
    "[(0,1,0,-1),(2,2,0,-1),(2,3,0,-1),(2,2,0,-1),(2,-2,0,-1),(2,-3,0,-1),(1,2,0,0),(1,3,0,0)]\n"
    "assert m['data_1'] == [(0,3,0.1),(1.5,3,0.1)], m['data_1']\n"
    "assert m['data_2'] == [(0,1,.1),(.5,1/3,1e-300),(1,2,3),(1,-2,4),(1.5,1e22,1e-7)], m['data_2']\n";

static void mat_python_agrees(void **state) {
  ENTER(f);
  FileWriter *file = file_create(f->heap, &f->diags, in_directory(f, "r.mat"), NULL, NULL);
  assert_true(mat_write(f->heap, &f->diags, file, sample_trajectory(f->heap)));
  assert_true(file_commit(file));
  char command[300], script[96];
  strcpy(script, in_directory(f, "r.py"));
  assert_true(file_save(f->heap, &f->diags, script, NULL, NULL, mat_python, sizeof mat_python - 1));
  snprintf(command, sizeof command, "python3 %s %s", script, in_directory(f, "r.mat"));
  assert_int_equal(system(command), 0);
}

/* The same result in the other layout and byte order, single precision: made by Python, read here. */
static void mat_reads_foreign_files(void **state) {
  ENTER(f);
  static const char script[] =
      "import struct, sys\n"
      "def put(kind, code, name, rows):\n"
      "    cols = list(zip(*rows))\n"
      "    out.write(struct.pack('>5i', 1000 + kind, len(rows), len(cols), 0, len(name) + 1) + name.encode() "
      "+ b'\\0')\n"
      "    out.write(struct.pack('>%d%s' % (len(rows) * len(cols), code), *(v for c in cols for v in c)))\n"
      "text = lambda lines, n: [s.ljust(n).encode() for s in lines]\n"
      "out = open(sys.argv[1], 'wb')\n"
      "put(50 + 1, 'B', 'Aclass', text(['Atrajectory', '1.1', '', 'binNormal'], 11))\n"
      "put(51, 'B', 'name', text(['time', 'x', 'minus', 'p'], 6))\n"
      "put(51, 'B', 'description', text(['', 'b [m|mm]', '', ''], 9))\n"
      "put(20, 'i', 'dataInfo', [(0,1,0,-1),(2,2,0,-1),(2,-2,0,-1),(1,-2,0,0)])\n"
      "put(10, 'f', 'data_1', [(0,7),(2,7)])\n"
      "put(10, 'f', 'data_2', [(0,0.5),(1,1.5),(2,2.5)])\n"
      "out.close()\n";
  char command[300], path[96];
  strcpy(path, in_directory(f, "make.py"));
  assert_true(file_save(f->heap, &f->diags, path, NULL, NULL, script, sizeof script - 1));
  snprintf(command, sizeof command, "python3 %s %s", path, in_directory(f, "foreign.mat"));
  assert_int_equal(system(command), 0);
  Trajectory *read = load_result(f->heap, &f->diags, f->path);
  assert_non_null(read);
  assert_int_equal(read->rows, 3);
  assert_true(trajectory_value(read, 2, signals_find(read->signals, "minus")) == -2.5);
  assert_true(trajectory_value(read, 0, signals_find(read->signals, "p")) == -7);
  assert_string_equal(read->signals->list.data[0].display_unit, "mm");
}

static void mat_refuses_what_is_too_large(void **state) {
  ENTER(f);
  Trajectory *trajectory = sample_trajectory(f->heap);
  uint64_t fixed = mat_size(trajectory->signals, 0), most = (MAT_LIMIT - fixed) / 24;
  assert_int_equal(mat_size(trajectory->signals, 1000) - fixed, 24000);
  assert_true(mat_fits(&f->diags, trajectory->signals, most));
  assert_false(mat_fits(&f->diags, trajectory->signals, most + 1));
  assert_true(said(f, DIAG_USAGE, "at most 2 GB"));
  assert_true(mat_size(trajectory->signals, UINT64_MAX / 2) == UINT64_MAX);
}

/* Every cut and every damaged byte gives a message or a result, never a crash (the sanitizers watch). */
static void mat_survives_damage(void **state) {
  ENTER(f);
  FileWriter *file = file_create(f->heap, &f->diags, in_directory(f, "r.mat"), NULL, NULL);
  assert_true(mat_write(f->heap, &f->diags, file, sample_trajectory(f->heap)));
  assert_true(file_commit(file));
  uint32_t length;
  char *bytes = file_read(f->heap, &f->diags, f->path, &length);
  for (uint32_t cut = 0; cut < length; cut++) {
    char *part = memcpy(heap_alloc(f->heap, cut), bytes, cut); /* an exact copy, so that a read beyond it is detected */
    Trajectory *got = mat_read(f->heap, &f->diags, "cut.mat", part, cut);
    assert_null(got);
    heap_free(f->heap, part);
  }
  for (uint32_t i = 0; i < length; i++) {
    char before = bytes[i];
    for (int bit = 0; bit < 8; bit += 3) {
      bytes[i] = (char)(before ^ (1 << bit));
      mat_read(f->heap, &f->diags, "bad.mat", bytes, length);
    }
    bytes[i] = before;
  }
  assert_non_null(mat_read(f->heap, &f->diags, "good.mat", bytes, length));
}

static void absent_results_are_refused(void **state) {
  ENTER(f);
  assert_null(load_result(f->heap, &f->diags, in_directory(f, "absent")));
}

/* ---- axes ---- */

static void axis_ticks_are_sound(void **state) {
  ENTER(f);
  uint64_t seed = 5;
  for (int i = 0; i < 20000; i++) {
    bool logarithmic = i % 3 == 0;
    double low = random_double(&seed, i % 4 == 3 ? 3 : i % 3),
           high = i % 7 ? random_double(&seed, i % 3) : low * (1 + 1e-9);
    if (logarithmic) low = fabs(low) + 1e-310, high = fabs(high) + 1e-310;
    Axis axis = axis_make(fmin(low, high), fmax(low, high), logarithmic, 0.05, 3 + (uint32_t)i % 8);
    assert_true(isfinite(axis.low) && isfinite(axis.high) && axis.low < axis.high);
    assert_true(axis.ticks >= 1 && axis.ticks <= 16);
    for (uint32_t k = 0; k < axis.ticks; k++) {
      assert_true(axis.tick[k] >= axis.low && axis.tick[k] <= axis.high);
      assert_true(strlen(axis.label[k]) <= 14);
      if (k > 0) assert_true(axis.tick[k] > axis.tick[k - 1]);
      if (k > 0) assert_string_not_equal(axis.label[k], axis.label[k - 1]);
    }
  }
}

static void axis_labels_golden(void **state) {
  ENTER(f);
  static const struct {
    double low, high;
    bool logarithmic;
    const char *first, *last, *note;
  } cases[] = {
      {0, 1, false, "0.0", "1.0", ""},
      {0, 10, false, "0", "10", ""},
      {-3e6, 3e6, false, "-3", "3", "×10⁶"},
      {0, 2e-9, false, "0.0", "2.0", "×10⁻⁹"},
      {1000 - 1.01e-5, 1000 + 1.01e-5, false, "-10", "10", "×10⁻⁶ + 1000"},
      {5, 5, false, "4.4", "5.6", ""},
      {0, 0, false, "-1.0", "1.0", ""},
      {1, -1, false, "0.0", "1.0", ""},
      {1e-12, 1, true, "10⁻¹²", "1", ""},
      {2, 5, true, "2.0", "5.0", ""},
      {-1e308, 1e308, false, "-1.0", "1.0", "×10³⁰⁰"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Axis axis = axis_make(cases[i].low, cases[i].high, cases[i].logarithmic, 0, 6);
    assert_string_equal(axis.label[0], cases[i].first);
    assert_string_equal(axis.label[axis.ticks - 1], cases[i].last);
    assert_string_equal(axis.note, cases[i].note);
  }
}

/* ---- plots ---- */

static double *ramp(Heap *heap, size_t count, double end) {
  double *x = heap_array(heap, count, sizeof *x);
  for (size_t i = 0; i < count; i++) x[i] = end * (double)i / (double)(count - 1);
  return x;
}

static char *svg_of(Fixture *f, const Plot *plot) {
  TextVec text = {0};
  plot_svg(f->heap, plot, &text);
  return text.data;
}

/* The curve of the first series: its pieces, points and extent in tenths of a pixel. */
typedef struct Curve {
  int pieces, points;
  long least, greatest;
  bool jump; /* a vertical line of more than ten pixels */
} Curve;

static Curve read_curve(const char *svg) {
  Curve curve = {.least = 1000000, .greatest = -1};
  const char *at = strstr(strstr(svg, "scale(.1)"), " d=\"") + 4;
  for (long x = 0, y = 0; *at != '"'; curve.points++) {
    bool move = *at == 'M';
    curve.pieces += move;
    if (*at == 'M' || *at == 'l') at++;
    char *end;
    long dx = strtol(at, &end, 10), dy = strtol(end, &end, 10);
    assert_ptr_not_equal(at, end);
    at = end;
    if (!move && dx == 0 && labs(dy) > 100) curve.jump = true;
    x = move ? dx : x + dx;
    y = move ? dy : y + dy;
    curve.least = y < curve.least ? y : curve.least;
    curve.greatest = y > curve.greatest ? y : curve.greatest;
  }
  return curve;
}

static int count_text(const char *text, const char *part) {
  int count = 0;
  for (; (text = strstr(text, part)); text++) count++;
  return count;
}

/* One sample of 300000 is a spike: the drawing must have the height of one with only the extremes. */
static void plot_decimation_keeps_extremes(void **state) {
  ENTER(f);
  enum { N = 300000 };
  double *x = ramp(f->heap, N, 10), *y = heap_array(f->heap, N, sizeof *y);
  for (int i = 0; i < N; i++) y[i] = 1e-3 * sin(i * 0.7);
  y[123457] = 7, y[223456] = -3;
  double few_x[] = {0, 4, 7, 10}, few_y[] = {0, 7, -3, 0};
  PlotSeries many = {.label = "x", .x = x, .y = y, .count = N},
             few = {.label = "x", .x = few_x, .y = few_y, .count = 4};
  char *svg = svg_of(f, &(Plot){.series = &many, .count = 1});
  Curve drawn = read_curve(svg), wanted = read_curve(svg_of(f, &(Plot){.series = &few, .count = 1}));
  assert_int_equal(drawn.least, wanted.least);
  assert_int_equal(drawn.greatest, wanted.greatest);
  assert_int_equal(drawn.pieces, 1);
  assert_in_range(drawn.points, 700, 20000);
  assert_in_range(strlen(svg), 1000, 200000);
}

static void plot_stays_small(void **state) {
  ENTER(f);
  enum { N = 20000, SERIES = 60 };
  uint64_t seed = 3;
  double *x = ramp(f->heap, N, 1);
  PlotSeries *series = heap_array(f->heap, SERIES, sizeof *series);
  for (int s = 0; s < SERIES; s++) {
    double *y = heap_array(f->heap, N, sizeof *y);
    for (int i = 0; i < N; i++) y[i] = (double)(random_bits(&seed) >> 11);
    series[s] = (PlotSeries){.label = "noise", .unit = s % 2 ? "m" : "s", .x = x, .y = y, .count = N};
  }
  assert_in_range(strlen(svg_of(f, &(Plot){.series = series, .count = SERIES})), 20000, 200000);
  double *wild = heap_array(f->heap, N, sizeof *wild); /* an x that goes back and forth */
  for (int i = 0; i < N; i++) wild[i] = (double)(random_bits(&seed) >> 11);
  PlotSeries cloud = {.label = "cloud", .x = wild, .y = series[0].y, .count = N};
  assert_in_range(strlen(svg_of(f, &(Plot){.series = &cloud, .count = 1})), 1000, 200000);
}

static void plot_gaps_and_jumps(void **state) {
  ENTER(f);
  double x[] = {0, 1, 2, 3, 4, 4, 5, 6, 7}, y[] = {1, 2, NAN, 3, 1, 9, INFINITY, 5, NAN};
  PlotSeries series = {.label = "x", .x = x, .y = y, .count = 9};
  Curve curve = read_curve(svg_of(f, &(Plot){.series = &series, .count = 1}));
  assert_int_equal(curve.pieces, 3);
  assert_true(curve.jump);
  double positive[] = {1, 0.1, 0, -1, 1e-3, 1e-9, 1, 1, 1};
  series.y = positive;
  curve = read_curve(svg_of(f, &(Plot){.series = &series, .count = 1, .log_y = true}));
  assert_int_equal(curve.pieces, 2);
  double nothing[] = {NAN, NAN};
  series = (PlotSeries){.label = "none", .x = x, .y = nothing, .count = 2};
  assert_int_equal(read_curve(svg_of(f, &(Plot){.series = &series, .count = 1})).pieces, 0);
  assert_non_null(strstr(svg_of(f, &(Plot){0}), "</svg>"));
}

static void plot_panels_follow_units(void **state) {
  ENTER(f);
  Trajectory *trajectory = sample_trajectory(f->heap);
  Arena arena = arena_make(f->heap);
  const uint32_t chosen[] = {0, 1, 3, 5};
  Plot plot = plot_signals(&arena, trajectory, "A & B", chosen, 4);
  char *svg = svg_of(f, &plot);
  assert_int_equal(count_text(svg, "scale(.1)"), 3); /* m; m/s; none */
  assert_non_null(strstr(svg, "A &amp; B"));
  assert_non_null(strstr(svg, "der(x) [m/s]"));
  assert_non_null(strstr(svg, "time [s]"));
  assert_int_equal(count_text(svg, "<title>y</title>"), 1);
  PlotSeries force = {.label = "f", .unit = "kg.m/s2", .x = plot.series[0].x, .y = plot.series[0].y, .count = 5};
  assert_non_null(strstr(svg_of(f, &(Plot){.series = &force, .count = 1}), "f [kg·m/s²]"));
  force.unit = "level 2"; /* words stay as they are */
  assert_non_null(strstr(svg_of(f, &(Plot){.series = &force, .count = 1}), "f [level 2]"));
}

static int python_parses_xml(const char *path) {
  char command[300];
  snprintf(command, sizeof command, "python3 -c 'import sys,xml.etree.ElementTree as e;e.parse(sys.argv[1])' %s", path);
  return system(command);
}

static void plot_is_well_formed(void **state) {
  ENTER(f);
  double x[] = {1, 10}, y[] = {1e-5, 1e5};
  PlotSeries series[3];
  static const char *const names[] = {"a<b>&\"c\"", "\x01\xff broken \xc3", "]]> '<!--"};
  for (int i = 0; i < 3; i++) {
    series[i] = (PlotSeries){.label = names[i], .unit = i ? "m" : "<&>", .x = x, .y = y, .count = 2};
  }
  Plot plot = {.title = "<t>", .log_y = true, .series = series, .count = 3};
  char *svg = svg_of(f, &plot);
  assert_true(file_save(f->heap, &f->diags, in_directory(f, "p.svg"), NULL, NULL, svg, strlen(svg)));
  assert_int_equal(python_parses_xml(f->path), 0);
}

static void plot_text_golden(void **state) {
  ENTER(f);
  double x[] = {0, 1, 2, 3}, y[] = {0, 2, 2, 1};
  PlotSeries series[] = {{.label = "up", .unit = "m", .x = x, .y = y, .count = 4}};
  TextVec text = {0};
  plot_text(f->heap, &(Plot){.title = "Two", .series = series, .count = 1}, 34, 7, &text);
  assert_string_equal(text.data, "                 Two\n"
                                 "   ━━ up  [m]\n"
                                 "2 ┤         ⡠⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠤⡀\n"
                                 "  │       ⢀⠔⠁            ⠈⠑⠤⡀\n"
                                 "  │      ⡠⠃                 ⠈⠑⠢⣀\n"
                                 "1 ┤    ⢀⠎                       ⠑⠢\n"
                                 "  │   ⡔⠁\n"
                                 "  │ ⡠⠊\n"
                                 "0 ┤⠔⠁\n"
                                 "  └┴─────────┴─────────┴─────────┴\n"
                                 "   0         1         2         3\n"
                                 "              time [s]\n");
}

/* Every line stays within the width, for all names. */
static void plot_text_keeps_its_width(void **state) {
  ENTER(f);
  uint64_t seed = 9;
  double *x = ramp(f->heap, 500, 3e7), *y = heap_array(f->heap, 500, sizeof *y);
  for (int i = 0; i < 500; i++) y[i] = i % 50 ? random_double(&seed, 1) * 1e9 : NAN;
  PlotSeries series[12];
  for (int i = 0; i < 12; i++) {
    series[i] =
        (PlotSeries){.label = i % 3 ? "tank.level" : "a.very.long.name.of.a.signal.that.fills.more.than.one.line\n",
                     .unit = i % 2 ? "m3/s" : "K",
                     .x = x,
                     .y = y,
                     .count = 500};
  }
  for (uint32_t width = 30; width <= 120; width += 45) {
    TextVec text = {0};
    plot_text(f->heap, &(Plot){.title = "t", .series = series, .count = 12}, width, 8, &text);
    for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
      size_t characters = 0;
      for (const char *at = line; *at; at++) characters += (*at & 0xc0) != 0x80;
      assert_in_range(characters, 1, width);
    }
  }
}

/* ---- incidence ---- */

typedef struct Pattern {
  IncidencePicture picture;
  int32_t entries;
} Pattern;

/* A chain: equation i contains variables i and i-1; as written, both are in reverse order. */
static Pattern chain(Heap *heap, int32_t n) {
  int32_t *start = heap_array(heap, (size_t)n + 1, 4), *column = heap_array(heap, 2 * (size_t)n, 4);
  int32_t *order = heap_array(heap, 2 * (size_t)n, 4), *at = heap_array(heap, (size_t)n, 4);
  int32_t *block = heap_array(heap, (size_t)n + 1, 4), entries = 0;
  for (int32_t row = 0; row < n; row++) {
    int32_t place = n - 1 - row;
    start[row] = entries;
    column[entries] = n - 1 - place, order[entries++] = place % 3;
    if (place > 0) column[entries] = n - place, order[entries++] = 0;
    at[place] = row;
    block[place] = place;
  }
  start[n] = entries;
  block[n] = n;
  return (Pattern){{.title = "chain",
                    .n_equations = n,
                    .n_variables = n,
                    .row_start = start,
                    .column = column,
                    .order = order,
                    .n_blocks = n,
                    .block_start = block,
                    .row_at = at,
                    .column_at = at},
                   entries};
}

static char *incidence_of(Fixture *f, const IncidencePicture *picture) {
  TextVec text = {0};
  incidence_svg(f->heap, picture, &text);
  return text.data;
}

static void incidence_shows_every_entry(void **state) {
  ENTER(f);
  Pattern pattern = chain(f->heap, 5);
  static const char *const equations[] = {"e1", "e2: a<b", "e3", "e4", "e5"}, *const variables[] = {"v", "w", "x", "y",
                                                                                                    "z"};
  const int32_t zeros[5] = {0}, d[5] = {2, 2, 2, 2, 2};
  pattern.picture.equation_names = equations;
  pattern.picture.variable_names = variables;
  pattern.picture.c = zeros;
  pattern.picture.d = d;
  char *svg = incidence_of(f, &pattern.picture);
  assert_int_equal(count_text(svg, "class=\"o"), 2 * pattern.entries + 3); /* and the legend */
  assert_int_equal(count_text(svg, "<title>block "), 5);
  assert_int_equal(count_text(svg, "<title>x'' in e3</title>"), 2);
  assert_int_equal(count_text(svg, " in e2: a&lt;b</title>"), 4);
  assert_int_equal(count_text(svg, " p\">"), pattern.entries - 1); /* only one entry is of order 2 */
  assert_true(file_save(f->heap, &f->diags, in_directory(f, "i.svg"), NULL, NULL, svg, strlen(svg)));
  assert_int_equal(python_parses_xml(f->path), 0);
  pattern.picture.n_blocks = 0;
  assert_int_equal(count_text(incidence_of(f, &pattern.picture), "<title>x'' in e3</title>"), 1);
}

/* In block form the chain is its diagonal and the one below: no square lies above the diagonal. */
static void incidence_block_form_is_triangular(void **state) {
  ENTER(f);
  Pattern pattern = chain(f->heap, 36);
  char *at = strstr(incidence_of(f, &pattern.picture), "block triangular");
  double left = strtod(strstr(at, "<rect x=\"") + 9, NULL), top = strtod(strstr(at, " y=\"") + 4, NULL);
  int seen = 0;
  for (at = strstr(at, "</g>"); (at = strstr(at, "<rect x=\"")); at++) {
    if (!strstr(at, "class=\"o") || !strstr(at, "<title>") || strstr(at, "<title>") > strstr(at, "\n")) continue;
    double x = strtod(at + 9, NULL) - left, y = strtod(strstr(at, " y=\"") + 4, NULL) - top;
    assert_true(x <= y + 0.02);
    seen++;
  }
  assert_int_equal(seen, pattern.entries);
}

static void incidence_of_many_is_bounded(void **state) {
  ENTER(f);
  for (int32_t n = 500; n <= 50000; n *= 10) {
    Pattern pattern = chain(f->heap, n);
    char *svg = incidence_of(f, &pattern.picture);
    assert_in_range(strlen(svg), 1000, 700000);
    assert_int_equal(count_text(svg, "equation 1</title>") > 0, n == 500);
  }
  const int32_t none[] = {0};
  IncidencePicture empty = {.row_start = none};
  assert_non_null(strstr(incidence_of(f, &empty), "</svg>"));
  IncidencePicture wide = {.n_equations = 0, .n_variables = 3, .row_start = none};
  assert_non_null(strstr(incidence_of(f, &wide), "</svg>"));
}

/* ---- memory ---- */

/* A heap that refuses the n-th request. */
typedef struct Ration {
  int left;
} Ration;

static void *ration_resize(void *context, void *pointer, size_t size) {
  Ration *ration = context;
  if (size == 0) {
    free(pointer);
    return NULL;
  }
  if (ration->left-- <= 0) return NULL;
  return realloc(pointer, size);
}

/* Everything that allocates, once. */
static void work(Heap *heap, const char *path) {
  Diags diags = diags_make(heap);
  Trajectory *trajectory = sample_trajectory(heap);
  if (!signal_filter_match(signal_filter_new(heap, &diags, (const char *const[]){"x.*", NULL}, some_names), "xy"))
    fail();
  FileWriter *file = file_create(heap, &diags, path, NULL, NULL);
  if (!file) fail();
  csv_write(file, trajectory);
  if (!mat_write(heap, &diags, file, trajectory)) fail();
  Arena arena = arena_make(heap);
  const uint32_t chosen[] = {0, 1, 2};
  Plot plot = plot_signals(&arena, trajectory, "t", chosen, 3);
  TextVec text = {0};
  plot_svg(heap, &plot, &text);
  plot_text(heap, &plot, 40, 8, &text);
  Pattern small = chain(heap, 5), large = chain(heap, 1000);
  incidence_svg(heap, &small.picture, &text);
  incidence_svg(heap, &large.picture, &text);
  JsonWriter json = json_make(heap, &text);
  json_array_begin(&json), json_number(&json, 1), json_array_end(&json);
  if (!file_commit(file)) fail();
  uint32_t length;
  if (!file_read(heap, &diags, path, &length)) fail();
  if (!csv_read(heap, &diags, "r.csv", sample_csv, sizeof sample_csv - 1)) fail();
}

/* Refuses each allocation in turn: afterwards the old file exists, and nothing else (the sanitizer detects leaks). */
static void memory_refused_leaves_nothing(void **state) {
  Fixture *f = *state;
  char path[96];
  strcpy(path, in_directory(f, "out"));
  volatile bool done = false;
  for (volatile int allowed = 1; !done; allowed++) {
    FILE *old = fopen(path, "w");
    fputs("old", old);
    fclose(old);
    Ration ration = {allowed};
    HeapHook hook = {.resize = ration_resize, .context = &ration};
    Heap *heap = heap_new(&hook);
    jmp_buf point;
    if (HEAP_TRY(heap, point)) {
      work(heap, path);
      done = true;
    }
    heap_destroy(heap);
    assert_int_equal(count_files(f, false), 1);
    assert_in_range(allowed, 1, 20000);
  }
}

int main(void) {
  const char *path = getenv("RESULT_WRITE");
  if (path) return write_too_much(path);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
  const struct CMUnitTest tests[] = {
      TEST(number_equals_printf),
      TEST(number_reads_back),
      TEST(number_parses_like_strtod),
      TEST(file_appears_only_at_commit),
      TEST(file_abandoned_leaves_the_old),
      TEST(file_permissions_follow_the_umask),
      TEST(file_follows_links),
      TEST(file_errors_are_reported),
      TEST(file_full_disk),
      TEST(file_limit_leaves_the_old),
      TEST(file_sink_takes_standard_output),
      TEST(json_golden),
      TEST(json_repairs_utf8),
      TEST(trajectory_keeps_rows),
      TEST(trajectory_samples),
      TEST(filter_takes_names_before_expressions),
      TEST(filter_matches_whole_names),
      TEST(csv_golden),
      TEST(csv_round_trip),
      TEST(csv_reader_tolerates),
      TEST(csv_reader_refuses),
      TEST(csv_python_agrees),
      TEST(mat_round_trip),
      TEST(mat_python_agrees),
      TEST(mat_reads_foreign_files),
      TEST(mat_refuses_what_is_too_large),
      TEST(mat_survives_damage),
      TEST(absent_results_are_refused),
      TEST(axis_ticks_are_sound),
      TEST(axis_labels_golden),
      TEST(plot_decimation_keeps_extremes),
      TEST(plot_stays_small),
      TEST(plot_gaps_and_jumps),
      TEST(plot_panels_follow_units),
      TEST(plot_is_well_formed),
      TEST(plot_text_golden),
      TEST(plot_text_keeps_its_width),
      TEST(incidence_shows_every_entry),
      TEST(incidence_block_form_is_triangular),
      TEST(incidence_of_many_is_bounded),
      TEST(memory_refused_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
