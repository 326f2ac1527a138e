/* ctext: see ctext.h. Names in the text. Arrays: y columns, p parameters, d discrete variables, q pre values, t time, k scratch, o
 * outputs. v: values. x, g: leaves of an instance. w: the work space that passes values from one function to the next. b: bases of
 * strided lanes. s: starts. */
#include "code/ctext.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* Straight code is cut into functions of this many lines, because compilers are slow on long ones. */
enum { PIECE_LINES = 400 };

/* Loops are joined up to this many lines. */
enum { JOIN_LINES = 400 };

#define NO_PLACE UINT32_MAX

/* ---- header ---- */

static const struct MathFunction {
  const char *name, *text;
} math_functions[] = {
    {"op_power_integer(", "static inline double op_power_integer(double a, unsigned n) {\n"
                          "  double result = 1;\n"
                          "  for (; n; n >>= 1, a *= a)\n"
                          "    if (n & 1) result *= a;\n"
                          "  return result;\n"
                          "}\n"},
    {"op_power(", "static inline double op_power(double a, double b) {\n"
                  "  if (b == 2) return a * a;\n"
                  "  double size = fabs(b), whole = floor(size);\n"
                  "  if (size > 32 || (size != whole && size != whole + 0.5)) return pow(a, b);\n"
                  "  double power = op_power_integer(a, (unsigned)whole);\n"
                  "  if (size != whole) power *= sqrt(a);\n"
                  "  return b < 0 ? 1 / power : power;\n"
                  "}\n"},
    {"op_power_defined(", "static inline int op_power_defined(double a, double b) {\n"
                          "  return a > 0 || (b == floor(b) && (a != 0 || b >= 0)) || (a == 0 && b > 0);\n"
                          "}\n"},
    {"op_sign(", "static inline double op_sign(double a) { return (double)((a > 0) - (a < 0)); }\n"},
    {"op_min(", "static inline double op_min(double a, double b) { return a <= b ? a : b; }\n"},
    {"op_max(", "static inline double op_max(double a, double b) { return a >= b ? a : b; }\n"},
    {"op_div(", "static inline double op_div(double a, double b) { return trunc(a / b); }\n"},
    {"op_mod(", "static inline double op_mod(double a, double b) { return a - floor(a / b) * b; }\n"},
    {"op_rem(", "static inline double op_rem(double a, double b) { return a - trunc(a / b) * b; }\n"},
};

static bool occurs(const char *name, const TextVec *const *texts, uint32_t count) {
  for (uint32_t t = 0; t < count; t++)
    if (texts[t]->count && strstr(texts[t]->data, name)) return true;
  return false;
}

void ctext_header(Heap *heap, TextVec *out, const TextVec *const *texts, uint32_t count) {
  text_printf(heap, out,
              "#include <math.h>\n#include <stdint.h>\n\n"
              "typedef struct { uint32_t function, count, first, starts; } Step;\n"
              "typedef struct {\n"
              "  const double *const *read;\n"
              "  double *const *write;\n"
              "  double *work;\n"
              "  const uint32_t *const *tables;\n"
              "} Run;\n"
              "typedef double (*Function)(const Run *run, const uint32_t *starts, uint32_t count, uint32_t "
              "first);\n\n");
  bool needs_power = occurs("op_power(", texts, count);
  for (size_t m = 0; m < sizeof math_functions / sizeof *math_functions; m++)
    if (occurs(math_functions[m].name, texts, count) || (m == 0 && needs_power))
      text_printf(heap, out, "%s\n", math_functions[m].text);
}

void ctext_number(Heap *heap, TextVec *out, double number) {
  char text[NUMBER_SIZE];
  if (isfinite(number)) {
    number_format(number, 17, text);
    const char *whole = strpbrk(text, ".e") ? "" : ".0";
    text_printf(heap, out, signbit(number) ? "(%s%s)" : "%s%s", text, whole);
  } else {
    text_printf(heap, out, isnan(number) ? "NAN" : number > 0 ? "HUGE_VAL" : "(-HUGE_VAL)");
  }
}

/* ---- functions of the text ---- */

/* Strided lanes of one array and stride share a base; a lane is the base plus an offset. */
typedef struct Base {
  Store store;
  int32_t stride;
  uint32_t start; /* start of the first lane that uses it, in the current block */
} Base;

/* The place where a function of the text finds the values of a lane: a base pointer and an offset. */
typedef struct Access {
  uint32_t base; /* NO_PLACE: uniform, or a table */
  int64_t offset;
} Access;

