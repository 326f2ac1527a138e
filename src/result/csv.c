/* csv: see csv.h. */
#include "result/csv.h"

#include "base/number.h"

#include <string.h>

/* ---- writing ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Would a reader change the name? Blanks at the ends may get lost, and an open bracket hides the next comma. */
static bool needs_quotes(const char *name) {
  size_t length = strlen(name);
  int depth = 0;
  for (const char *c = name; *c; c++) depth += (*c == '[') - (*c == ']');
  return !length || depth > 0 || strpbrk(name, ",\"\r\n") || is_blank(name[0]) || is_blank(name[length - 1]);
}

void csv_put_text(FileWriter *file, const char *name) {
  bool quoted = needs_quotes(name);
  if (quoted) file_write(file, "\"", 1);
  for (size_t length; *name; name += length) { /* writes up to the next quote, and writes the quote twice */
    length = strcspn(name, "\"");
    file_write(file, name, length);
    if (!name[length]) break;
    file_write(file, "\"\"", 2);
    length++;
  }
  if (quoted) file_write(file, "\"", 1);
}

void csv_write_header(FileWriter *file, const SignalTable *signals) {
  file_write(file, "time", 4);
  for (uint32_t i = 0; i < signals->listed; i++) {
    if (signals->list.data[i].kind == SIGNAL_PARAMETER) continue;
    file_write(file, ",", 1);
    csv_put_text(file, signals->list.data[i].name);
  }
  file_write(file, "\n", 1);
}

enum { ALL_DIGITS = 17 };

static void put_digits(FileWriter *file, char before, double value, int digits) {
  char *at = file_room(file, NUMBER_SIZE + 1);
  *at = before;
  file_advance(file, 1 + number_format(value, digits, at + 1));
}

void csv_put_number(FileWriter *file, char before, double value) { put_digits(file, before, value, ALL_DIGITS); }

/* Discrete values may be large integers. */
static int digits_of(const SignalTable *signals, const Signal *signal) {
  return signals->digits && signal->kind != SIGNAL_DISCRETE ? signals->digits : ALL_DIGITS;
}

double csv_size(const SignalTable *signals, double rows) {
  enum { AROUND = 3 }; /* a comma, a point, and sometimes a sign or an exponent */
  double width = ALL_DIGITS + AROUND;
  for (uint32_t i = 0; i < signals->listed; i++)
    if (signals->list.data[i].kind != SIGNAL_PARAMETER) width += digits_of(signals, &signals->list.data[i]) + AROUND;
  return rows * width;
}

static void write_row(FileWriter *file, const Trajectory *trajectory, size_t row) {
  char text[NUMBER_SIZE];
  file_write(file, text, number_format(trajectory_time(trajectory, row), 17, text));
  const double *columns = trajectory_row(trajectory, row);
  const Signal *signal = trajectory->signals->list.data;
  for (uint32_t i = 0; i < trajectory->signals->listed; i++, signal++)
    if (signal->kind != SIGNAL_PARAMETER)
      put_digits(file, ',', signal_value(signal, columns), digits_of(trajectory->signals, signal));
  file_write(file, "\n", 1);
}

void csv_write_rows(FileWriter *file, const Trajectory *trajectory, size_t first, size_t last) {
  for (size_t row = first; row < last; row++) write_row(file, trajectory, row);
}

void csv_write(FileWriter *file, const Trajectory *trajectory) {
  csv_write_header(file, trajectory->signals);
  csv_write_rows(file, trajectory, 0, trajectory->rows);
}

/* ---- reading ---- */

typedef struct CsvReader {
  Heap *heap;
  Diags *diags;
  const char *path;
  const char *at, *end;
  uint32_t line;
} CsvReader;

static Trajectory *complain(CsvReader *reader, const char *what) {
  diag_error(reader->diags, DIAG_FILE_CONTENT, (Span){0, 0}, "`%s` line %u: %s", reader->path, reader->line, what);
  return NULL;
}

/* Copies one cell into `cell` and moves to its separator. Blanks around it do not count unless they are quoted. Brackets of an
 * unquoted name hide commas: a[1,2] is one cell. false: a quote is not closed. */
