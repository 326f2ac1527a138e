/* cdata: see cdata.h. */
#include "code/cdata.h"

#include "code/cfunctions.h"

#include <stdio.h>

/* ---- data as C text ---- */

/* C99 compilers need not accept longer strings; the text of an equation may be longer. */
enum { LONGEST_STRING = 4000 };

void cdata_string(Heap *heap, TextVec *out, const char *text) {
  const unsigned char *begin = (const unsigned char *)text;
  text_append(heap, out, "\"", 1);
  for (const unsigned char *c = begin; *c; c++) {
    if (c - begin == LONGEST_STRING) {
      text_append(heap, out, "...", 3);
      break;
    }
    if (*c == '"' || *c == '\\' || *c == '?') text_printf(heap, out, "\\%c", *c); /* ??x would be a trigraph */
    else if (*c < ' ' || *c > '~') text_printf(heap, out, "\\%03o", *c);
    else text_append(heap, out, (const char *)c, 1);
  }
  text_append(heap, out, "\"", 1);
}

/* Text inside of a comment, which it must not end. */
void cdata_comment(Heap *heap, TextVec *out, const char *text) {
  for (const char *c = text; *c; c++) {
    bool is_bad = (*c == '/' && c > text && c[-1] == '*') || *c == '?' || *c < ' ';
    text_append(heap, out, is_bad ? " " : c, 1);
  }
}

/* C has no empty arrays: every list has one more element, which is never read. */
void cdata_strings(Heap *heap, TextVec *out, const char *name, const char *const *texts, uint32_t count) {
  text_printf(heap, out, "const char *const %s[] = {\n", name);
  for (uint32_t i = 0; i < count; i++) {
    text_printf(heap, out, "    ");
    cdata_string(heap, out, texts[i]);
    text_printf(heap, out, ",\n");
  }
  text_printf(heap, out, "    \"\"};\n\n");
}

void cdata_numbers(Heap *heap, TextVec *out, const char *kind, const char *name, const double *numbers,
                   uint32_t count) {
  text_printf(heap, out, "%sconst double %s[] = {", kind, name);
  for (uint32_t i = 0; i < count; i++) {
    text_printf(heap, out, i % 6 ? " " : "\n    ");
    ctext_number(heap, out, numbers[i]);
    text_printf(heap, out, ",");
  }
  text_printf(heap, out, "\n    0};\n\n");
}

void cdata_indices(Heap *heap, TextVec *out, const char *kind, const char *name, const uint32_t *numbers,
                   uint32_t count) {
  text_printf(heap, out, "%s %s[] = {", kind, name);
  for (uint32_t i = 0; i < count; i++) text_printf(heap, out, "%s%u,", i % 12 ? " " : "\n    ", numbers[i]);
  text_printf(heap, out, "\n    0};\n\n");
}

void cdata_integers(Heap *heap, TextVec *out, const char *kind, const char *name, const int32_t *numbers,
                    uint32_t count) {
  text_printf(heap, out, "%sconst int %s[] = {", kind, name);
  for (uint32_t i = 0; i < count; i++) text_printf(heap, out, "%s%d,", i % 12 ? " " : "\n    ", numbers[i]);
  text_printf(heap, out, "\n    0};\n\n");
}

/* ---- one program ---- */

static void put_steps(Heap *heap, TextVec *out, const CText *text, const char *name) {
  text_printf(heap, out, "static const Step %s_steps[] = {\n", name);
  for (uint32_t s = 0; s < text->steps.count; s++) {
    const CTextStep *step = &text->steps.data[s];
    text_printf(heap, out, "    {%u, %u, %u, %u},\n", step->function, step->count, step->first, step->starts);
  }
  text_printf(heap, out, "    {0, 0, 0, 0}};\n\n");
  char array[64];
  snprintf(array, sizeof array, "%s_starts", name);
  cdata_indices(heap, out, "static const uint32_t", array, text->starts.data, text->starts.count);
}

static void put_tables(Heap *heap, TextVec *out, const CText *text, const char *name) {
  char array[64];
  for (uint32_t t = 0; t < text->tables.count; t++) {
    snprintf(array, sizeof array, "%s_table%u", name, t);
    cdata_indices(heap, out, "static const uint32_t", array, text->tables.data[t]->table, text->table_sizes.data[t]);
  }
  text_printf(heap, out, "static const uint32_t *const %s_tables[] = {", name);
  for (uint32_t t = 0; t < text->tables.count; t++) text_printf(heap, out, "%s_table%u, ", name, t);
  text_printf(heap, out, "0};\n\n");
}

static const char evaluate_text[] =
    "%sint model_%s(double time, const double *y, const double *parameters, const double *discretes, const "
    "double *pre,\n"
    "             double *work, double *out) {\n"
    "  const double *const read[] = {%s_numbers, &time, y, parameters, discretes, pre, work, out};\n"
    "  double *const write[] = {0, 0, 0, 0, 0, 0, work, out};\n"
    "  const Run run = {read, write, work + %u, %s_tables};\n"
    "  double sum = 0;\n"
    "  for (const Step *step = %s_steps; step < %s_steps + %u; step++)\n"
    "    sum += %s_functions[step->function](&run, %s_starts + step->starts, step->count, step->first);\n"
    "  if (sum - sum == 0) return 0;\n"
    "  for (int i = 0; i < %s; i++)\n"
    "    if (!(out[i] - out[i] == 0)) return 1;\n"
    "  return 0;\n"
    "}\n\n";

ProgramText program_text(Heap *heap, const Program *program, const char *name) {
  return (ProgramText){program, name, ctext_make(heap, program, name, false)};
}

uint32_t program_text_work(const ProgramText *text) { return text->program->scratch_count + text->text.work; }

static void put_program(Heap *heap, TextVec *out, const ProgramText *made, const char *kind) {
  const Program *program = made->program;
  const CText *text = &made->text;
  const char *name = made->name;
  char array[64], size[16];
  text_append(heap, out, text->text.data, text->text.count);
  text_printf(heap, out, "\n");
  put_steps(heap, out, text, name);
  put_tables(heap, out, text, name);
  snprintf(array, sizeof array, "%s_numbers", name);
  snprintf(size, sizeof size, "%u", program->outputs);
  cdata_numbers(heap, out, "static ", array, program->numbers, program->number_count);
  text_printf(heap, out, evaluate_text, kind, name, name, program->scratch_count, name, name, name, text->steps.count,
              name, name, size);
}

bool cdata_programs(Heap *heap, TextVec *out, const Model *model, const ProgramText *texts, uint32_t count,
                    const char *kind, const TextVec *tables, Diags *diags) {
  CallingText *callers = heap_array(heap, count, sizeof *callers);
  const TextVec **used = heap_array(heap, (size_t)count + 1, sizeof *used);
  TextVec functions = {0};
  for (uint32_t k = 0; k < count; k++) {
    callers[k] = (CallingText){texts[k].program, &texts[k].text, texts[k].name};
    used[k + 1] = &texts[k].text.text;
  }
  used[0] = &functions;
  if (!cfunctions_write(heap, model, callers, count, tables, &functions, diags)) return false;
  ctext_header(heap, out, used, count + 1);
  if (tables) text_append(heap, out, tables->data, tables->count);
  if (functions.count) text_append(heap, out, functions.data, functions.count);
  for (uint32_t k = 0; k < count; k++) put_program(heap, out, &texts[k], kind);
  return true;
}
