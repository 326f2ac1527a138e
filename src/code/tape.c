/* tape: see tape.h. Registers are assigned by one scan over the lines, which are in dependency order
 * without branches, so a value lives from its line to its last use. Rows of the body, in this order: the
 * file of uniform values (stride 0), varying slots, registers, outputs. */
#include "code/tape.h"

#include "base/copy.h"
#include "expr/op_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line with places in the file (prologue) or among the rows (body) for operands. */
typedef struct TapeLine {
  uint32_t code, target, a, b, c;
} TapeLine;

/* A value at several points. */
typedef double Lanes __attribute__((vector_size(8 * TAPE_LANES), aligned(8), may_alias));

typedef struct Row {
  const double *read;
  double *write;
  ptrdiff_t stride;
} Row;

/* Where a call takes its arguments and leaves its results: places as in TapeLine. */
typedef struct TapeCall {
  const CallSite *site;
  uint32_t *arguments, *results;
} TapeCall;

/* Neighbours in an array that are neighbours in the file. */
typedef struct FileRun {
  uint32_t store, place, file, count;
} FileRun;

typedef VEC(FileRun) FileRunVec;

struct Tape {
  const Kernel *kernel;
  uint32_t file_count, registers;
  FileRunVec loads, stores; /* uniform slots; outputs */
  TapeLine *prologue, *body;
  ptrdiff_t *strides; /* per row of the body */
  uint32_t rows, first_slot_row, first_output_row;
  TapeCall *calls;
  uint32_t widest_call; /* arguments and results */
};

struct Registers {
  Heap *heap;
  const Tape *tape;
  double *file; /* numbers, uniform slots, registers of the prologue, outputs of a kernel with one instance */
  Lanes *wide;  /* the same at several points; NULL until it is asked for */
  Row *rows;
  double *call_values; /* arguments, then results of the call under way */
  Calling calling;
};

uint32_t tape_registers(const Tape *tape) { return tape->registers; }

/* ---- registers ---- */

typedef struct Allocation {
  Heap *heap;
  const LineVec *lines;
  const CallSite *calls;
  OperandKind own;     /* OPERAND_UNIFORM or OPERAND_VALUE: what the lines define */
  uint32_t *last_use;  /* per line: the last line that reads its value; UINT32_MAX: never dies */
  uint32_t *registers; /* per line: result */
  IndexVec free;
  uint32_t count;
} Allocation;

/* The operands of a line; a call's are those of its site. */
static uint32_t line_operands(const Line *line, const CallSite *calls, const Operand **operands, Operand room[3]) {
  if (line->code == LINE_CALL) {
    *operands = calls[line->a].arguments;
    return calls[line->a].argument_count;
  }
  room[0] = line->a, room[1] = line->b, room[2] = line->c;
  *operands = room;
  uint32_t arity = line_arity(line);
  return arity < 3 ? arity : 3;
}

static void find_last_uses(Allocation *allocation) {
  for (uint32_t i = 0; i < allocation->lines->count; i++) {
    const Operand *operands;
    Operand room[3];
    if (allocation->last_use[i] == 0) allocation->last_use[i] = i;
    uint32_t count = line_operands(&allocation->lines->data[i], allocation->calls, &operands, room);
    for (uint32_t k = 0; k < count; k++) {
      uint32_t *last = &allocation->last_use[operand_index(operands[k])];
      if (operand_kind(operands[k]) == allocation->own && *last != UINT32_MAX) *last = i;
    }
  }
}

static uint32_t allocate_register(Allocation *allocation) {
  return allocation->free.count ? vec_pop(&allocation->free) : allocation->count++;
}

/* Frees what line i reads for the last time; once, though an operand may occur twice in it. */
static void free_dead(Allocation *allocation, uint32_t i) {
  const Operand *operands;
  Operand room[3];
  uint32_t count = line_operands(&allocation->lines->data[i], allocation->calls, &operands, room);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t index = operand_index(operands[k]);
    if (operand_kind(operands[k]) != allocation->own || allocation->last_use[index] != i) continue;
    allocation->last_use[index] = UINT32_MAX;
    vec_push(allocation->heap, &allocation->free, allocation->registers[index]);
  }
}