typedef struct Member {
  uint32_t kernel, first_access;
} Member;

/* A loop over one kernel, or over several side by side. */
typedef struct Loop {
  VEC(Member) members;
  VEC(Access) accesses;
  VEC(Base) bases;
} Loop;

typedef struct WrittenLoop {
  IndexVec words;
  uint32_t function, next; /* next one of the same hash */
} WrittenLoop;

typedef struct ProgramWriter {
  Heap *heap;
  const Program *program;
  const char *name;
  CText *out;
  TextVec functions; /* finished */
  TextVec body;      /* body of the current function */
  uint32_t function_count;
  uint32_t sums;         /* outputs written by the current function */
  uint32_t uses;         /* bit per array used by the current function, and NEEDS_WORK */
  uint32_t **piece_of;   /* per kernel, per line of the prologue: the piece it is in */
  uint32_t **work_of;    /* per kernel, per line of the prologue: place in the work space or NO_PLACE */
  uint32_t *first_table; /* per kernel: the first of its tables in out->tables */
  uint32_t *first_call;  /* per kernel: the first of its sites in out->calls */
  VEC(WrittenLoop) loops;
  Map loop_of; /* hash of a loop's words -> the last such one in loops */
} ProgramWriter;

enum { NEEDS_WORK = 1 << STORE_COUNT };

static const char array_names[] = "ctypdqko"; /* by Store */

static const char *line_pattern(uint32_t code) {
  switch (code) {
#define LINE(id, arity, value) \
  case LINE_##id:              \
    return #value;
#include "code/lines.def"
#undef LINE
  default: return op_text((Op)code);
  }
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return (c >= '0' && c <= '9') || c == '.'; }

/* Writes the pattern, with the identifiers a, b and c replaced by the texts. */
static void put_pattern(ProgramWriter *writer, const char *pattern, const TextVec operands[3]) {
  while (*pattern) {
    size_t length = 1;
    if (is_letter(*pattern) || is_digit(*pattern))
      while (is_letter(pattern[length]) || is_digit(pattern[length])) length++;
    const TextVec *operand = &operands[*pattern >= 'a' && *pattern <= 'c' ? *pattern - 'a' : 0];
    if (length == 1 && *pattern >= 'a' && *pattern <= 'c')
      text_append(writer->heap, &writer->body, operand->data, operand->count);
    else text_append(writer->heap, &writer->body, pattern, length);
    pattern += length;
  }
}

/* ---- operands ---- */

/* The current function: straight lines [begin, end) of a prologue, or a loop. */
typedef struct Scope {
  const Kernel *kernel;
  uint32_t number;     /* of the kernel */
  uint32_t begin, end; /* lines of the prologue whose values are local */
  uint32_t member;     /* member of a loop; NO_PLACE in straight code */
  const Loop *loop;
  const Access *access; /* access of the member's lanes */
} Scope;

static void put_leaf(ProgramWriter *writer, TextVec *out, const Lane *lane) {
  if (lane->store == STORE_CONSTANT) {
    ctext_number(writer->heap, out, writer->program->numbers[lane->start]);
    return;
  }
  writer->uses |= 1u << lane->store;
  text_printf(writer->heap, out, "%c[%u]", array_names[lane->store], lane->start);
}

static void put_slot(ProgramWriter *writer, TextVec *out, const Scope *scope, uint32_t slot) {
  const Lane *lane = &scope->kernel->instances.lanes[slot];
  if (scope->member == NO_PLACE || lane->mode == LANE_UNIFORM) put_leaf(writer, out, lane);
  else if (lane->mode == LANE_TABLE) text_printf(writer->heap, out, "g%u_%u", scope->member, slot);
  else if (scope->access[slot].offset < 0)
    text_printf(writer->heap, out, "x%u_m%lld", scope->access[slot].base, (long long)-scope->access[slot].offset);
  else text_printf(writer->heap, out, "x%u_%lld", scope->access[slot].base, (long long)scope->access[slot].offset);
}

static void put_uniform(ProgramWriter *writer, TextVec *out, const Scope *scope, uint32_t line) {
  if (line >= scope->begin && line < scope->end) {
    text_printf(writer->heap, out, "v%u", line);
    return;
  }
  writer->uses |= NEEDS_WORK;
  text_printf(writer->heap, out, "w[%u]", writer->work_of[scope->number][line]);
}

