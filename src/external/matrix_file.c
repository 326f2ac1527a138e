/* matrix_file: see matrix_file.h. Sizes in files are not trusted: nothing beyond the bytes of the file is read. */
#include "external/matrix_file.h"

#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MATRIX_LIMIT = 1 << 27 }; /* elements */

/* Reads a whole file, or as much as it contains. */
static size_t read_bytes(int descriptor, char *bytes, size_t size) {
  size_t count = 0;
  for (ssize_t more; count < size; count += (size_t)more) {
    more = read(descriptor, bytes + count, size - count);
    if (more < 0 && errno == EINTR) more = 0;
    else if (more <= 0) break;
  }
  return count;
}

/* No memory is allocated while the file is open: if an allocation were refused, the file would stay open. */
char *file_bytes(ExternalCall *call, const char *path, size_t *size) {
  struct stat found;
  char room[READING_TEXT];
  *size = 0;
  if (!external_may_read(call, path)) return NULL;
  bool is_file = stat(path, &found) == 0 && S_ISREG(found.st_mode);
  if (is_file && found.st_size >= INT32_MAX) {
    external_fail(call, "file `%s` is too large", path);
    return NULL;
  }
  char *bytes = arena_alloc(call->arena, is_file ? (size_t)found.st_size + 1 : 1);
  int descriptor = reading_open(path);
  if (descriptor < 0) {
    external_fail(call, "file `%s` cannot be read: %s", path, reading_failure(errno, room));
    return NULL;
  }
  *size = read_bytes(descriptor, bytes, is_file ? (size_t)found.st_size : 0);
  close(descriptor);
  return bytes;
}

bool matrix_make(ExternalCall *call, uint64_t rows, uint64_t columns, Matrix *matrix) {
  if (rows > MATRIX_LIMIT || columns > MATRIX_LIMIT || rows * columns > MATRIX_LIMIT)
    return external_fail(call, "a matrix of %llu rows and %llu columns is too large", (unsigned long long)rows,
                         (unsigned long long)columns);
  *matrix = (Matrix){(uint32_t)rows, (uint32_t)columns, NULL};
  matrix->values = heap_array(call->state->heap, (size_t)(rows * columns), sizeof(double));
  return true;
}

/* ---- text ---- */

/* Skips separators and comments; *at is then after them. */
static void skip_blank(const char **at) {
  for (;;) {
    *at += strspn(*at, " \t\r\n,;");
    if (**at != '#') return;
    *at += strcspn(*at, "\n");
  }
}

/* Reads `double name(rows,columns)`; the name goes to `name`. */
static bool read_heading(const char **at, char name[128], unsigned *rows, unsigned *columns) {
  int length = 0;
  if (sscanf(*at, "%*[a-z] %127[^( \t] ( %u , %u )%n", name, rows, columns, &length) != 3 || !length) return false;
  *at += length;
  return strncmp(*at - length, "double", 6) == 0 || strncmp(*at - length, "float", 5) == 0;
}

/* Reads the number at `at`, up to a separator; returns its length, or 0 if there is none. */
static size_t read_number(const char *at, char delimiter, double *value) {
  const char separators[] = {' ', '\t', '\r', '\n', ',', ';', '#', '"', delimiter, 0};
  size_t length = strcspn(at, separators);
  return length && number_parse(at, at + length, value) ? length : 0;
}

/* Reads numbers in any arrangement; values NULL: skips them. */
static bool read_numbers(const char **at, double *values, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    double value;
    skip_blank(at);
    size_t used = read_number(*at, ',', &value);
    if (!used) return false;
    *at += used;
    if (values) values[i] = value;
  }
  return true;
}

