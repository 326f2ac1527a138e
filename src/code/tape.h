/* tape: a kernel with the places of its values assigned, and the interpreter that runs it. The tape itself never changes; a run
 * writes only to its registers.
 *
 * The prologue works on single numbers in a file. Each line appends its value, so a line has no target. Where possible, four lines
 * of one code are decoded at once (tape_order.h). The body works on rows of BLOCK_LIMIT numbers, one for each instance; strided
 * leaves and outputs are rows in the caller's own arrays, not copied. Its registers are free again after the last line that reads
 * them, so the working set stays small. The target of a line is never one of its operands, so lines may run over whole blocks in
 * vector registers. */
#pragma once

#include "code/kernel.h"

/* The arrays of an evaluation, by Store. */
typedef struct Arrays {
  const double *read[STORE_COUNT];
  double *write[STORE_COUNT]; /* scratch and output only */
} Arrays;

typedef struct Tape Tape;
typedef struct Registers Registers;

/* The tape of a kernel, in the heap; the kernel must outlive it. O(lines). */
Tape *tape_new(Heap *heap, const Kernel *kernel);

/* Registers for running it. calling: unused if the kernel calls no functions. */
Registers *registers_new(Heap *heap, const Tape *tape, Calling calling);

/* Runs the prologue; if the kernel has one instance, writes its outputs too. Before any block. */
void tape_begin(Registers *registers, const Arrays *arrays);

/* Like tape_begin, at several points at once, up to TAPE_LANES: a line that is decoded once works on all of them. Only for
 * kernels with one instance, which have no body. */
enum { TAPE_LANES = 4 };
void tape_begin_wide(Registers *registers, const Arrays *arrays, uint32_t count);

/* Runs the body for one block of the instances. */
void tape_block(Registers *registers, const InstanceBlock *block, const Arrays *arrays);

/* Rows that the body needs for its own values. */
uint32_t tape_registers(const Tape *tape);