static void put_operand(ProgramWriter *writer, TextVec *out, const Scope *scope, Operand o) {
  uint32_t index = operand_index(o);
  switch (operand_kind(o)) {
  case OPERAND_NUMBER: ctext_number(writer->heap, out, scope->kernel->numbers.data[index]); break;
  case OPERAND_SLOT: put_slot(writer, out, scope, index); break;
  case OPERAND_UNIFORM: put_uniform(writer, out, scope, index); break;
  case OPERAND_VALUE: text_printf(writer->heap, out, "v%u_%u", scope->member, index); break;
  }
}

/* ---- lines ---- */

static void put_name(ProgramWriter *writer, const Scope *scope, uint32_t line) {
  if (scope->member == NO_PLACE) text_printf(writer->heap, &writer->body, "v%u", line);
  else text_printf(writer->heap, &writer->body, "v%u_%u", scope->member, line);
}

/* Results of a call are in a separate array; each has a name like other values. */
static void put_call(ProgramWriter *writer, const Scope *scope, const Line *line) {
  const CallSite *site = &scope->kernel->calls.data[line->a];
  uint32_t number = writer->first_call[scope->number] + line->a;
  text_printf(writer->heap, &writer->body, "double r%u[%u];\n    {\n      const double arguments[] = {", number,
              site->result_count);
  for (uint32_t k = 0; k < site->argument_count; k++) {
    if (k) text_printf(writer->heap, &writer->body, ", ");
    put_operand(writer, &writer->body, scope, site->arguments[k]);
  }
  text_printf(writer->heap, &writer->body, "%s};\n      call_site(&%s_sites[%u], arguments, r%u);\n    }\n    ",
              site->argument_count ? "" : "0", writer->name, number, number);
}

static void put_line(ProgramWriter *writer, const Scope *scope, const Line *line, uint32_t number) {
  TextVec operands[3] = {{0}, {0}, {0}};
  const Operand given[3] = {line->a, line->b, line->c};
  bool is_call = line->code == LINE_CALL || line->code == LINE_RESULT;
  text_printf(writer->heap, &writer->body, "    ");
  if (line->code == LINE_CALL) put_call(writer, scope, line);
  text_printf(writer->heap, &writer->body, "const double ");
  put_name(writer, scope, number);
  text_printf(writer->heap, &writer->body, " = ");
  uint32_t arity = line_arity(line);
  for (uint32_t k = 0; k < arity && k < 3; k++) put_operand(writer, &operands[k], scope, given[k]);
  if (is_call)
    text_printf(writer->heap, &writer->body, "r%u[%u]", writer->first_call[scope->number] + line->a,
                line->code == LINE_CALL ? 0 : line->b);
  else if (line->code == LINE_POWER)
    text_printf(writer->heap, &writer->body, "op_power_integer(%s, %u)", operands[0].data, line->b);
  else put_pattern(writer, line_pattern(line->code), operands);
  text_printf(writer->heap, &writer->body, ";\n");
  for (uint32_t k = 0; k < 3; k++) vec_free(writer->heap, &operands[k]);
}

/* ---- functions ---- */

/* The number of sums of outputs: with several, no addition waits for another. */
enum { SUMS = 4 };

static void put_sum(ProgramWriter *writer, const TextVec *value) {
  text_printf(writer->heap, &writer->body, "    sum%u += %s;\n", writer->sums % SUMS, value->data);
  writer->sums++;
}

/* Finishes the current function and declares the arrays that it uses, which are known now. */
static uint32_t end_function(ProgramWriter *writer, const char *loop_head) {
  Heap *heap = writer->heap;
  TextVec *out = &writer->functions;
  text_printf(heap, out,
              "static double %s_f%u(const Run *r, const uint32_t *s, uint32_t n, uint32_t first) {\n"
              "  (void)r; (void)s; (void)n; (void)first;\n",
              writer->name, writer->function_count);
  for (uint32_t store = STORE_TIME; store < STORE_COUNT; store++) {
    if (!(writer->uses & 1u << store)) continue;
    bool is_written = store == STORE_SCRATCH || store == STORE_OUTPUT;
    text_printf(heap, out, "  %sdouble *restrict %c = r->%s[%u];\n", is_written ? "" : "const ", array_names[store],
                is_written ? "write" : "read", store);
  }
  if (writer->uses & NEEDS_WORK) text_printf(heap, out, "  double *restrict w = r->work;\n");
  uint32_t sums = writer->sums < SUMS ? writer->sums : SUMS;
  for (uint32_t k = 0; k < sums; k++) text_printf(heap, out, "  double sum%u = 0;\n", k);
  text_printf(heap, out, "%s", loop_head);
  if (writer->body.count) text_append(heap, out, writer->body.data, writer->body.count);
  if (*loop_head) text_printf(heap, out, "  }\n");
  text_printf(heap, out, "  return 0");
  for (uint32_t k = 0; k < sums; k++) text_printf(heap, out, " + sum%u", k);
  text_printf(heap, out, ";\n}\n\n");
  writer->body.count = 0;
  writer->uses = writer->sums = 0;
  return writer->function_count++;
}

