/* cvalue: values of the machine's stack as C text, from which croutine.c builds its statements.
 *
 * Invariant: the text of a value has no effect except that it may fail, so it may be written later than the machine would
 * compute it. A value that depends on a loop or a branch is stored before the loop or branch ends. */
#pragma once

#include "code/croutine.h"
#include "model/execute.h"

typedef enum EntryKind { ENTRY_VALUE, ENTRY_RANGE, ENTRY_ALL } EntryKind;

/* A value on the stack: one text for each of its variables. */
typedef struct StackEntry {
  EntryKind kind;
  Type type;
  bool is_constant;
  double constant;
  uint32_t count;
  const char **texts;
  uint8_t *dimensions;
} StackEntry;

typedef enum RegionKind { REGION_SKIP, REGION_DEFAULT, REGION_VALUE, REGION_LOOP } RegionKind;

/* An open piece of control flow. */
typedef struct OpenRegion {
  RegionKind kind;
  uint32_t end;    /* SKIP, DEFAULT: position before which it closes */
  uint32_t number; /* of its names */
  uint32_t at;     /* VALUE, EACH: where in the body its result is declared */
  bool is_range;
  bool is_held;    /* LOOP over an array that was copied */
  StackEntry then; /* VALUE */
} OpenRegion;

typedef struct RoutineState {
  RoutineWriter *writer;
  const Routine *routine;
  uint32_t position; /* position of the instruction that is written */
  TextVec body;
  uint32_t depth;
  VEC(StackEntry) stack;
  VEC(OpenRegion) regions;
  uint32_t names;    /* given so far */
  StackEntry *slots; /* slot -> its variables */
  bool *is_read, *is_bound;
  bool makes_arrays; /* arrays were made since the last statement ended */
  bool uses_memory;  /* anywhere */
  bool has_return;
  bool is_missing; /* the current statement calls a function that does not exist, and has already failed */
  const char *refusal;
} RoutineState;

/* ---- text ---- */

/* Text in the writer's arena; a line of the body, indented; text inserted at a place of the body. */
__attribute__((format(printf, 2, 3))) const char *cvalue_format(RoutineState *s, const char *form, ...);
__attribute__((format(printf, 2, 3))) void cvalue_line(RoutineState *s, const char *form, ...);
void cvalue_insert(RoutineState *s, uint32_t at, const char *text);
/* Letters and digits of a name of the model, with _ for the rest; begins with a letter. */
const char *cvalue_plain_name(const RoutineWriter *writer, const char *name);

/* ---- failure ---- */

/* The routine cannot be written, for this reason (static text); the first reason counts. */
void cvalue_refuse(RoutineState *s, const char *why);
/* A value does not have the expected dimensions: happens only after a call of a function that does not exist. */
void cvalue_misfit(RoutineState *s);

/* ---- types ---- */

/* Number or Array. */
const char *cvalue_c_type(uint8_t dimensions);
/* Integer and Real together are Real. */
/* The number of variables of which a value of the type consists. */
uint32_t cvalue_count_variables(const RoutineWriter *writer, Type type);
/* Lists the dimensions of these variables and returns their number. The fields of a record come in order, and those of a nested
 * record in its place. The names of the variables begin with `name`; `names` may be NULL. Both lists are in the arena. */
uint32_t cvalue_type_variables(const RoutineWriter *writer, Type type, const char *name, uint8_t **dimensions,
                               const char ***names);
/* Sizes of a field as a list of numbers, NAN for `:`. */
const char *cvalue_field_sizes(RoutineState *s, const Field *field);

/* ---- the stack ---- */

/* An entry of the type with room for its texts. */
StackEntry cvalue_make_entry(RoutineState *s, Type type);
/* Pushes an entry; a long text gets a name first. */
void cvalue_push_entry(RoutineState *s, StackEntry entry);
void cvalue_push(RoutineState *s, Type type, const char *text);
void cvalue_push_constant(RoutineState *s, Type type, double number);
/* Removes the topmost `count` entries from the stack; valid until the next push. */
StackEntry *cvalue_pop(RoutineState *s, uint32_t count);
/* Gives names to the texts of an entry, so that they can be written more than once. */
void cvalue_name(RoutineState *s, StackEntry *entry);
/* Writes a value that is computed but not used, because it may fail. */
void cvalue_discard(RoutineState *s, const StackEntry *entry);
/* A scalar entry as a Number; `:` is NAN. */
const char *cvalue_scalar_text(RoutineState *s, const StackEntry *entry);
const char *cvalue_scalars_text(RoutineState *s, const StackEntry *entries, uint32_t count);
/* One variable of an entry, as an Array of any dimensions; if the entry consists of one variable, that variable. */
const char *cvalue_variable_array(RoutineState *s, const StackEntry *entry, uint32_t i);
const char *cvalue_array_text(RoutineState *s, const StackEntry *entry);

/* ---- statements ---- */

/* Frees the memory that the statement allocated. */
void cvalue_end_statement(RoutineState *s);
/* A condition, whose arrays are freed. */
const char *cvalue_condition_text(RoutineState *s, const StackEntry *entry);

/* ---- instructions, by the verbs of model/codes.def ---- */

void cwrite_apply(RoutineState *s, Op op, uint32_t count);
void cwrite_array(RoutineState *s, uint32_t count);
void cwrite_builtin(RoutineState *s, Builtin builtin, uint32_t count);
void cwrite_compare(RoutineState *s, Op op);
void cwrite_each_sum(RoutineState *s, bool is_minus);
void cwrite_field(RoutineState *s, uint32_t number);
void cwrite_index(RoutineState *s, uint32_t lead, uint32_t count);
void cwrite_matrix(RoutineState *s, uint32_t along, uint32_t count);
void cwrite_product(RoutineState *s, Op op, bool is_each);
void cwrite_range(RoutineState *s, bool has_step);
void cwrite_record(RoutineState *s, uint32_t definition);
void cwrite_store(RoutineState *s, const uint32_t *place);
void cwrite_sum(RoutineState *s, uint32_t count, const uint32_t *bits);
