/* trace: straight-line code for the paths through a function, one tape for each path that was met.
 *
 * A path is recorded (tracer.h) when arguments first lead to it. From then on its tape gives the values of its conditions and the
 * results, at the cost of only the arithmetic. If a condition is decided differently than when it was recorded, the path that
 * branches off there is tried. Derivatives are computed from the recorded expressions.
 *
 * Invariant: a trace belongs to one caller of functions, and gives the same results as running the function, except for rounding.
 * If it cannot, the function must be run. */
#pragma once

#include "code/kernel.h"
#include "code/tracer.h"

typedef struct Trace Trace;

/* The trace of a function of the model. with_partials: for call sites with partials, or for those without. Lives in
 * the heap. */
Trace *trace_new(Heap *heap, Tracer *tracer, const Function *function, Names *names, bool with_partials);

/* Announces a call site before it calls, so that its code can be made together with that of others. */
void trace_prepare(Trace *trace, const CallSite *site);

/* The results of the site. false: the path is not known. */
bool trace_run(Trace *trace, const CallSite *site, const double *arguments, double *results);
