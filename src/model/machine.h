/* machine: the internals of the machine, shared only by its files (machine.c, operate.c, control.c, frames.c, execute.c). */
#pragma once

#include "model/execute.h"

/* Once a run or an inlined call has exceeded its limit, each later one gets only this many steps, because similar ones would
 * probably not end either. */
enum { STEPS_AFTER_LIMIT = 100000 };

typedef struct Chunk {
  char *data;
  size_t size;
} Chunk;

/* A point in the chunk stack. */
typedef struct ChunkMark {
  uint32_t chunk;
  size_t used;
} ChunkMark;

/* The values of the listed slots, saved with the condition of the path on which they were saved. */
typedef struct Snapshot {
  char *condition; /* NULL: always */
  Value *values;
} Snapshot;

typedef enum ControlKind { CONTROL_IF, CONTROL_IF_VALUE, CONTROL_LOOP, CONTROL_EACH, CONTROL_WHEN } ControlKind;

typedef struct Control {
  ControlKind kind;
  uint32_t begin, end;      /* positions of the statement's first and last instruction */
  uint32_t stack;           /* height of the value stack below it */
  const uint32_t *assigned; /* list of slots, count first */
  char *condition;          /* of an if */
  char *path, *route;       /* conditions of the statements around this one; NULL: always true */
  Value *before, *then;     /* for an if: assigned slots before it and after its first branch */
  bool in_else, then_is_dead;
  Value range;    /* of loops */
  uint32_t next;  /* next element of the range */
  ChunkMark mark; /* mark of the frame before the loop */
  VEC(Snapshot) breaks;
} Control;

/* Arrays of constants in the code of a function. */
typedef struct Literals Literals;

typedef struct Frame {
  const Routine *routine;
  Literals *literals; /* NULL: none */
  Value *slots;
  uint32_t position; /* position of the instruction that runs, or of the call that is waiting */
  uint32_t stack;    /* heights of the stacks when it began */
  uint32_t control;
  uint32_t wanted;  /* outputs to push */
  uint64_t steps;   /* the machine's count when it began */
  uint64_t made;    /* objects that the domain had made when it began */
  uint32_t effects; /* the domain's effects when it began */
  char *path, *route;
  ChunkMark mark, floor;
  bool is_probe; /* runs only up to CODE_BODY, to learn the sizes of the outputs */
  bool
      is_done; /* every path has returned; the values of the last path are used in all cases in which no other path returned */
  VEC(Snapshot) returns; /* of the outputs */
} Frame;

struct Machine {
  Heap *heap;
  Names *names;
  const Domain *domain;
  Routine *const *const *routines;
  const Record *const *records;
  Diags *diags;
  Limits limits;
  VEC(Chunk) chunks;
  uint32_t chunk;
  size_t used;
  VEC(Value) stack;
  VEC(Control) control;
  VEC(Frame) frames;
  VEC(Literals *) literals; /* literals of the routines called so far */
  Arena literal_arena;
  uint64_t runs;        /* so far */
  char *path;           /* condition under which the current instruction runs; NULL: always */
  char *route;          /* the same, without the conditions that earlier paths have not returned or left a loop */
  uint64_t steps, paid; /* steps of this run, and how many of them were taken from the heap's budget */
  uint64_t budget;      /* steps allowed in this run */
  uint64_t shortened;   /* steps allowed in the next run; 0: as usual */
  bool is_shortened;    /* the present run is limited to `shortened` steps */
  ExecuteStatus status;
  const char *obstacle;
  Span obstacle_span;
  bool lacks_right; /* this run ended because the user has not allowed a call */
};

/* ---- machine.c ---- */

Frame *frame_top(Machine *machine);

/* Has some path left a loop that is open at this height of the control stack or above? It continues after the loop. */
bool machine_may_have_left(const Machine *machine, uint32_t control);
Span machine_span(const Machine *machine); /* place of the current instruction */
void machine_push(Machine *machine, Value value);
Value *machine_top(Machine *machine, uint32_t count);                /* the topmost `count` values */
void machine_replace(Machine *machine, uint32_t count, Value value); /* pops `count`, pushes one */
char *machine_copy_scalar(Machine *machine, const char *scalar);
ChunkMark mark_now(const Machine *machine);
bool mark_is_above(ChunkMark a, ChunkMark b);

/* statement_end frees the values of the statement. frame_keep keeps everything allocated so far as long as the frame. */
void statement_end(Machine *machine);
void frame_keep(Machine *machine);