/* A register per line; lines with registers[i] != UINT32_MAX beforehand have their own place elsewhere. */
static void allocate(Allocation *allocation) {
  find_last_uses(allocation);
  for (uint32_t i = 0; i < allocation->lines->count; i++) {
    if (allocation->registers[i] == UINT32_MAX) allocation->registers[i] = allocate_register(allocation);
    else allocation->last_use[i] = UINT32_MAX;
    free_dead(allocation, i);
    if (allocation->last_use[i] == i) vec_push(allocation->heap, &allocation->free, allocation->registers[i]);
  }
  vec_free(allocation->heap, &allocation->free);
}

/* ---- placing ---- */

static uint32_t *filled_array(Heap *heap, uint32_t count, uint32_t value) {
  uint32_t *array = heap_array(heap, count, sizeof *array);
  for (uint32_t i = 0; i < count; i++) array[i] = value;
  return array;
}

/* Where operands are: index in the file for what is uniform, row otherwise. */
typedef struct Places {
  Tape *tape;
  uint32_t *slots;    /* per slot */
  uint32_t *uniforms; /* per line of the prologue */
  uint32_t *values;   /* per line of the body */
} Places;

static uint32_t place_of(const Places *places, Operand o) {
  switch (operand_kind(o)) {
  case OPERAND_NUMBER: return operand_index(o);
  case OPERAND_SLOT: return places->slots[operand_index(o)];
  case OPERAND_UNIFORM: return places->uniforms[operand_index(o)];
  default: return places->values[operand_index(o)];
  }
}

static bool is_uniform_lane(const Instances *instances, uint32_t lane) {
  return instances->count == 1 || instances->lanes[lane].mode == LANE_UNIFORM;
}

typedef struct PlacedLane {
  uint32_t store, place, lane;
} PlacedLane;

static int compare_lanes(const void *left, const void *right) {
  const PlacedLane *a = left, *b = right;
  if (a->store != b->store) return a->store < b->store ? -1 : 1;
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  return a->lane < b->lane ? -1 : a->lane > b->lane;
}

/* Gives the lanes [begin, end) that are uniform places in the file from `next` on, in the order of memory,
 * so that they are copied in few runs. Returns the first free place. */
static uint32_t lay_out(Heap *heap, const Instances *instances, uint32_t begin, uint32_t end, uint32_t next,
                        uint32_t *places, FileRunVec *runs) {
  VEC(PlacedLane) list = {0};
  for (uint32_t l = begin; l < end; l++)
    if (is_uniform_lane(instances, l))
      vec_push(heap, &list, (PlacedLane){instances->lanes[l].store, instances->lanes[l].start, l});
  if (list.count) qsort(list.data, list.count, sizeof *list.data, compare_lanes);
  for (uint32_t k = 0; k < list.count; k++, next++) {
    const PlacedLane *lane = &list.data[k];
    places[lane->lane - begin] = next;
    FileRun *last = runs->count ? &vec_last(runs) : NULL;
    if (last && last->store == lane->store && last->place + last->count == lane->place) last->count++;
    else vec_push(heap, runs, (FileRun){lane->store, lane->place, next, 1});
  }
  vec_free(heap, &list);
  return next;
}

static void pin(uint32_t *last_use, Operand o, OperandKind own) {
  if (operand_kind(o) == own) last_use[operand_index(o)] = UINT32_MAX;
}

