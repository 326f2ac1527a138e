/* tape: see tape.h. Registers of the body are assigned in one scan over the lines, which are in dependency order without branches,
 * so a value lives from its line to its last use. Rows of the body, in this order: the file of uniform values (stride 0), varying
 * slots, registers, outputs. */
#include "code/tape.h"

#include "base/copy.h"
#include "base/pairs.h"
#include "code/tape_order.h"
#include "expr/op_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line of the body, with places among the rows for operands. */
typedef struct TapeLine {
  uint32_t code, target, a, b, c;
} TapeLine;

/* A value at several points. */
typedef union Lanes {
  double point[TAPE_LANES];
  AlignedPair pair[TAPE_LANES / 2];
} Lanes;

typedef struct Row {
  const double *read;
  double *write;
  ptrdiff_t stride;
} Row;

/* The places where a call takes its arguments and leaves its results: in the file, or rows. */
typedef struct TapeCall {
  const CallSite *site;
  uint32_t *arguments, *results;
} TapeCall;

/* Consecutive places of an array, which are loaded into consecutive places of the file, or into which consecutive outputs are
 * stored. */
typedef struct FileRun {
  uint32_t store, place, file, count;
} FileRun;

typedef VEC(FileRun) FileRunVec;

/* Added to a code of lines.def: four lines with this code follow. */
enum { FOUR_LINES = LINE_COUNT + 1 };

struct Tape {
  const Kernel *kernel;
  uint32_t registers;
  /* The file has the numbers first, then the held slots, the other uniform slots, and the values of the lines in order. */
  uint32_t first_slot, first_other_slot, first_value, first_other_value, file_count;
  FileRunVec held_loads, loads, stores; /* uniform slots; outputs */
  uint32_t *outputs; /* if the kernel has one instance: the place of each output in the file, in the order of stores */
  uint32_t *held_lines, *lines; /* codes, each with its operands; LINE_COUNT ends them */
  TapeLine *body;
  bool copies;        /* the body does nothing else */
  ptrdiff_t *strides; /* per row of the body */
  uint32_t rows, first_slot_row, first_output_row;
  TapeCall *calls;
  uint32_t widest_call; /* arguments and results */
};

struct Registers {
  Heap *heap;
  const Tape *tape;
  double *file;
  bool holds;        /* the held lines have their values */
  Lanes *wide;       /* the file at several points; NULL until needed */
  double *wide_held; /* the values of held slots from which the held lines were computed, for all points */
  bool wide_holds;   /* there are such */
  Row *rows;
  double *call_values; /* arguments, then results of the current call */
  Calling calling;
};

uint32_t tape_registers(const Tape *tape) { return tape->registers; }

/* ---- registers of the body ---- */

typedef struct Allocation {
  Heap *heap;
  const LineVec *lines;
  const CallSite *calls;
  uint32_t *last_use;  /* per line: the last line that reads its value; UINT32_MAX: never dies */
  uint32_t *registers; /* per line: result */
  IndexVec free;
  uint32_t count;
} Allocation;

static void find_last_uses(Allocation *allocation) {
  for (uint32_t i = 0; i < allocation->lines->count; i++) {
    const Operand *operands;
    Operand room[3];
    if (allocation->last_use[i] == 0) allocation->last_use[i] = i;
    uint32_t count = line_operands(&allocation->lines->data[i], allocation->calls, &operands, room);
    for (uint32_t k = 0; k < count; k++)
      if (operand_kind(operands[k]) == OPERAND_VALUE) allocation->last_use[operand_index(operands[k])] = i;
  }
}

static uint32_t allocate_register(Allocation *allocation) {
  return allocation->free.count ? vec_pop(&allocation->free) : allocation->count++;
}

