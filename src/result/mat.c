/* mat: see mat.h. A level 4 matrix is five 32-bit integers (type, rows, columns, imaginary flag, length of
 * the name with its NUL), the name, and the elements by columns. The decimal digits MOPT of the type give
 * byte order (M), precision (P) and kind (T: 1 is text). */
#include "result/mat.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

enum { HEADER_SIZE = 20, TYPE_DOUBLE = 0, TYPE_INTEGER = 20, TYPE_TEXT = 51, ORDER_BIG = 1000 };

/* ---- writing ---- */

static uint32_t description_length(const Signal *signal) {
  size_t length = strlen(signal->description);
  if (*signal->unit) length += (length ? 3u : 2u) + strlen(signal->unit);
  if (*signal->unit && *signal->display_unit) length += 1 + strlen(signal->display_unit);
  return (uint32_t)length;
}

static const char time_name[] = "time", time_description[] = "simulation time [s]";

/* The quantities from which the sizes of all matrices follow. */
typedef struct MatExtent {
  uint32_t signals, constants, name_length, description_length;
} MatExtent;

static MatExtent measure(const SignalTable *signals) {
  MatExtent extent = {signals->listed + 1, 1, sizeof time_name - 1, sizeof time_description - 1};
  for (uint32_t i = 0; i < signals->listed; i++) {
    const Signal *signal = &signals->list.data[i];
    uint32_t name = (uint32_t)strlen(signal->name), description = description_length(signal);
    if (name > extent.name_length) extent.name_length = name;
    if (description > extent.description_length) extent.description_length = description;
    extent.constants += signal->column == SIGNAL_CONSTANT;
  }
  return extent;
}

static uint64_t row_size(const SignalTable *signals) { return 8 * (UINT64_C(1) + signals->listed_columns); }

uint64_t mat_size(const SignalTable *signals, uint64_t rows) {
  MatExtent extent = measure(signals);
  uint64_t names =
      sizeof "Aclass" + sizeof "name" + sizeof "description" + sizeof "dataInfo" + sizeof "data_1" + sizeof "data_2";
  uint64_t each = (uint64_t)extent.name_length + extent.description_length + 16;
  uint64_t fixed = 6 * HEADER_SIZE + names + 44 + each * extent.signals + UINT64_C(16) * extent.constants;
  if (rows > (UINT64_MAX - fixed) / row_size(signals)) return UINT64_MAX;
  return fixed + rows * row_size(signals);
}

bool mat_fits(Diags *diags, const SignalTable *signals, uint64_t rows) {
  uint64_t size = mat_size(signals, rows);
  if (size <= MAT_LIMIT) return true;
  Diag *diag =
      diag_error(diags, DIAG_USAGE, (Span){0, 0},
                 "the result would need %.1f GB, and a MAT file (level 4) holds at most 2 GB", (double)size / 1e9);
  diag_note(diags, diag, (Span){0, 0}, "choose variables with --variables, fewer intervals, or a CSV file");
  return false;
}

static void put_header(FileWriter *file, int32_t type, uint32_t rows, uint32_t columns, const char *name) {
  uint32_t length = (uint32_t)strlen(name) + 1;
  uint32_t header[5] = {(uint32_t)(type + (number_is_big_endian() ? ORDER_BIG : 0)), rows, columns, 0, length};
  file_write(file, header, sizeof header);
  file_write(file, name, length);
}

/* `text` and zeros up to `width`. */
static void put_padded(FileWriter *file, const char *text, uint32_t width) {
  uint32_t length = (uint32_t)strlen(text);
  file_write(file, text, length);
  for (; length < width; length++) file_write(file, "", 1);
}

void mat_put_matrix(FileWriter *file, const char *name, const double *values, uint32_t rows, uint32_t columns) {
  put_header(file, TYPE_DOUBLE, rows, columns, name);
  file_write(file, values, (size_t)rows * columns * sizeof *values);
}

void mat_put_texts(FileWriter *file, const char *name, const char *const *texts, uint32_t count) {
  uint32_t length = 0;
  for (uint32_t k = 0; k < count; k++)
    if (strlen(texts[k]) > length) length = (uint32_t)strlen(texts[k]);
  put_header(file, TYPE_TEXT, count, length, name);
  for (uint32_t column = 0; column < length; column++)
    for (uint32_t k = 0; k < count; k++) file_write(file, column < strlen(texts[k]) ? &texts[k][column] : "", 1);
}

/* The class matrix is not transposed: its four rows of eleven characters are written by columns. */
static void put_class(FileWriter *file) {
  static const char rows[4][12] = {"Atrajectory", "1.1", "", "binTrans"};
  put_header(file, TYPE_TEXT, 4, 11, "Aclass");
  for (int column = 0; column < 11; column++)
    for (int row = 0; row < 4; row++) file_write(file, &rows[row][column], 1);
}

