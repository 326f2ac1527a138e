/* Functions with data-dependent control flow as C. Every model of tests/models/functions is exported with its equations, their time
 * derivatives and their Jacobian, compiled as strict C99, and run at random points; the rows are also compiled within the program.
 * Both must give exactly the numbers of the tape. */
#include "code/compile.h"
#include "code/export.h"
#include "lang/lang.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ORDERS = 3, POINTS = 5, MOST_COLUMNS = 512 };

typedef int (*Evaluate)(double time, const double *y, const double *parameters, const double *discretes,
                        const double *pre, double *work, double *out);

typedef struct Bench {
  Heap *heap;
  Names names;
  Source source;
  Diags diags;
  Model *model;
  uint32_t starts[MOST_COLUMNS];
  Layout layout;
  VEC(Expr) rows;
  double y[MOST_COLUMNS], *parameters;
  uint64_t seed;
} Bench;

static double random_unit(Bench *b) {
  b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(b->seed >> 11) / 9007199254740992.0;
}

static char *read_text(Heap *heap, const char *path) {
  char *text = heap_alloc(heap, 1 << 16);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, (1 << 16) - 1, file)] = 0;
  fclose(file);
  return text;
}

static Bench *bench_new(const char *path) {
  Heap *heap = heap_new(NULL);
  Bench *b = heap_alloc(heap, sizeof *b);
  *b = (Bench){.heap = heap, .names = names_make(heap), .diags = diags_make(heap), .seed = 7};
  const char *text = read_text(heap, path);
  b->source = source_make(heap, path, text, (uint32_t)strlen(text));
  b->model = lang_load(heap, &b->names, &b->source, NULL, NULL, (LangOptions){0}, &b->diags);
  if (!b->model) fail_msg("%s: %s", path, b->diags.list.data[0].message);
  uint32_t unknowns = b->model->unknowns.count;
  assert_true(unknowns * ORDERS < MOST_COLUMNS);
  for (uint32_t j = 0; j <= unknowns; j++) b->starts[j] = j * ORDERS;
  b->layout = (Layout){unknowns, unknowns * ORDERS, b->starts};
  for (uint32_t i = 0; i < b->model->equations.count; i++) {
    Expr row = b->model->equations.data[i].residual;
    for (uint32_t order = 0; order < 2; order++, row = dag_time_derivative(b->model->dag, row))
      vec_push(heap, &b->rows, row);
  }
  b->parameters = heap_array(heap, b->model->parameters.count, sizeof(double));
  assert_true(model_parameter_values(b->model, b->model->heap, NULL, b->parameters, &b->diags));
  return b;
}

static const char *const *blank_names(Bench *b, uint32_t count) {
  const char **names = heap_array(b->heap, count, sizeof *names);
  for (uint32_t i = 0; i < count; i++) names[i] = "";
  return names;
}

/* The exported model as a library. */
static void *build(const ExportFiles *files) {
  char directory[] = "/tmp/daedal-test-XXXXXX", path[200], command[600];
  assert_non_null(mkdtemp(directory));
  for (uint32_t i = 0; i < files->count; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, files->data[i].name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(files->data[i].text.data, 1, files->data[i].text.count, file);
    assert_int_equal(fclose(file), 0);
  }
  snprintf(command, sizeof command,
           "cd %s && cc -std=c99 -Wall -Wextra -Werror -pedantic -O0 -ffp-contract=off -shared -fPIC -o model.so "
           "model.c -lm && cc -std=c99 -Wall -Wextra -Werror -pedantic -fsyntax-only main.c",
           directory);
  assert_int_equal(system(command), 0);
  snprintf(path, sizeof path, "%s/model.so", directory);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  snprintf(command, sizeof command, "rm -r %s", directory);
  assert_int_equal(system(command), 0);
  return library;
}