/* What the body or the outputs read must outlive the prologue. */
static void pin_uniforms(const Kernel *kernel, uint32_t *last_use) {
  for (uint32_t r = 0; r < kernel->instances.outputs; r++) pin(last_use, kernel->outputs[r], OPERAND_UNIFORM);
  for (uint32_t i = 0; i < kernel->body.count; i++) {
    const Operand *operands;
    Operand room[3];
    uint32_t count = line_operands(&kernel->body.data[i], kernel->calls.data, &operands, room);
    for (uint32_t k = 0; k < count; k++) pin(last_use, operands[k], OPERAND_UNIFORM);
  }
}

/* Places behind the registers for the outputs of a kernel with one instance. */
static void place_outputs(Heap *heap, Tape *tape, Places *places) {
  const Instances *instances = &tape->kernel->instances;
  uint32_t *outputs = heap_array(heap, instances->outputs, sizeof *outputs);
  tape->file_count = lay_out(heap, instances, instances->slots, instances->slots + instances->outputs, tape->file_count,
                             outputs, &tape->stores);
  for (uint32_t r = 0; r < instances->outputs; r++)
    places->uniforms[operand_index(tape->kernel->outputs[r])] = outputs[r];
  heap_free(heap, outputs);
}

static void place_prologue(Heap *heap, Tape *tape, Places *places) {
  const Kernel *kernel = tape->kernel;
  uint32_t base =
      lay_out(heap, &kernel->instances, 0, kernel->instances.slots, kernel->numbers.count, places->slots, &tape->loads);
  Allocation allocation = {
      .heap = heap, .lines = &kernel->prologue, .calls = kernel->calls.data, .own = OPERAND_UNIFORM};
  allocation.last_use = filled_array(heap, kernel->prologue.count, 0);
  allocation.registers = filled_array(heap, kernel->prologue.count, UINT32_MAX);
  pin_uniforms(kernel, allocation.last_use);
  bool is_single = kernel->instances.count == 1;
  for (uint32_t r = 0; is_single && r < kernel->instances.outputs; r++)
    allocation.registers[operand_index(kernel->outputs[r])] = 0; /* placed below */
  allocate(&allocation);
  for (uint32_t i = 0; i < kernel->prologue.count; i++) allocation.registers[i] += base;
  places->uniforms = allocation.registers;
  tape->file_count = base + allocation.count;
  if (is_single) place_outputs(heap, tape, places);
  heap_free(heap, allocation.last_use);
}

/* Rows of the body behind those of the file: varying slots, registers, outputs. */
static void place_body(Heap *heap, Tape *tape, Places *places) {
  const Kernel *kernel = tape->kernel;
  const Instances *instances = &kernel->instances;
  uint32_t next = tape->first_slot_row = tape->file_count;
  for (uint32_t s = 0; s < instances->slots; s++)
    if (!is_uniform_lane(instances, s)) places->slots[s] = next++;

  Allocation allocation = {.heap = heap, .lines = &kernel->body, .calls = kernel->calls.data, .own = OPERAND_VALUE};
  allocation.last_use = filled_array(heap, kernel->body.count, 0);
  allocation.registers = filled_array(heap, kernel->body.count, UINT32_MAX);
  for (uint32_t r = 0; r < instances->outputs; r++) allocation.registers[operand_index(kernel->outputs[r])] = r;
  bool *is_output = heap_array(heap, kernel->body.count, sizeof *is_output);
  for (uint32_t r = 0; r < instances->outputs; r++) is_output[operand_index(kernel->outputs[r])] = true;
  allocate(&allocation);
  tape->registers = allocation.count;
  tape->first_output_row = next + allocation.count;
  for (uint32_t i = 0; i < kernel->body.count; i++)
    allocation.registers[i] += is_output[i] ? tape->first_output_row : next;
  places->values = allocation.registers;
  heap_free_all(heap, allocation.last_use, is_output);
}

