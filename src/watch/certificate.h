/* certificate: the part of a run on which it is proven that no event was missed. After each step the prover (watch/prover.h)
 * examines the inside of the step. Any time without a proof within the budget counts as not proven. */
#pragma once

#include "view/view.h"
#include "watch/watcher.h"

/* Times, and the number of evaluations of the interval program. */
typedef struct CertificateTotals {
  double time, proven;
  uint64_t evaluations;
  bool
      has_lost_branch; /* the solution may have changed to another branch of the equations: see certificate_lose_branch */
} CertificateTotals;

typedef struct TimeSpan {
  double from, to;
} TimeSpan;
typedef VEC(TimeSpan) TimeSpanVec;

/* The most spans, and the most events without rows, that are kept for a run. */
enum { LISTED = 100 };

typedef struct Certificate Certificate;

/* For the conditions of a view. Lives in the heap. */
Certificate *certificate_new(Heap *heap, View *view);

/* Watches the conditions of the view, with proofs by the certificate. Lives in the heap. */
Watcher *certificate_watch(Heap *heap, Certificate *certificate);

/* The run begins again, or continues after an event. */
void certificate_begin(Certificate *certificate);

/* The step ends at t, with an event. */
void certificate_end(Certificate *certificate, double t);

/* The run continues from t. The examined time up to t counts; the time after it is discarded. */
void certificate_accept(Certificate *certificate, double t);

/* The remaining budget of proofs. It depends on the run so far, so it must be saved with the run's state. A run that
 * receives a credit remembers nothing else. */
double certificate_credit(Certificate *certificate);
void certificate_set_credit(Certificate *certificate, double credit);

/* A step was accepted although the branch of the solution could not be followed along it. */
void certificate_lose_branch(Certificate *certificate);

CertificateTotals certificate_totals(const Certificate *certificate);

/* The first spans of time that are not proven. */
const TimeSpanVec *certificate_unproven(const Certificate *certificate);