static bool read_text(ExternalCall *call, const char *path, const char *text, const char *wanted, Matrix *matrix) {
  char name[128];
  unsigned rows, columns;
  for (skip_blank(&text); *text; skip_blank(&text)) {
    if (!read_heading(&text, name, &rows, &columns))
      return external_fail(call, "file `%s` has `%.20s` where the heading of a matrix is expected", path, text);
    bool is_wanted = strcmp(name, wanted) == 0;
    if (is_wanted && !matrix_make(call, rows, columns, matrix)) return false;
    if (!read_numbers(&text, is_wanted ? matrix->values : NULL, (uint64_t)rows * columns))
      return external_fail(call, "matrix `%s` in file `%s` has `%.20s` where a number is expected", name, path, text);
    if (is_wanted) return true;
  }
  return external_fail(call, "there is no matrix `%s` in file `%s`", wanted, path);
}

/* ---- comma-separated values ---- */

/* Reads at most `most` numbers of one line into values (may be NULL); returns their count, or -1 if the line contains anything
 * else. */
static int64_t read_line(const char *line, const char *end, char delimiter, double *values, int64_t most) {
  int64_t count = 0;
  for (const char *at = line; at < end; count++) {
    double value;
    at += strspn(at, " \t\r\"");
    if (at >= end) break;
    size_t used = read_number(at, delimiter, &value);
    if (!used) return -1;
    if (values && count < most) values[count] = value;
    at += used;
    at += strspn(at, " \t\r\"");
    if (at < end && *at++ != delimiter) return -1;
  }
  return count;
}

static bool read_values(ExternalCall *call, const char *path, const char *text, MatrixFormat format, Matrix *matrix) {
  char delimiter = format.delimiter ? format.delimiter : ',';
  for (int64_t i = 0; i < format.header_lines && *text; i++) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  uint32_t rows = 0;
  int64_t columns = -1;
  for (int pass = 0; pass < 2; pass++) {
    uint32_t row = 0;
    for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
      end = line + strcspn(line, "\n");
      double *values = pass ? matrix->values + (size_t)row * matrix->columns : NULL;
      int64_t count = read_line(line, end, delimiter, values, columns);
      if (count == 0) continue;
      if (columns == -1) columns = count;
      row++;
      if (count != columns)
        return external_fail(call, "line %u of `%s` does not have %lld numbers", row, path, (long long)columns);
    }
    rows = row;
    if (pass == 0 && !matrix_make(call, rows, columns < 0 ? 0 : (uint64_t)columns, matrix)) return false;
  }
  return true;
}

/* ---- MATLAB ---- */

/* Bytes that are left. */
typedef struct Reader {
  const char *at, *end;
  bool is_swapped;
} Reader;

static uint64_t read_word(const Reader *reader, const char *at, size_t size) {
  unsigned char bytes[8] = {0};
  uint64_t word = 0;
  memcpy(bytes, at, size);
  for (size_t i = 0; i < size; i++) word |= (uint64_t)bytes[reader->is_swapped ? size - 1 - i : i] << (8 * i);
  return word;
}

/* Number kinds of both levels, by size and meaning. */
typedef struct Kind {
  uint8_t size;
  bool is_signed, is_float;
} Kind;

static double read_value(const Reader *reader, const char *at, Kind kind) {
  uint64_t word = read_word(reader, at, kind.size);
  uint32_t half = (uint32_t)word;
  double value;
  float narrow;
  if (kind.is_float && kind.size == 8) memcpy(&value, &word, sizeof value);
  else if (kind.is_float) memcpy(&narrow, &half, sizeof narrow), value = (double)narrow;
  else if (kind.is_signed) value = (double)((int64_t)(word << (64 - 8 * kind.size)) >> (64 - 8 * kind.size));
  else value = (double)word;
  return value;
}

/* Reads the values, which are stored column by column. */
static bool take_values(ExternalCall *call, const Reader *reader, const char *at, size_t bytes, Kind kind,
                        uint64_t rows, uint64_t columns, Matrix *matrix) {
  if (!matrix_make(call, rows, columns, matrix)) return false;
  if (!kind.size || bytes / kind.size < rows * columns) return external_fail(call, "the file ends within a matrix");
  for (uint64_t c = 0; c < columns; c++)
    for (uint64_t r = 0; r < rows; r++)
      matrix->values[r * columns + c] = read_value(reader, at + (c * rows + r) * kind.size, kind);
  return true;
}