static void put_names(FileWriter *file, const SignalTable *signals, const MatExtent *extent) {
  put_header(file, TYPE_TEXT, extent->name_length, extent->signals, "name");
  put_padded(file, time_name, extent->name_length);
  for (uint32_t i = 0; i < signals->listed; i++) put_padded(file, signals->list.data[i].name, extent->name_length);
}

static void put_descriptions(Heap *heap, FileWriter *file, const SignalTable *signals, const MatExtent *extent) {
  put_header(file, TYPE_TEXT, extent->description_length, extent->signals, "description");
  put_padded(file, time_description, extent->description_length);
  TextVec text = {0};
  for (uint32_t i = 0; i < signals->listed; i++) {
    const Signal *signal = &signals->list.data[i];
    text.count = 0;
    text_printf(heap, &text, "%s", signal->description);
    if (*signal->unit) text_printf(heap, &text, "%s[%s", text.count ? " " : "", signal->unit);
    if (*signal->unit && *signal->display_unit) text_printf(heap, &text, "|%s", signal->display_unit);
    if (*signal->unit) text_printf(heap, &text, "]");
    put_padded(file, text.data, extent->description_length);
  }
  vec_free(heap, &text);
}

/* For each signal: its data matrix (0: time, in both), its row (negative: minus that row), linear interpolation, and its value
 * outside the time range (0: the same value, -1: none). */
static void put_places(FileWriter *file, const SignalTable *signals, const MatExtent *extent) {
  put_header(file, TYPE_INTEGER, 4, extent->signals, "dataInfo");
  int32_t time_place[4] = {0, 1, 0, -1}, constant = 1;
  file_write(file, time_place, sizeof time_place);
  for (uint32_t i = 0; i < signals->listed; i++) {
    const Signal *signal = &signals->list.data[i];
    int32_t column = signal->column == SIGNAL_CONSTANT ? 0 : (int32_t)signal->column + 2;
    int32_t place[4] = {2, signal->negated ? -column : column, 0, -1};
    if (signal->column == SIGNAL_CONSTANT) place[0] = 1, place[1] = ++constant, place[3] = 0;
    file_write(file, place, sizeof place);
  }
}

/* Two columns, for the first and the last time. */
static void put_constants(FileWriter *file, const Trajectory *trajectory, const MatExtent *extent) {
  put_header(file, TYPE_DOUBLE, extent->constants, 2, "data_1");
  for (int column = 0; column < 2; column++) {
    double time = trajectory->rows ? trajectory_time(trajectory, column ? trajectory->rows - 1 : 0) : 0;
    file_write(file, &time, sizeof time);
    for (uint32_t i = 0; i < trajectory->signals->listed; i++) {
      const Signal *signal = &trajectory->signals->list.data[i];
      if (signal->column == SIGNAL_CONSTANT) file_write(file, &signal->value, sizeof signal->value);
    }
  }
}

static void put_rows(FileWriter *file, const Trajectory *trajectory) {
  uint32_t columns = trajectory->signals->listed_columns;
  put_header(file, TYPE_DOUBLE, columns + 1, (uint32_t)trajectory->rows, "data_2");
  for (size_t row = 0; row < trajectory->rows; row++) {
    double time = trajectory_time(trajectory, row);
    file_write(file, &time, sizeof time);
    file_write(file, trajectory_row(trajectory, row), columns * sizeof(double));
  }
}

bool mat_write(Heap *heap, Diags *diags, FileWriter *file, const Trajectory *trajectory) {
  const SignalTable *signals = trajectory->signals;
  if (!mat_fits(diags, signals, trajectory->rows)) return false;
  MatExtent extent = measure(signals);
  put_class(file);
  put_names(file, signals, &extent);
  put_descriptions(heap, file, signals, &extent);
  put_places(file, signals, &extent);
  put_constants(file, trajectory, &extent);
  put_rows(file, trajectory);
  return true;
}

/* ---- reading ---- */

typedef enum Precision { DOUBLE, SINGLE, INTEGER, SHORT, UNSIGNED_SHORT, BYTE, N_PRECISIONS } Precision;
static const uint32_t element_size[N_PRECISIONS] = {8, 4, 4, 2, 2, 1};

typedef struct MatMatrix {
  uint32_t rows, columns; /* as stored */
  Precision precision;
  bool big;            /* byte order */
  const char *element; /* NULL: absent */
} MatMatrix;

typedef enum MatPart { PART_CLASS, PART_NAME, PART_DESCRIPTION, PART_INFO, PART_CONSTANTS, PART_ROWS, N_PARTS } MatPart;
static const char *const part_name[N_PARTS] = {
    [PART_CLASS] = "Aclass",  [PART_NAME] = "name",        [PART_DESCRIPTION] = "description",
    [PART_INFO] = "dataInfo", [PART_CONSTANTS] = "data_1", [PART_ROWS] = "data_2"};

