/* block_shape: the shapes of the blocks of a derivative array (core/block.h) and their programs. */
#pragma once

#include "code/evaluator.h"
#include "core/block.h"

/* The shape of a block of the array with the offsets of `structure`; made once and kept by the code. `place` is workspace, one
 * number for each unknown of the problem. O(size of the block's equations). */
const BlockShape *block_shape(ArrayCode *code, const Structure *structure, int32_t block, int32_t *place);
