/* lapack: see lapack.h. A LAPACK routine does not check its arguments: sizes, pivots, types.
 *
 * Invariant: nothing reaches a routine before it is checked against its row in functions.def. The routine gets only copies,
 * each as long as the row says, so arguments never share memory and have the types of the row. The workspace is ours. If it
 * still reports an illegal argument (info < 0), that is an error of the model. */
#include "external/lapack.h"

#include <ctype.h>
#include <ffi.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum {
  FORMALS_MOST = 24,
  /* LAPACK uses int, even for a size times a block width (at most 64) or times a small number. */
  SIZE_MOST = 1 << 24,
};

/* An argument in the row of a routine: its name, and the text after the name. */
typedef struct Formal {
  const char *name, *rest;
  uint32_t length; /* of the name */
} Formal;

/* A call in progress. */
typedef struct Lapack {
  ExternalCall *call;
  Formal formals[FORMALS_MOST];
  void *copies[FORMALS_MOST]; /* the memory for the routine; in the heap, except texts, which are in the arena */
  double sizes[FORMALS_MOST]; /* elements of workspace */
} Lapack;

/* ---- the row ---- */

static uint32_t name_length(const char *at) {
  uint32_t length = 0;
  while (isalpha((unsigned char)at[length])) length++;
  return length;
}

/* Reads the row; returns its number of arguments. */
static uint32_t read_row(Lapack *lapack) {
  uint32_t count = 0;
  for (const char *at = lapack->call->function->arguments; *at; count++) {
    uint32_t length = name_length(at);
    lapack->formals[count] = (Formal){at, at + length, length};
    at += strcspn(at, " ");
    at += *at == ' ';
  }
  return count;
}

/* The argument whose name is at *at; *at moves past it. */
static uint32_t find_formal(const Lapack *lapack, const char **at) {
  const char *name = *at;
  uint32_t length = name_length(name), k = 0;
  while (lapack->formals[k].length != length || memcmp(lapack->formals[k].name, name, length) != 0) k++;
  *at += length;
  return k;
}

/* Is the first letter of the text among those between the quotes at *at? *at moves past them. */
static bool text_is_one_of(const char *text, const char **at) {
  size_t count = strcspn(++*at, "'");
  bool is_found = *text && memchr(*at, toupper((unsigned char)*text), count);
  *at += count + 1;
  return is_found;
}

/* Numbers in a row are doubles: they are exact when that matters, and products do not overflow. */
static double read_sum(const Lapack *lapack, const char **at);

static double read_number(const char **at) {
  double value = 0;
  for (; isdigit((unsigned char)**at); ++*at) value = 10 * value + (**at - '0');
  return value;
}

static double read_extremum(const Lapack *lapack, const char **at, bool is_least) {
  *at += 4; /* "min(" */
  double a = read_sum(lapack, at);
  ++*at;
  double b = read_sum(lapack, at);
  ++*at;
  return is_least ? fmin(a, b) : fmax(a, b);
}

static double read_factor(const Lapack *lapack, const char **at) {
  if (isdigit((unsigned char)**at)) return read_number(at);
  bool is_least = strncmp(*at, "min(", 4) == 0;
  if (is_least || strncmp(*at, "max(", 4) == 0) return read_extremum(lapack, at, is_least);
  const ExternalValue *value = &lapack->call->arguments[find_formal(lapack, at)];
  return **at == '\'' ? text_is_one_of(value->texts[0], at) : value->numbers[0];
}

static double read_product(const Lapack *lapack, const char **at) {
  double value = read_factor(lapack, at);
  while (**at == '*' && isalnum((unsigned char)(*at)[1])) {
    ++*at;
    value *= read_factor(lapack, at);
  }
  return value;
}

static double read_sum(const Lapack *lapack, const char **at) {
  double value = read_product(lapack, at);
  while (**at == '+' || **at == '-') {
    bool is_plus = *(*at)++ == '+';
    double next = read_product(lapack, at);
    value += is_plus ? next : -next;
  }
  return value;
}

/* ---- scalars ---- */