/* Frees the registers that line i reads for the last time; only once, though an operand may occur twice in it. */
static void free_dead(Allocation *allocation, uint32_t i) {
  const Operand *operands;
  Operand room[3];
  uint32_t count = line_operands(&allocation->lines->data[i], allocation->calls, &operands, room);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t index = operand_index(operands[k]);
    if (operand_kind(operands[k]) != OPERAND_VALUE || allocation->last_use[index] != i) continue;
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

/* The places of operands: an index in the file if they are uniform, otherwise a row. */
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

typedef VEC(PlacedLane) PlacedLaneVec;

/* Lists runs over the lanes in memory order; the k-th lane has the number first + k. So a few copies are enough for
 * all. */
static void list_runs(Heap *heap, PlacedLaneVec *list, uint32_t first, FileRunVec *runs) {
  if (list->count) qsort(list->data, list->count, sizeof *list->data, compare_lanes);
  for (uint32_t k = 0; k < list->count; k++) {
    const PlacedLane *lane = &list->data[k];
    FileRun *last = runs->count ? &vec_last(runs) : NULL;
    if (last && last->store == lane->store && last->place + last->count == lane->place) last->count++;
    else vec_push(heap, runs, (FileRun){lane->store, lane->place, first + k, 1});
  }
}

/* Assigns places in the file from `next` on to uniform slots: to held ones, if there are held lines, or to the others. Returns the
 * first free place. */
static uint32_t place_slots(Heap *heap, const Places *places, const TapeOrder *order, bool held, uint32_t next,
                            FileRunVec *runs) {
  const Instances *instances = &places->tape->kernel->instances;
  PlacedLaneVec list = {0};
  for (uint32_t s = 0; s < instances->slots; s++)
    if (is_uniform_lane(instances, s) && (order->held && is_held_store(instances->lanes[s].store)) == held)
      vec_push(heap, &list, (PlacedLane){instances->lanes[s].store, instances->lanes[s].start, s});
  list_runs(heap, &list, next, runs);
  for (uint32_t k = 0; k < list.count; k++) places->slots[list.data[k].lane] = next++;
  vec_free(heap, &list);
  return next;
}

/* The places of the outputs of a kernel with one instance. */
static void place_outputs(Heap *heap, Tape *tape, const Places *places) {
  const Instances *instances = &tape->kernel->instances;
  PlacedLaneVec list = {0};
  for (uint32_t r = 0; r < instances->outputs; r++) {
    const Lane *lane = &instances->lanes[instances->slots + r];
    vec_push(heap, &list, (PlacedLane){lane->store, lane->start, r});
  }
  list_runs(heap, &list, 0, &tape->stores);
  tape->outputs = heap_array(heap, list.count, sizeof *tape->outputs);
  for (uint32_t k = 0; k < list.count; k++)
    tape->outputs[k] = place_of(places, tape->kernel->outputs[list.data[k].lane]);
  vec_free(heap, &list);
}

static void place_prologue(Heap *heap, Tape *tape, Places *places, const TapeOrder *order) {
  const Kernel *kernel = tape->kernel;
  uint32_t count = kernel->prologue.count;
  tape->first_slot = kernel->numbers.count;
  tape->first_other_slot = place_slots(heap, places, order, true, tape->first_slot, &tape->held_loads);
  tape->first_value = place_slots(heap, places, order, false, tape->first_other_slot, &tape->loads);
  tape->first_other_value = tape->first_value + order->held;
  tape->file_count = tape->first_value + count;
  places->uniforms = heap_array(heap, count, sizeof *places->uniforms);
  for (uint32_t k = 0; k < count; k++) places->uniforms[order->lines[k]] = tape->first_value + k;
  if (kernel->instances.count == 1) place_outputs(heap, tape, places);
}

/* Rows of the body after those of the file: varying slots, registers, outputs. */
static void place_body(Heap *heap, Tape *tape, Places *places) {
  const Kernel *kernel = tape->kernel;
  const Instances *instances = &kernel->instances;
  uint32_t next = tape->first_slot_row = tape->file_count;
  for (uint32_t s = 0; s < instances->slots; s++)
    if (!is_uniform_lane(instances, s)) places->slots[s] = next++;

  Allocation allocation = {.heap = heap, .lines = &kernel->body, .calls = kernel->calls.data};
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

static TapeLine *place_lines(Heap *heap, Tape *tape, const Places *places, const LineVec *lines) {
  TapeLine *result = heap_array(heap, lines->count + 1, sizeof *result);
  for (uint32_t i = 0; i < lines->count; i++) {
    const Line *line = &lines->data[i];
    TapeLine placed = {tape_code(line->code), places->values[i], line->a, line->b, line->c};
    if (line->code == LINE_CALL || line->code == LINE_RESULT) {
      tape->calls[line->a].results[line->b] = places->values[i];
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

/* Writes the rest of a line of the prologue after its code: operands; the exponent of a power; the site of a call. */
static uint32_t *write_operands(Tape *tape, const Places *places, uint32_t i, uint32_t *out) {
  const Line *line = &tape->kernel->prologue.data[i];
  const Operand operands[3] = {line->a, line->b, line->c};
  uint32_t arity = line_arity(line);
  for (uint32_t k = 0; k < arity; k++) *out++ = place_of(places, operands[k]);
  if (line->code == LINE_POWER) *out++ = line->b;
  if (line->code == LINE_CALL) *out++ = line->a;
  if (line->code == LINE_CALL || line->code == LINE_RESULT) tape->calls[line->a].results[line->b] = places->uniforms[i];
  return out;
}

/* Writes the lines [from, to) of the order, each in at most four words. */
static uint32_t *write_lines(Heap *heap, Tape *tape, const Places *places, const TapeOrder *order, uint32_t from,
                             uint32_t to) {
  uint32_t *lines = heap_array(heap, 4 * (size_t)(to - from) + 1, sizeof *lines), *out = lines;
  for (uint32_t k = from, width; k < to; k += width) {
    uint32_t code = tape_code(tape->kernel->prologue.data[order->lines[k]].code);
    width = order->begins_four[k] ? 4 : 1;
    *out++ = width == 4 ? FOUR_LINES + code : code;
    for (uint32_t l = k; l < k + width; l++) out = write_operands(tape, places, order->lines[l], out);
  }
  *out++ = LINE_COUNT;
  return heap_resize(heap, lines, (size_t)(out - lines) * sizeof *lines);
}

/* Does the body only copy from the places of one table to those of another? */
static bool is_copy(const Kernel *kernel) {
  const Instances *instances = &kernel->instances;
  return kernel->body.count == 1 && kernel->body.data[0].code == LINE_COPY && instances->slots == 1 &&
         instances->outputs == 1 && instances->lanes[0].mode == LANE_TABLE && instances->lanes[1].mode == LANE_TABLE;
}

Tape *tape_new(Heap *heap, const Kernel *kernel) {
  Tape *tape = heap_alloc(heap, sizeof *tape);
  tape->kernel = kernel;
  Places places = {.tape = tape, .slots = heap_array(heap, kernel->instances.slots, sizeof *places.slots)};
  TapeOrder order = tape_order(heap, kernel);
  place_prologue(heap, tape, &places, &order);
  bool has_body = kernel->instances.count > 1;
  if (has_body) {
    place_body(heap, tape, &places);
    make_strides(heap, tape, &places);
  } else {
    places.values = heap_array(heap, 0, sizeof *places.values);
  }
  tape->calls = heap_array(heap, kernel->calls.count, sizeof *tape->calls);
  for (uint32_t k = 0; k < kernel->calls.count; k++)
    place_call(heap, tape, &places, &tape->calls[k], &kernel->calls.data[k]);
  tape->held_lines = write_lines(heap, tape, &places, &order, 0, order.held);
  tape->lines = write_lines(heap, tape, &places, &order, order.held, kernel->prologue.count);
  if (has_body) tape->body = place_lines(heap, tape, &places, &kernel->body);
  tape->copies = has_body && is_copy(kernel);
  heap_free_all(heap, places.slots, places.uniforms, places.values, order.lines, order.begins_four);
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
  registers->holds = tape->first_value == tape->first_other_value; /* there is no held line */
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

static inline void load(const FileRunVec *loads, double *file, const Arrays *arrays) {
  for (const FileRun *run = loads->data, *end = run + loads->count; run < end; run++)
    copy_numbers(file + run->file, arrays->read[run->store] + run->place, run->count);
}

static inline void store(const Tape *tape, const double *file, const Arrays *arrays) {
  const uint32_t *from = tape->outputs;
  for (const FileRun *run = tape->stores.data, *end = run + tape->stores.count; run < end; run++) {
    double *to = arrays->write[run->store] + run->place;
    for (double *stop = to + run->count; to < stop;) *to++ = file[*from++];
  }
}

/* Are the numbers equal, bit for bit? Most kernels have few numbers: for these the comparison is inlined. */
static inline bool same_numbers(const double *x, const double *y, uint32_t count) {
  if (count > 8) return memcmp(x, y, count * sizeof *x) == 0;
  uint64_t differences = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint64_t bits[2];
    memcpy(&bits[0], &x[k], sizeof bits[0]);
    memcpy(&bits[1], &y[k], sizeof bits[1]);
    differences |= bits[0] ^ bits[1];
  }
  return differences == 0;
}

/* Are the held slots as they were? */
static inline bool holds(const Registers *registers, const Arrays *arrays) {
  const FileRunVec *loads = &registers->tape->held_loads;
  for (const FileRun *run = loads->data, *end = run + loads->count; run < end; run++)
    if (!same_numbers(registers->file + run->file, arrays->read[run->store] + run->place, run->count)) return false;
  return registers->holds;
}

/* Held lines run first, unless their values are still valid. Each code jumps to the next by a table of labels, so that each branch
 * has its own prediction. */
void tape_begin(Registers *registers, const Arrays *arrays) {
  static const void *const table[FOUR_LINES + LINE_COUNT] = {
#include "code/labels.def"
  };
  const Tape *tape = registers->tape;
  double *const file = registers->file, *target = file + tape->first_value;
  const uint32_t *line = tape->held_lines;
  const void *const *labels = table;
  __asm__("" : "+r"(labels)); /* keeps the address in a register; otherwise compilers compute it at each line */
#define NEXT               \
  do {                     \
    goto *labels[*line++]; \
  } while (0)
#define VALUE(arity, expression)                                                            \
  {                                                                                         \
    const double a = file[line[0]], b = file[line[(arity) > 1]], c = file[line[(arity)-1]]; \
    (void)a, (void)b, (void)c;                                                              \
    *target++ = (expression);                                                               \
    line += (arity);                                                                        \
    NEXT;                                                                                   \
  }
  load(&tape->loads, file, arrays);
  if (!holds(registers, arrays)) {
    registers->holds = false;
    load(&tape->held_loads, file, arrays);
    NEXT;
  }
run_others:
  line = tape->lines;
  target = file + tape->first_other_value;
  NEXT;
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) operator_##id : VALUE(OPERATOR_ARITY(arity), value)
#include "expr/ops.def"
#undef OP
#define LINE(id, arity, value) line_##id : VALUE(arity, value)
#include "code/lines.def"
#undef LINE
#define LINE(id, arity, value)                                                                \
  four_##id : {                                                                               \
    double values[4];                                                                         \
    _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++, line += (arity)) {                    \
      const double a = file[line[0]], b = file[line[(arity) > 1]], c = file[line[(arity)-1]]; \
      (void)a, (void)b, (void)c;                                                              \
      values[k] = (value);                                                                    \
    }                                                                                         \
    _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++) target[k] = values[k];                \
    target += 4;                                                                              \
    NEXT;                                                                                     \
  }
#include "code/lines.def"
#undef LINE
power:
  *target++ = op_power_integer(file[line[0]], line[1]);
  line += 2;
  NEXT;
call:
  call_once(registers, *line++);
result:
  target++;
  NEXT;
end:
  if (!registers->holds) {
    registers->holds = true;
    goto run_others;
  }
  store(tape, file, arrays);
#undef VALUE
#undef NEXT
}

/* ---- several points at a time ---- */

static void call_wide(Registers *registers, uint32_t index, uint32_t count) {
  const TapeCall *call = &registers->tape->calls[index];
  double *arguments = registers->call_values, *results = arguments + call->site->argument_count;
  for (uint32_t l = 0; l < count; l++) {
    for (uint32_t k = 0; k < call->site->argument_count; k++)
      arguments[k] = registers->wide[call->arguments[k]].point[l];
    registers->calling.run(registers->calling.caller, call->site, arguments, results);
    for (uint32_t k = 0; k < call->site->result_count; k++) registers->wide[call->results[k]].point[l] = results[k];
  }
}

/* The address is formed once, not for each pair. */
static inline const AlignedPair *lanes_at(const Lanes *file, uint32_t place) {
  const AlignedPair *pairs = file[place].pair;
  __asm__("" : "+r"(pairs));
  return pairs;
}

/* Runs lines; the values of the first one go to `target`. Codes of lines.def work on vectors; operators work on one
 * number after the other. */
static void run_lines_wide(Registers *registers, const uint32_t *line, Lanes *target, uint32_t count) {
  static const void *const table[FOUR_LINES + LINE_COUNT] = {
#include "code/labels.def"
  };
  const Lanes *const file = registers->wide;
  const void *const *labels = table;
  __asm__("" : "+r"(labels));
#define NEXT               \
  do {                     \
    goto *labels[*line++]; \
  } while (0)
#define LINE_OF_PAIRS(arity, expression)                                                          \
  {                                                                                               \
    const AlignedPair *as = lanes_at(file, line[0]);                                              \
    const AlignedPair *bs = (arity) > 1 ? lanes_at(file, line[(arity) > 1]) : as;                 \
    const AlignedPair *cs = (arity) > 2 ? lanes_at(file, line[(arity)-1]) : bs;                   \
    AlignedPair values[TAPE_LANES / 2];                                                           \
    _Pragma("GCC unroll 4") for (int p = 0; p < TAPE_LANES / 2; p++) {                            \
      const AlignedPair a = as[p], b = bs[p], c = cs[p];                                          \
      (void)a, (void)b, (void)c;                                                                  \
      values[p] = (expression);                                                                   \
    }                                                                                             \
    _Pragma("GCC unroll 4") for (int p = 0; p < TAPE_LANES / 2; p++) target->pair[p] = values[p]; \
    target++;                                                                                     \
    line += (arity);                                                                              \
  }
  NEXT;
#define OP(id, name, arity, kind, value, domain, d1, d2, d3)                                                      \
  operator_##id : {                                                                                               \
    enum { ARITY = OPERATOR_ARITY(arity) };                                                                       \
    const double *as = file[line[0]].point, *bs = file[line[ARITY > 1]].point, *cs = file[line[ARITY - 1]].point; \
    for (uint32_t l = 0; l < count; l++) {                                                                        \
      const double a = as[l], b = bs[l], c = cs[l];                                                               \
      (void)a, (void)b, (void)c;                                                                                  \
      target->point[l] = (value);                                                                                 \
    }                                                                                                             \
    target++;                                                                                                     \
    line += ARITY;                                                                                                \
    NEXT;                                                                                                         \
  }
#include "expr/ops.def"
#undef OP
#define LINE(id, arity, value) line_##id : LINE_OF_PAIRS(arity, value) NEXT;
#include "code/lines.def"
#undef LINE
#define LINE(id, arity, value) \
  four_##id : _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++) LINE_OF_PAIRS(arity, value) NEXT;
#include "code/lines.def"
#undef LINE
power:
  for (uint32_t l = 0; l < count; l++) target->point[l] = op_power_integer(file[line[0]].point[l], line[1]);
  target++;
  line += 2;
  NEXT;
call:
  call_wide(registers, *line++, count);
result:
  target++;
  NEXT;
end:;
#undef LINE_OF_PAIRS
#undef NEXT
}

