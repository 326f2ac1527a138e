/* External functions (external/): tables compared with values computed by hand and with their own differences, generators
 * compared with published results of the library, files, texts, LAPACK. */
#include "external/external.h"

#include "daedal.h"
#include "fail_alloc.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARGUMENTS = 20, NUMBERS = 4096 };

/* A call in preparation: arguments are added in order. */
typedef struct Bench {
  Heap *heap;
  Arena arena;
  ExternalRights rights;
  ExternalCall call;
  ExternalValue arguments[ARGUMENTS];
  uint32_t sizes[ARGUMENTS][2];
  double scalars[ARGUMENTS + 1][4];
  const char *texts[ARGUMENTS + 1];
} Bench;

static void begin(Bench *b, const char *name, uint32_t nilpotents) {
  bool is_forbidden;
  arena_free(&b->arena);
  b->call = (ExternalCall){.arguments = b->arguments, .nilpotents = nilpotents, .arena = &b->arena};
  b->call.state = external_state(b->heap);
  b->call.function = external_find(b->heap, (ExternalName){.name = name}, &b->rights, &is_forbidden);
  assert_non_null(b->call.function);
}

static ExternalValue *add(Bench *b, ExternalType type) {
  ExternalValue *value = &b->arguments[b->call.count++];
  *value = (ExternalValue){.type = type, .count = 1};
  return value;
}

static void add_number(Bench *b, ExternalType type, double number) {
  uint32_t at = b->call.count;
  b->scalars[at][0] = number;
  memset(b->scalars[at] + 1, 0, 3 * sizeof(double));
  add(b, type)->numbers = b->scalars[at];
}

static void add_real(Bench *b, double number) { add_number(b, EXTERNAL_REAL, number); }
static void add_integer(Bench *b, double number) { add_number(b, EXTERNAL_INTEGER, number); }

static void add_text(Bench *b, const char *text) {
  uint32_t at = b->call.count;
  b->texts[at] = text;
  add(b, EXTERNAL_TEXT)->texts = &b->texts[at];
}

static void add_object(Bench *b, ExternalInstance *object) { add(b, EXTERNAL_OBJECT)->object = object; }

static void add_array(Bench *b, ExternalType type, double *numbers, uint32_t rows, uint32_t columns) {
  uint32_t at = b->call.count;
  ExternalValue *value = add(b, type);
  b->sizes[at][0] = rows;
  b->sizes[at][1] = columns;
  value->dimensions = columns ? 2 : 1;
  value->count = rows * (columns ? columns : 1);
  value->sizes = b->sizes[at];
  value->numbers = numbers;
}

/* The result: a scalar of this type. */
static bool run(Bench *b, ExternalType type) {
  b->call.result = (ExternalValue){.type = type, .count = type != EXTERNAL_NOTHING};
  if (type == EXTERNAL_TEXT) b->call.result.texts = &b->texts[ARGUMENTS];
  else b->call.result.numbers = b->scalars[ARGUMENTS];
  return external_run(&b->call);
}

static double run_real(Bench *b) {
  if (!run(b, EXTERNAL_REAL)) fail_msg("%s", b->call.failure);
  return b->scalars[ARGUMENTS][0];
}

static int setup(void **state) {
  static Bench bench;
  bench = (Bench){.heap = heap_new(NULL), .rights = {.reading = {.is_everywhere = true}}};
  bench.arena = arena_make(bench.heap);
  *state = &bench;
  return 0;
}

static int teardown(void **state) {
  heap_destroy(((Bench *)*state)->heap);
  return 0;
}

/* ---- tables in one dimension ---- */

static ExternalInstance *make_table(Bench *b, double *table, uint32_t rows, int smoothness, int extrapolation,
                                    const char *file, const char *name) {
  static double columns[] = {2};
  begin(b, "ModelicaStandardTables_CombiTable1D_init3", 0);
  add_text(b, file);
  add_text(b, name);
  add_array(b, EXTERNAL_REAL, table, rows, 2);
  add_integer(b, rows);
  add_integer(b, 2);
  add_array(b, EXTERNAL_INTEGER, columns, 1, 0);
  add_integer(b, 1);
  add_integer(b, smoothness);
  add_integer(b, extrapolation);
  add_integer(b, 0);
  add_text(b, ",");
  add_integer(b, 0);
  return run(b, EXTERNAL_OBJECT) ? b->call.result.object : NULL;
}

static double table_at(Bench *b, ExternalInstance *table, double u) {
  begin(b, "ModelicaStandardTables_CombiTable1D_getValue", 0);
  add_object(b, table);
  add_integer(b, 1);
  add_real(b, u);
  return run_real(b);
}

/* Slopes at the points (0,0) (1,1) (3,2) (4,2) (6,5), whose pieces have the slopes 1, 1/2, 0, 3/2, computed by hand from the
 * formulas of the papers; values at the middle of a piece are (y0 + y1)/2 + width (s0 - s1)/8. */
static void test_smoothness(void **state) {
  Bench *b = *state;
  double table[] = {0, 0, 1, 1, 3, 2, 4, 2, 6, 5};
  /* beyond the ends, pieces have the slopes 3/2, 2 and 3, 9/2 */
  double akima[] = {1.25, 0.75, 0.375, 0.375, 2.25};
  double butland[] = {1, 9 / 13.0, 0, 0, 1.5};
  double steffen[] = {1, 2.5 / 3, 0, 0, 1.5};
  /* the weights of slopes are |d2 - d1| + |d2 + d1|/2 on the other side */
  double modified[] = {(1.25 * 1.5 + 2.25) / 3.5, (0.75 + 1.75 * 0.5) / 2.5, 2.25 * 0.5 / 3.5, 0.75 * 1.5 / 4.5,
                       (5.25 * 1.5 + 2.25 * 3) / 7.5};
  double *slopes[] = {[2] = akima, [4] = butland, [5] = steffen, [6] = modified};
  for (int kind = 1; kind <= 6; kind++) {
    ExternalInstance *made = make_table(b, table, 5, kind, 1, "NoName", "NoName");
    assert_non_null(made);
    for (int piece = 0; piece < 4; piece++) {
      double x0 = table[2 * piece], y0 = table[2 * piece + 1], x1 = table[2 * piece + 2], y1 = table[2 * piece + 3];
      double expected = kind == 3 ? y0 : (y0 + y1) / 2;
      if (slopes[kind]) expected += (x1 - x0) * (slopes[kind][piece] - slopes[kind][piece + 1]) / 8;
      if (fabs(table_at(b, made, (x0 + x1) / 2) - expected) > 1e-14)
        fail_msg("smoothness %d, piece %d: %.17g, expected %.17g", kind, piece, table_at(b, made, (x0 + x1) / 2),
                 expected);
      assert_true(fabs(table_at(b, made, x1) - y1) < 1e-14);
    }
  }
}

