/* compile: see compile.h. */
#include "code/compile.h"

#include "base/compiler.h"
#include "base/finite.h"
#include "code/cfunctions.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- running compiled code ---- */

struct Compiled {
  const Program *program;
  CText text;
  const CTextFunction *functions;
  CTextRun run;
};

static bool run_compiled(const struct Compiled *code, const Arrays *arrays, double *work) {
  CTextRun run = code->run;
  run.work = work;
  run.read = arrays->read;
  run.write = arrays->write;
  double sum = 0;
  const CTextStep *step = code->text.steps.data;
  for (const CTextStep *end = step + code->text.steps.count; step < end; step++)
    sum += code->functions[step->function](&run, code->text.starts.data + step->starts, step->count, step->first);
  return isfinite(sum) || all_finite(arrays->read[STORE_OUTPUT], code->program->outputs);
}

static struct Compiled *compiled_new(Heap *heap, const Program *program, const char *name) {
  struct Compiled *code = heap_alloc(heap, sizeof *code);
  code->program = program;
  code->text = ctext_make(heap, program, name, true);
  const uint32_t **tables = heap_array(heap, code->text.tables.count, sizeof *tables);
  for (uint32_t t = 0; t < code->text.tables.count; t++) tables[t] = code->text.tables.data[t]->table;
  code->run = (CTextRun){.tables = tables};
  return code;
}

/* ---- loading ---- */

static bool load(void *context, const char *path, char *failure) {
  void **library = context;
  *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*library) return true;
  snprintf(failure, COMPILER_FAILURE,
           "the compiled code cannot be loaded (%s); set TMPDIR to a directory from which code may run", dlerror());
  return false;
}

static void release_library(void *object) {
  void **library = object;
  if (*library) dlclose(*library);
}

/* The whole text, from codes made by compiled_new; false if a function cannot be written. */
static bool put_text(Heap *heap, Program *const *programs, struct Compiled **codes, uint32_t count, TextVec *text,
                     Diags *diags) {
  char(*names)[32] = heap_array(heap, count, sizeof *names);
  CallingText *callers = heap_array(heap, count, sizeof *callers);
  const TextVec **texts = heap_array(heap, count + 1, sizeof *texts);
  TextVec functions = {0};
  for (uint32_t k = 0; k < count; k++) {
    snprintf(names[k], sizeof names[k], "code%u", k);
    codes[k] = compiled_new(heap, programs[k], names[k]);
    callers[k] = (CallingText){programs[k], &codes[k]->text, names[k]};
    texts[k] = &codes[k]->text.text;
  }
  texts[count] = &functions;
  bool fits = !count || cfunctions_write(heap, programs[0]->model, callers, count, false, &functions, diags);
  ctext_header(heap, text, texts, count + 1);
  if (functions.count) text_append(heap, text, functions.data, functions.count);
  for (uint32_t k = 0; k < count; k++) text_append(heap, text, texts[k]->data, texts[k]->count);
  vec_free(heap, &functions);
  heap_free_all(heap, texts, callers, names);
  return fits;
}

bool program_compile(Heap *heap, Program *const *programs, uint32_t count, Diags *diags) {
  TextVec text = {0};
  char name[32];
  struct Compiled **codes = heap_array(heap, count, sizeof *codes);
  bool fits = put_text(heap, programs, codes, count, &text, diags);
  void **library = heap_alloc(heap, sizeof *library);
  heap_defer(heap, release_library, library);

  char failure[COMPILER_FAILURE] = "";
  const CompilerSource source = {"code.c", text.data, text.count};
  bool is_done = fits && compiler_build(heap, &source, 1, load, library, failure);
  vec_free(heap, &text);
  if (!is_done) {
    if (fits)
      diag_error(diags, DIAG_FILE, (Span){0, 0}, "the model cannot be compiled: %s; it runs without --compile",
                 failure);
    heap_free(heap, codes);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) {
    snprintf(name, sizeof name, "code%u_functions", k);
    codes[k]->functions = dlsym(*library, name);
    vec_free(heap, &codes[k]->text.text);
    programs[k]->code = codes[k];
    programs[k]->compiled = run_compiled;
    programs[k]->compiled_work = codes[k]->text.work;
  }
  heap_free(heap, codes);
  return true;
}
