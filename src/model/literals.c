/* literals: arrays of constants inside functions, such as tables and coefficients of media. Their code pushes one constant for each
 * element. It runs once in a run of the machine, however often the functions are called.
 *
 * Invariant: a literal's scalars belong to one run, because a domain may represent its constants differently in the next run. */
#include "model/machine.h"

#include <string.h>

typedef struct Literal {
  uint32_t begin, end; /* of its code */
  uint64_t run;        /* the run that its scalars belong to; 0: none */
  Value value;
} Literal;

struct Literals {
  uint32_t size; /* of the code */
  uint32_t *at;  /* per position: 1 + the literal that begins there; NULL: there are none */
  Literal *list;
};

/* The outermost arrays of constants in the code. `begins` holds where the code of each constant value on the stack begins. */
static void find_literals(Machine *machine, const Routine *routine, Literals *literals) {
  Heap *heap = machine->heap;
  IndexVec begins = {0};
  VEC(Literal) list = {0};
  for (uint32_t k = 0; k < routine->code.count; k++) {
    Instruction i = routine->code.data[k];
    if (i.code == CODE_CONSTANT) vec_push(heap, &begins, k);
    else if (i.code == CODE_ARRAY && i.b > 0 && i.b <= begins.count) {
      begins.count -= i.b - 1;
      uint32_t begin = vec_last(&begins);
      while (list.count && vec_last(&list).begin >= begin) list.count--;
      vec_push(heap, &list, (Literal){.begin = begin, .end = k});
    } else begins.count = 0;
  }
  if (list.count) literals->at = arena_array(&machine->literal_arena, routine->code.count, sizeof *literals->at);
  for (uint32_t i = 0; i < list.count; i++) literals->at[list.data[i].begin] = i + 1;
  literals->list = arena_copy_array(&machine->literal_arena, list.data, list.count, sizeof *list.data);
  vec_free(heap, &begins, &list);
}

Literals *literals_of(Machine *machine, uint32_t number) {
  const Routine *routine = (*machine->routines)[number];
  while (machine->literals.count <= number) vec_push(machine->heap, &machine->literals, NULL);
  Literals *literals = machine->literals.data[number];
  if (!literals || literals->size != routine->code.count) {
    machine->literals.data[number] = literals = arena_alloc(&machine->literal_arena, sizeof *literals);
    literals->size = routine->code.count;
    find_literals(machine, routine, literals);
  }
  return literals->at ? literals : NULL;
}

/* Runs the code of the literal and keeps its value. */
static bool make_literal(Machine *machine, Literal *literal) {
  const Routine *routine = frame_top(machine)->routine;
  if (!machine_charge(machine, literal->end - literal->begin)) return false;
  for (uint32_t k = literal->begin; k <= literal->end; k++) {
    Instruction i = routine->code.data[k];
    if (i.code == CODE_CONSTANT) step_constant(machine, (BaseType)i.a, routine->constants.data[i.b]);
    else if (!step_array(machine, i.b)) return false;
  }
  Value made = vec_pop(&machine->stack);
  size_t bytes = (size_t)made.count * machine->domain->size;
  if (!literal->value.data) {
    literal->value.type = made.type;
    literal->value.count = made.count;
    literal->value.sizes =
        arena_copy_array(&machine->literal_arena, made.sizes, made.type.dimensions, sizeof *made.sizes);
    literal->value.data = arena_alloc(&machine->literal_arena, bytes);
  }
  memcpy(literal->value.data, made.data, bytes);
  literal->run = machine->runs;
  return true;
}

bool literal_push(Machine *machine, bool *is_done) {
  Frame *frame = frame_top(machine);
  uint32_t number = frame->literals->at[frame->position];
  if (number == 0) return true;
  Literal *literal = &frame->literals->list[number - 1];
  if (literal->run != machine->runs && !make_literal(machine, literal)) return false;
  machine_push(machine, literal->value);
  frame->position = literal->end;
  *is_done = true;
  return true;
}