/* Numbers are the same at all points. */
static void make_wide(Registers *registers) {
  const Tape *tape = registers->tape;
  const Kernel *kernel = tape->kernel;
  registers->wide = heap_array(registers->heap, tape->file_count, sizeof *registers->wide);
  registers->wide_held = heap_array(registers->heap, tape->first_other_slot - tape->first_slot, sizeof(double));
  for (uint32_t k = 0; k < kernel->numbers.count; k++)
    for (uint32_t l = 0; l < TAPE_LANES; l++) registers->wide[k].point[l] = kernel->numbers.data[k];
}

/* Points beyond the last one are copies of it. */
static void load_wide(Registers *registers, const FileRunVec *loads, const Arrays *arrays, uint32_t count) {
  for (const FileRun *run = loads->data, *end = run + loads->count; run < end; run++) {
    const double *from[TAPE_LANES];
    Lanes *to = registers->wide + run->file;
    for (uint32_t l = 0; l < TAPE_LANES; l++) from[l] = arrays[l < count ? l : count - 1].read[run->store] + run->place;
    uint32_t i = 0;
    for (; i + 2 <= run->count; i += 2) {
#pragma GCC unroll 2
      for (int p = 0; p < TAPE_LANES / 2; p++) {
        Pair a = pair_at(from[2 * p] + i), b = pair_at(from[2 * p + 1] + i);
        to[i].pair[p] = firsts(a, b);
        to[i + 1].pair[p] = seconds(a, b);
      }
    }
    if (i < run->count) to[i] = (Lanes){{from[0][i], from[1][i], from[2][i], from[3][i]}};
  }
}