typedef struct MatReader {
  Heap *heap;
  Diags *diags;
  const char *path;
  MatMatrix part[N_PARTS];
  bool transposed;
} MatReader;

static Trajectory *complain(MatReader *reader, const char *what) {
  diag_error(reader->diags, DIAG_FILE_CONTENT, (Span){0, 0}, "`%s` is not a Modelica result file: %s", reader->path,
             what);
  return NULL;
}

static uint64_t load(const char *bytes, uint32_t size, bool big) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < size; i++) value |= (uint64_t)(unsigned char)bytes[big ? size - 1 - i : i] << (8 * i);
  return value;
}

static double matrix_get(const MatMatrix *matrix, uint32_t row, uint32_t column) {
  uint32_t size = element_size[matrix->precision];
  uint64_t bits = load(matrix->element + size * ((uint64_t)column * matrix->rows + row), size, matrix->big);
  double value;
  float single;
  uint32_t low = (uint32_t)bits;
  switch (matrix->precision) {
  case DOUBLE: return memcpy(&value, &bits, sizeof value), value;
  case SINGLE: return memcpy(&single, &low, sizeof single), (double)single;
  case INTEGER: return (double)(int32_t)low;
  case SHORT: return (double)(int16_t)low;
  case UNSIGNED_SHORT:
  case BYTE:
  case N_PRECISIONS: break;
  }
  return (double)low;
}

/* Element `item` of signal (or row) `index`, for both layouts of the file. */
static double item_get(const MatReader *reader, MatPart part, uint32_t index, uint32_t item) {
  const MatMatrix *matrix = &reader->part[part];
  return reader->transposed ? matrix_get(matrix, item, index) : matrix_get(matrix, index, item);
}

static uint32_t item_count(const MatReader *reader, MatPart part) {
  return reader->transposed ? reader->part[part].columns : reader->part[part].rows;
}

static uint32_t item_size(const MatReader *reader, MatPart part) {
  return reader->transposed ? reader->part[part].rows : reader->part[part].columns;
}

/* Reads one matrix at `*at` and moves after it; returns a message if the bytes are not a matrix. */
static const char *read_matrix(MatReader *reader, const char **at, const char *end) {
  if (end - *at < HEADER_SIZE) return "it ends within a matrix";
  uint32_t type = (uint32_t)load(*at, 4, false);
  bool big = type > 5000; /* a type has at most four digits, so a larger number means the other byte order */
  if (big) type = (uint32_t)load(*at, 4, true);
  uint32_t precision = type / 10 % 10, rows = (uint32_t)load(*at + 4, 4, big);
  uint32_t columns = (uint32_t)load(*at + 8, 4, big), name_length = (uint32_t)load(*at + 16, 4, big);
  if (type > 1999 || type % 10 > 1 || precision >= N_PRECISIONS || load(*at + 12, 4, big) != 0)
    return "it does not contain matrices of MATLAB level 4";
  const char *name = *at + HEADER_SIZE;
  if (name_length == 0 || (uint64_t)(end - name) < name_length || name[name_length - 1]) return "a name is damaged";
  const char *element = name + name_length;
  uint64_t room = (uint64_t)(end - element) / element_size[precision];
  if (rows && columns > room / rows) return "it is cut short";
  for (MatPart part = 0; part < N_PARTS; part++) {
    if (strcmp(name, part_name[part]) != 0) continue;
    reader->part[part] = (MatMatrix){rows, columns, (Precision)precision, big, element};
  }
  *at = element + (uint64_t)rows * columns * element_size[precision];
  return NULL;
}

/* A text of a text matrix, without its padding. */
static const char *read_text(const MatReader *reader, MatPart part, uint32_t index, TextVec *text) {
  text->count = 0;
  text_append(reader->heap, text, "", 0);
  for (uint32_t i = 0; i < item_size(reader, part); i++) {
    char c = (char)(unsigned char)item_get(reader, part, index, i);
    if (!c) break;
    text_append(reader->heap, text, &c, 1);
  }
  while (text->count && text->data[text->count - 1] == ' ') text->data[--text->count] = '\0';
  return text->data;
}

/* "words [unit|display]" in place. */
static void split_description(char *text, Signal *signal) {
  size_t length = strlen(text);
  signal->description = text;
  char *bracket = strrchr(text, '[');
  if (!bracket || text[length - 1] != ']') return;
  text[length - 1] = '\0';
  signal->unit = bracket + 1;
  char *bar = strchr(bracket, '|');
  if (bar) *bar = '\0', signal->display_unit = bar + 1;
  while (bracket > text && bracket[-1] == ' ') bracket--;
  *bracket = '\0';
}

