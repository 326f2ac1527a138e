/* export: see export.h. The functions come from ctext.h; here are the data beside them and what calls them. */
#include "code/export.h"

#include "code/cfunctions.h"

#include <stdio.h>

/* ---- data as C text ---- */

/* Longer strings C99 compilers need not take; the text of an equation may be longer. */
enum { LONGEST_STRING = 4000 };

static void put_string(Heap *heap, TextVec *out, const char *text) {
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
static void put_comment(Heap *heap, TextVec *out, const char *text) {
  for (const char *c = text; *c; c++) {
    bool is_bad = (*c == '/' && c > text && c[-1] == '*') || *c == '?' || *c < ' ';
    text_append(heap, out, is_bad ? " " : c, 1);
  }
}

/* C has no empty arrays: every list has one element more, which nothing reads. */
static void put_strings(Heap *heap, TextVec *out, const char *name, const char *const *texts, uint32_t count) {
  text_printf(heap, out, "const char *const %s[] = {\n", name);
  for (uint32_t i = 0; i < count; i++) {
    text_printf(heap, out, "    ");
    put_string(heap, out, texts[i]);
    text_printf(heap, out, ",\n");
  }
  text_printf(heap, out, "    \"\"};\n\n");
}

static void put_numbers(Heap *heap, TextVec *out, const char *kind, const char *name, const double *numbers,
                        uint32_t count) {
  text_printf(heap, out, "%sconst double %s[] = {", kind, name);
  for (uint32_t i = 0; i < count; i++) {
    text_printf(heap, out, i % 6 ? " " : "\n    ");
    ctext_number(heap, out, numbers[i]);
    text_printf(heap, out, ",");
  }
  text_printf(heap, out, "\n    0};\n\n");
}

static void put_indices(Heap *heap, TextVec *out, const char *kind, const char *name, const uint32_t *numbers,
                        uint32_t count) {
  text_printf(heap, out, "%s %s[] = {", kind, name);
  for (uint32_t i = 0; i < count; i++) text_printf(heap, out, "%s%u,", i % 12 ? " " : "\n    ", numbers[i]);
  text_printf(heap, out, "\n    0};\n\n");
}

static void put_integers(Heap *heap, TextVec *out, const char *name, const int32_t *numbers, uint32_t count) {
  text_printf(heap, out, "const int %s[] = {", name);
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
  put_indices(heap, out, "static const uint32_t", array, text->starts.data, text->starts.count);
}

static void put_tables(Heap *heap, TextVec *out, const CText *text, const char *name) {
  char array[64];
  for (uint32_t t = 0; t < text->tables.count; t++) {
    snprintf(array, sizeof array, "%s_table%u", name, t);
    put_indices(heap, out, "static const uint32_t", array, text->tables.data[t]->table, text->table_sizes.data[t]);
  }
  text_printf(heap, out, "static const uint32_t *const %s_tables[] = {", name);
  for (uint32_t t = 0; t < text->tables.count; t++) text_printf(heap, out, "%s_table%u, ", name, t);
  text_printf(heap, out, "0};\n\n");
}

static const char evaluate_text[] =
    "int model_%s(double time, const double *y, const double *parameters, const double *discretes, const "
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

static void put_program(Heap *heap, TextVec *out, const Program *program, const CText *text, const char *name,
                        const char *size) {
  char array[64];
  text_append(heap, out, text->text.data, text->text.count);
  text_printf(heap, out, "\n");
  put_steps(heap, out, text, name);
  put_tables(heap, out, text, name);
  snprintf(array, sizeof array, "%s_numbers", name);
  put_numbers(heap, out, "static ", array, program->numbers, program->number_count);
  text_printf(heap, out, evaluate_text, name, name, program->scratch_count, name, name, name, text->steps.count, name,
              name, size);
}

/* ---- files ---- */

static void put_header(Heap *heap, TextVec *out, const ExportInput *input, uint32_t work) {
  text_printf(heap, out, "/* The model ");
  put_comment(heap, out, input->name);
  text_printf(heap, out,
              " in C99, written by daedal.\n"
              " * F(time, y) = 0 is the residual, dF/dy its Jacobian in compressed columns.");
  if (input->method) text_printf(heap, out, "\n * Rows: ");
  if (input->method) put_comment(heap, out, input->method);
  text_printf(heap, out, " */\n#ifndef MODEL_H\n#define MODEL_H\n\n");
  text_printf(heap, out,
              "enum {\n  MODEL_ROWS = %u,\n  MODEL_COLUMNS = %u,\n  MODEL_PARAMETERS = %u,\n"
              "  MODEL_DISCRETES = %u,\n  MODEL_JACOBIAN_COLUMNS = %u,\n  MODEL_NONZEROS = %u,\n  MODEL_WORK "
              "= %u\n};\n\n",
              input->row_list.count, input->columns.count, input->parameters.count, input->discretes.count,
              input->jacobian->columns, input->jacobian->nonzeros, work ? work : 1);
  text_printf(heap, out,
              "/* Names, and values at the start. */\n"
              "extern const char *const model_column_names[], *const model_row_names[];\n"
              "extern const char *const model_parameter_names[], *const model_discrete_names[];\n"
              "extern const double model_time, model_start[], model_parameters[], model_discretes[], model_pre[];\n\n"
              "/* Pattern of the Jacobian: entries model_column_start[c] .. model_column_start[c + 1] - 1 are those "
              "of\n"
              " * column c, in rows model_row_index[entry], ascending. model_positions[c]: the place of column c in "
              "y. */\n"
              "extern const int model_column_start[], model_row_index[], model_positions[];\n\n"
              "/* Residual into out[MODEL_ROWS]; entries of the Jacobian into out[MODEL_NONZEROS]. `work` has room "
              "for\n"
              " * MODEL_WORK numbers, for each thread its own. Both return 0, or 1 if a result is not finite. */\n"
              "int model_residual(double time, const double *y, const double *parameters, const double *discretes,\n"
              "                   const double *pre, double *work, double *out);\n"
              "int model_jacobian(double time, const double *y, const double *parameters, const double *discretes,\n"
              "                   const double *pre, double *work, double *out);\n\n"
              "#endif\n");
}

static void put_data(Heap *heap, TextVec *out, const ExportInput *input) {
  const Jacobian *jacobian = input->jacobian;
  put_strings(heap, out, "model_column_names", input->columns.names, input->columns.count);
  put_strings(heap, out, "model_row_names", input->row_list.names, input->row_list.count);
  put_strings(heap, out, "model_parameter_names", input->parameters.names, input->parameters.count);
  put_strings(heap, out, "model_discrete_names", input->discretes.names, input->discretes.count);
  text_printf(heap, out, "const double model_time = ");
  ctext_number(heap, out, input->time);
  text_printf(heap, out, ";\n\n");
  put_numbers(heap, out, "", "model_start", input->columns.values, input->columns.count);
  put_numbers(heap, out, "", "model_parameters", input->parameters.values, input->parameters.count);
  put_numbers(heap, out, "", "model_discretes", input->discretes.values, input->discretes.count);
  put_numbers(heap, out, "", "model_pre", input->pre, input->discretes.count);
  put_integers(heap, out, "model_column_start", jacobian->column_start, jacobian->columns + 1);
  put_integers(heap, out, "model_row_index", jacobian->row_index, jacobian->nonzeros);
  put_indices(heap, out, "const int", "model_positions", jacobian->positions, jacobian->columns);
}

static const char main_text[] =
    "/* Shows the model: its columns at the start, the residual and the entries of the Jacobian there. */\n"
    "#include \"model.h\"\n\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n\n"
    "int main(void) {\n"
    "  double *work = malloc(MODEL_WORK * sizeof *work);\n"
    "  double *residual = malloc((MODEL_ROWS + 1) * sizeof *residual);\n"
    "  double *entries = malloc((MODEL_NONZEROS + 1) * sizeof *entries);\n"
    "  if (!work || !residual || !entries) return 1;\n"
    "  int bad = model_residual(model_time, model_start, model_parameters, model_discretes, model_pre, work, "
    "residual);\n"
    "  bad |= model_jacobian(model_time, model_start, model_parameters, model_discretes, model_pre, work, "
    "entries);\n"
    "  for (int c = 0; c < MODEL_COLUMNS; c++) printf(\"column %d %.17g %s\\n\", c, model_start[c], "
    "model_column_names[c]);\n"
    "  for (int r = 0; r < MODEL_ROWS; r++) printf(\"row %d %.17g %s\\n\", r, residual[r], "
    "model_row_names[r]);\n"
    "  for (int c = 0; c < MODEL_JACOBIAN_COLUMNS; c++)\n"
    "    for (int k = model_column_start[c]; k < model_column_start[c + 1]; k++)\n"
    "      printf(\"entry %d %d %.17g\\n\", model_row_index[k], model_positions[c], entries[k]);\n"
    "  if (bad) fprintf(stderr, \"some results are not finite\\n\");\n"
    "  free(work);\n"
    "  free(residual);\n"
    "  free(entries);\n"
    "  return bad;\n"
    "}\n";

static const char makefile_text[] = "# Builds the driver `model`: make, then ./model\n"
                                    "CC ?= cc\n"
                                    "CFLAGS ?= -O2 -std=c99 -Wall\n\n"
                                    "# No fused operations: the numbers are then those of daedal itself.\n"
                                    "model: main.c model.c model.h\n"
                                    "\t$(CC) $(CFLAGS) -ffp-contract=off -o $@ main.c model.c -lm\n\n"
                                    "clean:\n"
                                    "\trm -f model\n\n"
                                    ".PHONY: clean\n";

static TextVec *add_file(Heap *heap, ExportFiles *files, const char *name) {
  vec_push(heap, files, (ExportFile){.name = name});
  return &vec_last(files).text;
}

bool export_c(Heap *heap, const ExportInput *input, ExportFiles *files, Diags *diags) {
  const Program *residual = input->rows, *jacobian = input->jacobian->program;
  CText residual_text = ctext_make(heap, residual, "residual", false);
  CText jacobian_text = ctext_make(heap, jacobian, "jacobian", false);
  const CallingText callers[] = {{residual, &residual_text, "residual"}, {jacobian, &jacobian_text, "jacobian"}};
  TextVec functions = {0};
  if (!cfunctions_write(heap, input->model, callers, 2, &functions, diags)) return false;

  uint32_t work = residual->scratch_count + residual_text.work, other = jacobian->scratch_count + jacobian_text.work;
  put_header(heap, add_file(heap, files, "model.h"), input, work > other ? work : other);

  TextVec *code = add_file(heap, files, "model.c");
  text_printf(heap, code, "/* Data, residual and Jacobian of the model; see model.h. */\n#include \"model.h\"\n\n");
  ctext_header(heap, code, (const TextVec *const[]){&functions, &residual_text.text, &jacobian_text.text}, 3);
  if (functions.count) text_append(heap, code, functions.data, functions.count);
  put_data(heap, code, input);
  put_program(heap, code, residual, &residual_text, "residual", "MODEL_ROWS");
  put_program(heap, code, jacobian, &jacobian_text, "jacobian", "MODEL_NONZEROS");

  text_append(heap, add_file(heap, files, "main.c"), main_text, sizeof main_text - 1);
  text_append(heap, add_file(heap, files, "Makefile"), makefile_text, sizeof makefile_text - 1);
  return true;
}