static void make_strides(Heap *heap, Tape *tape, const Places *places) {
  const Instances *instances = &tape->kernel->instances;
  tape->rows = tape->first_output_row + instances->outputs;
  tape->strides = heap_array(heap, tape->rows, sizeof *tape->strides);
  for (uint32_t r = tape->file_count; r < tape->rows; r++) tape->strides[r] = 1;
  for (uint32_t l = 0; l < instances->slots + instances->outputs; l++) {
    uint32_t row = l < instances->slots ? places->slots[l] : tape->first_output_row + l - instances->slots;
    if (instances->lanes[l].mode == LANE_STRIDED) tape->strides[row] = instances->lanes[l].stride;
  }
}

static void place_call(Heap *heap, Tape *tape, const Places *places, TapeCall *call, const CallSite *site) {
  call->site = site;
  call->arguments = heap_array(heap, site->argument_count, sizeof *call->arguments);
  call->results = heap_array(heap, site->result_count, sizeof *call->results);
  uint32_t width = site->argument_count + site->result_count;
  if (width > tape->widest_call) tape->widest_call = width;
  for (uint32_t k = 0; k < site->argument_count; k++) call->arguments[k] = place_of(places, site->arguments[k]);
}

static uint32_t tape_code(uint32_t code) {
  return code == OP_MULTIPLY ? LINE_PRODUCT : code == OP_DIVIDE ? LINE_QUOTIENT : code;
}

static TapeLine *place_lines(Heap *heap, Tape *tape, const Places *places, const LineVec *lines,
                             const uint32_t *targets) {
  TapeLine *result = heap_array(heap, lines->count + 1, sizeof *result);
  for (uint32_t i = 0; i < lines->count; i++) {
    const Line *line = &lines->data[i];
    TapeLine placed = {.code = tape_code(line->code), .target = targets[i], .a = line->a, .b = line->b, .c = line->c};
    if (line->code == LINE_CALL || line->code == LINE_RESULT) {
      tape->calls[line->a].results[line->b] = targets[i];
    } else {
      placed.a = place_of(places, line->a);
      if (line->code != LINE_POWER) placed.b = place_of(places, line->b);
      placed.c = place_of(places, line->c);
    }
    result[i] = placed;
  }
  result[lines->count].code = LINE_COUNT; /* end */
  return result;
}

Tape *tape_new(Heap *heap, const Kernel *kernel) {
  Tape *tape = heap_alloc(heap, sizeof *tape);
  tape->kernel = kernel;
  Places places = {.tape = tape, .slots = heap_array(heap, kernel->instances.slots, sizeof *places.slots)};
  place_prologue(heap, tape, &places);
  bool has_body = kernel->instances.count > 1;
  if (has_body) {
    place_body(heap, tape, &places);
    make_strides(heap, tape, &places);
  } else {
    places.values = heap_array(heap, 0, sizeof *places.values);
  }
  tape->registers += tape->file_count;
  tape->calls = heap_array(heap, kernel->calls.count, sizeof *tape->calls);
  for (uint32_t k = 0; k < kernel->calls.count; k++)
    place_call(heap, tape, &places, &tape->calls[k], &kernel->calls.data[k]);
  tape->prologue = place_lines(heap, tape, &places, &kernel->prologue, places.uniforms);
  if (has_body) tape->body = place_lines(heap, tape, &places, &kernel->body, places.values);
  heap_free_all(heap, places.slots, places.uniforms, places.values);
  return tape;
}

Registers *registers_new(Heap *heap, const Tape *tape, Calling calling) {
  Registers *registers = heap_alloc(heap, sizeof *registers);
  const Kernel *kernel = tape->kernel;
  registers->heap = heap;
  registers->tape = tape;
  registers->calling = calling;
  registers->call_values = heap_array(heap, tape->widest_call, sizeof(double));
  registers->file = heap_array(heap, tape->file_count, sizeof(double));
  copy_numbers(registers->file, kernel->numbers.data, kernel->numbers.count);
  if (!tape->rows) return registers;
  registers->rows = heap_array(heap, tape->rows, sizeof *registers->rows);
  double *room = heap_array(heap, (size_t)(tape->rows - tape->file_count) * BLOCK_LIMIT, sizeof *room);
  for (uint32_t r = 0; r < tape->rows; r++) {
    size_t own = (size_t)(r - tape->file_count) * BLOCK_LIMIT;
    double *place = r < tape->file_count ? registers->file + r : room + own;
    registers->rows[r] = (Row){place, place, tape->strides[r]};
  }
  return registers;
}

