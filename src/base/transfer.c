/* transfer: see transfer.h. */
#include "base/transfer.h"

#include <string.h>

static bool has(Transfer *transfer, size_t count, size_t size) {
  transfer->is_broken = transfer->is_broken || count > (transfer->bytes.count - transfer->at) / size;
  return !transfer->is_broken;
}

void transfer_array(Transfer *transfer, void *values, size_t count, size_t size) {
  if (count == 0 || size == 0) return;
  if (!transfer->reads) {
    transfer->is_broken = transfer->is_broken || count > (INT32_MAX - transfer->bytes.count) / size;
    if (transfer->is_broken) return;
    uint32_t length = (uint32_t)(count * size);
    memcpy(vec_extend(transfer->heap, &transfer->bytes, length), values, length);
  } else if (has(transfer, count, size)) {
    memcpy(values, transfer->bytes.data + transfer->at, count * size);
    transfer->at += count * size;
  }
}

uint32_t transfer_count(Transfer *transfer, uint32_t count, size_t size) {
  uint32_t found = count;
  transfer_value(transfer, &found);
  return transfer->reads && !has(transfer, found, size) ? 0 : found;
}

void transfer_require(Transfer *transfer, bool holds) { transfer->is_broken = transfer->is_broken || !holds; }

void transfer_indices(Transfer *transfer, uint32_t *values, size_t count, uint32_t limit) {
  transfer_array(transfer, values, count, sizeof *values);
  for (size_t k = 0; k < count; k++) transfer_require(transfer, values[k] < limit);
}

/* Any byte other than 0 and 1 is invalid. */
void transfer_flags(Transfer *transfer, bool *values, size_t count) {
  for (size_t k = 0; k < count; k++) {
    uint8_t flag = values[k];
    transfer_value(transfer, &flag);
    transfer_require(transfer, flag <= 1);
    values[k] = flag == 1;
  }
}

void transfer_same(Transfer *transfer, double value) {
  double found = value;
  transfer_value(transfer, &found);
  transfer_require(transfer, memcmp(&found, &value, sizeof value) == 0);
}
