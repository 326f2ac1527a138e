/* program: see program.h. Groups become kernels and tapes, and one list of steps: by phase, and within a phase blocks by the place
 * of their outputs, so that neighbours in memory are processed together. */
#include "code/program_internal.h"

#include "base/finite.h"

#include <stdlib.h>

/* ---- building ---- */

static void make_kernel(Program *program, uint32_t k, Group *group) {
  Heap *heap = program->heap;
  Instances instances =
      instances_make(heap, group->instances, group->slots, group->outputs, group->stores, group->places);
  program->kernels[k] = kernel_make(heap, program->model->dag, group->roots, instances, &group->map);
  program->phases[k] = group->phase;
  const Kernel *kernel = &program->kernels[k];
  program->calls |= kernel->calls.count > 0;
  heap_free_all(heap, group->roots, group->stores, group->places);
  map_free(&group->map.nodes);
  map_free(&group->map.numbers);
}

typedef struct StepOrder {
  uint32_t phase, is_block, place;
  ProgramStep step;
} StepOrder;

static int compare_steps(const void *left, const void *right) {
  const StepOrder *a = left, *b = right;
  if (a->phase != b->phase) return a->phase < b->phase ? -1 : 1;
  if (a->is_block != b->is_block) return a->is_block < b->is_block ? -1 : 1;
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  if (a->step.kernel != b->step.kernel) return a->step.kernel < b->step.kernel ? -1 : 1;
  return a->step.block < b->step.block ? -1 : 1;
}

/* Smallest output that a step writes; UINT32_MAX if none. */
static uint32_t first_output(const Program *program, const ProgramStep *step) {
  const Instances *instances = &program->kernels[step->kernel].instances;
  uint32_t first = UINT32_MAX;
  if (step->block == STEP_BEGIN && instances->count > 1) return first;
  const InstanceBlock *block = &instances->blocks[step->block == STEP_BEGIN ? 0 : step->block];
  for (uint32_t l = instances->slots; l < instances->slots + instances->outputs; l++) {
    const Lane *lane = &instances->lanes[l];
    if (lane->store != STORE_OUTPUT) continue;
    for (uint32_t i = 0; i < block->count; i++) {
      int64_t place = lane->mode == LANE_TABLE ? lane->table[block->first + i]
                                               : (int64_t)block->starts[l] + (int64_t)i * lane->stride;
      if (place < first) first = (uint32_t)place;
    }
  }
  return first;
}

/* After a step, outputs below the first one that a later step writes are final. */
static void find_done(Program *program) {
  uint32_t done = program->outputs;
  for (uint32_t s = program->step_count; s-- > 0;) {
    program->steps[s].done = done;
    uint32_t first = first_output(program, &program->steps[s]);
    if (first < done) done = first;
  }
}

static void make_steps(Program *program) {
  VEC(StepOrder) list = {0};
  for (uint32_t k = 0; k < program->kernel_count; k++) {
    const Instances *instances = &program->kernels[k].instances;
    uint32_t phase = program->phases[k];
    vec_push(program->heap, &list, (StepOrder){phase, 0, 0, {k, STEP_BEGIN, 0}});
    if (instances->count == 1) continue;
    for (uint32_t b = 0; b < instances->block_count; b++)
      vec_push(program->heap, &list, (StepOrder){phase, 1, instances->blocks[b].starts[instances->slots], {k, b, 0}});
  }
  if (list.count) qsort(list.data, list.count, sizeof *list.data, compare_steps);
  program->step_count = list.count;
  program->steps = heap_array(program->heap, list.count, sizeof *program->steps);
  for (uint32_t s = 0; s < list.count; s++) program->steps[s] = list.data[s].step;
  vec_free(program->heap, &list);
  find_done(program);
}

Program *program_from_grouping(Grouping *grouping, uint32_t outputs) {
  Heap *heap = grouping->heap;
  Program *program = heap_alloc(heap, sizeof *program);
  program->heap = heap;
  program->model = grouping->model;
  program->layout = grouping->layout;
  program->outputs = outputs;
  program->numbers = grouping->numbers.data;
  program->number_count = grouping->numbers.count;
  program->scratch_count = grouping->scratch;
  program->kernel_count = grouping->groups.count;
  program->kernels = heap_array(heap, program->kernel_count, sizeof *program->kernels);
  program->phases = heap_array(heap, program->kernel_count, sizeof *program->phases);
  program->tapes = heap_array(heap, program->kernel_count, sizeof *program->tapes);
  for (uint32_t k = 0; k < program->kernel_count; k++) make_kernel(program, k, &grouping->groups.data[k]);
  for (uint32_t k = 0; k < program->kernel_count; k++) program->tapes[k] = tape_new(heap, &program->kernels[k]);
  make_steps(program);
  vec_free(heap, &grouping->groups);
  return program;
}

Program *program_new(Heap *heap, Model *model, const Layout *layout, const Expr *roots, uint32_t count) {
  Grouping grouping = grouping_make(heap, model, layout);
  grouping_add_roots(&grouping, roots, count, NULL);
  Program *program = program_from_grouping(&grouping, count);
  program->roots = heap_copy(heap, roots, count, sizeof *program->roots);
  return program;
}

/* ---- running ---- */

