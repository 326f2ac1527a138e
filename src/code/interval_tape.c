/* interval_tape: see interval_tape.h. Kernels are unrolled: each instance has its own lines, whose operands are places in
 * one file of motions. */
#include "code/interval_tape.h"

#include "code/program_internal.h"
#include "expr/interval_op.h"
#include "model/input.h"

#include <string.h>

typedef struct IntervalLine {
  uint32_t code, target, a, b, c;
} IntervalLine;

typedef VEC(IntervalLine) IntervalLineVec;

/* Lines whose values change only at events are separate: they run only after such a change. */
typedef struct Section {
  uint32_t held_begin, held_end, begin, end;
  IndexVec reads;
} Section;

/* A value that changes only at events. */
typedef struct HeldLeaf {
  uint32_t place, index;
  Store store;
} HeldLeaf;

struct IntervalTape {
  Heap *heap;
  const Evaluator *evaluator;
  VEC(Motion) values;
  VEC(uint8_t) held; /* per place */
  IndexVec column;   /* per place: the column whose value it is; MAP_NONE: it is not the value of a column */
  IndexVec needed;   /* per place: the last section that needs it, counted from 1 */
  Map leaves;        /* store and index -> place */
  VEC(HeldLeaf) held_leaves;
  VEC(Section) sections;
  IntervalLineVec held_lines, lines;
  bool is_held; /* the held lines have run */
  double radius;
};

/* Places that every tape has. */
enum { PLACE_TIME, PLACE_UNKNOWN, FIRST_PLACES };

static uint32_t new_place(IntervalTape *tape, bool is_held) {
  vec_push(tape->heap, &tape->values, MOTION_UNKNOWN);
  vec_push(tape->heap, &tape->held, is_held);
  vec_push(tape->heap, &tape->column, MAP_NONE);
  vec_push(tape->heap, &tape->needed, 0);
  return tape->values.count - 1;
}

IntervalTape *interval_tape_new(Heap *heap, const Evaluator *evaluator) {
  IntervalTape *tape = heap_alloc(heap, sizeof *tape);
  *tape = (IntervalTape){.heap = heap, .evaluator = evaluator, .leaves = map_make(heap)};
  for (int k = 0; k < FIRST_PLACES; k++) new_place(tape, false);
  return tape;
}

static Motion constant(double value) { return (Motion){interval_point(value), {0, 0}, interval_point(value)}; }

/* ---- building ---- */

static uint32_t place_of_number(IntervalTape *tape, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  uint64_t key = hash_mix(bits) >> 3 | (uint64_t)STORE_CONSTANT << 61;
  uint32_t place = map_get(&tape->leaves, key);
  if (place != MAP_NONE && memcmp(&tape->values.data[place].all.low, &number, sizeof number) == 0) return place;
  place = new_place(tape, true);
  tape->values.data[place] = constant(number);
  map_put(&tape->leaves, key, place);
  return place;
}

static uint32_t place_of_leaf(IntervalTape *tape, Store store, uint32_t index) {
  if (store == STORE_TIME) return PLACE_TIME;
  if (store == STORE_PARAMETER && model_input_at(tape->evaluator->model, index)) return PLACE_UNKNOWN;
  if (store == STORE_DISCRETE && tape->evaluator->past) return PLACE_UNKNOWN; /* the value may be delayed */
  uint64_t key = index | (uint64_t)store << 61;
  uint32_t place = map_get(&tape->leaves, key);
  if (place != MAP_NONE) return place;
  place = new_place(tape, store != STORE_COLUMN);
  map_put(&tape->leaves, key, place);
  if (store == STORE_COLUMN) tape->column.data[place] = index;
  else vec_push(tape->heap, &tape->held_leaves, (HeldLeaf){place, index, store});
  return place;
}

uint32_t interval_tape_column(IntervalTape *tape, uint32_t column) { return place_of_leaf(tape, STORE_COLUMN, column); }

Motion *interval_tape_at(IntervalTape *tape, uint32_t place) { return &tape->values.data[place]; }

