/* inputs: see inputs.h. */
#include "code/inputs.h"

#include <math.h>
#include <string.h>

/* The state of an input. */
typedef struct InputPlace {
  uint32_t passed; /* number of points of its table that have passed */
  double value;    /* set by the caller; given: valid from the next event on */
  double given;
} InputPlace;

struct Inputs {
  const Model *model;
  InputPlace *places;
  bool begun;
};

Inputs *inputs_new(Heap *heap, const Model *model) {
  if (!model->inputs.count) return NULL;
  Inputs *inputs = heap_alloc(heap, sizeof *inputs);
  inputs->model = model;
  inputs->places = heap_array(heap, model->inputs.count, sizeof *inputs->places);
  return inputs;
}

/* The number of points of a table that are not after t. O(log rows). */
static uint32_t count_passed(const InputSource *source, double t) {
  uint32_t low = 0, high = source->rows;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (source->times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Before the first point and after the last a table is constant. */
static void write_table(const InputSource *source, const InputPlace *place, double t, double *out) {
  uint32_t at = place->passed ? place->passed - 1 : 0;
  out[0] = source->values[at];
  if (source->kind != INPUT_LINES) return;
  bool is_between = place->passed && place->passed < source->rows;
  out[1] = is_between ? (source->values[at + 1] - source->values[at]) / (source->times[at + 1] - source->times[at]) : 0;
  out[0] += out[1] * (t - source->times[at]);
}

void inputs_write(Inputs *inputs, double t, double *parameters) {
  for (uint32_t k = 0; k < inputs->model->inputs.count; k++) {
    const InputSource *source = &inputs->model->inputs.data[k];
    InputPlace *place = &inputs->places[k];
    double *out = &parameters[source->leaf];
    if (!inputs->begun) place->passed = count_passed(source, t);
    if (source->rows) write_table(source, place, t, out);
    else if (source->kind == INPUT_SET) out[0] = place->value;
    for (uint32_t order = 0; source->function && order <= source->orders; order++)
      out[order] = source->function(source->context, t, order);
  }
  inputs->begun = true;
}

/* The place of an input that the caller sets; NULL: it is not one. */
static InputPlace *place_of(Inputs *inputs, uint32_t variable) {
  for (uint32_t k = 0; inputs && k < inputs->model->inputs.count; k++) {
    const InputSource *source = &inputs->model->inputs.data[k];
    if (source->variable == variable && source->kind == INPUT_SET) return &inputs->places[k];
  }
  return NULL;
}

void inputs_start(Inputs *inputs, uint32_t variable, double value) {
  InputPlace *place = place_of(inputs, variable);
  if (place) place->value = place->given = value;
}

bool inputs_give(Inputs *inputs, uint32_t variable, double value) {
  InputPlace *place = place_of(inputs, variable);
  if (place) place->given = value;
  return place;
}

bool inputs_are_given(const Inputs *inputs) {
  for (uint32_t k = 0; inputs && k < inputs->model->inputs.count; k++)
    if (inputs->model->inputs.data[k].kind == INPUT_SET) return true;
  return false;
}

uint32_t inputs_pass(Inputs *inputs, double t) {
  uint32_t changed = 0;
  for (uint32_t k = 0; k < inputs->model->inputs.count; k++) {
    const InputSource *source = &inputs->model->inputs.data[k];
    InputPlace *place = &inputs->places[k];
    uint32_t passed = count_passed(source, t);
    changed += passed != place->passed || place->given != place->value;
    place->passed = passed;
    place->value = place->given;
  }
  return changed;
}

double inputs_next_time(const Inputs *inputs, double t) {
  double first = INFINITY;
  for (uint32_t k = 0; k < inputs->model->inputs.count; k++) {
    const InputSource *source = &inputs->model->inputs.data[k];
    uint32_t next = count_passed(source, t);
    if (next < source->rows) first = fmin(first, source->times[next]);
  }
  return first;
}

void *inputs_save(const Inputs *inputs, Heap *heap) {
  return heap_copy(heap, inputs->places, inputs->model->inputs.count, sizeof *inputs->places);
}

void inputs_restore(Inputs *inputs, const void *saved) {
  memcpy(inputs->places, saved, inputs->model->inputs.count * sizeof *inputs->places);
  inputs->begun = true;
}

void inputs_transfer(const Inputs *inputs, void *saved, Transfer *transfer) {
  const InputPlace *places = saved;
  transfer_array(transfer, saved, inputs->model->inputs.count, sizeof *places);
  for (uint32_t k = 0; k < inputs->model->inputs.count; k++)
    transfer_require(transfer, places[k].passed <= inputs->model->inputs.data[k].rows);
}
