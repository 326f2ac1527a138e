/* execute: the machine that runs routines (function.h) over any kind of number. The Domain defines scalars: a node of the graph
 * (running a function symbolically inlines it), a double, a number with its derivatives.
 *
 * Invariant: nothing recurses; calls are frames on an explicit stack of bounded depth. If a condition is not known in
 * the domain, both branches of an if run, and `select` merges their assignments. If a size or a loop depends on
 * something unknown, the call of the function is passed to `call` of the domain. At the outermost level the run ends
 * with EXECUTE_UNKNOWN. */
#pragma once

#include "model/function.h"

/* A value: scalars of `Domain.size` bytes in row-major order, or the fields of a record. In an array of records, each field is an
 * array of that field, with the record's sizes first. */
typedef struct Value {
  Type type;
  uint32_t count; /* product of the sizes */
  const uint32_t *sizes;
  union {
    char *data;
    struct Value *fields;
  };
} Value;

typedef enum ExecuteStatus {
  EXECUTE_OK,
  EXECUTE_ERROR,  /* in the diagnostics */
  EXECUTE_UNKNOWN /* control flow or a size depends on something unknown; machine_obstacle names it */
} ExecuteStatus;

/* Builtin array functions. */
typedef enum Builtin {
#define BUILTIN(id, ...) BUILTIN_##id,
#include "model/builtin.def"
#undef BUILTIN
  BUILTIN_COUNT
} Builtin;

typedef struct Machine Machine;

/* The scalars and their operations. Scalars are passed by address. Members after `select` may be NULL: code that needs
 * them is then refused. `false` means that the domain has reported an error or, for `apply`, that an argument is outside of the
 * operator's domain, which the machine reports. */
typedef struct Domain {
  uint32_t size; /* bytes of a scalar */
  void *context;
  void (*constant)(void *context, double value, void *out);
  void (*text)(void *context, Name text, void *out);
  bool (*known)(void *context, const void *scalar, double *value); /* for a text, the value is its Name */
  bool (*apply)(void *context, Op op, const void *arguments, uint32_t count, void *out);
  void (*sum)(void *context, const void *terms, const uint32_t *signs, uint32_t count, void *out); /* as CODE_SUM */
  void (*select)(void *context, const void *condition, const void *then, const void *otherwise, void *out);
  /* The condition, the first and the second value of a scalar that select has made; false: select has not made it. NULL:
   * scalars that select has made cannot be taken apart. */
  bool (*choice)(void *context, const void *scalar, void *parts);

  /* Data that the external functions of this run share; NULL: they are not run here. If it is set, scalars are doubles or
   * elements of the algebra with nilpotents; a text is represented by its Name, an object by its handle. */
  struct ExternalState *externals;
  bool has_no_texts; /* texts of numbers are not made: OP_STRING_OF is applied instead */
  /* Calls a function whose derivative is given separately. *is_done: the outputs have their values. */
  bool (*derive)(void *context, const Routine *routine, const Value *inputs, Value *outputs, bool *is_done);
  /* An operator whose meaning the domain defines; `type` is the type of the result, which is a scalar here. */
  ExecuteStatus (*special)(void *context, Special special, Type type, const void *arguments, uint32_t count, Span span,
                           void *out);
  /* The value of component `component` of the model; only_sizes: `data` need not be set. */
  ExecuteStatus (*global)(void *context, uint32_t component, bool only_sizes, Span span, Value *out);
  /* A call that cannot be run here: gives values to the outputs, whose shapes are set (data is room for
   * the scalars). */
  bool (*call)(void *context, const Routine *routine, const Value *inputs, Value *outputs, Span span);
  /* Called when a function with declared inverses has returned; `slots` are its variables. */
  void (*returned)(void *context, const Routine *routine, const Value *slots);
  /* An assertion or termination under the path condition given (NULL: always). Level and message are scalars. */
  bool (*assertion)(void *context, const void *path, const void *condition, const void *message, const void *level,
                    Span span);
  bool (*terminate)(void *context, const void *path, const void *message, Span span);
  /* The size of everything made so far. NULL: all scalars have the same size. */
  uint64_t (*made)(void *context);
  /* The number of effects so far. If the trial run of a call is given up, `forget` undoes all effects beyond this number. */
  uint32_t (*effects)(void *context);
  void (*forget)(void *context, uint32_t effects);
  /* The when-statements of a model. is_first: the branch is not an elsewhen. when_assign gets the value of a slot before and after
   * a branch. */
  bool (*when_begin)(void *context, bool is_first, const Value *condition, Span span);
  bool (*when_assign)(void *context, uint32_t slot, const Value *before, const Value *after, Span span);
  void (*when_settle)(void *context, uint32_t slot, Value *value); /* called after the last branch */
  void (*when_end)(void *context);
  bool (*reinit)(void *context, const void *path, const Value *target, const Value *value, Span span);
} Domain;

/* The end of a search, or the element that a subscript selects, may be unknown until the run. At most this many cases are
 * followed. A function with a longer search is called during the run. */
enum { CHOICES = 64 };

/* Limits of a run, in addition to the heap's budget of work; 0 means the default. */
typedef struct Limits {
  uint64_t steps;    /* instructions and element operations in total; no limit by default */
  uint64_t inlining; /* for one call: steps, or size of their results; a longer call is passed to Domain.call */
  uint32_t depth;    /* nested calls */
} Limits;

/* A machine over a domain. `routines` is the list that CODE_CALL refers to; it may grow later, and so may `records`. It lives in
 * `heap`; errors go to `diags`. */
Machine *machine_new(Heap *heap, Names *names, const Domain *domain, Routine *const *const *routines,
                     const Record *const *records, Diags *diags, Limits limits);