/* A program while it is unrolled. */
typedef struct Unrolling {
  IntervalTape *tape;
  const Program *program;
  const Kernel *kernel;
  const InstanceBlock *block; /* NULL: the prologue */
  uint32_t instance;
  uint32_t **uniforms; /* per kernel and line of its prologue: the place */
  uint32_t *values;    /* per line of the body */
  uint32_t *scratch, *outputs;
  IntervalLineVec lines; /* all lines, in their order */
} Unrolling;

/* The place of a lane of the instance in its array. */
static uint32_t lane_index(const Unrolling *unrolling, uint32_t l) {
  const Lane *lane = &unrolling->kernel->instances.lanes[l];
  if (!unrolling->block || lane->mode == LANE_UNIFORM) return lane->start;
  if (lane->mode == LANE_TABLE) return lane->table[unrolling->block->first + unrolling->instance];
  return (uint32_t)((int64_t)unrolling->block->starts[l] + (int64_t)unrolling->instance * lane->stride);
}

static uint32_t place_of_operand(const Unrolling *unrolling, Operand o) {
  IntervalTape *tape = unrolling->tape;
  const Lane *lane;
  uint32_t index = operand_index(o);
  switch (operand_kind(o)) {
  case OPERAND_NUMBER: return place_of_number(tape, unrolling->kernel->numbers.data[index]);
  case OPERAND_UNIFORM: return unrolling->uniforms[unrolling->kernel - unrolling->program->kernels][index];
  case OPERAND_VALUE: return unrolling->values[index];
  case OPERAND_SLOT: break;
  }
  lane = &unrolling->kernel->instances.lanes[index];
  index = lane_index(unrolling, index);
  if (lane->store == STORE_SCRATCH) return unrolling->scratch[index];
  if (lane->store == STORE_OUTPUT) return unrolling->outputs[index];
  if (lane->store == STORE_CONSTANT) return place_of_number(tape, unrolling->program->numbers[index]);
  return place_of_leaf(tape, lane->store, index);
}

static uint32_t unroll_line(Unrolling *unrolling, const Line *line) {
  IntervalTape *tape = unrolling->tape;
  if (line->code == LINE_CALL || line->code == LINE_RESULT) return PLACE_UNKNOWN;
  uint32_t arity = line_arity(line), place[3] = {PLACE_UNKNOWN, PLACE_UNKNOWN, PLACE_UNKNOWN};
  const Operand operands[3] = {line->a, line->b, line->c};
  bool is_held = true;
  for (uint32_t k = 0; k < arity; k++) {
    place[k] = place_of_operand(unrolling, operands[k]);
    is_held = is_held && tape->held.data[place[k]];
  }
  if (line->code == LINE_COPY) return place[0];
  if (line->code == LINE_POWER) place[1] = line->b;
  uint32_t target = new_place(tape, is_held);
  vec_push(tape->heap, &unrolling->lines, (IntervalLine){line->code, target, place[0], place[1], place[2]});
  return target;
}

/* Records the outputs of an instance. */
static void note_outputs(Unrolling *unrolling) {
  const Instances *instances = &unrolling->kernel->instances;
  for (uint32_t r = 0; r < instances->outputs; r++) {
    const Lane *lane = &instances->lanes[instances->slots + r];
    uint32_t index = lane_index(unrolling, instances->slots + r);
    uint32_t place = place_of_operand(unrolling, unrolling->kernel->outputs[r]);
    (lane->store == STORE_SCRATCH ? unrolling->scratch : unrolling->outputs)[index] = place;
  }
}

static void unroll_prologue(Unrolling *unrolling) {
  const LineVec *lines = &unrolling->kernel->prologue;
  uint32_t *places = heap_array(unrolling->tape->heap, lines->count, sizeof *places);
  unrolling->uniforms[unrolling->kernel - unrolling->program->kernels] = places;
  for (uint32_t i = 0; i < lines->count; i++) places[i] = unroll_line(unrolling, &lines->data[i]);
  if (unrolling->kernel->instances.count == 1) note_outputs(unrolling);
}