static ExportFiles export_bench(Bench *b, const Program *rows, const Jacobian *jacobian) {
  uint32_t columns = b->layout.columns, parameters = b->model->parameters.count;
  ExportInput input = {.name = "M",
                       .model = b->model,
                       .rows = rows,
                       .jacobian = jacobian,
                       .columns = {columns, blank_names(b, columns), b->y},
                       .row_list = {b->rows.count, blank_names(b, b->rows.count), NULL},
                       .parameters = {parameters, blank_names(b, parameters), b->parameters}};
  ExportFiles files = {0};
  if (!export_c(b->heap, &input, &files, &b->diags)) fail_msg("%s", b->diags.list.data[0].message);
  return files;
}

/* Compares the tape with C. Functions are recorded for the tape, which adds in another order. If a result does not need an
 * undefined value, the tape has a value, although C has none. */
static bool is_same(double a, double b) {
  return isnan(b) || memcmp(&a, &b, sizeof a) == 0 || a == b || fabs(a - b) <= 1e-12 * fmax(fabs(a), 1);
}

/* Compares numbers, and counts the finite ones that agree. */
static uint32_t compare(const char *path, const char *what, uint32_t point, const double *a, const double *b,
                        uint32_t count) {
  uint32_t finite = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!is_same(a[i], b[i])) fail_msg("%s: %s %u at point %u: tape %.17g, C %.17g", path, what, i, point, a[i], b[i]);
    finite += isfinite(a[i]) != 0;
  }
  return finite;
}

static void check_model(const char *path) {
  Bench *b = bench_new(path);
  uint32_t count = b->rows.count;
  Program *program = program_new(b->heap, b->model, &b->layout, b->rows.data, count);
  Jacobian *jacobian = jacobian_new(b->heap, b->model, &b->layout, b->rows.data, count, NULL, 0);
  Program *compiled = program_new(b->heap, b->model, &b->layout, b->rows.data, count);
  if (!program_compile(b->heap, &compiled, 1, &b->diags)) fail_msg("%s", b->diags.list.data[0].message);
  Workspace *rows = workspace_new(b->heap, program), *entries = workspace_new(b->heap, jacobian->program),
            *machine = workspace_new(b->heap, compiled);
  ExportFiles files = export_bench(b, program, jacobian);
  void *library = build(&files);
  Evaluate evaluate[2];
  *(void **)&evaluate[0] = dlsym(library, "model_residual");
  *(void **)&evaluate[1] = dlsym(library, "model_jacobian");
  uint32_t sizes[2] = {count, jacobian->nonzeros}, finite = 0;
  double *tape[2], *other = heap_array(b->heap, count + jacobian->nonzeros, sizeof *other);
  for (uint32_t k = 0; k < 2; k++) tape[k] = heap_array(b->heap, sizes[k], sizeof **tape);
  double *work = heap_array(b->heap, 100000, sizeof *work), none = 0;
  for (uint32_t p = 0; p < POINTS; p++) {
    for (uint32_t i = 0; i < b->layout.columns; i++) b->y[i] = 0.3 + 1.7 * random_unit(b);
    Point point = {0.75, b->y, b->parameters, &none, &none};
    EvalStatus status[2] = {workspace_run(rows, &point, tape[0]), workspace_run(entries, &point, tape[1])};
    assert_true(workspace_run(machine, &point, other) == EVAL_DOMAIN || status[0] == EVAL_OK);
    compare(path, "compiled row", p, tape[0], other, count);
    for (uint32_t k = 0; k < 2; k++) {
      assert_true(evaluate[k](0.75, b->y, b->parameters, &none, &none, work, other) || status[k] == EVAL_OK);
      finite += compare(path, k ? "entry" : "row", p, tape[k], other, sizes[k]);
    }
  }
  assert_true(finite > POINTS * (count + jacobian->nonzeros) / 2);
  dlclose(library);
  heap_destroy(b->heap);
}

static void test_functions(void **state) {
  (void)state;
  if (system("cc --version > /dev/null 2>&1") != 0) skip();
  char folder[800], path[1200];
  snprintf(folder, sizeof folder, "%s/tests/models/functions", getenv("SOURCE_DIR"));
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  uint32_t models = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (!strstr(entry->d_name, ".mo")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    check_model(path);
    models++;
  }
  closedir(directory);
  assert_true(models >= 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