/* ---- one number at a time ---- */

static void call_once(Registers *registers, uint32_t index) {
  const TapeCall *call = &registers->tape->calls[index];
  double *arguments = registers->call_values, *results = arguments + call->site->argument_count;
  for (uint32_t k = 0; k < call->site->argument_count; k++) arguments[k] = registers->file[call->arguments[k]];
  registers->calling.run(registers->calling.caller, call->site, arguments, results);
  for (uint32_t k = 0; k < call->site->result_count; k++) registers->file[call->results[k]] = results[k];
}

static inline void load(const Tape *tape, double *file, const Arrays *arrays) {
  for (const FileRun *run = tape->loads.data, *end = run + tape->loads.count; run < end; run++)
    copy_numbers(file + run->file, arrays->read[run->store] + run->place, run->count);
}

static inline void store(const Tape *tape, const double *file, const Arrays *arrays) {
  for (const FileRun *run = tape->stores.data, *end = run + tape->stores.count; run < end; run++)
    copy_numbers(arrays->write[run->store] + run->place, file + run->file, run->count);
}

/* Each line jumps to the next by a table of labels: the branch of each operator is then predicted by itself. */
void tape_begin(Registers *registers, const Arrays *arrays) {
  static const void *const labels[LINE_COUNT + 1] = {
#include "code/labels.def"
  };
  double *const file = registers->file;
  const TapeLine *line = registers->tape->prologue;
  load(registers->tape, file, arrays);
#define NEXT                      \
  do {                            \
    goto *labels[(++line)->code]; \
  } while (0)
#define VALUE(expression)                                                 \
  {                                                                       \
    const double a = file[line->a], b = file[line->b], c = file[line->c]; \
    (void)a, (void)b, (void)c;                                            \
    file[line->target] = (expression);                                    \
    NEXT;                                                                 \
  }
  goto *labels[line->code];
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) operator_##id : VALUE(value)
#include "expr/ops.def"
#undef OP
#define LINE(id, value) line_##id : VALUE(value)
#include "code/lines.def"
#undef LINE
power:
  file[line->target] = op_power_integer(file[line->a], line->b);
  NEXT;
call:
  call_once(registers, line->a);
  NEXT;
result:
  NEXT;
end:
  store(registers->tape, file, arrays);
#undef VALUE
#undef NEXT
}

/* ---- several points at a time ---- */

static void call_wide(Registers *registers, uint32_t index, uint32_t count) {
  const TapeCall *call = &registers->tape->calls[index];
  double *arguments = registers->call_values, *results = arguments + call->site->argument_count;
  for (uint32_t l = 0; l < count; l++) {
    for (uint32_t k = 0; k < call->site->argument_count; k++) arguments[k] = registers->wide[call->arguments[k]][l];
    registers->calling.run(registers->calling.caller, call->site, arguments, results);
    for (uint32_t k = 0; k < call->site->result_count; k++) registers->wide[call->results[k]][l] = results[k];
  }
}

