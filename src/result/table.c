/* table: see table.h. */
#include "result/table.h"

#include "base/number.h"
#include "result/csv.h"
#include "result/mat.h"

#include <stdio.h>
#include <string.h>

const char *table_status(uint8_t code) {
  static const char *const words[] = {[DIAG_NONE] = "ok",
                                      [DIAG_INTERNAL] = "internal",
                                      [DIAG_USAGE] = "usage",
                                      [DIAG_INPUT] = "input",
                                      [DIAG_STRUCTURE] = "structure",
                                      [DIAG_INIT] = "init",
                                      [DIAG_INTEGRATION] = "integration",
                                      [DIAG_FILE] = "file"};
  return code < sizeof words / sizeof *words ? words[code] : "unfinished";
}

static const char *cause_of(const Table *table, uint32_t row) { return table->causes[row] ? table->causes[row] : ""; }

static uint32_t longest_cause(const Table *table) {
  size_t longest = 1;
  for (uint32_t row = 0; row < table->rows; row++) {
    size_t length = strlen(cause_of(table, row));
    if (length > longest) longest = length;
  }
  return (uint32_t)longest;
}

static void put_padded(FileWriter *file, const char *text, uint32_t width) {
  uint32_t length = (uint32_t)strlen(text);
  file_write(file, text, length);
  for (; length < width; length++) file_write(file, "", 1);
}

/* ---- CSV ---- */

static void put_text(FileWriter *file, const char *text) { file_write(file, text, strlen(text)); }

/* An empty cell of text needs no quotes. */
static void put_cause(FileWriter *file, const char *cause) {
  if (*cause) csv_put_text(file, cause);
}

void table_write_csv(FileWriter *file, const Table *table) {
  put_text(file, "point");
  for (uint32_t c = 0; c < table->columns; c++) {
    put_text(file, ",");
    csv_put_text(file, table->names[c]);
  }
  put_text(file, ",status,cause\n");
  for (uint32_t row = 0; row < table->rows; row++) {
    char number[NUMBER_SIZE];
    file_write(file, number, number_format(row + 1.0, 17, number));
    for (uint32_t c = 0; c < table->columns; c++) csv_put_number(file, ',', table_value(table, row, c));
    put_text(file, ",");
    put_text(file, table_status(table->status[row]));
    put_text(file, ",");
    put_cause(file, cause_of(table, row));
    put_text(file, "\n");
  }
}

/* ---- NPY ---- */

/* A name as a Python string. */
static void append_name(Heap *heap, TextVec *text, const char *name, const char *type) {
  text_printf(heap, text, "(");
  text_quote(heap, text, name, '\'');
  text_printf(heap, text, ", '%s'), ", type);
}

/* Format 3.0: magic, version, length of the header, a Python dictionary in UTF-8, padded to a multiple of 64. */
static void put_npy_header(Heap *heap, FileWriter *file, const Table *table, uint32_t width) {
  enum { BEFORE = 12 };
  TextVec text = {0};
  char number[] = "<f8", count[] = "<i8", code[] = "<i4", cause[16];
  number[0] = count[0] = code[0] = number_is_big_endian() ? '>' : '<';
  snprintf(cause, sizeof cause, "S%u", width);
  text_printf(heap, &text, "{'descr': [");
  append_name(heap, &text, "point", count);
  for (uint32_t c = 0; c < table->columns; c++) append_name(heap, &text, table->names[c], number);
  append_name(heap, &text, "status", code);
  append_name(heap, &text, "cause", cause);
  text_printf(heap, &text, "], 'fortran_order': False, 'shape': (%u,), }", table->rows);
  while ((BEFORE + text.count + 1) % 64) text_append(heap, &text, " ", 1);
  text_append(heap, &text, "\n", 1);
  uint32_t size = text.count;
  unsigned char length[4] = {size & 255, size >> 8 & 255, size >> 16 & 255, (unsigned char)(size >> 24)};
  file_write(file, "\x93NUMPY\x03\x00", 8);
  file_write(file, length, sizeof length);
  file_write(file, text.data, text.count);
  vec_free(heap, &text);
}

void table_write_npy(Heap *heap, FileWriter *file, const Table *table) {
  uint32_t width = longest_cause(table);
  put_npy_header(heap, file, table, width);
  for (uint32_t row = 0; row < table->rows; row++) {
    int64_t point = row + 1;
    int32_t code = table->status[row];
    file_write(file, &point, sizeof point);
    file_write(file, &table->values[(size_t)row * table->stride], table->columns * sizeof(double));
    file_write(file, &code, sizeof code);
    put_padded(file, cause_of(table, row), width);
  }
}

/* ---- MAT ---- */

static const char **causes_of(Heap *heap, const Table *table) {
  const char **causes = heap_array(heap, table->rows, sizeof *causes);
  for (uint32_t row = 0; row < table->rows; row++) causes[row] = cause_of(table, row);
  return causes;
}

static void put_data(Heap *heap, FileWriter *file, const Table *table) {
  double *data = heap_array(heap, (size_t)table->rows * table->columns, sizeof *data), *at = data;
  for (uint32_t c = 0; c < table->columns; c++)
    for (uint32_t row = 0; row < table->rows; row++) *at++ = table_value(table, row, c);
  mat_put_matrix(file, "data", data, table->rows, table->columns);
  at = data;
  for (uint32_t row = 0; row < table->rows; row++) *at++ = table->status[row];
  mat_put_matrix(file, "status", data, table->rows, 1);
  heap_free(heap, data);
}

bool table_write_mat(Heap *heap, Diags *diags, FileWriter *file, const Table *table) {
  uint64_t size = (uint64_t)table->rows * (8 * (table->columns + UINT64_C(1)) + longest_cause(table));
  if (size > MAT_LIMIT) {
    diag_error(diags, DIAG_USAGE, (Span){0},
               "the table would need %.1f GB, and a MAT file (level 4) holds at most 2 GB", (double)size / 1e9);
    return false;
  }
  const char **causes = causes_of(heap, table);
  mat_put_texts(file, "name", table->names, table->columns);
  put_data(heap, file, table);
  mat_put_texts(file, "cause", causes, table->rows);
  heap_free(heap, causes);
  return true;
}
