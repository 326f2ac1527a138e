/* certificate: on which part of a run it is proven that no event was missed. After each step the prover (watch/prover.h) looks at what the step
 * is inside; what it cannot prove within its budget counts as not proven. */
#pragma once

#include "view/view.h"

/* Times, and how many of the interval program's evaluations they took. */
typedef struct CertificateTotals {
  double time, proven;
  uint64_t evaluations;
  bool has_lost_branch; /* the solution may have gone on another branch of the equations: see certificate_lose_branch */
} CertificateTotals;

typedef struct TimeSpan {
  double from, to;
} TimeSpan;
typedef VEC(TimeSpan) TimeSpanVec;

/* So many spans, and events that leave no rows, are kept of a run. */
enum { LISTED = 100 };

typedef struct Certificate Certificate;

/* For the conditions of a view. Lives in the heap. */
Certificate *certificate_new(Heap *heap, View *view);

/* The run begins again, or goes on after an event. */
void certificate_begin(Certificate *certificate);

/* What is known of the inside of a step. */
typedef enum StepInside {
  INSIDE_KNOWN,  /* its dense output costs nothing, or has been asked for */
  INSIDE_COSTLY, /* it would take evaluations, and nobody else has asked for it */
  INSIDE_UNREAD, /* it was taken as if nobody looked inside */
} StepInside;

/* The last step. */
typedef struct WatchedStep {
  Segment *segment;
  StepInside inside;
  bool is_timed; /* it ends at an event that is known beforehand */
} WatchedStep;

/* Does the step stay in a region in which no mode changes, as an earlier proof has found? That takes no evaluation. */
bool certificate_covers(Certificate *certificate, const WatchedStep *step);

/* How far a proof got. */
typedef enum StepProof {
  STEP_UNTRIED, /* it is impossible, or nothing is left to pay for it */
  STEP_OPEN,    /* a mode changes, or may change */
  STEP_PROVEN,  /* no mode changes in the step */
} StepProof;

/* Tries to prove that no mode changes in the step, at whose start all agree. agrees: they do at its end, too. is_far: conditions seem to be far from
 * their edges. */
StepProof certificate_prove(Certificate *certificate, const WatchedStep *step, bool agrees, bool is_far);

/* The same with the segment of the step, if that has not been asked for yet: from now on the step is known inside. */
void certificate_prove_inside(Certificate *certificate, const WatchedStep *step, bool agrees);

/* After a proof: the stretch in which the first mode changes, once. false: it is not known. */
bool certificate_bracket(const Certificate *certificate, double *low, double *high);

/* After a proof: the stretch outside of which no mode changes. */
void certificate_open(const Certificate *certificate, double *low, double *high);

/* The step ends at t, with an event. */
void certificate_end(Certificate *certificate, double t);

/* The run continues from t: what was looked at up to that point counts, what is after it is taken back. */
void certificate_accept(Certificate *certificate, double t);

/* What proofs may still cost, which depends on the run so far: to be kept with its state. A run that takes
 * over a credit remembers nothing else. */
double certificate_credit(Certificate *certificate);
void certificate_set_credit(Certificate *certificate, double credit);

/* A step was accepted although the branch of the solution could not be followed along it. */
void certificate_lose_branch(Certificate *certificate);

CertificateTotals certificate_totals(const Certificate *certificate);

/* The first times that are not proven. */
const TimeSpanVec *certificate_unproven(const Certificate *certificate);