/* As tape_begin. What lines.def has works on vectors; operators work on one number after the other. */
static void run_lines_wide(Registers *registers, uint32_t count) {
  static const void *const labels[LINE_COUNT + 1] = {
#include "code/labels.def"
  };
  Lanes *const file = registers->wide;
  const TapeLine *line = registers->tape->prologue;
#define NEXT                      \
  do {                            \
    goto *labels[(++line)->code]; \
  } while (0)
#define EACH(expression)                                                    \
  {                                                                         \
    const Lanes as = file[line->a], bs = file[line->b], cs = file[line->c]; \
    for (uint32_t l = 0; l < count; l++) {                                  \
      const double a = as[l], b = bs[l], c = cs[l];                         \
      (void)a, (void)b, (void)c;                                            \
      file[line->target][l] = (expression);                                 \
    }                                                                       \
    NEXT;                                                                   \
  }
  goto *labels[line->code];
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) operator_##id : EACH(value)
#include "expr/ops.def"
#undef OP
#define LINE(id, value)                                                  \
  line_##id : {                                                          \
    const Lanes a = file[line->a], b = file[line->b], c = file[line->c]; \
    (void)a, (void)b, (void)c;                                           \
    file[line->target] = (value);                                        \
    NEXT;                                                                \
  }
#include "code/lines.def"
#undef LINE
power:
  for (uint32_t l = 0; l < count; l++) file[line->target][l] = op_power_integer(file[line->a][l], line->b);
  NEXT;
call:
  call_wide(registers, line->a, count);
  NEXT;
result:
  NEXT;
end:
  return;
#undef EACH
#undef NEXT
}

/* Numbers are the same at all points. */
static void make_wide(Registers *registers) {
  const Kernel *kernel = registers->tape->kernel;
  registers->wide = heap_array(registers->heap, registers->tape->file_count, sizeof *registers->wide);
  for (uint32_t k = 0; k < kernel->numbers.count; k++)
    for (uint32_t l = 0; l < TAPE_LANES; l++) registers->wide[k][l] = kernel->numbers.data[k];
}

/* Points beyond the last one are copies of it. */
static void load_wide(Registers *registers, const FileRun *run, const Arrays *arrays, uint32_t count) {
  const double *from[TAPE_LANES];
  Lanes *to = registers->wide + run->file;
  for (uint32_t l = 0; l < TAPE_LANES; l++) from[l] = arrays[l < count ? l : count - 1].read[run->store] + run->place;
  for (uint32_t i = 0; i < run->count; i++) to[i] = (Lanes){from[0][i], from[1][i], from[2][i], from[3][i]};
}

static void store_wide(const Registers *registers, const FileRun *run, const Arrays *arrays, uint32_t count) {
  const Lanes *from = registers->wide + run->file;
  for (uint32_t l = 0; l < count; l++) {
    double *to = arrays[l].write[run->store] + run->place;
    const double *lane = (const double *)from + l;
    for (uint32_t i = 0; i < run->count; i++) to[i] = lane[i * TAPE_LANES];
  }
}

void tape_begin_wide(Registers *registers, const Arrays *arrays, uint32_t count) {
  const Tape *tape = registers->tape;
  if (!registers->wide) make_wide(registers);
  for (uint32_t r = 0; r < tape->loads.count; r++) load_wide(registers, &tape->loads.data[r], arrays, count);
  run_lines_wide(registers, count);
  for (uint32_t r = 0; r < tape->stores.count; r++) store_wide(registers, &tape->stores.data[r], arrays, count);
}

/* ---- a block at a time ---- */

static void call_block(Registers *registers, uint32_t index, uint32_t count) {
  const TapeCall *call = &registers->tape->calls[index];
  double *arguments = registers->call_values, *results = arguments + call->site->argument_count;
  for (ptrdiff_t i = 0; i < (ptrdiff_t)count; i++) {
    for (uint32_t k = 0; k < call->site->argument_count; k++) {
      const Row *row = &registers->rows[call->arguments[k]];
      arguments[k] = row->read[i * row->stride];
    }
    registers->calling.run(registers->calling.caller, call->site, arguments, results);
    for (uint32_t k = 0; k < call->site->result_count; k++) {
      const Row *row = &registers->rows[call->results[k]];
      row->write[i * row->stride] = results[k];
    }
  }
}

