/* block: see block.h. */
#include "core/block.h"

BlockMatrix *block_matrix_new(Heap *heap, const BlockShape *shape) {
  BlockMatrix *matrix = heap_alloc(heap, sizeof *matrix);
  matrix->heap = heap;
  matrix->shape = shape;
  matrix->values = heap_array(heap, (size_t)shape->row_start[shape->size], sizeof(double));
  matrix->workspace = heap_array(heap, (size_t)shape->stages + 1, sizeof *matrix->workspace);
  matrix->known = heap_array(heap, (size_t)shape->stages + 1, sizeof *matrix->known);
  return matrix;
}

void block_matrix_forget(BlockMatrix *matrix) {
  for (int32_t c = 0; c <= matrix->shape->stages; c++) matrix->known[c] = false;
}

EvalStatus block_matrix_run_group(BlockMatrix *matrix, const RowsHost *host, int32_t c, double t, const double *y) {
  const BlockGroup *group = &matrix->shape->group[c];
  if (!group->program || matrix->known[c]) return EVAL_OK;
  if (!matrix->workspace[c]) matrix->workspace[c] = host->prepare(host->host, matrix->heap, group->program);
  matrix->known[c] = group->constant;
  matrix->version++;
  *host->entry_evaluations += (uint64_t)group->entries;
  return host->run(host->host, matrix->workspace[c], t, y, matrix->values + group->first_entry);
}

EvalStatus block_matrix_run_differentiated(BlockMatrix *matrix, const RowsHost *host, double t, const double *y) {
  for (int32_t c = matrix->shape->stages; c > 0; c--) {
    EvalStatus status = block_matrix_run_group(matrix, host, c, t, y);
    if (status != EVAL_OK) return status;
  }
  return EVAL_OK;
}