static bool read_level_4(ExternalCall *call, Reader reader, const char *path, const char *wanted, Matrix *matrix) {
  static const Kind kinds[] = {{8, true, true},  {4, true, true},   {4, true, false},
                               {2, true, false}, {2, false, false}, {1, false, false}};
  while (reader.end - reader.at >= 20) {
    uint64_t head[5];
    for (int i = 0; i < 5; i++) head[i] = read_word(&reader, reader.at + (ptrdiff_t)4 * i, 4);
    uint64_t number = head[0] / 10 % 10, left = (uint64_t)(reader.end - reader.at) - 20;
    if (head[0] > 4052 || number > 5 || head[4] > left || head[1] > MATRIX_LIMIT || head[2] > MATRIX_LIMIT) break;
    Kind kind = kinds[number];
    const char *name = reader.at + 20, *data = name + head[4];
    uint64_t bytes = head[1] * head[2] * kind.size * (head[3] ? 2 : 1);
    if (bytes > left - head[4]) break;
    if (strlen(wanted) + 1 == head[4] && memcmp(name, wanted, head[4]) == 0)
      return take_values(call, &reader, data, bytes, kind, head[1], head[2], matrix);
    reader.at = data + bytes;
  }
  return external_fail(call, "there is no matrix `%s` in file `%s`", wanted, path);
}

/* A data element of level 5: its kind and its bytes; *reader is then after it. */
typedef struct Element {
  uint32_t type;
  const char *data;
  size_t size;
} Element;

static bool next_element(Reader *reader, Element *element) {
  if (reader->end - reader->at < 8) return false;
  uint32_t head = (uint32_t)read_word(reader, reader->at, 4);
  if (head >> 16) {
    *element = (Element){head & 0xffff, reader->at + 4, head >> 16};
    reader->at += 8;
    return element->size <= 4;
  }
  *element = (Element){head, reader->at + 8, (size_t)read_word(reader, reader->at + 4, 4)};
  reader->at += 8;
  if (element->size > (size_t)(reader->end - reader->at)) return false;
  size_t padded = (element->size + 7) & ~(size_t)7, left = (size_t)(reader->end - reader->at);
  reader->at += element->type == 15 ? element->size : padded < left ? padded : left;
  return true;
}

/* The kinds miINT8 ... miUINT64 of level 5. */
static Kind kind_of_element(uint32_t type) {
  static const Kind kinds[] = {
      [1] = {1, true, false},  [2] = {1, false, false}, [3] = {2, true, false}, [4] = {2, false, false},
      [5] = {4, true, false},  [6] = {4, false, false}, [7] = {4, true, true},  [9] = {8, true, true},
      [12] = {8, true, false}, [13] = {8, false, false}};
  return type < sizeof kinds / sizeof *kinds ? kinds[type] : (Kind){0};
}

/* An array within its element: flags, dimensions, name, and after them the real part, or the fields of a structure. */
typedef struct Array {
  bool is_structure;
  Element sizes, name;
  Reader rest;
} Array;

static bool open_array(Reader reader, Array *array) {
  Element flags;
  if (!next_element(&reader, &flags) || !next_element(&reader, &array->sizes) || !next_element(&reader, &array->name))
    return false;
  array->is_structure = flags.size >= 4 && (read_word(&reader, flags.data, 4) & 0xff) == 2;
  array->rest = reader;
  return true;
}

/* Is this the first word of a path with dots? Returns the path after this word; NULL: it is not the first word. */
static const char *path_behind(const char *path, const char *word, size_t length) {
  if (strncmp(path, word, length) != 0) return NULL;
  return path[length] == '.' ? path + length + 1 : path[length] ? NULL : path + length;
}

