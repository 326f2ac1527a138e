/* calls: functions with data-dependent control flow, run by the function machine on numbers that carry derivatives.
 *
 * A call node with n partials stands for a mixed derivative of order n. It is computed exactly: the scalar is an element of the
 * algebra with n nilpotents (2^n coefficients, see calls.c), whose last coefficient is that derivative. Each path through a
 * function is recorded (trace.h) and then costs only its arithmetic. */
#pragma once

#include "code/kernel.h"
#include "model/model.h"

typedef struct Caller Caller;

enum { CALL_PARTIALS_LIMIT = 10 };

/* Runs the functions of one model; lives in the heap. */
Caller *caller_new(Heap *heap, const Model *model);

/* The caller for the functions of the model in this heap, made when first needed: so all programs share the recordings of
 * its functions. */
Caller *caller_of(Heap *heap, const Model *model);

/* Prepares caller_run for this site, so that later only the function itself allocates. */
void caller_prepare(Caller *caller, const CallSite *site);

/* Computes the results of the site for these argument values, as many as the site has. false: the function fails, and every result
 * is NAN. The reason is an argument outside of an operator's domain, a failed assertion, or too many steps. */
bool caller_run(void *caller, const CallSite *site, const double *arguments, double *results);

/* Like caller_run, but instruction by instruction. */
bool caller_interpret(Caller *caller, const CallSite *site, const double *arguments, double *results);

/* Why the last caller_run failed; one line. */
const char *caller_failure(Caller *caller);
