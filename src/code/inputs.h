/* inputs: the values of the inputs of one run at the present time. A table is read from its current segment, which only an event
 * changes. So a step sees a smooth function; jumps and kinks are time events. */
#pragma once

#include "base/transfer.h"
#include "model/model.h"

typedef struct Inputs Inputs;

/* For the sources of the model; NULL if it has none. Lives in the heap. */
Inputs *inputs_new(Heap *heap, const Model *model);

/* Writes values and derivatives at t into the parameters. The first call begins at t. */
void inputs_write(Inputs *inputs, double t, double *parameters);

/* The value with which an input that the caller sets begins. */
void inputs_start(Inputs *inputs, uint32_t variable, double value);

/* Sets an input to another value, which holds from the next event on. false: the caller does not set this input. */
bool inputs_give(Inputs *inputs, uint32_t variable, double value);

/* Is there an input that the caller sets? */
bool inputs_are_given(const Inputs *inputs);

/* At an event: sets the values that hold from t on; returns how many inputs changed. */
uint32_t inputs_pass(Inputs *inputs, double t);

/* The first time after t at which a table has a kink or a jump; INFINITY: none. */
double inputs_next_time(const Inputs *inputs, double t);

/* Saves the state in the heap, and restores it. */
void *inputs_save(const Inputs *inputs, Heap *heap);
void inputs_restore(Inputs *inputs, const void *saved);
void inputs_transfer(const Inputs *inputs, void *saved, Transfer *transfer);