/* Opens the field that a path begins with. */
static bool open_field(Array *array, const char **path) {
  Element length, names, field;
  Reader *reader = &array->rest;
  if (!next_element(reader, &length) || length.size < 4 || !next_element(reader, &names)) return false;
  size_t width = (size_t)read_word(reader, length.data, 4);
  for (size_t at = 0; width && at + width <= names.size && next_element(reader, &field); at += width) {
    const char *behind = path_behind(*path, names.data + at, strnlen(names.data + at, width));
    if (!behind) continue;
    *path = behind;
    return field.type == 14 && open_array((Reader){field.data, field.data + field.size, reader->is_swapped}, array);
  }
  return false;
}

/* The matrix at a path that begins with the name of an array. */
static bool read_array(ExternalCall *call, Reader reader, const char *wanted, Matrix *matrix, bool *is_found) {
  Array array;
  Element real;
  if (!open_array(reader, &array)) return true;
  const char *path = path_behind(wanted, array.name.data, array.name.size);
  if (!path || (*path && !array.is_structure)) return true;
  while (*path)
    if (!array.is_structure || !open_field(&array, &path)) return true;
  *is_found = true;
  if (array.is_structure || array.sizes.size != 8 || !next_element(&array.rest, &real))
    return external_fail(call, "`%s` is not a matrix of numbers", wanted);
  const char *sizes = array.sizes.data;
  return take_values(call, &array.rest, real.data, real.size, kind_of_element(real.type),
                     read_word(&array.rest, sizes, 4), read_word(&array.rest, sizes + 4, 4), matrix);
}

/* The bytes of a compressed element. false: they cannot be restored, or are too many. */
static bool inflate_element(ExternalCall *call, const Element *element, Reader *inner) {
  for (uLongf room = 4 * (uLongf)element->size + 1024; room < (uLongf)MATRIX_LIMIT * 16; room *= 4) {
    char *bytes = arena_alloc(call->arena, room);
    uLongf size = room;
    int status = uncompress((Bytef *)bytes, &size, (const Bytef *)element->data, (uLong)element->size);
    if (status == Z_BUF_ERROR) continue;
    inner->at = bytes;
    inner->end = bytes + size;
    return status == Z_OK;
  }
  return false;
}

/* For a compressed element, the one inside. */
static bool open_element(ExternalCall *call, Element *element, bool is_swapped) {
  Reader inner = {.is_swapped = is_swapped};
  if (element->type != 15) return true;
  return inflate_element(call, element, &inner) && next_element(&inner, element);
}

static bool read_level_5(ExternalCall *call, Reader reader, const char *path, const char *wanted, Matrix *matrix) {
  Element element;
  bool is_found = false;
  reader.is_swapped = reader.at[126] == 'M';
  reader.at += 128;
  while (!is_found && next_element(&reader, &element)) {
    if (!open_element(call, &element, reader.is_swapped))
      return external_fail(call, "file `%s` has a compressed matrix that cannot be restored", path);
    Reader inner = {element.data, element.data + element.size, reader.is_swapped};
    if (element.type == 14 && !read_array(call, inner, wanted, matrix, &is_found)) return false;
  }
  return is_found || external_fail(call, "there is no matrix `%s` in file `%s`", wanted, path);
}

/* The first word of level 4 is a small number; text is not. */
static bool is_level_4(const char *bytes, size_t size) {
  return size >= 20 && !bytes[2] && !bytes[3] && (uint8_t)bytes[1] < 16;
}

bool matrix_read(ExternalCall *call, const char *path, const char *name, MatrixFormat format, Matrix *matrix) {
  size_t size;
  const char *bytes = file_bytes(call, path, &size);
  if (!bytes) return false;
  if (strncmp(bytes, "\xEF\xBB\xBF", 3) == 0) bytes += 3, size -= 3; /* byte order mark of UTF-8 */
  Reader reader = {bytes, bytes + size, false};
  if (strncmp(bytes, "#1", 2) == 0) return read_text(call, path, bytes + 2, name, matrix);
  if (size >= 128 && memcmp(bytes, "MATLAB", 6) == 0) return read_level_5(call, reader, path, name, matrix);
  if (is_level_4(bytes, size)) return read_level_4(call, reader, path, name, matrix);
  return read_values(call, path, bytes, format, matrix);
}
