/* effects: calls that change something outside of the model, or depend on earlier calls: they write files, print, draw random
 * numbers. The iteration of an event evaluates its values often, but the event makes each such call once, with its final arguments,
 * in the order of the text. So at first a call waits: it has no value, and what depends on it keeps its value. When the iteration has
 * settled, the first of the calls that wait is made; its results are kept until the event ends, and the iteration continues.
 *
 * Invariant: the next call is admitted only after the one before was made. The calls of a run belong to its heap. */
#pragma once

#include "array/logic.h"

typedef struct Effects Effects;

/* The calls of the model's functions in this heap, made when first needed. */
Effects *effects_of(Heap *heap, const Model *model);

/* Finds the order of the calls in a logic: that of the text, except where a call depends on a later one. */
void effects_order(Effects *effects, const Logic *logic, const Dag *dag);

/* Programs of events run between calls of the next two functions. In between, calls wait; calls of initial sections wait
 * only at the start. */
void effects_wait(Effects *effects, bool is_start);
void effects_wait_no_more(Effects *effects);

/* Call this where an event or an iteration of it begins. Forgets earlier results. While events are held they are kept, because such
 * events are tried again. */
void effects_begin(Effects *effects);
void effects_hold(Effects *effects, bool holds);

/* Does the model have such calls? */
bool effects_any(const Effects *effects);

/* Does a call wait? Then a value may be undefined only because of that. */
bool effects_are_waiting(const Effects *effects);

/* Call the first before the values of a settled event are evaluated once more; the second then admits the first call that waits.
 * false: none does. */
void effects_look(Effects *effects);
bool effects_admit(Effects *effects);

/* How to handle a call of function `number` now: its results are known, it waits, or it must be made. Outside of events,
 * the results of a call with the same arguments are known. */
typedef enum EffectTurn { EFFECT_KEPT, EFFECT_WAITS, EFFECT_MADE } EffectTurn;

EffectTurn effects_turn(Effects *effects, uint32_t number, const double *arguments);

/* Keeps the results of a call that was made; effects_kept returns them. */
void effects_keep(Effects *effects, uint32_t number, const double *arguments, const double *results);

/* A call could not be made. The event continues without it, and the run then ends: the second function returns the function's
 * number and the reason; MAP_NONE: all calls were made. The third forgets it. A call that the user has not allowed is left out, so
 * the run ends only if it needs a result of the call. effects_refused returns each function of such calls once. */
void effects_fail(Effects *effects, uint32_t number, const char *reason, bool is_refusal);
uint32_t effects_refused(Effects *effects, const char **reason);
uint32_t effects_failed(const Effects *effects, const char **reason);
void effects_forget_failure(Effects *effects);
const double *effects_kept(const Effects *effects, uint32_t number);