static void test_extrapolation(void **state) {
  Bench *b = *state;
  double table[] = {0, 0, 1, 1, 2, 4};
  /* at -0.5 and at 2.5 */
  struct {
    int smoothness, extrapolation;
    double before, behind;
  } cases[] = {{1, 1, 0, 4}, {1, 2, -0.5, 5.5}, {1, 3, 2.5, 0.5},   {3, 1, 0, 4},      {3, 2, -0.5, 5.5}, {3, 3, 1, 0},
               {2, 1, 0, 4}, {2, 2, 0, 6},      {2, 3, 2.25, 0.25}, {4, 2, -0.5, 5.5}, {5, 2, -0.5, 5.5}, {6, 1, 0, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ExternalInstance *made = make_table(b, table, 3, cases[i].smoothness, cases[i].extrapolation, "NoName", "NoName");
    if (fabs(table_at(b, made, -0.5) - cases[i].before) > 1e-14 ||
        fabs(table_at(b, made, 2.5) - cases[i].behind) > 1e-14)
      fail_msg("case %zu: %.17g and %.17g", i, table_at(b, made, -0.5), table_at(b, made, 2.5));
  }
  ExternalInstance *none = make_table(b, table, 3, 1, 4, "NoName", "NoName");
  assert_true(table_at(b, none, 2) == 4);
  begin(b, "ModelicaStandardTables_CombiTable1D_getValue", 0);
  add_object(b, none);
  add_integer(b, 1);
  add_real(b, 2.5);
  assert_false(run(b, EXTERNAL_REAL));
  assert_non_null(strstr(b->call.failure, "2.5 is outside"));
  begin(b, "ModelicaStandardTables_CombiTable1D_minimumAbscissa", 0);
  add_object(b, none);
  assert_true(run_real(b) == 0);
  begin(b, "ModelicaStandardTables_CombiTable1D_maximumAbscissa", 0);
  add_object(b, none);
  assert_true(run_real(b) == 2);
  double bad[] = {0, 0, 0, 1};
  assert_null(make_table(b, bad, 2, 1, 1, "NoName", "NoName"));
  assert_null(make_table(b, table, 3, 7, 1, "NoName", "NoName"));
  assert_null(make_table(b, table, 3, 1, 5, "NoName", "NoName"));
}

static double random_number(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

/* Value, first and second derivative along a path, and their nilpotent parts, against differences. */
static void test_derivatives(void **state) {
  Bench *b = *state;
  uint32_t seed = 7;
  for (int i = 0; i < 300; i++) {
    double table[16], u, rate = random_number(&seed), bend = random_number(&seed), h = 1e-4;
    for (int k = 0; k < 8; k++) table[2 * k] = k + 0.4 * random_number(&seed), table[2 * k + 1] = random_number(&seed);
    ExternalInstance *made = make_table(b, table, 8, i % 6 + 1, i % 2 + 1, "NoName", "NoName");
    int piece = (int)(7 * (random_number(&seed) + 0.5));
    u = table[2 * piece] + (table[2 * piece + 2] - table[2 * piece]) * (0.3 + 0.4 * (random_number(&seed) + 0.5));
    double low = table_at(b, made, u - h), middle = table_at(b, made, u), high = table_at(b, made, u + h);
    double first = (high - low) / (2 * h), second = (high - 2 * middle + low) / (h * h);
    begin(b, "ModelicaStandardTables_CombiTable1D_getDerValue", 1);
    add_object(b, made);
    add_integer(b, 1);
    add_real(b, u);
    b->scalars[2][1] = 1; /* d/du */
    add_real(b, rate);
    assert_true(run(b, EXTERNAL_REAL));
    assert_true(fabs(b->scalars[ARGUMENTS][0] - first * rate) < 1e-5);
    assert_true(fabs(b->scalars[ARGUMENTS][1] - second * rate) < 1e-4);
    begin(b, "ModelicaStandardTables_CombiTable1D_getDer2Value", 0);
    add_object(b, made);
    add_integer(b, 1);
    add_real(b, u);
    add_real(b, rate);
    add_real(b, bend);
    assert_true(fabs(run_real(b) - (second * rate * rate + first * bend)) < 1e-4);
  }
}

/* ---- tables over time ---- */

static ExternalInstance *make_timetable(Bench *b, double *table, uint32_t rows, double start, int smoothness,
                                        int extrapolation, double shift, int events) {
  static double columns[] = {2};
  begin(b, "ModelicaStandardTables_CombiTimeTable_init3", 0);
  add_text(b, "NoName");
  add_text(b, "NoName");
  add_array(b, EXTERNAL_REAL, table, rows, 2);
  add_integer(b, rows);
  add_integer(b, 2);
  add_real(b, start);
  add_array(b, EXTERNAL_INTEGER, columns, 1, 0);
  add_integer(b, 1);
  add_integer(b, smoothness);
  add_integer(b, extrapolation);
  add_real(b, shift);
  add_integer(b, events);
  add_integer(b, 0);
  add_text(b, ",");
  add_integer(b, 0);
  return run(b, EXTERNAL_OBJECT) ? b->call.result.object : NULL;
}

static double timetable_at(Bench *b, ExternalInstance *table, double time, double next, double before) {
  begin(b, "ModelicaStandardTables_CombiTimeTable_getValue", 0);
  add_object(b, table);
  add_integer(b, 1);
  add_real(b, time);
  add_real(b, next);
  add_real(b, before);
  return run_real(b);
}

static double next_event(Bench *b, ExternalInstance *table, double time) {
  begin(b, "ModelicaStandardTables_CombiTimeTable_nextTimeEvent", 0);
  add_object(b, table);
  add_real(b, time);
  return run_real(b);
}

static void test_time_events(void **state) {
  Bench *b = *state;
  double table[] = {0, 0, 1, 1, 1, 3, 2, 3}; /* jumps from 1 to 3 at 1 */
  ExternalInstance *t = make_timetable(b, table, 4, 0.5, 1, 1, 0.25, 1);
  /* zero before the start; then the table, moved by the shift */
  assert_true(timetable_at(b, t, 0.4, 0.5, 0.5) == 0);
  assert_true(timetable_at(b, t, 0.5, 0.5, 0.5) == 0);
  assert_true(timetable_at(b, t, 0.5, 1.25, 0.5) == 0.25);
  assert_true(timetable_at(b, t, 1.25, 1.25, 1.25) == 1);
  assert_true(timetable_at(b, t, 1.25, 2.25, 1.25) == 3);
  assert_true(timetable_at(b, t, 9, DBL_MAX, DBL_MAX) == 3);
  assert_true(next_event(b, t, -1) == 0.5);
  assert_true(next_event(b, t, 0.5) == 1.25);
  assert_true(next_event(b, t, 1.25) == 2.25);
  assert_true(next_event(b, t, 2.25) == DBL_MAX);
  t = make_timetable(b, table, 4, 0, 1, 1, 0, 2);
  assert_true(next_event(b, t, 0) == 1 && next_event(b, t, 1) == DBL_MAX);
  t = make_timetable(b, table, 4, 0, 1, 1, 0, 3);
  assert_true(next_event(b, t, 0) == DBL_MAX);
  /* in a smooth table only ends and jumps are events */
  double smooth[] = {0, 0, 1, 1, 2, 4, 3, 9};
  t = make_timetable(b, smooth, 4, 0, 2, 2, 0, 1);
  assert_true(next_event(b, t, 0) == 3);
  assert_true(fabs(timetable_at(b, t, 4, DBL_MAX, DBL_MAX) - 15) < 1e-13);
  assert_null(make_timetable(b, smooth, 4, 0, 2, 2, 0, 9));
}

/* A square wave over 10^5 periods: no event is lost or found twice, and both sides of each are right. */
static void test_periodic_events(void **state) {
  Bench *b = *state;
  double table[] = {0, 0, 0.1, 0, 0.1, 1, 0.3, 1};
  ExternalInstance *t = make_timetable(b, table, 4, 0, 1, 3, 0.07, 1);
  double time = 0.07;
  for (int i = 0; i < 100000; i++) {
    double next = next_event(b, t, time), width = i % 2 ? 0.2 : 0.1;
    if (!(fabs(next - time - width) < 1e-10)) fail_msg("after event %d at %.17g: %.17g", i, time, next);
    double left = timetable_at(b, t, next, next, next), right = timetable_at(b, t, next, next + 1, next);
    double inside = timetable_at(b, t, next - 0.01, next, next);
    assert_true(left == (i % 2 ? 1 : 0) && right == (i % 2 ? 0 : 1) && inside == left);
    time = next;
  }
}

/* ---- tables in two dimensions ---- */

static ExternalInstance *make_surface(Bench *b, double *table, uint32_t rows, uint32_t columns, int smoothness,
                                      int extrapolation) {
  begin(b, "ModelicaStandardTables_CombiTable2D_init3", 0);
  add_text(b, "NoName");
  add_text(b, "NoName");
  add_array(b, EXTERNAL_REAL, table, rows, columns);
  add_integer(b, rows);
  add_integer(b, columns);
  add_integer(b, smoothness);
  add_integer(b, extrapolation);
  add_integer(b, 0);
  add_text(b, ",");
  add_integer(b, 0);
  return run(b, EXTERNAL_OBJECT) ? b->call.result.object : NULL;
}

static double surface_at(Bench *b, ExternalInstance *surface, double u, double v) {
  begin(b, "ModelicaStandardTables_CombiTable2D_getValue", 0);
  add_object(b, surface);
  add_real(b, u);
  add_real(b, v);
  return run_real(b);
}

static void test_surface_values(void **state) {
  Bench *b = *state;
  double table[] = {0, 0, 1, 3, 0, 1, 2, 8, 2, 5, 10, 0};
  /* at (1, 2), beyond both ends at (3, 4), and at (-1, 0.5); at the corner (2, 3) slopes and twist are -4, -5, -4 */
  struct {
    int smoothness, extrapolation;
    double inside, beyond, before;
  } cases[] = {{1, 1, 5, 0, 1.5}, {1, 2, 5, -13, -1.5}, {3, 1, 2, 0, 1}, {1, 3, 5, 6, 4.5}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ExternalInstance *made = make_surface(b, table, 3, 4, cases[i].smoothness, cases[i].extrapolation);
    double found[] = {surface_at(b, made, 1, 2), surface_at(b, made, 3, 4), surface_at(b, made, -1, 0.5)};
    if (found[0] != cases[i].inside || found[1] != cases[i].beyond || found[2] != cases[i].before)
      fail_msg("case %zu: %g %g %g", i, found[0], found[1], found[2]);
  }
  assert_null(make_surface(b, table, 3, 4, 4, 1));
  ExternalInstance *made = make_surface(b, table, 3, 4, 1, 1);
  double ends[2];
  begin(b, "ModelicaStandardTables_CombiTable2D_maximumAbscissa", 0);
  add_object(b, made);
  add_array(b, EXTERNAL_REAL, ends, 2, 0);
  assert_true(run(b, EXTERNAL_NOTHING) && ends[0] == 2 && ends[1] == 3);
  begin(b, "ModelicaStandardTables_CombiTable2D_minimumAbscissa", 0);
  add_object(b, made);
  add_array(b, EXTERNAL_REAL, ends, 2, 0);
  assert_true(run(b, EXTERNAL_NOTHING) && ends[0] == 0 && ends[1] == 0);
}

/* A quadratic is reproduced exactly. Everywhere, inside and outside, value and slopes are continuous for bicubic pieces;
 * derivatives agree with differences. */
static void test_surface_smooth(void **state) {
  Bench *b = *state;
  uint32_t seed = 3;
  double table[7 * 6], h = 1e-4;
  for (int i = 1; i < 7; i++) table[i * 6] = i * i / 4.0 + i;
  for (int j = 1; j < 6; j++) table[j] = 2 * j - 0.1 * j * j;
  for (int i = 1; i < 7; i++)
    for (int j = 1; j < 6; j++) table[i * 6 + j] = 1 + table[i * 6] * table[j] + table[i * 6] - 3 * table[j];
  ExternalInstance *plane = make_surface(b, table, 7, 6, 2, 2);
  for (int i = 0; i < 100; i++) {
    double u = 8 + 24 * random_number(&seed), v = 4 + 12 * random_number(&seed);
    assert_true(fabs(surface_at(b, plane, u, v) - (1 + u * v + u - 3 * v)) < 1e-11);
  }
  for (int i = 1; i < 7; i++)
    for (int j = 1; j < 6; j++) table[i * 6 + j] = random_number(&seed);
  for (int kind = 1; kind <= 2; kind++)
    for (int extrapolation = 1; extrapolation <= 3; extrapolation++) {
      ExternalInstance *made = make_surface(b, table, 7, 6, kind, extrapolation);
      for (int i = 0; i < 200; i++) {
        double u = 8 + 24 * random_number(&seed), v = 4 + 12 * random_number(&seed);
        double du = (surface_at(b, made, u + h, v) - surface_at(b, made, u - h, v)) / (2 * h);
        double dv = (surface_at(b, made, u, v + h) - surface_at(b, made, u, v - h)) / (2 * h);
        begin(b, "ModelicaStandardTables_CombiTable2D_getDerValue", 0);
        add_object(b, made);
        add_real(b, u);
        add_real(b, v);
        add_real(b, 0.7);
        add_real(b, -0.4);
        bool is_near_kink = kind == 1 || extrapolation != 2;
        if (fabs(run_real(b) - (0.7 * du - 0.4 * dv)) > 1e-5 && !is_near_kink)
          fail_msg("kind %d %d at (%g, %g): %g, expected %g", kind, extrapolation, u, v, run_real(b),
                   0.7 * du - 0.4 * dv);
      }
    }
  ExternalInstance *made = make_surface(b, table, 7, 6, 2, 2);
  begin(b, "ModelicaStandardTables_CombiTable2D_getDer2Value", 0);
  add_object(b, made);
  double u = 3.4, v = 4.3, z[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) z[i][j] = surface_at(b, made, u + h * (i - 1), v + h * (j - 1));
  double uu = (z[2][1] - 2 * z[1][1] + z[0][1]) / (h * h), vv = (z[1][2] - 2 * z[1][1] + z[1][0]) / (h * h);
  double uv = (z[2][2] - z[2][0] - z[0][2] + z[0][0]) / (4 * h * h), du = (z[2][1] - z[0][1]) / (2 * h),
         dv = (z[1][2] - z[1][0]) / (2 * h);
  begin(b, "ModelicaStandardTables_CombiTable2D_getDer2Value", 0);
  add_object(b, made);
  double given[] = {u, v, 0.7, -0.4, 0.2, 0.3};
  for (int i = 0; i < 6; i++) add_real(b, given[i]);
  assert_true(fabs(run_real(b) - (0.49 * uu - 0.56 * uv + 0.16 * vv + 0.2 * du + 0.3 * dv)) < 1e-5);
}

/* ---- files ---- */

static void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

/* The matrix [0, 1; 1, 2.5; 2, 4] under the name `tab`, after another one, read as a table. */
static void check_file(Bench *b, const char *path, const void *bytes, size_t size) {
  write_file(path, bytes, size);
  double none[] = {0};
  ExternalInstance *made = make_table(b, none, 0, 1, 1, path, "tab");
  if (!made) fail_msg("%s", b->call.failure);
  assert_true(table_at(b, made, 0.5) == 1.75 && table_at(b, made, 2) == 4);
  begin(b, "ModelicaStandardTables_CombiTable1D_read", 0);
  add_object(b, made);
  add_integer(b, 2);
  add_integer(b, 2);
  assert_true(run_real(b) == 2.5);
  /* no byte after the cut may be read, and the bytes before it must be checked */
  for (size_t cut = 0; cut < size; cut += 1 + cut / 16) {
    write_file(path, bytes, cut);
    make_table(b, none, 0, 1, 1, path, "tab");
  }
  unlink(path);
}

static void put_word(char **at, uint32_t word) {
  memcpy(*at, &word, sizeof word);
  *at += sizeof word;
}

static void put_bytes(char **at, const void *bytes, size_t size) {
  memcpy(*at, bytes, size);
  *at += size;
}

static size_t level_4(char *bytes) {
  char *at = bytes;
  double values[] = {0, 1, 2, 1, 2.5, 4};
  float narrow[] = {7};
  uint32_t first[] = {10, 1, 1, 0, 2}, second[] = {0, 3, 2, 0, 4};
  for (int i = 0; i < 5; i++) put_word(&at, first[i]);
  put_bytes(&at, "a", 2);
  put_bytes(&at, narrow, sizeof narrow);
  for (int i = 0; i < 5; i++) put_word(&at, second[i]);
  put_bytes(&at, "tab", 4);
  put_bytes(&at, values, sizeof values);
  return (size_t)(at - bytes);
}

static size_t level_5(char *bytes) {
  char *at = bytes;
  double values[] = {0, 1, 2, 1, 2.5, 4};
  memset(bytes, ' ', 124);
  memcpy(bytes, "MATLAB 5.0 MAT-file", 19);
  at += 124;
  put_bytes(&at, "\0\1IM", 4);
  uint32_t small[] = {14, 56 - 8, 6, 8, 6, 0, 5, 8, 1, 1, 0x00010001, 'a', 0x00020003, 5}; /* an int16 */
  for (int i = 0; i < 14; i++) put_word(&at, small[i]);
  uint32_t head[] = {14, 16 + 16 + 8 + 8 + sizeof values, 6, 8, 6, 0, 5, 8, 3, 2, 0x00030001};
  for (int i = 0; i < 11; i++) put_word(&at, head[i]);
  put_bytes(&at, "tab", 4);
  put_word(&at, 9);
  put_word(&at, sizeof values);
  put_bytes(&at, values, sizeof values);
  return (size_t)(at - bytes);
}

static void test_files(void **state) {
  static const char text[] =
      "#1\n# a comment\ndouble other(1,2)\n 3, 4\nfloat tab(3,2) # here\n0 1; 1 2.5 # more\n2\t4\n";
  static const char values[] = "0,1\r\n 1, 2.5\n\n2,4\n";
  char bytes[512], path[] = "/tmp/daedal-test-external-XXXXXX";
  int file = mkstemp(path);
  close(file);
  Bench *b = *state;
  check_file(b, path, text, sizeof text - 1);
  check_file(b, path, values, sizeof values - 1);
  check_file(b, path, bytes, level_4(bytes));
  check_file(b, path, bytes, level_5(bytes));
  double none[] = {0};
  assert_null(make_table(b, none, 0, 1, 1, "/nonexistent/file", "tab"));
  assert_non_null(strstr(b->call.failure, "/nonexistent/file"));
}

static void test_matrix_input(void **state) {
  static const char text[] = "#1\ndouble tab(2,3)\n1 2 3\n4 5 6\n";
  char path[] = "/tmp/daedal-test-external-XXXXXX";
  close(mkstemp(path));
  Bench *b = *state;
  double sizes[2] = {0}, matrix[6] = {0};
  write_file(path, text, sizeof text - 1);
  begin(b, "ModelicaIO_readMatrixSizes", 0);
  add_text(b, path);
  add_text(b, "tab");
  add_array(b, EXTERNAL_INTEGER, sizes, 2, 0);
  assert_true(run(b, EXTERNAL_NOTHING) && sizes[0] == 2 && sizes[1] == 3);
  for (uint32_t columns = 2; columns <= 3; columns++) {
    begin(b, "ModelicaIO_readRealMatrix", 0);
    add_text(b, path);
    add_text(b, "tab");
    add_array(b, EXTERNAL_REAL, matrix, 2, columns);
    add_integer(b, 2);
    add_integer(b, columns);
    add_integer(b, 0);
    assert_int_equal(run(b, EXTERNAL_NOTHING), columns == 3);
  }
  assert_true(matrix[2] == 3 && matrix[3] == 4);
  begin(b, "ModelicaInternal_countLines", 0);
  add_text(b, path);
  assert_true(run(b, EXTERNAL_INTEGER) && b->scalars[ARGUMENTS][0] == 4);
  begin(b, "ModelicaInternal_readLine", 0);
  add_text(b, path);
  add_integer(b, 3);
  add_integer(b, 1);
  assert_true(run(b, EXTERNAL_TEXT));
  assert_string_equal(b->texts[ARGUMENTS], "1 2 3");
  assert_true(b->scalars[2][0] == 0);
  begin(b, "ModelicaInternal_stat", 0);
  add_text(b, path);
  assert_true(run(b, EXTERNAL_INTEGER) && b->scalars[ARGUMENTS][0] == 2);
  begin(b, "ModelicaInternal_fullPathName", 0);
  add_text(b, path);
  assert_true(run(b, EXTERNAL_TEXT));
  assert_string_equal(b->texts[ARGUMENTS], path);
  unlink(path);
}

/* ---- rights of trusted models only ---- */

static void write_matrix(Bench *b, const char *path, const char *name, double *matrix, bool appends,
                         const char *version) {
  begin(b, "ModelicaIO_writeRealMatrix", 0);
  add_text(b, path);
  add_text(b, name);
  add_array(b, EXTERNAL_REAL, matrix, 2, 3);
  add_integer(b, 2);
  add_integer(b, 3);
  add_integer(b, appends);
  add_text(b, version);
}

/* Two matrices in one file, read back. */
static void check_matrices(Bench *b, const char *path, const char *version) {
  double matrix[2][6] = {{1, 2, 3, 4, 5, 6}, {-1, 1e-300, 0, 1e300, 0.1, 7}}, again[6];
  static const char *const NAMES[] = {"m", "longer_name"};
  for (int k = 0; k < 2; k++) {
    write_matrix(b, path, NAMES[k], matrix[k], k > 0, version);
    assert_true(run(b, EXTERNAL_INTEGER));
  }
  for (int k = 0; k < 2; k++) {
    begin(b, "ModelicaIO_readRealMatrix", 0);
    add_text(b, path);
    add_text(b, NAMES[k]);
    add_array(b, EXTERNAL_REAL, again, 2, 3);
    add_integer(b, 2);
    add_integer(b, 3);
    add_integer(b, 0);
    assert_true(run(b, EXTERNAL_NOTHING) && memcmp(matrix[k], again, sizeof again) == 0);
  }
}

/* Runs a function of texts; returns the number of the result. */
static double run_texts(Bench *b, const char *name, const char *first, const char *second, ExternalType type) {
  begin(b, name, 0);
  add_text(b, first);
  if (second) add_text(b, second);
  if (!run(b, type)) fail_msg("%s", b->call.failure);
  return b->scalars[ARGUMENTS][0];
}

static void test_effects(void **state) {
  Bench *b = *state;
  const char *failure, *names[2];
  char folder[] = "/tmp/daedal-test-external-XXXXXX", a[64], c[64], inner[64];
  assert_non_null(mkdtemp(folder));
  snprintf(a, sizeof a, "%s/a", folder);
  snprintf(c, sizeof c, "%s/c", folder);
  snprintf(inner, sizeof inner, "%s/inner", folder);
  assert_true(external_allow(b->heap, &b->rights, (const char *const[]){NULL}, &b->arena, &failure));
  run_texts(b, "ModelicaInternal_print", "line", a, EXTERNAL_NOTHING);
  run_texts(b, "ModelicaInternal_copyFile", a, c, EXTERNAL_NOTHING);
  run_texts(b, "ModelicaInternal_mkdir", inner, NULL, EXTERNAL_NOTHING);
  assert_true(run_texts(b, "ModelicaInternal_stat", inner, NULL, EXTERNAL_INTEGER) == 3);
  assert_true(run_texts(b, "ModelicaInternal_getNumberOfFiles", folder, NULL, EXTERNAL_INTEGER) == 3);
  run_texts(b, "ModelicaInternal_rmdir", inner, NULL, EXTERNAL_NOTHING);
  begin(b, "ModelicaInternal_readDirectory", 0);
  add_text(b, folder);
  add_integer(b, 2);
  *add(b, EXTERNAL_TEXT) = (ExternalValue){.type = EXTERNAL_TEXT, .dimensions = 1, .count = 2, .texts = names};
  assert_true(run(b, EXTERNAL_NOTHING));
  assert_string_equal(names[1], "c");
  run_texts(b, "ModelicaInternal_removeFile", c, NULL, EXTERNAL_NOTHING);
  run_texts(b, "ModelicaInternal_rename", a, c, EXTERNAL_NOTHING);
  begin(b, "ModelicaInternal_readFile", 0);
  add_text(b, c);
  *add(b, EXTERNAL_TEXT) = (ExternalValue){.type = EXTERNAL_TEXT, .dimensions = 1, .count = 2, .texts = names};
  add_integer(b, 2);
  assert_true(run(b, EXTERNAL_NOTHING));
  assert_string_equal(names[0], "line");
  assert_string_equal(names[1], "");
  static const char *const VERSIONS[] = {"4", "6", "7"};
  for (int v = 0; v < 3; v++) check_matrices(b, c, VERSIONS[v]);
  write_matrix(b, c, "m", (double[]){1, 2, 3, 4, 5, 6}, false, "7.3");
  assert_false(run(b, EXTERNAL_INTEGER));
  assert_true(run_texts(b, "ModelicaInternal_system", "true", NULL, EXTERNAL_INTEGER) == 0);
  run_texts(b, "ModelicaInternal_removeFile", c, NULL, EXTERNAL_NOTHING);
  rmdir(folder);
}

/* The environment, the process and the clock. */
static void test_system(void **state) {
  Bench *b = *state;
  const char *failure;
  assert_true(external_allow(b->heap, &b->rights, (const char *const[]){NULL}, &b->arena, &failure));
  begin(b, "ModelicaInternal_setenv", 0);
  add_text(b, "DAEDAL_TEST_EXTERNAL");
  add_text(b, "set");
  add_integer(b, 0);
  assert_true(run(b, EXTERNAL_NOTHING));
  begin(b, "ModelicaInternal_getenv", 0);
  add_text(b, "DAEDAL_TEST_EXTERNAL");
  add_integer(b, 0);
  add_text(b, "");
  add_integer(b, 0);
  assert_true(run(b, EXTERNAL_NOTHING) && b->scalars[3][0] == 1);
  assert_string_equal(b->texts[2], "set");
  run_texts(b, "ModelicaInternal_chdir", ".", NULL, EXTERNAL_NOTHING);
  begin(b, "ModelicaInternal_getcwd", 0);
  add_integer(b, 0);
  assert_true(run(b, EXTERNAL_TEXT) && b->texts[ARGUMENTS][0] == '/');
  begin(b, "ModelicaInternal_getpid", 0);
  assert_true(run(b, EXTERNAL_INTEGER) && b->scalars[ARGUMENTS][0] == getpid());
  begin(b, "ModelicaInternal_getTime", 0);
  for (int i = 0; i < 7; i++) add_integer(b, 0);
  assert_true(run(b, EXTERNAL_NOTHING) && b->scalars[6][0] > 2000);
  begin(b, "ModelicaRandom_automaticGlobalSeed", 0);
  add_real(b, 0);
  assert_true(run(b, EXTERNAL_INTEGER));
  double halves[2];
  begin(b, "ModelicaRandom_convertRealToIntegers", 0);
  add_real(b, 1);
  add_array(b, EXTERNAL_INTEGER, halves, 2, 0);
  assert_true(run(b, EXTERNAL_NOTHING) && halves[0] == 0 && halves[1] == 0x3FF00000);
  begin(b, "ModelicaError", 0);
  add_text(b, "stop here");
  assert_false(run(b, EXTERNAL_NOTHING));
  assert_string_equal(b->call.failure, "stop here");
}

/* ---- random numbers: the library's published results for the seeds 614657 and 30020 ---- */

static void check_sequence(Bench *b, const char *name, double *state, uint32_t count, const double *expected) {
  for (int i = 0; i < 3; i++) {
    begin(b, name, 0);
    add_array(b, EXTERNAL_INTEGER, state, count, 0);
    add_array(b, EXTERNAL_INTEGER, state, count, 0);
    add_real(b, 0);
    assert_true(run(b, EXTERNAL_NOTHING));
    assert_true(b->scalars[2][0] == expected[i]);
  }
}

static void test_random(void **state) {
  Bench *b = *state;
  double words[33] = {614657, 30020};
  static const double r64[] = {0.31359251787761722, 0.51103450342260148, 0.042445753889600313};
  static const double r128[] = {0.46115405725007419, 0.031701476952007923, 0.91922647628167886};
  static const double r1024[] = {0.31155928686346324, 0.059952099583051865, 0.94680043997287422};
  for (int i = 0; i < 10 + 16; i++) { /* ten steps from the seed, then one for each word of the longest state */
    double *from = i <= 10 ? words : words + 2 * (i - 11), *to = i < 10 ? words : words + 2 * (i - 10);
    begin(b, "ModelicaRandom_xorshift64star", 0);
    add_array(b, EXTERNAL_INTEGER, from, 2, 0);
    double next[2] = {from[0], from[1]};
    add_array(b, EXTERNAL_INTEGER, next, 2, 0);
    add_real(b, 0);
    if (i != 10) assert_true(run(b, EXTERNAL_NOTHING));
    memcpy(to, next, sizeof next);
  }
  begin(b, "ModelicaRandom_xorshift64star", 0);
  double last[2];
  add_array(b, EXTERNAL_INTEGER, words + 30, 2, 0);
  add_array(b, EXTERNAL_INTEGER, last, 2, 0);
  add_real(b, 0);
  assert_true(run(b, EXTERNAL_NOTHING));
  words[32] = last[0];
  double copy[33];
  memcpy(copy, words, sizeof copy);
  check_sequence(b, "ModelicaRandom_xorshift64star", copy, 2, r64);
  memcpy(copy, words, sizeof copy);
  check_sequence(b, "ModelicaRandom_xorshift128plus", copy, 4, r128);
  begin(b, "ModelicaRandom_setInternalState_xorshift1024star", 0);
  memcpy(copy, words, sizeof copy);
  add_array(b, EXTERNAL_INTEGER, copy, 33, 0);
  add_integer(b, 33);
  add_integer(b, 1);
  assert_true(run(b, EXTERNAL_NOTHING));
  check_sequence(b, "ModelicaRandom_xorshift1024star", copy, 33, r1024);
  for (int i = 0; i < 3; i++) {
    begin(b, "ModelicaRandom_impureRandom_xorshift1024star", 0);
    add_integer(b, 1);
    assert_true(run_real(b) == r1024[i]);
  }
}

/* ---- texts ---- */

static double text_integer(Bench *b, const char *name, const char *text, double argument) {
  begin(b, name, 0);
  add_text(b, text);
  if (argument > 0) add_integer(b, argument);
  assert_true(run(b, EXTERNAL_INTEGER));
  return b->scalars[ARGUMENTS][0];
}

/* Scans a number; returns where the text continues. */
static double scan(Bench *b, const char *name, const char *text, double from, bool is_unsigned, double *value) {
  begin(b, name, 0);
  add_text(b, text);
  add_integer(b, from);
  add_integer(b, is_unsigned);
  add_integer(b, 0);
  add_number(b, strstr(name, "Real") ? EXTERNAL_REAL : EXTERNAL_INTEGER, 0);
  assert_true(run(b, EXTERNAL_NOTHING));
  *value = b->scalars[4][0];
  return b->scalars[3][0];
}

static double scan_word(Bench *b, const char *name, const char *text, const char *expected) {
  begin(b, name, 0);
  add_text(b, text);
  add_integer(b, 1);
  add_integer(b, 0);
  add_text(b, "");
  assert_true(run(b, EXTERNAL_NOTHING));
  assert_string_equal(b->texts[3], expected);
  return b->scalars[2][0];
}

static void test_texts(void **state) {
  Bench *b = *state;
  double value;
  assert_true(text_integer(b, "ModelicaStrings_length", "abc", 0) == 3);
  assert_true(text_integer(b, "ModelicaStrings_skipWhiteSpace", "a  b", 2) == 4);
  assert_true(text_integer(b, "ModelicaStrings_hashString", "", 0) == (int32_t)0xAAAAAAAA);
  assert_true(scan(b, "ModelicaStrings_scanReal", "x = -1.5e2;", 4, false, &value) == 11 && value == -150);
  assert_true(scan(b, "ModelicaStrings_scanReal", "-1", 1, true, &value) == 1 && value == 0);
  assert_true(scan(b, "ModelicaStrings_scanReal", ".5e", 1, true, &value) == 3 && value == 0.5);
  assert_true(scan(b, "ModelicaStrings_scanInteger", " +12 ", 1, false, &value) == 5 && value == 12);
  assert_true(scan(b, "ModelicaStrings_scanInteger", "1.5", 1, false, &value) == 1 && value == 0);
  assert_true(scan_word(b, "ModelicaStrings_scanString", " \"a\\\"b\" ", "a\\\"b") == 8);
  assert_true(scan_word(b, "ModelicaStrings_scanString", "\"open", "") == 1);
  assert_true(scan_word(b, "ModelicaStrings_scanIdentifier", " a_1.b", "a_1") == 5);
  assert_true(scan_word(b, "ModelicaStrings_scanIdentifier", "1a", "") == 1);
  struct {
    const char *a, *b;
    int is_exact, order;
  } pairs[] = {{"a", "b", 1, 1}, {"B", "b", 0, 2}, {"B", "b", 1, 1}, {"ab", "a", 1, 3}, {"", "", 1, 2}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    begin(b, "ModelicaStrings_compare", 0);
    add_text(b, pairs[i].a);
    add_text(b, pairs[i].b);
    add_integer(b, pairs[i].is_exact);
    assert_true(run(b, EXTERNAL_INTEGER) && b->scalars[ARGUMENTS][0] == pairs[i].order);
  }
  begin(b, "ModelicaStrings_substring", 0);
  add_text(b, "abcdef");
  add_integer(b, 3);
  add_integer(b, 9);
  assert_true(run(b, EXTERNAL_TEXT));
  assert_string_equal(b->texts[ARGUMENTS], "cdef");
  begin(b, "ModelicaInternal_print", 0);
  add_text(b, "a line");
  add_text(b, "");
  assert_true(run(b, EXTERNAL_NOTHING));
  assert_string_equal(external_state(b->heap)->printed.data, "a line\n");
}

/* For any model: wrong numbers and types of arguments are refused, and functions that write are not found. */
static void test_refusals(void **state) {
  Bench *b = *state;
  bool is_forbidden;
  begin(b, "ModelicaStrings_length", 0);
  add_integer(b, 1);
  assert_false(run(b, EXTERNAL_INTEGER));
  begin(b, "ModelicaStandardTables_CombiTable1D_getValue", 0);
  add_object(b, NULL);
  add_integer(b, 1);
  add_real(b, 1);
  assert_false(run(b, EXTERNAL_REAL));
  assert_null(external_find(b->heap, (ExternalName){.name = "ModelicaInternal_system"}, NULL, &is_forbidden));
  assert_true(is_forbidden);
  assert_null(external_find(b->heap, (ExternalName){.name = "system"}, NULL, &is_forbidden));
  assert_false(is_forbidden);
  assert_null(external_find(b->heap, (ExternalName){.name = "dgesv"}, NULL, &is_forbidden));
}

/* ---- LAPACK ---- */

/* Solves [2, 1; 1, 3] x = [3; 5]; `n` is what the routine is told. */
static bool solve(Bench *b, double n, double *x) {
  static double lower[] = {1}, diagonal[] = {2, 3}, upper[] = {1};
  bool is_forbidden;
  b->call = (ExternalCall){.arguments = b->arguments, .arena = &b->arena, .state = external_state(b->heap)};
  b->call.function = external_find(b->heap, (ExternalName){.name = "dgtsv", .is_fortran = true}, NULL, &is_forbidden);
  assert_non_null(b->call.function);
  x[0] = 3, x[1] = 5;
  add_integer(b, n);
  add_integer(b, 1);
  add_array(b, EXTERNAL_REAL, lower, 1, 0);
  add_array(b, EXTERNAL_REAL, diagonal, 2, 0);
  add_array(b, EXTERNAL_REAL, upper, 1, 0);
  add_array(b, EXTERNAL_REAL, x, 2, 0);
  b->arguments[5].is_output = true;
  add_integer(b, n);
  add_integer(b, 0);
  b->arguments[7].is_output = true;
  return run(b, EXTERNAL_NOTHING);
}

static void test_lapack(void **state) {
  Bench *b = *state;
  double x[2];
  assert_true(solve(b, 2, x));
  assert_true(fabs(x[0] - 0.8) < 1e-15 && fabs(x[1] - 1.4) < 1e-15 && b->scalars[7][0] == 0);
  assert_false(solve(b, 3, x));
  assert_non_null(strstr(b->call.failure, "argument 3"));
}

/* ---- memory ---- */

static const char MODEL[] =
    "package P\n"
    "  class Table extends ExternalObject;\n"
    "    function constructor input Real table[:,:]; output Table t;\n"
    "      external \"C\" t = ModelicaStandardTables_CombiTable1D_init2(\"NoName\", \"NoName\", table, size(table, "
    "1),\n"
    "        size(table, 2), {2}, 1, 2, 2, false);\n"
    "    end constructor;\n"
    "    function destructor input Table t; external \"C\" ModelicaStandardTables_CombiTable1D_close(t); end "
    "destructor;\n"
    "  end Table;\n"
    "  function value input Table t; input Real u; output Real y;\n"
    "    external \"C\" y = ModelicaStandardTables_CombiTable1D_getValue(t, 1, u); end value;\n"
    "  model M parameter Real k = 1; parameter Table t = Table([0, k; 1, 2; 2, 5]); Real x(start = 1, fixed = true);\n"
    "  equation der(x) = -value(t, x); end M;\n"
    "end P;\n";

/* For every refused allocation, everything is freed. */
static void test_refused_memory(void **state) {
  (void)state;
  FailAlloc fail = {0};
  for (size_t refuse = 0, total = 1; refuse <= total; refuse += 1 + total / 200) {
    fail = (FailAlloc){.refuse = refuse};
    fail_alloc_begin(&fail);
    daedal_allocator allocator = {fail.hook.resize, fail.hook.context};
    daedal_model *model = daedal_load_text(MODEL, sizeof MODEL - 1, "model", NULL, &allocator);
    daedal_result *result = model ? daedal_simulate(model, NULL) : NULL;
    if (refuse == 0) assert_int_equal(daedal_status_of(result), DAEDAL_OK);
    if (refuse == 0) total = fail.count;
    daedal_free(result);
    daedal_free(model);
    assert_int_equal(fail.live, 0);
  }
}

/* Runs of one plan share its table, or make their own if one of its parameters differs; earlier and later runs are
 * unaffected. */
static void test_shared_plan(void **state) {
  (void)state;
  daedal_model *model = daedal_load_text(MODEL, sizeof MODEL - 1, "model", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, NULL);
  double end[4], k[] = {1, 3, 1, 3};
  for (int i = 0; i < 4; i++) {
    daedal_run *run = daedal_run_make(plan);
    assert_non_null(run);
    if (k[i] != 1) assert_int_equal(daedal_run_set(run, "k", k[i]), DAEDAL_OK);
    assert_int_equal(daedal_run_execute(run), DAEDAL_OK);
    end[i] = daedal_run_get(run, "x");
    daedal_free(run);
  }
  assert_true(end[0] == end[2] && end[1] == end[3] && fabs(end[0] - end[1]) > 0.1);
  daedal_free(plan);
  daedal_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_smoothness, setup, teardown),
      cmocka_unit_test_setup_teardown(test_extrapolation, setup, teardown),
      cmocka_unit_test_setup_teardown(test_derivatives, setup, teardown),
      cmocka_unit_test_setup_teardown(test_time_events, setup, teardown),
      cmocka_unit_test_setup_teardown(test_periodic_events, setup, teardown),
      cmocka_unit_test_setup_teardown(test_surface_values, setup, teardown),
      cmocka_unit_test_setup_teardown(test_surface_smooth, setup, teardown),
      cmocka_unit_test_setup_teardown(test_files, setup, teardown),
      cmocka_unit_test_setup_teardown(test_matrix_input, setup, teardown),
      cmocka_unit_test_setup_teardown(test_effects, setup, teardown),
      cmocka_unit_test_setup_teardown(test_system, setup, teardown),
      cmocka_unit_test_setup_teardown(test_random, setup, teardown),
      cmocka_unit_test_setup_teardown(test_texts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
      cmocka_unit_test_setup_teardown(test_lapack, setup, teardown),
      cmocka_unit_test(test_refused_memory),
      cmocka_unit_test(test_shared_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
