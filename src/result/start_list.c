/* start_list: see start_list.h. */
#include "result/start_list.h"

#include "base/number.h"
#include "model/typed.h"
#include "result/file.h"
#include "result/load.h"
#include "syntax/lexer.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct StartReader {
  Heap *heap;
  Diags *diags;
  const char *path, *text, *at;
  uint32_t unknown; /* names that the model does not have */
  const char *first;
} StartReader;

static uint32_t line_of(const StartReader *reader) {
  uint32_t line = 1;
  for (const char *p = reader->text; p < reader->at; p++) line += *p == '\n';
  return line;
}

static bool complain(const StartReader *reader, const char *what) {
  diag_error(reader->diags, DIAG_FILE_CONTENT, (Span){0}, "%s: line %u: %s", reader->path, line_of(reader), what);
  return false;
}

static void skip_space(StartReader *reader) {
  for (;;) {
    while (isspace((unsigned char)*reader->at)) reader->at++;
    if (strncmp(reader->at, "//", 2) == 0) {
      while (*reader->at && *reader->at != '\n') reader->at++;
    } else if (strncmp(reader->at, "/*", 2) == 0) {
      const char *end = strstr(reader->at, "*/");
      reader->at = end ? end + 2 : reader->at + strlen(reader->at);
    } else {
      return;
    }
  }
}

static bool accept(StartReader *reader, const char *token) {
  skip_space(reader);
  size_t length = strlen(token);
  if (strncmp(reader->at, token, length) != 0) return false;
  reader->at += length;
  return true;
}

/* A name in quotes, with the escapes of the language; NULL if it does not end. */
static const char *read_quoted(StartReader *reader) {
  TextVec name = {0};
  const char *c = reader->at + 1;
  for (; *c && *c != '\''; c++) {
    char escaped = *c == '\\' ? lexer_escape(c[1]) : 0;
    if (escaped) c++;
    text_append(reader->heap, &name, escaped ? &escaped : c, 1);
  }
  reader->at = c + (*c != '\0');
  return *c ? name.data : NULL;
}

/* name: 'quoted' or identifiers with dots and subscripts; NULL if there is none. */
static const char *read_name(StartReader *reader) {
  skip_space(reader);
  const char *begin = reader->at;
  if (*begin == '\'') return read_quoted(reader);
  int depth = 0;
  for (; *reader->at; reader->at++) {
    unsigned char c = (unsigned char)*reader->at;
    depth += (c == '[') - (c == ']');
    if (!isalnum(c) && c != '_' && c != '.' && c != '[' && c != ']' && !(depth > 0 && c == ',')) break;
  }
  return reader->at == begin ? NULL : arena_copy(&reader->diags->arena, begin, (size_t)(reader->at - begin));
}

/* scalar: a number, true, false, or the name of a literal; "" if there is none. */
static const char *read_scalar(StartReader *reader) {
  skip_space(reader);
  const char *begin = reader->at;
  bool is_quoted = false;
  for (; *reader->at && (is_quoted || isalnum((unsigned char)*reader->at) || strchr("+-._'", *reader->at));
       reader->at++)
    is_quoted ^= *reader->at == '\'';
  return arena_copy(&reader->diags->arena, begin, (size_t)(reader->at - begin));
}

/* Counts names that the model does not have. */
static bool take_value(StartReader *reader, const Model *model, const char *name, const char *text, double *starts) {
  uint32_t position = model_find(model, name);
  Arena *arena = &reader->diags->arena;
  double value;
  if (position == MAP_NONE) {
    if (!reader->unknown++) reader->first = name;
    return true;
  }
  const Variable *variable = &model->variables.data[position];
  if (variable->has_fixed_start)
    return complain(reader,
                    arena_printf(arena, "'%s' begins with a value that equations of the model determine", name));
  bool is_scalar = variable->type != TYPE_STRING && typed_read(model, variable, text, arena, &value);
  if (is_scalar) starts[position] = value;
  const char *what = variable->type == TYPE_REAL ? "expected a number"
                                                 : arena_printf(arena, "'%s' is not a value of '%s'", text, name);
  return is_scalar || complain(reader, what);
}