static void unroll_block(Unrolling *unrolling) {
  const LineVec *lines = &unrolling->kernel->body;
  unrolling->values = heap_array(unrolling->tape->heap, lines->count, sizeof *unrolling->values);
  for (unrolling->instance = 0; unrolling->instance < unrolling->block->count; unrolling->instance++) {
    for (uint32_t i = 0; i < lines->count; i++) unrolling->values[i] = unroll_line(unrolling, &lines->data[i]);
    note_outputs(unrolling);
  }
  heap_free(unrolling->tape->heap, unrolling->values);
}

static void unroll(Unrolling *unrolling) {
  const Program *program = unrolling->program;
  for (uint32_t s = 0; s < program->step_count; s++) {
    unrolling->kernel = &program->kernels[program->steps[s].kernel];
    bool is_prologue = program->steps[s].block == STEP_BEGIN;
    unrolling->block = is_prologue ? NULL : &unrolling->kernel->instances.blocks[program->steps[s].block];
    if (is_prologue) unroll_prologue(unrolling);
    else unroll_block(unrolling);
  }
}

static uint32_t line_reads(const IntervalLine *line) { return line->code == LINE_POWER ? 1 : code_arity(line->code); }

/* Marks a place that the section needs, and lists it if it is a column. */
static void need(IntervalTape *tape, uint32_t place, Section *section) {
  uint32_t number = tape->sections.count + 1;
  if (tape->needed.data[place] == number) return;
  tape->needed.data[place] = number;
  if (tape->column.data[place] != MAP_NONE) vec_push(tape->heap, &section->reads, tape->column.data[place]);
}

/* Keeps the lines that lead to the requested outputs. */
static void keep_wanted(Unrolling *unrolling, const bool *wanted, Section *section) {
  IntervalTape *tape = unrolling->tape;
  uint32_t number = tape->sections.count + 1;
  for (uint32_t k = 0; k < unrolling->program->outputs; k++)
    if (!wanted || wanted[k]) need(tape, unrolling->outputs[k], section);
  for (uint32_t i = unrolling->lines.count; i-- > 0;) {
    const IntervalLine *line = &unrolling->lines.data[i];
    const uint32_t operands[3] = {line->a, line->b, line->c};
    if (tape->needed.data[line->target] != number) continue;
    for (uint32_t k = 0; k < line_reads(line); k++) need(tape, operands[k], section);
  }
  for (uint32_t i = 0; i < unrolling->lines.count; i++) {
    const IntervalLine *line = &unrolling->lines.data[i];
    if (tape->needed.data[line->target] != number) continue;
    vec_push(tape->heap, tape->held.data[line->target] ? &tape->held_lines : &tape->lines, *line);
  }
}

uint32_t interval_tape_add(IntervalTape *tape, const Program *program, const bool *wanted, uint32_t *place) {
  Heap *heap = tape->heap;
  Unrolling unrolling = {.tape = tape, .program = program};
  unrolling.uniforms = heap_array(heap, program->kernel_count, sizeof *unrolling.uniforms);
  unrolling.scratch = heap_array(heap, program->scratch_count, sizeof *unrolling.scratch);
  unrolling.outputs = heap_array(heap, program->outputs, sizeof *unrolling.outputs);
  unroll(&unrolling);
  Section section = {.held_begin = tape->held_lines.count, .begin = tape->lines.count};
  keep_wanted(&unrolling, wanted, &section);
  section.held_end = tape->held_lines.count;
  section.end = tape->lines.count;
  memcpy(place, unrolling.outputs, program->outputs * sizeof *place);
  tape->is_held = false;
  vec_push(heap, &tape->sections, section);
  for (uint32_t k = 0; k < program->kernel_count; k++) heap_free(heap, unrolling.uniforms[k]);
  heap_free_all(heap, unrolling.uniforms, unrolling.scratch, unrolling.outputs);
  vec_free(heap, &unrolling.lines);
  return tape->sections.count - 1;
}