/* ---- straight code ---- */

/* Gives places in the work space to values that are read outside of their piece: by later pieces and by the body. */
static void place_in_work(ProgramWriter *writer, uint32_t k, Operand o, uint32_t reader) {
  if (operand_kind(o) != OPERAND_UNIFORM) return;
  uint32_t line = operand_index(o), *place = &writer->work_of[k][line];
  if (*place == NO_PLACE && writer->piece_of[k][line] != reader) *place = writer->out->work++;
}

static void place_operands(ProgramWriter *writer, uint32_t k, const LineVec *lines, uint32_t i, uint32_t reader) {
  const Kernel *kernel = &writer->program->kernels[k];
  const Line *line = &lines->data[i];
  const Operand given[3] = {line->a, line->b, line->c};
  uint32_t arity = line_arity(line);
  for (uint32_t o = 0; o < arity && o < 3; o++) place_in_work(writer, k, given[o], reader);
  if (line->code != LINE_CALL) return;
  const CallSite *site = &kernel->calls.data[line->a];
  for (uint32_t o = 0; o < site->argument_count; o++) place_in_work(writer, k, site->arguments[o], reader);
}

/* The results of a call stay in the piece of the call. */
static uint32_t piece_end(const LineVec *lines, uint32_t begin) {
  uint32_t end = begin + PIECE_LINES < lines->count ? begin + PIECE_LINES : lines->count;
  while (end < lines->count && lines->data[end].code == LINE_RESULT) end++;
  return end;
}

static void place_work(ProgramWriter *writer, uint32_t k) {
  const Kernel *kernel = &writer->program->kernels[k];
  uint32_t count = kernel->prologue.count, piece = 0;
  writer->piece_of[k] = heap_array(writer->heap, count, sizeof **writer->piece_of);
  for (uint32_t begin = 0; begin < count; piece++)
    for (uint32_t end = piece_end(&kernel->prologue, begin); begin < end; begin++) writer->piece_of[k][begin] = piece;
  writer->work_of[k] = heap_array(writer->heap, count, sizeof **writer->work_of);
  memset(writer->work_of[k], 0xff, count * sizeof **writer->work_of);
  for (uint32_t i = 0; i < count; i++) place_operands(writer, k, &kernel->prologue, i, writer->piece_of[k][i]);
  for (uint32_t i = 0; i < kernel->body.count; i++) place_operands(writer, k, &kernel->body, i, NO_PLACE);
}

static void put_store(ProgramWriter *writer, const Scope *scope, uint32_t output) {
  const Lane *lane = &scope->kernel->instances.lanes[scope->kernel->instances.slots + output];
  TextVec value = {0};
  put_operand(writer, &value, scope, scope->kernel->outputs[output]);
  writer->uses |= 1u << lane->store;
  text_printf(writer->heap, &writer->body, "    %c[%u] = %s;\n", array_names[lane->store], lane->start, value.data);
  if (lane->store == STORE_OUTPUT) put_sum(writer, &value);
  vec_free(writer->heap, &value);
}

/* Outputs of a kernel with one instance, listed by the line that makes each; outputs that no line makes go to the last
 * piece. */
typedef struct OutputList {
  uint32_t *next;  /* per output */
  uint32_t *first; /* per line of the prologue; the last entry is for text that no line makes */
} OutputList;

static OutputList list_outputs(Heap *heap, const Kernel *kernel) {
  uint32_t lines = kernel->prologue.count, outputs = kernel->instances.count == 1 ? kernel->instances.outputs : 0;
  OutputList list = {heap_array(heap, outputs, sizeof *list.next), heap_array(heap, lines + 1, sizeof *list.first)};
  memset(list.first, 0xff, (lines + 1) * sizeof *list.first);
  for (uint32_t o = outputs; o-- > 0;) {
    Operand value = kernel->outputs[o];
    uint32_t line = operand_kind(value) == OPERAND_UNIFORM ? operand_index(value) : lines;
    list.next[o] = list.first[line];
    list.first[line] = o;
  }
  return list;
}