static bool fail(const Lapack *lapack, uint32_t k, const char *what) {
  const Formal *formal = &lapack->formals[k];
  return external_fail(lapack->call, "argument %u of `%s` (%.*s) %s", k + 1, lapack->call->function->name,
                       (int)formal->length, formal->name, what);
}

static bool fail_range(const Lapack *lapack, uint32_t k, double value, double least, double most) {
  const char *what = arena_printf(lapack->call->arena, "is %.17g, not from %.17g to %.17g", value, least, most);
  return fail(lapack, k, what);
}

static bool in_range(const Lapack *lapack, uint32_t k, double value, double least, double most) {
  return (value >= least && value <= most) || fail_range(lapack, k, value, least, most);
}

/* `x..y` at `at`. */
static void read_range(const Lapack *lapack, const char *at, double *least, double *most) {
  *least = read_sum(lapack, &at);
  at += 2; /* ".." */
  *most = read_sum(lapack, &at);
}

static bool is_listed(const char *at, double value) {
  do {
    bool is_negative = *++at == '-';
    at += is_negative;
    double listed = read_number(&at);
    if (value == (is_negative ? -listed : listed)) return true;
  } while (*at == ',');
  return false;
}

/* Does the Integer argument have an allowed value? */
static bool integer_fits(const Lapack *lapack, uint32_t k) {
  double value = lapack->call->arguments[k].numbers[0], least = 0, most = SIZE_MOST;
  const char *rest = lapack->formals[k].rest;
  switch (*rest) {
  case '!': return true;
  case '@': return in_range(lapack, k, value, -1, INT_MAX);
  case '{': return is_listed(rest, value) || fail(lapack, k, "has a value that it does not take");
  case ':': read_range(lapack, rest + 1, &least, &most); break;
  case '>': rest += 2, least = read_sum(lapack, &rest); break;
  default: break;
  }
  return in_range(lapack, k, value, least, most);
}

static bool real_fits(const Lapack *lapack, uint32_t k) {
  double value = lapack->call->arguments[k].numbers[0];
  const char *rest = lapack->formals[k].rest + 1;
  if (*rest == '!') return true;
  if (!isfinite(value)) return fail(lapack, k, "is not finite");
  return *rest != '>' || in_range(lapack, k, value, 0, HUGE_VAL);
}

static bool text_fits(const Lapack *lapack, uint32_t k) {
  const char *rest = lapack->formals[k].rest;
  return strncmp(rest, "''", 2) == 0 || text_is_one_of(lapack->call->arguments[k].texts[0], &rest) ||
         fail(lapack, k, "begins with a letter that it does not take");
}

/* ---- types ---- */

/* An argument that the routine writes must have exactly this type. If it is only read, an Integer is accepted as a Real. */
static bool type_fits(const ExternalValue *value, ExternalType type) {
  bool is_read_as_real = type == EXTERNAL_REAL && value->type == EXTERNAL_INTEGER && !value->is_output;
  return value->type == type || is_read_as_real;
}

/* The character after the name is the kind of an argument; ' ' is the kind of a size. */
static char kind_of(const Formal *formal) { return *formal->rest ? *formal->rest : ' '; }

static bool is_array(const Formal *formal) { return strchr("([~#&", kind_of(formal)); }

static ExternalType type_of(const Formal *formal) {
  switch (*formal->rest) {
  case '\'': return EXTERNAL_TEXT;
  case '.':
  case '(':
  case '~': return EXTERNAL_REAL;
  default: return EXTERNAL_INTEGER;
  }
}

static bool types_fit(const Lapack *lapack, uint32_t count) {
  const ExternalCall *call = lapack->call;
  if (call->count != count)
    return external_fail(lapack->call, "`%s` takes %u arguments, not %u", call->function->name, count, call->count);
  if (call->result.type != call->function->result || call->result.dimensions)
    return external_fail(lapack->call, "the result of `%s` has another type", call->function->name);
  for (uint32_t k = 0; k < count; k++) {
    const Formal *formal = &lapack->formals[k];
    const ExternalValue *value = &call->arguments[k];
    if (!type_fits(value, type_of(formal)) || value->dimensions > (is_array(formal) ? 2 : 0))
      return fail(lapack, k, "has another type");
  }
  return true;
}