void interval_tape_reads(const IntervalTape *tape, uint32_t section, Heap *heap, IndexVec *columns) {
  const IndexVec *reads = &tape->sections.data[section].reads;
  for (uint32_t k = 0; k < reads->count; k++) vec_push(heap, columns, reads->data[k]);
}

/* ---- running ---- */

/* All values: the given bounds, or the bounds that follow from the middle and the rate. */
static inline Motion motion(Interval middle, Interval rate, Interval all, double radius) {
  Interval reach = interval_multiply(rate, (Interval){-radius, radius}), bounds = interval_add(middle, reach);
  Interval both = interval_meet(all, bounds);
  return (Motion){middle, rate, both.low <= both.high ? both : all};
}

static Motion add(Motion a, Motion b, double radius) {
  return motion(interval_add(a.middle, b.middle), interval_add(a.rate, b.rate), interval_add(a.all, b.all), radius);
}

static Motion negate(Motion a) {
  return (Motion){interval_negate(a.middle), interval_negate(a.rate), interval_negate(a.all)};
}

static Motion subtract(Motion a, Motion b, double radius) {
  return motion(interval_subtract(a.middle, b.middle), interval_subtract(a.rate, b.rate),
                interval_subtract(a.all, b.all), radius);
}

static Motion multiply(Motion a, Motion b, double radius) {
  Interval rate = interval_add(interval_multiply(a.all, b.rate), interval_multiply(b.all, a.rate));
  return motion(interval_multiply(a.middle, b.middle), rate, interval_multiply(a.all, b.all), radius);
}

static Motion power(Motion a, unsigned n, double radius) {
  Interval rate = {0, 0};
  if (n) rate = interval_multiply(interval_scale(n, interval_power(a.all, n - 1)), a.rate);
  return motion(interval_power(a.middle, n), rate, interval_power(a.all, n), radius);
}

static Motion apply(Op op, const Motion *arguments, uint32_t arity, double radius) {
  Interval middle[3] = {{0, 0}, {0, 0}, {0, 0}}, all[3] = {{0, 0}, {0, 0}, {0, 0}};
  for (uint32_t k = 0; k < arity; k++) middle[k] = arguments[k].middle, all[k] = arguments[k].all;
  Interval self = interval_operator(op, all), rate = {0, 0};
  if (!interval_is_continuous(op, all, self)) return (Motion){interval_operator(op, middle), INTERVAL_WHOLE, self};
  for (uint32_t k = 0; k < arity; k++) {
    if (arguments[k].rate.low == 0 && arguments[k].rate.high == 0) continue;
    rate = interval_add(rate, interval_multiply(interval_partial(op, k, all, self), arguments[k].rate));
  }
  return motion(interval_operator(op, middle), rate, self, radius);
}

static Motion run_line(const IntervalLine *line, const Motion *values, double radius) {
  const Motion a = values[line->a];
  if (line->code == LINE_POWER) return power(a, line->b, radius);
  const Motion b = values[line->b], c = values[line->c];
  switch (line->code) {
  case OP_MULTIPLY:
  case LINE_PRODUCT: return multiply(a, b, radius);
  case LINE_QUOTIENT: return apply(OP_DIVIDE, (Motion[]){a, b}, 2, radius);
  case LINE_NEGATE: return negate(a);
  case LINE_ADD: return add(a, b, radius);
  case LINE_SUBTRACT: return subtract(a, b, radius);
  case LINE_ADD_PRODUCT: return add(a, multiply(b, c, radius), radius);
  case LINE_SUBTRACT_PRODUCT: return subtract(a, multiply(b, c, radius), radius);
  case LINE_PRODUCT_SUBTRACT: return subtract(multiply(b, c, radius), a, radius);
  case LINE_ADD_ADD: return add(add(a, b, radius), c, radius);
  case LINE_ADD_SUBTRACT: return subtract(add(a, b, radius), c, radius);
  case LINE_SUBTRACT_ADD: return add(subtract(a, b, radius), c, radius);
  case LINE_SUBTRACT_SUBTRACT: return subtract(subtract(a, b, radius), c, radius);
  case LINE_SQUARE: return power(a, 2, radius);
  case LINE_CUBE: return power(a, 3, radius);
  case LINE_FOURTH: return power(a, 4, radius);
  case LINE_COPY: return a;
  default: break;
  }
  if (line->code >= OP_COUNT) return MOTION_UNKNOWN;
  return apply((Op)line->code, (Motion[]){a, b, c}, code_arity(line->code), radius);
}