/* Finds the place of a signal; returns a message if there is none. */
static const char *read_place(const MatReader *reader, uint32_t index, Signal *signal) {
  double matrix = item_get(reader, PART_INFO, index, 0), place = item_get(reader, PART_INFO, index, 1);
  MatPart part = matrix == 1 ? PART_CONSTANTS : PART_ROWS;
  bool known = matrix == 0 || matrix == 1 || matrix == 2;
  if (!known || !(fabs(place) >= 1 && fabs(place) <= item_size(reader, part))) return "dataInfo refers to no data";
  uint32_t column = (uint32_t)fabs(place) - 1;
  signal->negated = place < 0;
  signal->column = column;
  if (part == PART_ROWS) return NULL;
  if (item_count(reader, part) == 0) return "data_1 is empty";
  double value = item_get(reader, part, 0, column);
  signal->column = SIGNAL_CONSTANT;
  signal->kind = SIGNAL_PARAMETER;
  signal->value = signal->negated ? -value : value;
  signal->negated = false;
  return NULL;
}

static const char *read_signals(const MatReader *reader, SignalTable *signals) {
  TextVec name = {0}, description = {0};
  for (uint32_t i = 0; i < item_count(reader, PART_NAME); i++) {
    Signal signal = {.name = read_text(reader, PART_NAME, i, &name), .kind = SIGNAL_ALGEBRAIC};
    if (strcmp(signal.name, "time") == 0 || strcmp(signal.name, "Time") == 0) continue;
    if (strncmp(signal.name, "der(", 4) == 0) signal.kind = SIGNAL_DERIVATIVE;
    if (i < item_count(reader, PART_DESCRIPTION)) {
      read_text(reader, PART_DESCRIPTION, i, &description);
      split_description(description.data, &signal);
    }
    const char *problem = read_place(reader, i, &signal);
    if (problem) return problem;
    signals_add(signals, &signal);
  }
  vec_free(reader->heap, &name, &description);
  return NULL;
}

/* The columns of the trajectory are those of data_2, time included as column 0. */
static const char *read_rows(const MatReader *reader, Trajectory *trajectory) {
  double before = -HUGE_VAL;
  for (uint32_t row = 0; row < item_count(reader, PART_ROWS); row++) {
    double time = item_get(reader, PART_ROWS, row, 0);
    if (!isfinite(time) || time < before) return "time decreases or is not finite";
    before = time;
    double *columns = trajectory_append(trajectory, time);
    for (uint32_t j = 0; j < trajectory->columns; j++) columns[j] = item_get(reader, PART_ROWS, row, j);
  }
  return trajectory->rows ? NULL : "there are no rows";
}

/* Checks that all parts are present and have matching shapes. */
static const char *check_parts(MatReader *reader) {
  static const char wanted[] = "Atrajectory";
  const MatMatrix *class = &reader->part[PART_CLASS];
  if (!class->element || class->rows < 4 || class->columns < sizeof wanted - 1) return "the matrix Aclass is missing";
  for (uint32_t i = 0; i < sizeof wanted - 1; i++)
    if (matrix_get(class, 0, i) != wanted[i]) return "it is not a trajectory";
  char layout = (char)(unsigned char)matrix_get(class, 3, 3); /* binTrans, binNormal */
  if (layout != 'T' && layout != 'N') return "its layout is neither binTrans nor binNormal";
  reader->transposed = layout == 'T';
  const MatMatrix *part = reader->part;
  if (!part[PART_NAME].element || !part[PART_INFO].element || !part[PART_ROWS].element) return "a matrix is missing";
  if (part[PART_NAME].precision != BYTE && part[PART_NAME].precision != DOUBLE) return "its names are not text";
  if (item_count(reader, PART_INFO) < item_count(reader, PART_NAME) || item_size(reader, PART_INFO) < 2)
    return "dataInfo is too small";
  return item_size(reader, PART_ROWS) ? NULL : "data_2 is empty";
}

Trajectory *mat_read(Heap *heap, Diags *diags, const char *path, const char *bytes, uint32_t length) {
  MatReader reader = {.heap = heap, .diags = diags, .path = path};
  const char *problem = NULL, *at = bytes;
  while (at < bytes + length && !problem) problem = read_matrix(&reader, &at, bytes + length);
  if (!problem) problem = check_parts(&reader);
  if (problem) return complain(&reader, problem);
  SignalTable *signals = signals_new(heap);
  problem = read_signals(&reader, signals);
  if (problem) return complain(&reader, problem);
  Trajectory *trajectory = trajectory_new(heap, signals);
  problem = read_rows(&reader, trajectory);
  return problem ? complain(&reader, problem) : trajectory;
}
