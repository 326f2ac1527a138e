/* foreign: see foreign.h. In C, scalars are passed by value and outputs as pointers; in FORTRAN 77 everything is a
 * pointer, matrices are stored by columns, and the lengths of texts follow at the end. */
#include "external/foreign.h"

#include <ffi.h>
#include <setjmp.h>
#include <string.h>

enum { ARGUMENTS_MAX = 64 };

/* An argument in the form that the function sees. */
typedef union Slot {
  double real;
  int64_t integer;
  void *pointer;
} Slot;

typedef struct Frame {
  ffi_type *types[2 * ARGUMENTS_MAX];
  void *values[2 * ARGUMENTS_MAX];
  Slot slots[2 * ARGUMENTS_MAX];
  uint32_t count;
} Frame;

/* ---- arrays ---- */

/* The position of element i of a row-major array in the array that the function sees. */
static size_t position_of(const ExternalCall *call, const ExternalValue *value, uint32_t i) {
  if (!call->function->is_fortran || value->dimensions != 2) return i;
  return (size_t)(i % value->sizes[1]) * value->sizes[0] + i / value->sizes[1];
}

static void *copy_out(const ExternalCall *call, const ExternalValue *value) {
  bool is_real = value->type == EXTERNAL_REAL;
  void *copy = arena_array(call->arena, value->count + 1, is_real ? sizeof(double) : sizeof(int));
  for (uint32_t i = 0; i < value->count; i++) {
    size_t at = position_of(call, value, i);
    if (is_real) ((double *)copy)[at] = value->numbers[i];
    else ((int *)copy)[at] = (int)value->numbers[i];
  }
  return copy;
}

static void copy_back(const ExternalCall *call, ExternalValue *value, const void *copy) {
  for (uint32_t i = 0; i < value->count; i++) {
    size_t at = position_of(call, value, i);
    value->numbers[i] = value->type == EXTERNAL_REAL ? ((const double *)copy)[at] : ((const int *)copy)[at];
  }
}

/* ---- arguments ---- */

static void add_slot(Frame *frame, ffi_type *type, Slot slot) {
  uint32_t at = frame->count++;
  frame->slots[at] = slot;
  frame->types[at] = type;
  frame->values[at] = &frame->slots[at];
}

static void add_argument(ExternalCall *call, Frame *frame, const ExternalValue *value) {
  bool is_value = !call->function->is_fortran && !value->is_output && !value->dimensions;
  switch (value->type) {
  case EXTERNAL_OBJECT:
    add_slot(frame, &ffi_type_pointer, (Slot){.pointer = value->object ? value->object->content : NULL});
    break;
  case EXTERNAL_TEXT: {
    bool is_array = value->dimensions || value->is_output;
    add_slot(frame, &ffi_type_pointer,
             (Slot){.pointer = is_array ? (void *)value->texts : (void *)(uintptr_t)value->texts[0]});
    break;
  }
  case EXTERNAL_REAL:
    if (is_value) add_slot(frame, &ffi_type_double, (Slot){.real = value->numbers[0]});
    else add_slot(frame, &ffi_type_pointer, (Slot){.pointer = copy_out(call, value)});
    break;
  case EXTERNAL_INTEGER:
    if (is_value) add_slot(frame, &ffi_type_sint64, (Slot){.integer = (int64_t)value->numbers[0]});
    else add_slot(frame, &ffi_type_pointer, (Slot){.pointer = copy_out(call, value)});
    break;
  case EXTERNAL_NOTHING: break;
  }
}

static bool add_arguments(ExternalCall *call, Frame *frame) {
  if (call->count > ARGUMENTS_MAX) return external_fail(call, "more than %d arguments", ARGUMENTS_MAX);
  for (uint32_t i = 0; i < call->count; i++) {
    const ExternalValue *value = &call->arguments[i];
    if (value->type == EXTERNAL_NOTHING)
      return external_fail(call, "argument %u is a record, which cannot be passed", i + 1);
    if (call->function->is_fortran && value->dimensions > 2)
      return external_fail(call, "an array of more than two dimensions");
    add_argument(call, frame, value);
  }
  for (uint32_t i = 0; call->function->is_fortran && i < call->count; i++)
    if (call->arguments[i].type == EXTERNAL_TEXT)
      add_slot(frame, &ffi_type_sint64, (Slot){.integer = (int64_t)strlen(call->arguments[i].texts[0])});
  return true;
}

/* ---- the call ---- */

static const char FOREIGN_KIND = 0;

static void release_object(void *object) {
  ExternalInstance *instance = object;
  instance->release(instance->content);
}

/* The object's destructor is called when the heap of the run is freed. */
static bool give_object(ExternalCall *call, void *content) {
  if (!content) return external_fail(call, "the constructor made no object");
  external_give_object(call, &FOREIGN_KIND, content, false);
  call->result.object->release = call->function->release;
  if (call->function->release) heap_defer(call->state->heap, release_object, call->result.object);
  return true;
}

