/* certificate: the part of a run on which it is proven that no event was missed. After each step the prover (watch/prover.h)
 * examines the inside of the step. Any time without a proof within the budget counts as not proven. */
#pragma once

#include "view/view.h"

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

/* The run begins again, or continues after an event. */
void certificate_begin(Certificate *certificate);

/* What is known about the inside of a step. */
typedef enum StepInside {
  INSIDE_KNOWN,  /* its dense output costs nothing, or was already requested */
  INSIDE_COSTLY, /* its dense output would take evaluations, and nothing else has requested it */
  INSIDE_UNREAD, /* the step was taken without dense output */
} StepInside;

/* The last step. */
typedef struct WatchedStep {
  Segment *segment;
  StepInside inside;
  bool is_timed; /* it ends at an event that was known in advance */
} WatchedStep;

/* Does the step stay in a region in which an earlier proof found that no mode changes? This takes no evaluation. */
bool certificate_covers(Certificate *certificate, const WatchedStep *step);

/* How far a proof got. */
typedef enum StepProof {
  STEP_UNTRIED, /* it is impossible, or the budget is used up */
  STEP_OPEN,    /* a mode changes, or may change */
  STEP_PROVEN,  /* no mode changes in the step */
} StepProof;

/* Tries to prove that no mode changes in the step; all modes agree at its start. agrees: they agree at its end, too. is_far:
 * conditions seem to be far from their edges. */
StepProof certificate_prove(Certificate *certificate, const WatchedStep *step, bool agrees, bool is_far);

/* The same with the segment of the step, if that was not requested yet. From then on the inside of the step is known. */
void certificate_prove_inside(Certificate *certificate, const WatchedStep *step, bool agrees);

/* After a proof: the interval in which the first mode changes, once. false: it is unknown. */
bool certificate_bracket(const Certificate *certificate, double *low, double *high);

/* After a proof: the interval outside of which no mode changes. */
void certificate_open(const Certificate *certificate, double *low, double *high);

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
