/* trace: straight-line code for the ways through a function, one tape for each way that was met.
 *
 * A way is recorded (tracer.h) when arguments first lead to it. From then on its tape gives the values of its
 * conditions and the results, at the cost of the arithmetic alone; where a condition is decided otherwise than when it
 * was recorded, the way that branches off there is tried. Derivatives are those of the expressions recorded.
 *
 * Invariant: a trace belongs to one caller of functions; what it gives is what running the function gives, rounding
 * aside. Where it cannot say, the function must be run.
 */
#pragma once

#include "code/kernel.h"
#include "code/tracer.h"

typedef struct Trace Trace;

/* The trace of a function of the model. with_partials: for call sites with partials, or for those without. Lives in
 * the heap. */
Trace *trace_new(Heap *heap, Tracer *tracer, const Function *function, Names *names, bool with_partials);

/* Tells of a call site before it calls, so that its code can be made together with that of others. */
void trace_prepare(Trace *trace, const CallSite *site);

/* The results of the site. false: it does not know. */
bool trace_run(Trace *trace, const CallSite *site, const double *arguments, double *results);
