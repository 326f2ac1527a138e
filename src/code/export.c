/* export: see export.h. Programs and data come from cdata.h; here is the text around them. */
#include "code/export.h"

#include "code/cdata.h"

/* ---- files ---- */

static void put_header(Heap *heap, TextVec *out, const ExportInput *input, uint32_t work) {
  text_printf(heap, out, "/* The model ");
  cdata_comment(heap, out, input->name);
  text_printf(heap, out,
              " in C99, written by daedal.\n"
              " * F(time, y) = 0 is the residual, dF/dy its Jacobian in compressed columns.");
  if (input->method) text_printf(heap, out, "\n * Rows: ");
  if (input->method) cdata_comment(heap, out, input->method);
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
  cdata_strings(heap, out, "model_column_names", input->columns.names, input->columns.count);
  cdata_strings(heap, out, "model_row_names", input->row_list.names, input->row_list.count);
  cdata_strings(heap, out, "model_parameter_names", input->parameters.names, input->parameters.count);
  cdata_strings(heap, out, "model_discrete_names", input->discretes.names, input->discretes.count);
  text_printf(heap, out, "const double model_time = ");
  ctext_number(heap, out, input->time);
  text_printf(heap, out, ";\n\n");
  cdata_numbers(heap, out, "", "model_start", input->columns.values, input->columns.count);
  cdata_numbers(heap, out, "", "model_parameters", input->parameters.values, input->parameters.count);
  cdata_numbers(heap, out, "", "model_discretes", input->discretes.values, input->discretes.count);
  cdata_numbers(heap, out, "", "model_pre", input->pre, input->discretes.count);
  cdata_integers(heap, out, "", "model_column_start", jacobian->column_start, jacobian->columns + 1);
  cdata_integers(heap, out, "", "model_row_index", jacobian->row_index, jacobian->nonzeros);
  cdata_indices(heap, out, "const int", "model_positions", jacobian->positions, jacobian->columns);
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
  const ProgramText texts[] = {program_text(heap, input->rows, "residual"),
                               program_text(heap, input->jacobian->program, "jacobian")};
  uint32_t work = program_text_work(&texts[0]), other = program_text_work(&texts[1]);
  put_header(heap, add_file(heap, files, "model.h"), input, work > other ? work : other);

  TextVec *code = add_file(heap, files, "model.c");
  text_printf(heap, code, "/* Data, residual and Jacobian of the model; see model.h. */\n#include \"model.h\"\n\n");
  if (!cdata_programs(heap, code, input->model, texts, 2, "", NULL, diags)) return false;
  put_data(heap, code, input);

  text_append(heap, add_file(heap, files, "main.c"), main_text, sizeof main_text - 1);
  text_append(heap, add_file(heap, files, "Makefile"), makefile_text, sizeof makefile_text - 1);
  return true;
}