/* Numbers that the routine reads must be finite, and Integers must fit an int. Arguments that are only written may be anything. */
static bool numbers_fit(const Lapack *lapack, uint32_t k) {
  const ExternalValue *value = &lapack->call->arguments[k];
  bool is_real = type_of(&lapack->formals[k]) == EXTERNAL_REAL;
  for (uint32_t i = 0; i < value->count; i++) {
    double number = value->numbers[i];
    if (is_real && !isfinite(number)) return fail(lapack, k, "has an element that is not finite");
    if (!is_real && !(number >= INT_MIN && number <= INT_MAX))
      return fail(lapack, k, "has an element that is too large");
  }
  return true;
}

/* Scalars are checked first, because sizes and ranges depend on them. Each kind comes after the kinds that it depends on. */
static bool scalars_fit(const Lapack *lapack) {
  static const char *const rounds[] = {"'", " ", ":>{@!."};
  for (int round = 0; round < 3; round++)
    for (uint32_t k = 0; k < lapack->call->count; k++) {
      const Formal *formal = &lapack->formals[k];
      if (!strchr(rounds[round], kind_of(formal))) continue;
      ExternalType type = type_of(formal);
      if (type == EXTERNAL_TEXT ? !text_fits(lapack, k)
                                : !(type == EXTERNAL_REAL ? real_fits(lapack, k) : integer_fits(lapack, k)))
        return false;
    }
  return true;
}

/* ---- arrays ---- */

/* The marks after the sizes of an array. */
static const char *marks_of(const Formal *formal) {
  const char *at = formal->rest;
  for (int depth = 0;; at++) {
    depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    if (!depth) return at + 1;
  }
}

/* The number of elements that an array needs. For a matrix, whose first size is a leading dimension, also the argument of
 * that dimension and the number of columns. Without rows it needs no elements, for any leading dimension. */
typedef struct Extent {
  double elements, leading, columns;
  bool is_matrix;
} Extent;

static Extent extent_of(const Lapack *lapack, uint32_t k) {
  const char *at = lapack->formals[k].rest + 1;
  Extent extent = {.is_matrix = at[name_length(at)] == ','};
  if (!extent.is_matrix) {
    extent.elements = read_sum(lapack, &at);
    return extent;
  }
  uint32_t leading = find_formal(lapack, &at);
  const char *least = lapack->formals[leading].rest + 2;
  at++;
  extent.columns = read_sum(lapack, &at);
  extent.leading = lapack->call->arguments[leading].numbers[0];
  extent.elements = read_sum(lapack, &least) > 0 ? extent.leading * extent.columns : 0;
  return extent;
}

/* Two consecutive nonzeros below the diagonal would be blocks that overlap. */
static bool is_quasi_triangular(const ExternalValue *value, double n) {
  bool was_zero = true;
  for (uint32_t i = 0; i + 1 < n; i++) {
    bool is_zero = value->numbers[(size_t)(i + 1) * value->sizes[1] + i] == 0;
    if (!is_zero && !was_zero) return false;
    was_zero = is_zero;
  }
  return true;
}

static bool elements_fit(const Lapack *lapack, uint32_t k) {
  const ExternalValue *value = &lapack->call->arguments[k];
  const char *marks = marks_of(&lapack->formals[k]);
  double least, most;
  if (*marks != '!' && !numbers_fit(lapack, k)) return false;
  if (*marks != ':') return true;
  read_range(lapack, marks + 1, &least, &most);
  for (uint32_t i = 0; i < value->count; i++)
    if (!in_range(lapack, k, value->numbers[i], least, most)) return false;
  return true;
}