static void put_stores(ProgramWriter *writer, const Scope *scope, const OutputList *list, uint32_t line) {
  for (uint32_t o = list->first[line]; o != NO_PLACE; o = list->next[o]) put_store(writer, scope, o);
}

static void put_piece(ProgramWriter *writer, const Scope *scope, const OutputList *list) {
  const Kernel *kernel = scope->kernel;
  for (uint32_t i = scope->begin; i < scope->end; i++) {
    put_line(writer, scope, &kernel->prologue.data[i], i);
    uint32_t place = writer->work_of[scope->number][i];
    if (place != NO_PLACE) {
      writer->uses |= NEEDS_WORK;
      text_printf(writer->heap, &writer->body, "    w[%u] = v%u;\n", place, i);
    }
    put_stores(writer, scope, list, i);
  }
  if (scope->end == kernel->prologue.count) put_stores(writer, scope, list, scope->end);
}

/* Functions and steps for the prologue of a kernel. */
static void add_straight(ProgramWriter *writer, uint32_t k) {
  const Kernel *kernel = &writer->program->kernels[k];
  if (kernel->prologue.count == 0 && kernel->instances.count > 1) return;
  OutputList list = list_outputs(writer->heap, kernel);
  uint32_t begin = 0;
  do {
    Scope scope = {
        .kernel = kernel, .number = k, .begin = begin, .end = piece_end(&kernel->prologue, begin), .member = NO_PLACE};
    put_piece(writer, &scope, &list);
    vec_push(writer->heap, &writer->out->steps, (CTextStep){.function = end_function(writer, "")});
    begin = scope.end;
  } while (begin < kernel->prologue.count);
  heap_free_all(writer->heap, list.next, list.first);
}

/* ---- loops ---- */

static const InstanceBlock *block_of(const Program *program, const ProgramStep *step) {
  return &program->kernels[step->kernel].instances.blocks[step->block];
}

/* First output lane of a kernel; it shows where its blocks are in memory. */
static const Lane *leading_lane(const Program *program, uint32_t kernel) {
  const Instances *instances = &program->kernels[kernel].instances;
  return &instances->lanes[instances->slots];
}

static uint32_t leading_start(const Program *program, const ProgramStep *step) {
  return block_of(program, step)->starts[program->kernels[step->kernel].instances.slots];
}

static bool has_tables(const Kernel *kernel) {
  for (uint32_t l = 0; l < kernel->instances.slots + kernel->instances.outputs; l++)
    if (kernel->instances.lanes[l].mode == LANE_TABLE) return true;
  return false;
}

/* May the block `step` run in the loop that begins with the block `first`? They must advance equally through the outputs, and
 * the distance of their first instances must be less than one advance. */
static bool may_join(const Program *program, const ProgramStep *first, const ProgramStep *step) {
  if (step->block == STEP_BEGIN || program->phases[step->kernel] != program->phases[first->kernel]) return false;
  const Lane *a = leading_lane(program, first->kernel), *b = leading_lane(program, step->kernel);
  if (has_tables(&program->kernels[step->kernel]) || a->store != b->store || a->stride != b->stride) return false;
  int64_t distance = (int64_t)leading_start(program, step) - (int64_t)leading_start(program, first);
  return distance < a->stride && block_of(program, step)->count == block_of(program, first)->count;
}

/* The number of steps, from the first on, that one loop can run. */
static uint32_t joined_steps(const Program *program, const ProgramStep *steps, uint32_t count) {
  uint32_t joined = 1, lines = program->kernels[steps[0].kernel].body.count;
  if (has_tables(&program->kernels[steps[0].kernel])) return 1;
  for (; joined < count && may_join(program, &steps[0], &steps[joined]); joined++) {
    lines += program->kernels[steps[joined].kernel].body.count;
    if (lines > JOIN_LINES) break;
  }
  return joined;
}

static uint32_t find_base(ProgramWriter *writer, Loop *loop, const Lane *lane, uint32_t start, bool is_shared) {
  for (uint32_t b = 0; b < loop->bases.count && is_shared; b++)
    if (loop->bases.data[b].store == lane->store && loop->bases.data[b].stride == lane->stride) return b;
  vec_push(writer->heap, &loop->bases, (Base){lane->store, lane->stride, start});
  return loop->bases.count - 1;
}