static void run_rows(Registers *registers, ptrdiff_t count) {
  for (const TapeLine *line = registers->tape->body;; line++) {
    const uint32_t code = line->code;
    const Row target = registers->rows[line->target];
    double *restrict t = target.write;
#define VALUE(expression)                                                                                  \
  {                                                                                                        \
    const Row ra = registers->rows[line->a], rb = registers->rows[line->b], rc = registers->rows[line->c]; \
    const double *restrict pa = ra.read, *restrict pb = rb.read, *restrict pc = rc.read;                   \
    (void)pb, (void)pc;                                                                                    \
    if (target.stride == 1 && ra.stride == 1 && rb.stride == 1 && rc.stride == 1)                          \
      for (ptrdiff_t i = 0; i < count; i++) {                                                              \
        const double a = pa[i], b = pb[i], c = pc[i];                                                      \
        (void)a, (void)b, (void)c;                                                                         \
        t[i] = (expression);                                                                               \
      }                                                                                                    \
    else                                                                                                   \
      for (ptrdiff_t i = 0; i < count; i++) {                                                              \
        const double a = pa[i * ra.stride], b = pb[i * rb.stride], c = pc[i * rc.stride];                  \
        (void)a, (void)b, (void)c;                                                                         \
        t[i * target.stride] = (expression);                                                               \
      }                                                                                                    \
    break;                                                                                                 \
  }
    switch (code) {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) \
  case OP_##id:                                              \
    VALUE(value)
#include "expr/ops.def"
#undef OP
#define LINE(id, value) \
  case LINE_##id:       \
    VALUE(value)
#include "code/lines.def"
#undef LINE
    case LINE_POWER: {
      const Row base = registers->rows[line->a];
      for (ptrdiff_t i = 0; i < count; i++)
        t[i * target.stride] = op_power_integer(base.read[i * base.stride], line->b);
      break;
    }
    case LINE_CALL: call_block(registers, line->a, (uint32_t)count); break;
    case LINE_RESULT: break;
    default: return;
    }
#undef VALUE
  }
}

/* Points the strided rows into the arrays and fills the rows of slots that have tables. */
static void enter_block(Registers *registers, const InstanceBlock *block, const Arrays *arrays) {
  const Tape *tape = registers->tape;
  const Instances *instances = &tape->kernel->instances;
  Row *row = registers->rows + tape->first_slot_row;
  for (uint32_t s = 0; s < instances->slots; s++) {
    const Lane *lane = &instances->lanes[s];
    const double *from = arrays->read[lane->store];
    if (lane->mode == LANE_UNIFORM) continue;
    if (lane->mode == LANE_STRIDED) {
      row->read = from + block->starts[s];
    } else {
      const uint32_t *table = lane->table + block->first;
      for (uint32_t i = 0; i < block->count; i++) row->write[i] = from[table[i]];
    }
    row++;
  }
  row = registers->rows + tape->first_output_row;
  for (uint32_t l = instances->slots; l < instances->slots + instances->outputs; l++, row++)
    if (instances->lanes[l].mode == LANE_STRIDED)
      row->read = row->write = arrays->write[instances->lanes[l].store] + block->starts[l];
}

static void leave_block(Registers *registers, const InstanceBlock *block, const Arrays *arrays) {
  const Tape *tape = registers->tape;
  const Instances *instances = &tape->kernel->instances;
  const Lane *lanes = instances->lanes + instances->slots;
  for (uint32_t r = 0; r < instances->outputs; r++) {
    if (lanes[r].mode != LANE_TABLE) continue;
    const double *from = registers->rows[tape->first_output_row + r].read;
    const uint32_t *table = lanes[r].table + block->first;
    double *to = arrays->write[lanes[r].store];
    for (uint32_t i = 0; i < block->count; i++) to[table[i]] = from[i];
  }
}

void tape_block(Registers *registers, const InstanceBlock *block, const Arrays *arrays) {
  enter_block(registers, block, arrays);
  run_rows(registers, (ptrdiff_t)block->count);
  leave_block(registers, block, arrays);
}