void frame_begin(Machine *machine, const Routine *routine, uint32_t wanted, bool is_probe);
bool slot_is_set(const Value *slot);

/* Prepares another run: empties frames, stack and memory, and renews the budget. */
void machine_clear(Machine *machine);

/* Reports that something with a name is missing; the format has one %s. Returns false. */
__attribute__((format(printf, 2, 0))) bool machine_lacks(Machine *machine, const char *format, const char *name);

/* ---- literals.c ---- */

/* The literals of routine `number`; NULL: it has none. The machine owns them. */
Literals *literals_of(Machine *machine, uint32_t number);

/* Pushes the literal that begins at the position of the frame on top, if there is one; the position moves to its end. */
bool literal_push(Machine *machine, bool *is_done);

/* ---- operate.c: instructions, by the verbs of codes.def ---- */

bool step_global(Machine *machine, uint32_t component);
bool step_literal(Machine *machine, uint32_t number, uint32_t enumeration);
bool step_local(Machine *machine, uint32_t slot);
bool step_constant(Machine *machine, BaseType base, double number);
bool step_sizes(Machine *machine, uint32_t component);
bool step_string(Machine *machine, Name text);
bool step_all(Machine *machine);
bool step_apply(Machine *machine, Op op, uint32_t count);
bool step_bind(Machine *machine, uint32_t slot);
bool step_builtin(Machine *machine, Builtin builtin, uint32_t count);
bool step_array(Machine *machine, uint32_t count);
bool step_matrix(Machine *machine, uint32_t along, uint32_t count);
bool step_compare(Machine *machine, Op op);
bool step_convert(Machine *machine, uint32_t literals, uint32_t enumeration);
bool step_default(Machine *machine, uint32_t slot, uint32_t target);
bool step_drop(Machine *machine, uint32_t count);
bool step_each_sum(Machine *machine, bool is_minus);
bool step_field(Machine *machine, uint32_t field);
bool step_index(Machine *machine, uint32_t lead, uint32_t count);
bool step_product(Machine *machine, Op op, bool is_each);
bool step_range(Machine *machine, bool has_step);
bool step_record(Machine *machine, uint32_t definition);
bool step_special(Machine *machine, Special special, uint32_t count);
bool step_sum(Machine *machine, uint32_t count, const uint32_t *signs);

/* ---- control.c ---- */

/* The slots of the outputs as a list with its count first. */
uint32_t *frame_outputs(Machine *machine, const Routine *routine);
/* Merges snapshots into the listed slots; the first one wins. */
bool snapshots_apply(Machine *machine, const Snapshot *list, uint32_t count, const uint32_t *assigned);
void slots_restore(Machine *machine, const uint32_t *assigned, const Value *values);
bool step_break(Machine *machine);
bool step_each(Machine *machine, uint32_t slot);
bool step_each_next(Machine *machine);
bool step_else(Machine *machine);
bool step_else_value(Machine *machine);
bool step_end_for(Machine *machine);
bool step_end_if(Machine *machine);
bool step_end_value(Machine *machine);
bool step_end_when(Machine *machine);
bool step_for(Machine *machine, uint32_t slot);
bool step_if(Machine *machine);
bool step_if_value(Machine *machine);
bool step_return(Machine *machine);
bool step_skip(Machine *machine, uint32_t target, bool on);
bool step_when(Machine *machine);
bool step_else_when(Machine *machine);
bool step_while(Machine *machine);
bool step_end_while(Machine *machine);
bool step_loop(Machine *machine);
bool step_while_test(Machine *machine);

/* ---- frames.c ---- */

/* Ends the frame on top: its outputs go to the caller's stack. frame_finish applies its returns first. */
void frame_end(Machine *machine);
bool frame_finish(Machine *machine);
/* Called if something is not known. Runs the innermost function that may remain a call again, as a probe. false: there is none. */
bool frame_recover(Machine *machine);
bool step_missing(Machine *machine, Name name);
/* external_call.c */
bool step_external(Machine *machine, uint32_t count, const uint32_t *places);
/* elimination.c: the external function dgesv */
bool eliminate_linear(Machine *machine, uint32_t count, const uint32_t *places);
bool step_body(Machine *machine);
bool step_assert(Machine *machine);
bool step_call(Machine *machine, const uint32_t *call, uint32_t count);
bool step_call_local(Machine *machine, const uint32_t *call, uint32_t count);
bool step_declare(Machine *machine, uint32_t number, uint32_t count);
bool step_reinit(Machine *machine);
bool step_store(Machine *machine, const uint32_t *place);
bool step_terminate(Machine *machine);