/* The loop over these blocks. `is_shared`: lanes with the same store and stride share a base, and their distances from it
 * become part of the text. */
static Loop describe_loop(ProgramWriter *writer, const ProgramStep *steps, uint32_t count, bool is_shared) {
  Loop loop = {.bases = {0}};
  for (uint32_t m = 0; m < count; m++) {
    const Instances *instances = &writer->program->kernels[steps[m].kernel].instances;
    const InstanceBlock *block = block_of(writer->program, &steps[m]);
    vec_push(writer->heap, &loop.members, (Member){steps[m].kernel, loop.accesses.count});
    for (uint32_t l = 0; l < instances->slots + instances->outputs; l++) {
      Access access = {.base = NO_PLACE};
      if (instances->lanes[l].mode == LANE_STRIDED) {
        access.base = find_base(writer, &loop, &instances->lanes[l], block->starts[l], is_shared);
        access.offset = (int64_t)block->starts[l] - (int64_t)loop.bases.data[access.base].start;
      }
      vec_push(writer->heap, &loop.accesses, access);
    }
  }
  return loop;
}

/* A loop as a list of words: loops with equal words have equal text. */
static IndexVec loop_words(Heap *heap, const Loop *loop) {
  IndexVec words = {0};
  vec_push(heap, &words, loop->members.count);
  for (uint32_t m = 0; m < loop->members.count; m++) vec_push(heap, &words, loop->members.data[m].kernel);
  for (uint32_t a = 0; a < loop->accesses.count; a++) {
    uint64_t offset = (uint64_t)loop->accesses.data[a].offset;
    vec_push(heap, &words, loop->accesses.data[a].base);
    vec_push(heap, &words, (uint32_t)offset);
    vec_push(heap, &words, (uint32_t)(offset >> 32));
  }
  return words;
}

static bool is_same_loop(const WrittenLoop *written, const IndexVec *words) {
  return written->words.count == words->count &&
         memcmp(written->words.data, words->data, words->count * sizeof *words->data) == 0;
}

static void free_loop(Heap *heap, Loop *loop) { vec_free(heap, &loop->members, &loop->accesses, &loop->bases); }

/* b0[13 * i + 5] */
static void put_place(ProgramWriter *writer, const Loop *loop, Access access) {
  int32_t stride = loop->bases.data[access.base].stride;
  text_printf(writer->heap, &writer->body, "b%u[%d * i", access.base, stride);
  if (access.offset)
    text_printf(writer->heap, &writer->body, " %c %lld", access.offset < 0 ? '-' : '+',
                access.offset < 0 ? (long long)-access.offset : (long long)access.offset);
  text_printf(writer->heap, &writer->body, "]");
}

/* Loads each leaf of the members once. */
static void put_loads(ProgramWriter *writer, const Scope *scope, Map *loaded) {
  const Instances *instances = &scope->kernel->instances;
  for (uint32_t s = 0; s < instances->slots; s++) {
    const Lane *lane = &instances->lanes[s];
    if (lane->mode == LANE_UNIFORM) continue;
    if (lane->mode == LANE_STRIDED) {
      uint64_t key = (uint64_t)scope->access[s].base << 40 | (uint64_t)(scope->access[s].offset + (1ll << 34));
      if (map_get(loaded, key) != MAP_NONE) continue;
      map_put(loaded, key, 1);
    }
    text_printf(writer->heap, &writer->body, "    const double ");
    put_slot(writer, &writer->body, scope, s);
    text_printf(writer->heap, &writer->body, " = ");
    if (lane->mode == LANE_STRIDED) put_place(writer, scope->loop, scope->access[s]);
    else {
      writer->uses |= lane->store == STORE_CONSTANT ? 0 : 1u << lane->store;
      text_printf(writer->heap, &writer->body, "%s[t%u[i]]",
                  lane->store == STORE_CONSTANT ? "r->read[0]" : (const char[]){array_names[lane->store], 0}, s);
    }
    text_printf(writer->heap, &writer->body, ";\n");
  }
}