/* Two points at a time. If the number is odd, the last point is used for both. */
static void store_wide(const Registers *registers, const Arrays *arrays, uint32_t count) {
  const Tape *tape = registers->tape;
  const Lanes *wide = registers->wide;
  for (const FileRun *run = tape->stores.data, *end = run + tape->stores.count; run < end; run++) {
    const uint32_t *from = tape->outputs + run->file;
    for (uint32_t l = 0; l < count; l += 2) {
      double *first = arrays[l].write[run->store] + run->place, *second = first;
      if (l + 1 < count) second = arrays[l + 1].write[run->store] + run->place;
      uint32_t i = 0;
      for (; i + 2 <= run->count; i += 2) {
        Pair a = wide[from[i]].pair[l / 2], b = wide[from[i + 1]].pair[l / 2];
        set_pair(second + i, seconds(a, b));
        set_pair(first + i, firsts(a, b));
      }
      if (i == run->count) continue;
      second[i] = wide[from[i]].point[l + 1];
      first[i] = wide[from[i]].point[l];
    }
  }
}

static bool have_same_parameters(const Arrays *arrays, uint32_t count) {
  for (uint32_t l = 1; l < count; l++)
    if (arrays[l].read[STORE_PARAMETER] != arrays[0].read[STORE_PARAMETER]) return false;
  return true;
}

