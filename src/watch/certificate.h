/* certificate: on which part of a run it is proven that no event was missed. After each step the prover (watch/prover.h) looks at what the step
 * is inside; what it cannot prove within its budget counts as not proven. */
#pragma once

#include "view/view.h"

/* Times, and how many of the interval program's evaluations they took. */
typedef struct CertificateTotals {
  double time, proven;
  uint64_t evaluations;
} CertificateTotals;

typedef struct TimeSpan {
  double from, to;
} TimeSpan;
typedef VEC(TimeSpan) TimeSpanVec;

typedef struct Certificate Certificate;

/* For the conditions of a view. Lives in the heap. */
Certificate *certificate_new(Heap *heap, View *view);

/* The run begins anew, or goes on behind an event. */
void certificate_begin(Certificate *certificate);

/* What is known of the inside of a step. */
typedef enum StepInside {
  INSIDE_KNOWN,  /* its dense output costs nothing, or has been asked for */
  INSIDE_COSTLY, /* it would take evaluations, and nobody else has asked for it */
  INSIDE_UNREAD, /* it was taken as if nobody looked inside */
} StepInside;

/* Looks at the last step of the integrator, from (before, begin) up to `until`, where it ends or has an event. Returns a time
 * at which a condition seems to have changed, NAN if there is none. */
double certificate_step(Certificate *certificate, const Integrator *integrator, void *self, ConstMoment before,
                        double until, StepInside inside);

/* The run goes on from t: what was looked at up to there counts, what is behind it is taken back. */
void certificate_accept(Certificate *certificate, double t);

/* What proofs may still cost, which depends on the run so far: to be kept with its state. A run that takes
 * over a credit remembers nothing else. */
double certificate_credit(Certificate *certificate);
void certificate_set_credit(Certificate *certificate, double credit);

CertificateTotals certificate_totals(const Certificate *certificate);

/* The first times that are not proven. */
const TimeSpanVec *certificate_unproven(const Certificate *certificate);