Workspace *workspace_new(Heap *heap, const Program *program) {
  Workspace *workspace = heap_alloc(heap, sizeof *workspace);
  workspace->heap = heap;
  workspace->program = program;
  double *scratch = heap_array(heap, program->scratch_count, sizeof *scratch);
  workspace->arrays.read[STORE_CONSTANT] = program->numbers;
  workspace->arrays.read[STORE_SCRATCH] = workspace->arrays.write[STORE_SCRATCH] = scratch;
  if (program->calls) workspace->caller = caller_of(heap, program->model);
  for (uint32_t k = 0; k < program->kernel_count && program->calls; k++) {
    const Kernel *kernel = &program->kernels[k];
    for (uint32_t c = 0; c < kernel->calls.count; c++) caller_prepare(workspace->caller, &kernel->calls.data[c]);
  }
  workspace->compiled_work = heap_array(heap, program->compiled_work, sizeof(double));
  if (program->compiled) return workspace;
  workspace->registers = heap_array(heap, program->kernel_count, sizeof *workspace->registers);
  for (uint32_t k = 0; k < program->kernel_count; k++)
    workspace->registers[k] = registers_new(heap, program->tapes[k], (Calling){caller_run, workspace->caller});
  return workspace;
}

static bool run_tapes(Workspace *workspace, const Arrays *arrays) {
  const Program *program = workspace->program;
  const double *out = arrays->read[STORE_OUTPUT];
  uint32_t checked = 0;
  bool is_finite = true;
  if (program->step_count == 1) { /* the usual case for blocks of a small model */
    tape_begin(workspace->registers[program->steps->kernel], arrays);
    return all_finite(out, program->outputs);
  }
  for (const ProgramStep *step = program->steps, *end = step + program->step_count; step < end; step++) {
    Registers *registers = workspace->registers[step->kernel];
    if (step->block == STEP_BEGIN) tape_begin(registers, arrays);
    else tape_block(registers, &program->kernels[step->kernel].instances.blocks[step->block], arrays);
    if (step->done < checked + FINITE_CHUNK) continue;
    is_finite = all_finite(out + checked, step->done - checked) && is_finite;
    checked = step->done;
  }
  return all_finite(out + checked, program->outputs - checked) && is_finite;
}

/* Stores a point and its outputs in the data that all points share. */
static void set_point(Arrays *arrays, const Point *point, double *out) {
  arrays->read[STORE_TIME] = &point->time;
  arrays->read[STORE_COLUMN] = point->y;
  arrays->read[STORE_PARAMETER] = point->parameters;
  arrays->read[STORE_DISCRETE] = point->discretes;
  arrays->read[STORE_PRE] = point->pre;
  arrays->read[STORE_OUTPUT] = arrays->write[STORE_OUTPUT] = out;
}

EvalStatus workspace_run(Workspace *workspace, const Point *point, double *out) {
  const Program *program = workspace->program;
  Arrays *arrays = &workspace->arrays;
  set_point(arrays, point, out);
  bool is_finite = workspace->registers ? run_tapes(workspace, arrays)
                                        : program->compiled(program->code, arrays, workspace->compiled_work);
  return is_finite ? EVAL_OK : EVAL_DOMAIN;
}

/* Instances of a kernel share the values of its prologue, which belong to one point. */
static void run_instances(Workspace *workspace, const ProgramStep *step, const Arrays *arrays, uint32_t count) {
  Registers *registers = workspace->registers[step->kernel];
  const InstanceBlock *block = &workspace->program->kernels[step->kernel].instances.blocks[step->block];
  for (uint32_t l = 0; l < count; l++) {
    tape_begin(registers, &arrays[l]);
    tape_block(registers, block, &arrays[l]);
  }
}

static EvalStatus run_wide(Workspace *workspace, uint32_t count, const Point *points, double *const *outs) {
  const Program *program = workspace->program;
  Arrays arrays[TAPE_LANES];
  if (!workspace->wide_scratch)
    workspace->wide_scratch = heap_array(workspace->heap, TAPE_LANES * (size_t)program->scratch_count, sizeof(double));
  for (uint32_t l = 0; l < count; l++) {
    arrays[l] = workspace->arrays;
    set_point(&arrays[l], &points[l], outs[l]);
    arrays[l].read[STORE_SCRATCH] = arrays[l].write[STORE_SCRATCH] =
        workspace->wide_scratch + l * (size_t)program->scratch_count;
  }
  for (const ProgramStep *step = program->steps, *end = step + program->step_count; step < end; step++) {
    bool is_single = program->kernels[step->kernel].instances.count == 1;
    if (is_single) tape_begin_wide(workspace->registers[step->kernel], arrays, count);
    else if (step->block != STEP_BEGIN) run_instances(workspace, step, arrays, count);
  }
  bool is_finite = true;
  for (uint32_t l = 0; l < count; l++) is_finite = all_finite(outs[l], program->outputs) && is_finite;
  return is_finite ? EVAL_OK : EVAL_DOMAIN;
}

EvalStatus workspace_run_points(Workspace *workspace, uint32_t count, const Point *points, double *const *outs) {
  EvalStatus worst = EVAL_OK;
  for (uint32_t first = 0, lanes; first < count && worst == EVAL_OK; first += lanes) {
    lanes = count - first < TAPE_LANES ? count - first : TAPE_LANES;
    if (!workspace->registers || lanes == 1) worst = workspace_run(workspace, &points[first], outs[first]), lanes = 1;
    else worst = run_wide(workspace, lanes, points + first, outs + first);
  }
  return worst;
}

uint32_t program_outputs(const Program *program) { return program->outputs; }

ProgramSize program_size(const Program *program) {
  ProgramSize size = {0};
  for (uint32_t k = 0; k < program->kernel_count; k++) {
    const Kernel *kernel = &program->kernels[k];
    size.instructions += kernel->prologue.count + kernel->body.count;
    size.registers += tape_registers(program->tapes[k]);
    size.lines += kernel->prologue.count + (uint64_t)kernel->body.count * kernel->instances.count;
    if (kernel->instances.count == 1) continue;
    size.templates++;
    size.instances += kernel->instances.count;
  }
  return size;
}