/* A matrix has as many rows as its leading dimension, or it is a vector with its columns one after another. */
static bool array_fits(const Lapack *lapack, uint32_t k) {
  const ExternalValue *value = &lapack->call->arguments[k];
  Extent extent = extent_of(lapack, k);
  bool is_quasi = *marks_of(&lapack->formals[k]) == '^';
  if (extent.elements > 0) {
    bool is_shaped = value->count >= extent.elements;
    if (extent.is_matrix && value->dimensions == 2)
      is_shaped = value->sizes[0] == extent.leading && value->sizes[1] >= extent.columns;
    if (!is_shaped || (is_quasi && value->dimensions != 2)) return fail(lapack, k, "has another size");
    if (is_quasi && !is_quasi_triangular(value, extent.columns)) return fail(lapack, k, "is not quasi-triangular");
  }
  return elements_fit(lapack, k);
}

/* ---- copies ---- */

/* The place of element i of a row-major array in LAPACK's order. */
static size_t position_of(const ExternalValue *value, uint32_t i) {
  if (value->dimensions != 2) return i;
  return (size_t)(i % value->sizes[1]) * value->sizes[0] + i / value->sizes[1];
}

static Heap *heap_of(const Lapack *lapack) { return lapack->call->arena->heap; }

static void *copy_out(const Lapack *lapack, uint32_t k) {
  const ExternalValue *value = &lapack->call->arguments[k];
  bool is_real = type_of(&lapack->formals[k]) == EXTERNAL_REAL, is_leading = *lapack->formals[k].rest == '>';
  void *copy = heap_array(heap_of(lapack), value->count ? value->count : 1, is_real ? sizeof(double) : sizeof(int));
  for (uint32_t i = 0; i < value->count; i++) {
    size_t at = position_of(value, i);
    double number = value->numbers[i];
    if (is_real) ((double *)copy)[at] = number;
    else ((int *)copy)[at] = number >= INT_MIN && number <= INT_MAX ? (int)number : 0;
  }
  if (is_leading && *(int *)copy == 0) *(int *)copy = 1; /* a matrix without rows; LAPACK requires at least 1 */
  return copy;
}

static void copy_back(const Lapack *lapack, uint32_t k) {
  ExternalValue *value = &lapack->call->arguments[k];
  char kind = kind_of(&lapack->formals[k]);
  bool is_real = type_of(&lapack->formals[k]) == EXTERNAL_REAL;
  for (uint32_t i = 0; i < value->count; i++) {
    size_t at = position_of(value, i);
    if (strchr("~#", kind) && (double)at >= lapack->sizes[k]) continue;
    value->numbers[i] = is_real ? ((double *)lapack->copies[k])[at] : ((int *)lapack->copies[k])[at];
  }
}

/* The argument that is the length of workspace k; UINT32_MAX if there is none. */
static uint32_t length_of_workspace(const Lapack *lapack, uint32_t k) {
  for (uint32_t i = 0; i < lapack->call->count; i++) {
    const char *at = lapack->formals[i].rest + 1;
    if (*lapack->formals[i].rest == '@' && find_formal(lapack, &at) == k) return i;
  }
  return UINT32_MAX;
}

/* Makes workspace as long as the routine needs, or as long as the model provides if that is longer. */
static bool make_workspace(Lapack *lapack, uint32_t k) {
  const char *at = lapack->formals[k].rest + 1;
  uint32_t length = length_of_workspace(lapack, k);
  double size = fmax(read_sum(lapack, &at), 1);
  if (length != UINT32_MAX)
    size = fmax(size, fmin(lapack->call->arguments[length].numbers[0], lapack->call->arguments[k].count));
  if (size > INT_MAX) return fail(lapack, k, "would be too large");
  lapack->sizes[k] = size;
  lapack->copies[k] = heap_array(heap_of(lapack), (size_t)size,
                                 type_of(&lapack->formals[k]) == EXTERNAL_REAL ? sizeof(double) : sizeof(int));
  return true;
}

static int never_selected(const double *real, const double *imaginary) {
  (void)real, (void)imaginary;
  return 0;
}

static void *address_of_procedure(void) {
  int (*procedure)(const double *, const double *) = never_selected;
  void *address;
  memcpy(&address, &procedure, sizeof address);
  return address;
}