static void put_loop_stores(ProgramWriter *writer, const Scope *scope) {
  const Instances *instances = &scope->kernel->instances;
  for (uint32_t o = 0; o < instances->outputs; o++) {
    const Lane *lane = &instances->lanes[instances->slots + o];
    TextVec value = {0};
    put_operand(writer, &value, scope, scope->kernel->outputs[o]);
    text_printf(writer->heap, &writer->body, "    ");
    if (lane->mode == LANE_STRIDED) put_place(writer, scope->loop, scope->access[instances->slots + o]);
    else {
      writer->uses |= 1u << lane->store;
      text_printf(writer->heap, &writer->body, "%c[t%u[i]]", array_names[lane->store], instances->slots + o);
    }
    text_printf(writer->heap, &writer->body, " = %s;\n", value.data);
    if (lane->store == STORE_OUTPUT) put_sum(writer, &value);
    vec_free(writer->heap, &value);
  }
}

/* Declarations of bases and tables, and the head of the loop. */
static void put_loop_head(ProgramWriter *writer, const Loop *loop, TextVec *head) {
  bool *is_written = heap_array(writer->heap, loop->bases.count, sizeof *is_written);
  for (uint32_t m = 0; m < loop->members.count; m++) {
    const Instances *instances = &writer->program->kernels[loop->members.data[m].kernel].instances;
    for (uint32_t o = 0; o < instances->outputs; o++) {
      uint32_t base = loop->accesses.data[loop->members.data[m].first_access + instances->slots + o].base;
      if (base != NO_PLACE) is_written[base] = true;
    }
  }
  for (uint32_t b = 0; b < loop->bases.count; b++)
    text_printf(writer->heap, head, "  %sdouble *restrict b%u = r->%s[%u] + s[%u];\n", is_written[b] ? "" : "const ", b,
                is_written[b] ? "write" : "read", (uint32_t)loop->bases.data[b].store, b);
  heap_free(writer->heap, is_written);
  uint32_t kernel = loop->members.data[0].kernel, table = writer->first_table[kernel];
  const Instances *instances = &writer->program->kernels[kernel].instances;
  for (uint32_t l = 0; l < instances->slots + instances->outputs; l++)
    if (instances->lanes[l].mode == LANE_TABLE)
      text_printf(writer->heap, head, "  const uint32_t *t%u = r->tables[%u] + first;\n", l, table++);
  text_printf(writer->heap, head, "  for (long i = 0; i < (long)n; i++) {\n");
}

static uint32_t write_loop(ProgramWriter *writer, const Loop *loop) {
  Map loaded = map_make(writer->heap);
  TextVec head = {0};
  for (uint32_t m = 0; m < loop->members.count; m++) {
    const Member *member = &loop->members.data[m];
    Scope scope = {.kernel = &writer->program->kernels[member->kernel],
                   .number = member->kernel,
                   .member = m,
                   .loop = loop,
                   .access = loop->accesses.data + member->first_access};
    put_loads(writer, &scope, &loaded);
    for (uint32_t i = 0; i < scope.kernel->body.count; i++) put_line(writer, &scope, &scope.kernel->body.data[i], i);
    put_loop_stores(writer, &scope);
  }
  put_loop_head(writer, loop, &head);
  uint32_t function = end_function(writer, head.data);
  vec_free(writer->heap, &head);
  map_free(&loaded);
  return function;
}

/* The function of a loop, written if it is new; MAP_NONE if it is new and there are too many. */
static uint32_t loop_function(ProgramWriter *writer, const Loop *loop, bool is_forced) {
  IndexVec words = loop_words(writer->heap, loop);
  uint64_t key = hash_bytes(words.data, words.count * sizeof *words.data);
  uint32_t first = map_get(&writer->loop_of, key), found = first;
  while (found < writer->loops.count && !is_same_loop(&writer->loops.data[found], &words))
    found = writer->loops.data[found].next;
  if (found < writer->loops.count) {
    vec_free(writer->heap, &words);
    return writer->loops.data[found].function;
  }
  if (!is_forced && writer->loops.count > 4 + 2 * writer->program->kernel_count) {
    vec_free(writer->heap, &words);
    return MAP_NONE;
  }
  uint32_t function = write_loop(writer, loop);
  map_put(&writer->loop_of, key, writer->loops.count);
  vec_push(writer->heap, &writer->loops, (WrittenLoop){words, function, first});
  return function;
}

static void push_loop_step(ProgramWriter *writer, const Loop *loop, uint32_t function, const InstanceBlock *block) {
  CTextStep step = {
      .function = function, .count = block->count, .first = block->first, .starts = writer->out->starts.count};
  for (uint32_t b = 0; b < loop->bases.count; b++)
    vec_push(writer->heap, &writer->out->starts, loop->bases.data[b].start);
  vec_push(writer->heap, &writer->out->steps, step);
}