/* Like `holds`, at several points, which must have the same parameters. */
static bool holds_wide(const Registers *registers, const Arrays *arrays) {
  const Tape *tape = registers->tape;
  const double *held = registers->wide_held;
  if (!registers->wide_holds) return false;
  for (const FileRun *run = tape->held_loads.data, *end = run + tape->held_loads.count; run < end; run++) {
    const double *from = arrays->read[run->store] + run->place;
    if (!same_numbers(held, from, run->count)) return false;
    held += run->count;
  }
  return true;
}

/* Runs at the largest possible number of points. */
static void hold_wide(Registers *registers, const Arrays *arrays, uint32_t count, bool same) {
  const Tape *tape = registers->tape;
  load_wide(registers, &tape->held_loads, arrays, count);
  run_lines_wide(registers, tape->held_lines, registers->wide + tape->first_value, TAPE_LANES);
  registers->wide_holds = same;
  for (uint32_t s = tape->first_slot; s < tape->first_other_slot; s++)
    registers->wide_held[s - tape->first_slot] = registers->wide[s].point[0];
}

void tape_begin_wide(Registers *registers, const Arrays *arrays, uint32_t count) {
  const Tape *tape = registers->tape;
  bool same = have_same_parameters(arrays, count);
  if (!registers->wide) make_wide(registers);
  if (!same || !holds_wide(registers, arrays)) hold_wide(registers, arrays, count, same);
  load_wide(registers, &tape->loads, arrays, count);
  run_lines_wide(registers, tape->lines, registers->wide + tape->first_other_value, count);
  store_wide(registers, arrays, count);
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
#define LINE(id, arity, value) \
  case LINE_##id:              \
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

/* Sets the strided rows to places in the arrays, and fills the rows of slots that have tables. */
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

/* Copies need no registers in between. */
static void copy_block(const Instances *instances, const InstanceBlock *block, const Arrays *arrays) {
  const Lane *in = &instances->lanes[0], *out = &instances->lanes[1];
  const uint32_t *source = in->table + block->first, *target = out->table + block->first;
  const double *from = arrays->read[in->store];
  double *to = arrays->write[out->store];
  for (uint32_t i = 0; i < block->count; i++) to[target[i]] = from[source[i]];
}

void tape_block(Registers *registers, const InstanceBlock *block, const Arrays *arrays) {
  const Tape *tape = registers->tape;
  if (tape->copies) {
    copy_block(&tape->kernel->instances, block, arrays);
    return;
  }
  enter_block(registers, block, arrays);
  run_rows(registers, (ptrdiff_t)block->count);
  leave_block(registers, block, arrays);
}