static bool make_copies(Lapack *lapack) {
  for (uint32_t k = 0; k < lapack->call->count; k++) {
    char kind = kind_of(&lapack->formals[k]);
    if (kind == '\'') lapack->copies[k] = arena_printf(lapack->call->arena, "%s", lapack->call->arguments[k].texts[0]);
    else if (kind == '&') lapack->copies[k] = address_of_procedure();
    else if (kind != '~' && kind != '#') lapack->copies[k] = copy_out(lapack, k);
    else if (!make_workspace(lapack, k)) return false;
  }
  return true;
}

/* The lengths of workspace. The first one is lwork: if it is -1, the call requests the best length. */
static void set_lengths(Lapack *lapack) {
  int query = 0;
  for (uint32_t k = 0; k < lapack->call->count; k++) {
    const char *at = lapack->formals[k].rest + 1;
    int *length = lapack->copies[k];
    if (*lapack->formals[k].rest != '@') continue;
    if (!query) query = *length == -1 ? -1 : 1;
    *length = query == -1 ? -1 : (int)lapack->sizes[find_formal(lapack, &at)];
  }
}

static void free_copies(Lapack *lapack) {
  for (uint32_t k = 0; k < lapack->call->count; k++)
    if (!strchr("'&", kind_of(&lapack->formals[k]))) heap_free(heap_of(lapack), lapack->copies[k]);
}

/* ---- the call ---- */

void xerbla_(const char *routine, const int *argument, size_t length) { (void)routine, (void)argument, (void)length; }

static bool arrays_fit(const Lapack *lapack) {
  for (uint32_t k = 0; k < lapack->call->count; k++)
    if (strchr("([", kind_of(&lapack->formals[k])) && !array_fits(lapack, k)) return false;
  return true;
}

/* All arguments are passed by address; the lengths of texts follow. */
static bool run_routine(Lapack *lapack, double *result) {
  const External *function = lapack->call->function;
  ffi_type *types[2 * FORMALS_MOST], *type = function->result == EXTERNAL_REAL ? &ffi_type_double : &ffi_type_void;
  void *values[2 * FORMALS_MOST];
  size_t one = 1;
  uint32_t count = lapack->call->count;
  ffi_cif interface;
  for (uint32_t k = 0; k < lapack->call->count; k++) {
    types[k] = &ffi_type_pointer;
    values[k] = &lapack->copies[k];
    if (*lapack->formals[k].rest != '\'') continue;
    types[count] = sizeof one == 8 ? &ffi_type_uint64 : &ffi_type_uint32;
    values[count++] = &one;
  }
  if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, count, type, types) != FFI_OK)
    return external_fail(lapack->call, "it cannot be called");
  ffi_call(&interface, function->address, result, values);
  return true;
}

/* For a routine with info: did it refuse an argument? */
static bool check_info(const Lapack *lapack) {
  uint32_t last = lapack->call->count - 1;
  if (strcmp(lapack->formals[last].name, "info!") != 0 || *(const int *)lapack->copies[last] >= 0) return true;
  return external_fail(lapack->call, "argument %d of `%s` has a value that it does not take",
                       -*(const int *)lapack->copies[last], lapack->call->function->name);
}

static bool run_on_copies(Lapack *lapack) {
  double result = 0;
  if (!make_copies(lapack)) return false;
  set_lengths(lapack);
  if (!run_routine(lapack, &result) || !check_info(lapack)) return false;
  for (uint32_t k = 0; k < lapack->call->count; k++)
    if (lapack->call->arguments[k].is_output && !strchr("'&@", kind_of(&lapack->formals[k]))) copy_back(lapack, k);
  return lapack->call->result.type == EXTERNAL_NOTHING || external_give(lapack->call, result);
}

bool external_lapack(ExternalCall *call) {
  Lapack lapack = {.call = call};
  if (!types_fit(&lapack, read_row(&lapack)) || !scalars_fit(&lapack) || !arrays_fit(&lapack)) return false;
  bool is_done = run_on_copies(&lapack);
  free_copies(&lapack);
  return is_done;
}