/* Frees a machine before its heap is freed. */
void machine_free(Machine *machine);

/* Errors go to `diags` from now on. */
void machine_set_diags(Machine *machine, Diags *diags);

/* Limits the next run to this many steps. */
void machine_shorten(Machine *machine, uint64_t steps);

/* Runs the routine's code with the `count` input values given (slot order; an input of type TYPE_NOTHING is not given).
 * On success the values of its outputs are at machine_output, and the values left on its stack at machine_result, valid
 * until the next run. */
ExecuteStatus machine_run(Machine *machine, const Routine *routine, const Value *inputs, uint32_t count);
const Value *machine_result(const Machine *machine, uint32_t index);
const Value *machine_output(const Machine *machine, uint32_t output);
const Value *machine_slot(const Machine *machine, uint32_t slot);

/* Has every called function returned? After a run that failed, some may be open. */
bool machine_is_idle(const Machine *machine);

/* A slot that is not an input: a variable that an algorithm section assigns. Its value is copied at the start of the run.
 * `assigned` has the same shape; elements that the run assigns get the constant 1 there. */
typedef struct Preset {
  uint32_t slot;
  Value value, assigned;
} Preset;

/* Do relations cause events here? Relations cause events in the code given to machine_run, and in functions called from it that
 * request events or have discrete values. */
bool machine_makes_events(const Machine *machine);

/* The condition under which the current instruction runs; NULL: always. */
const void *machine_path(const Machine *machine);

/* After EXECUTE_UNKNOWN: the unknown value and its place, for a message. */
const char *machine_obstacle(const Machine *machine, Span *where);

/* Did the last run end because the user has not allowed a call? The message names the option. */
bool machine_lacks_right(const Machine *machine);

/* Did the last run end in a branch that might not be taken, because its condition is not known? */
bool machine_in_branch(const Machine *machine);

/* Room for a value of this type and these sizes, scalars not set; valid until the run ends. For domains. */
Value machine_make(Machine *machine, Type type, const uint32_t *sizes);

/* The shape of a value; in the heap. */
Shape shape_of_value(Heap *heap, const Record *records, const Value *value);

/* Room for a value of this shape, scalars of `size` bytes. Records nest as deep as their declarations, which cannot
 * contain themselves. Owned by the arena. */
Value value_of_shape(Arena *arena, const Record *records, const Shape *shape, size_t size);

/* Number of scalars of a value, records included, and a visit of them in the order of dag_call. */
uint32_t value_scalars(const Value *value, const Record *records);
void value_flatten(const Domain *domain, const Value *value, const Record *records, char *out);
void value_unflatten(const Domain *domain, Value *value, const Record *records, const char *in);

/* ---- for the parts of the machine and for domains ---- */

/* Reports an error at the current instruction and returns false. */
__attribute__((format(printf, 2, 3))) bool machine_error(Machine *machine, const char *format, ...);

/* Asserts a condition that is not known, for the case that the current instruction runs; false after an error. Domains that know
 * all their values do not need this. */
__attribute__((format(printf, 3, 4))) bool machine_require(Machine *machine, const void *condition, const char *format,
                                                           ...);

/* Says that something is not known in this domain and returns false; the text must last until the next run. */
bool machine_unknown(Machine *machine, const char *what);

const Domain *machine_domain(const Machine *machine);
const Record *machine_record(const Machine *machine, uint32_t definition);
Names *machine_names(const Machine *machine);
void *machine_alloc(Machine *machine, size_t bytes);

/* The base type of an operator's result, from the types of its first three arguments. */
Type apply_type(Op op, const Type *arguments, uint32_t count);

/* Counts element operations against the limit of steps. */
bool machine_charge(Machine *machine, uint64_t steps);

/* values.c: sizes and elements. All return false after machine_error or machine_unknown. */
bool value_same_sizes(const Value *a, const Value *b);
const char *value_sizes_text(Machine *machine, const Value *value);
bool value_make_checked(Machine *machine, Type type, const uint32_t *sizes, Value *out);
bool value_zero(Machine *machine, Value *value);
Value value_copy(Machine *machine, const Value *value);
void value_assign(Machine *machine, Value *target, const Value *source); /* same sizes */
bool value_integer(Machine *machine, const Value *value, int64_t *out);
Value value_scalar(Machine *machine, BaseType base, double number);
bool value_apply(Machine *machine, Op op, Type type, const Value *arguments, uint32_t count, Value *out);
bool value_sum(Machine *machine, const uint32_t *signs, Type type, const Value *terms, uint32_t count, Value *out);
bool value_multiply(Machine *machine, Type type, const Value *a, const Value *b, Value *out);
bool value_power(Machine *machine, Type type, const Value *base, const Value *exponent, Value *out);
/* empty: the type of an array without items. */
bool value_array(Machine *machine, const Value *items, uint32_t count, Type empty, Value *out);
bool value_range(Machine *machine, const Value *first, const Value *step, const Value *last, Value *out);
/* Element i of the first dimension, which shares the array's memory. */
Value value_element(Machine *machine, const Value *array, uint32_t i);
bool value_index(Machine *machine, const Value *array, const Value *subscripts, uint32_t count, Value *out);
bool value_store(Machine *machine, Value *target, const Value *subscripts, uint32_t count, const Value *value);
bool value_select(Machine *machine, const char *condition, const Value *then, const Value *otherwise, Value *out);
bool value_check_integers(Machine *machine, const Value *value);
bool value_is_all(const Value *value);

/* builtins.c */
bool builtin_run(Machine *machine, Builtin builtin, const Value *arguments, uint32_t count, Value *out);
bool builtin_matrix(Machine *machine, const Value *parts, uint32_t count, uint32_t along, Value *out);