/* item: name "(" "start" "=" scalar ")" | name "=" scalar */
static bool read_item(StartReader *reader, const Model *model, double *starts) {
  const char *name = read_name(reader);
  if (!name) return complain(reader, "expected a name, as in x(start = 1)");
  bool nested = accept(reader, "(");
  if (nested && !accept(reader, "start")) return complain(reader, "only start can be given, as in x(start = 1)");
  if (!accept(reader, "=")) return complain(reader, "expected '=', as in x(start = 1)");
  const char *text = read_scalar(reader);
  if (!*text) return complain(reader, "expected a number");
  if (nested && !accept(reader, ")")) return complain(reader, "expected ')'");
  return take_value(reader, model, name, text, starts);
}

bool start_list_take(Heap *heap, const Model *model, const char *text, const char *path, double *starts, Diags *diags) {
  StartReader reader = {.heap = heap, .diags = diags, .path = path, .text = text, .at = text};
  bool open = accept(&reader, "("), ok = true;
  skip_space(&reader);
  while (ok && *reader.at && *reader.at != ')') {
    ok = read_item(&reader, model, starts);
    if (!ok || accept(&reader, ",")) continue;
    skip_space(&reader);
    break;
  }
  if (ok && open && !accept(&reader, ")")) ok = complain(&reader, "',' or expected ')'");
  skip_space(&reader);
  if (ok && *reader.at) ok = complain(&reader, "nothing may follow the list");
  if (ok && reader.unknown)
    diag_warning(diags, DIAG_WARNING, (Span){0}, "%s: the model lacks %u name%s of the list, such as %s", path,
                 reader.unknown, plural(reader.unknown), reader.first);
  return ok;
}

bool start_list_read(Heap *heap, const Model *model, const char *path, double *starts, Diags *diags) {
  uint32_t length = 0;
  char *text = file_read(heap, diags, path, &length);
  bool ok = text && start_list_take(heap, model, text, path, starts, diags);
  heap_free(heap, text);
  return ok;
}

/* Takes the values of the model's variables that the row has, and returns their number. Discrete values stay constant between rows:
 * `held` is the last row, and `row` lies between it and the next. */
static uint32_t take_row(const Model *model, const Trajectory *trajectory, const double *row, const double *held,
                         double *starts) {
  uint32_t found = 0;
  for (uint32_t v = 0; v < model->variables.count; v++) {
    const Variable *variable = &model->variables.data[v];
    if (variable->role == ROLE_PARAMETER || variable->type == TYPE_STRING || variable->has_fixed_start) continue;
    uint32_t signal = signals_find_variable(trajectory->signals, names_text(model->names, variable->name));
    if (signal == MAP_NONE) continue;
    starts[v] = signal_value(&trajectory->signals->list.data[signal], variable->role == ROLE_DISCRETE ? held : row);
    found++;
  }
  return found;
}

bool start_list_from_result(Heap *heap, const Model *model, const char *path, double time, double *starts,
                            Diags *diags) {
  Trajectory *trajectory = load_result(heap, diags, path);
  if (!trajectory) return false;
  if (!trajectory->rows) {
    diag_error(diags, DIAG_FILE_CONTENT, (Span){0}, "%s has no rows to start from", path);
    return false;
  }
  double first = trajectory_time(trajectory, 0), last = trajectory_time(trajectory, trajectory->rows - 1);
  double *row = heap_array(heap, (size_t)trajectory->columns + 1, sizeof *row);
  if (!trajectory_sample(trajectory, isnan(time) ? last : time, row)) {
    diag_error(diags, DIAG_FILE_CONTENT, (Span){0}, "%s has no time %.10g: its times are from %.10g to %.10g", path,
               time, first, last);
    return false;
  }
  const double *held = trajectory_row(trajectory, trajectory_find(trajectory, isnan(time) ? last : time));
  uint32_t found = take_row(model, trajectory, row, held, starts);
  if (!found) diag_error(diags, DIAG_FILE_CONTENT, (Span){0}, "%s has none of the model's variables", path);
  heap_free(heap, row);
  return found > 0;
}