static bool give_result(ExternalCall *call, Slot slot) {
  switch (call->result.type) {
  case EXTERNAL_NOTHING: return true;
  case EXTERNAL_REAL: return external_give(call, slot.real);
  case EXTERNAL_INTEGER: return external_give(call, (int)slot.integer);
  case EXTERNAL_TEXT:
    return slot.pointer ? external_give_text(call, slot.pointer, strlen(slot.pointer))
                        : external_give_text(call, "", 0);
  case EXTERNAL_OBJECT: return give_object(call, slot.pointer);
  }
  return false;
}

static ffi_type *result_type(ExternalType type) {
  switch (type) {
  case EXTERNAL_REAL: return &ffi_type_double;
  case EXTERNAL_INTEGER: return &ffi_type_sint;
  case EXTERNAL_TEXT:
  case EXTERNAL_OBJECT: return &ffi_type_pointer;
  case EXTERNAL_NOTHING: break;
  }
  return &ffi_type_void;
}

/* ---- callbacks ---- */

/* The current call of this thread, and the point at which to continue after an error. */
static _Thread_local struct {
  ExternalCall *call;
  jmp_buf back;
} current;

static void service_error(const char *text) {
  size_t length = strlen(text);
  while (length && text[length - 1] == '\n') length--;
  external_fail(current.call, "%.*s", (int)length, text);
  longjmp(current.back, 1);
}

static void service_message(const char *text) {
  enum { PRINTED_MOST = 1 << 20 };
  ExternalState *state = current.call->state;
  if (state->printed.count < PRINTED_MOST) text_printf(state->heap, &state->printed, "%s", text);
}

/* The memory lives as long as the call's other texts. */
static char *service_allocate(size_t size) { return arena_array(current.call->arena, size, 1); }

const ForeignServices foreign_services = {service_error, service_message, service_allocate};

/* A call of a function in a library. */
typedef struct Crossing {
  void (*run)(struct Crossing *crossing);
  void (*address)(void);
  union {
    struct {
      ffi_cif interface;
      Slot result;
      void **values;
    };
    struct {
      char *name;
      int dimensions, sizes[2], by_columns, status;
      double *table;
    };
  };
} Crossing;

/* Runs the call; an error in the function returns here with false. */
static bool cross(ExternalCall *call, Crossing *crossing) {
  ExternalCall *outer = current.call;
  jmp_buf back;
  memcpy(&back, &current.back, sizeof back);
  current.call = call;
  bool is_done = setjmp(current.back) == 0;
  if (is_done) crossing->run(crossing);
  current.call = outer;
  memcpy(&current.back, &back, sizeof back);
  return is_done;
}

static void run_function(Crossing *crossing) {
  ffi_call(&crossing->interface, crossing->address, &crossing->result, crossing->values);
}

bool external_foreign(ExternalCall *call) {
  Frame frame = {.count = 0};
  Crossing crossing = {.run = run_function, .address = call->function->address, .values = frame.values};
  if (call->result.dimensions) return external_fail(call, "the result is an array, which no function in C returns");
  if (!add_arguments(call, &frame)) return false;
  if (ffi_prep_cif(&crossing.interface, FFI_DEFAULT_ABI, frame.count, result_type(call->result.type), frame.types) !=
      FFI_OK)
    return external_fail(call, "it cannot be called");
  if (!cross(call, &crossing)) return false;
  for (uint32_t i = 0; i < call->count; i++) {
    ExternalValue *value = &call->arguments[i];
    bool is_number = value->type == EXTERNAL_REAL || value->type == EXTERNAL_INTEGER;
    if (value->is_output && is_number) copy_back(call, value, frame.slots[i].pointer);
  }
  return give_result(call, crossing.result);
}

/* ---- tables of the user's ---- */

typedef int UserTable(char *name, int dimensions, int sizes[2], int *by_columns, double **values);

static void run_table(Crossing *crossing) {
  crossing->status = ((UserTable *)crossing->address)(crossing->name, crossing->dimensions, crossing->sizes,
                                                      &crossing->by_columns, &crossing->table);
}

bool foreign_table(ExternalCall *call, void (*address)(void), const char *name, int dimensions, Matrix *matrix) {
  Crossing crossing = {.run = run_table,
                       .address = address,
                       .name = arena_copy(call->arena, name, strlen(name)),
                       .dimensions = dimensions};
  if (!cross(call, &crossing)) return false;
  int64_t rows = crossing.sizes[0], columns = crossing.sizes[1];
  if (crossing.status != 0 || rows < 1 || columns < 1 || !crossing.table)
    return external_fail(call, "usertab gives no table `%s`", name);
  if (!matrix_make(call, (uint64_t)rows, (uint64_t)columns, matrix)) return false;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < columns; k++)
      matrix->values[i * columns + k] = crossing.table[crossing.by_columns ? k * rows + i : i * columns + k];
  return true;
}