/* Adds loops for parallel blocks: one loop for all blocks if that makes the text shorter, otherwise one loop for each. */
static void add_loops(ProgramWriter *writer, const ProgramStep *steps, uint32_t count) {
  Loop loop = describe_loop(writer, steps, count, true);
  uint32_t function = loop_function(writer, &loop, false);
  if (function != MAP_NONE) push_loop_step(writer, &loop, function, block_of(writer->program, &steps[0]));
  free_loop(writer->heap, &loop);
  for (uint32_t m = 0; m < count && function == MAP_NONE; m++) {
    Loop single = describe_loop(writer, &steps[m], 1, false);
    push_loop_step(writer, &single, loop_function(writer, &single, true), block_of(writer->program, &steps[m]));
    free_loop(writer->heap, &single);
  }
}

/* ---- all together ---- */

static void list_tables_and_calls(ProgramWriter *writer) {
  for (uint32_t k = 0; k < writer->program->kernel_count; k++) {
    const Kernel *kernel = &writer->program->kernels[k];
    writer->first_table[k] = writer->out->tables.count;
    writer->first_call[k] = writer->out->calls.count;
    for (uint32_t l = 0; l < kernel->instances.slots + kernel->instances.outputs; l++) {
      if (kernel->instances.lanes[l].mode != LANE_TABLE) continue;
      vec_push(writer->heap, &writer->out->tables, &kernel->instances.lanes[l]);
      vec_push(writer->heap, &writer->out->table_sizes, kernel->instances.count);
    }
    for (uint32_t c = 0; c < kernel->calls.count; c++) vec_push(writer->heap, &writer->out->calls, (CTextCall){k, c});
  }
}

static void put_table(ProgramWriter *writer, bool is_external) {
  Heap *heap = writer->heap;
  TextVec *out = &writer->out->text;
  if (writer->functions.count) text_append(heap, out, writer->functions.data, writer->functions.count);
  if (is_external)
    text_printf(heap, out, "extern __attribute__((visibility(\"default\"))) const Function %s_functions[];\n",
                writer->name);
  text_printf(heap, out, "%sconst Function %s_functions[] = {", is_external ? "" : "static ", writer->name);
  for (uint32_t f = 0; f < writer->function_count; f++)
    text_printf(heap, out, "%s%s_f%u,", f % 8 ? " " : "\n    ", writer->name, f);
  text_printf(heap, out, "%s\n};\n", writer->function_count ? "" : " 0");
}

static void free_writer(ProgramWriter *writer) {
  for (uint32_t k = 0; k < writer->program->kernel_count; k++) {
    heap_free_all(writer->heap, writer->work_of[k], writer->piece_of[k]);
  }
  heap_free_all(writer->heap, writer->work_of, writer->piece_of, writer->first_table, writer->first_call);
  vec_free(writer->heap, &writer->functions, &writer->body);
  for (uint32_t l = 0; l < writer->loops.count; l++) vec_free(writer->heap, &writer->loops.data[l].words);
  vec_free(writer->heap, &writer->loops);
  map_free(&writer->loop_of);
}

CText ctext_make(Heap *heap, const Program *program, const char *name, bool is_external) {
  CText out = {.work = 0};
  uint32_t kernels = program->kernel_count;
  ProgramWriter writer = {.heap = heap, .program = program, .name = name, .out = &out, .loop_of = map_make(heap)};
  writer.piece_of = heap_array(heap, kernels, sizeof *writer.piece_of);
  writer.work_of = heap_array(heap, kernels, sizeof *writer.work_of);
  writer.first_table = heap_array(heap, kernels, sizeof *writer.first_table);
  writer.first_call = heap_array(heap, kernels, sizeof *writer.first_call);
  list_tables_and_calls(&writer);
  for (uint32_t k = 0; k < kernels; k++) place_work(&writer, k);
  for (uint32_t s = 0; s < program->step_count;) {
    uint32_t joined = 1;
    if (program->steps[s].block == STEP_BEGIN) add_straight(&writer, program->steps[s].kernel);
    else {
      joined = joined_steps(program, &program->steps[s], program->step_count - s);
      add_loops(&writer, &program->steps[s], joined);
    }
    s += joined;
  }
  put_table(&writer, is_external);
  free_writer(&writer);
  return out;
}