static Interval run_line_all(const IntervalLine *line, const Motion *values) {
  const Interval a = values[line->a].all;
  if (line->code == LINE_POWER) return interval_power(a, line->b);
  const Interval b = values[line->b].all, c = values[line->c].all;
  switch (line->code) {
  case OP_MULTIPLY:
  case LINE_PRODUCT: return interval_multiply(a, b);
  case LINE_QUOTIENT: return interval_divide(a, b);
  case LINE_NEGATE: return interval_negate(a);
  case LINE_ADD: return interval_add(a, b);
  case LINE_SUBTRACT: return interval_subtract(a, b);
  case LINE_ADD_PRODUCT: return interval_add(a, interval_multiply(b, c));
  case LINE_SUBTRACT_PRODUCT: return interval_subtract(a, interval_multiply(b, c));
  case LINE_PRODUCT_SUBTRACT: return interval_subtract(interval_multiply(b, c), a);
  case LINE_ADD_ADD: return interval_add(interval_add(a, b), c);
  case LINE_ADD_SUBTRACT: return interval_subtract(interval_add(a, b), c);
  case LINE_SUBTRACT_ADD: return interval_add(interval_subtract(a, b), c);
  case LINE_SUBTRACT_SUBTRACT: return interval_subtract(interval_subtract(a, b), c);
  case LINE_SQUARE: return interval_power(a, 2);
  case LINE_CUBE: return interval_power(a, 3);
  case LINE_FOURTH: return interval_power(a, 4);
  case LINE_COPY: return a;
  default: break;
  }
  if (line->code >= OP_COUNT) return INTERVAL_WHOLE;
  return interval_operator((Op)line->code, (Interval[3]){a, b, c});
}

bool interval_tape_hold(IntervalTape *tape) {
  const Evaluator *evaluator = tape->evaluator;
  const double *const arrays[STORE_COUNT] = {
      [STORE_PARAMETER] = evaluator->parameters, [STORE_DISCRETE] = evaluator->discretes, [STORE_PRE] = evaluator->pre};
  bool has_changed = !tape->is_held;
  for (uint32_t k = 0; k < tape->held_leaves.count; k++) {
    const HeldLeaf *leaf = &tape->held_leaves.data[k];
    Motion *value = &tape->values.data[leaf->place];
    double now = arrays[leaf->store][leaf->index];
    if (value->all.low == now && value->all.high == now) continue;
    *value = constant(now);
    has_changed = true;
  }
  tape->is_held = true;
  for (uint32_t i = 0; i < tape->held_lines.count && has_changed; i++) {
    const IntervalLine *line = &tape->held_lines.data[i];
    Interval all = run_line_all(line, tape->values.data);
    tape->values.data[line->target] = (Motion){all, {0, 0}, all};
  }
  return has_changed;
}

void interval_tape_set_stretch(IntervalTape *tape, double low, double high) {
  double middle = low + (high - low) / 2;
  tape->radius = fmax(high - middle, middle - low) * (1 + 2 * DBL_EPSILON);
  tape->values.data[PLACE_TIME] = (Motion){{middle, middle}, {1, 1}, {low, high}};
}

double interval_tape_radius(const IntervalTape *tape) { return tape->radius; }

uint32_t interval_tape_run(IntervalTape *tape, uint32_t section, bool with_rates) {
  const Section *part = &tape->sections.data[section];
  Motion *values = tape->values.data;
  for (uint32_t i = part->begin; i < part->end; i++) {
    const IntervalLine *line = &tape->lines.data[i];
    if (with_rates) values[line->target] = run_line(line, values, tape->radius);
    else values[line->target].all = run_line_all(line, values);
  }
  return part->end - part->begin;
}
