/* input: the source of an input's values over time. The input is then an unknown like others, with the equation u = input(p, time,
 * n). The parameter leaf p is its value, and the n leaves after it are its derivatives. A run sets these leaves for the current
 * time (code/inputs.h). */
#pragma once

#include "model/model.h"

/* Binds the input `name`, which must have the binding `time`, to the source; its arrays are copied. false: it is not a Real unknown
 * with that binding. */
bool model_bind_input(Model *model, const char *name, const InputSource *source);

/* The input whose value or derivative this parameter leaf holds; NULL: none. */
const InputSource *model_input_at(const Model *model, uint32_t leaf);

/* The source of the first input that is needed with a higher derivative than it provides; NULL if there is none. c: how often each
 * of the equations is differentiated. *order: the order needed. */
const InputSource *model_lacking_input(const Model *model, const Expr *residual, const int32_t *c, uint32_t count,
                                       int32_t *order);