static bool next_cell(CsvReader *reader, TextVec *cell) {
  cell->count = 0;
  text_append(reader->heap, cell, "", 0);
  bool quoted = false;
  uint32_t kept = 0; /* bytes up to the last quote */
  while (reader->at < reader->end && is_blank(*reader->at)) reader->at++;
  for (int depth = 0; reader->at < reader->end; reader->at++) {
    char c = *reader->at;
    if (c == '"') {
      bool doubled = quoted && reader->at + 1 < reader->end && reader->at[1] == '"';
      if (!doubled) {
        quoted = !quoted;
        kept = cell->count;
        continue;
      }
      reader->at++;
    } else if (!quoted) {
      if (c == '\n' || (c == ',' && depth <= 0)) break;
      depth += (c == '[') - (c == ']');
    }
    reader->line += c == '\n';
    text_append(reader->heap, cell, &c, 1);
  }
  while (cell->count > kept && strchr(" \t\r", cell->data[cell->count - 1])) cell->data[--cell->count] = '\0';
  return !quoted;
}

/* Skips the separator after a cell; true while the line continues. */
static bool more_cells(CsvReader *reader) {
  if (reader->at < reader->end && *reader->at == ',') {
    reader->at++;
    return true;
  }
  if (reader->at < reader->end) reader->at++; /* the line break */
  return false;
}

/* Reads the header; NULL after reporting. */
static SignalTable *read_header(CsvReader *reader) {
  SignalTable *signals = signals_new(reader->heap);
  TextVec cell = {0};
  bool first = true, more = true;
  for (; more; first = false) {
    if (!next_cell(reader, &cell)) return complain(reader, "a quote is not closed"), NULL;
    more = more_cells(reader);
    if (first && strcmp(cell.data, "time") != 0 && strcmp(cell.data, "Time") != 0)
      return complain(reader, "the first column is not time"), NULL;
    bool derivative = strncmp(cell.data, "der(", 4) == 0;
    Signal signal = {.name = cell.data, .kind = derivative ? SIGNAL_DERIVATIVE : SIGNAL_ALGEBRAIC};
    signal.column = signals->list.count;
    if (!first) signals_add(signals, &signal);
  }
  vec_free(reader->heap, &cell);
  return signals;
}

/* Finds the number in [*at, separator); it may be in quotes. */
static bool read_number(CsvReader *reader, double *value) {
  const char *begin = reader->at;
  while (reader->at < reader->end && *reader->at != ',' && *reader->at != '\n') reader->at++;
  const char *stop = reader->at;
  if (stop > begin && stop[-1] == '\r') stop--;
  if (stop - begin >= 2 && *begin == '"' && stop[-1] == '"') begin++, stop--;
  return number_parse(begin, stop, value);
}

static bool blank_line(CsvReader *reader) {
  const char *at = reader->at;
  while (at < reader->end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
  if (at < reader->end && *at != '\n') return false;
  reader->at = at < reader->end ? at + 1 : at;
  return true;
}

static bool read_row(CsvReader *reader, Trajectory *trajectory) {
  double time;
  if (!read_number(reader, &time)) return complain(reader, "the time is not a number"), false;
  if (!(time >= -1e300 && time <= 1e300)) return complain(reader, "the time is not finite"), false;
  if (trajectory->rows && time < trajectory_time(trajectory, trajectory->rows - 1))
    return complain(reader, "time decreases"), false;
  double *columns = trajectory_append(trajectory, time);
  uint32_t count = 0;
  while (more_cells(reader)) {
    if (count == trajectory->columns) return complain(reader, "more cells than names in the header"), false;
    if (!read_number(reader, &columns[count++])) return complain(reader, "a cell is not a number"), false;
  }
  if (count < trajectory->columns) return complain(reader, "fewer cells than names in the header"), false;
  return true;
}

Trajectory *csv_read(Heap *heap, Diags *diags, const char *path, const char *text, uint32_t length) {
  CsvReader reader = {heap, diags, path, text, text + length, 1};
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) reader.at += 3;
  SignalTable *signals = read_header(&reader);
  if (!signals) return NULL;
  Trajectory *trajectory = trajectory_new(heap, signals);
  for (reader.line++; reader.at < reader.end; reader.line++)
    if (!blank_line(&reader) && !read_row(&reader, trajectory)) return NULL;
  if (trajectory->rows == 0) return complain(&reader, "there are no rows");
  return trajectory;
}
