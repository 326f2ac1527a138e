/* certificate: see certificate.h. */
#include "watch/certificate.h"

#include "core/constants.h"
#include "watch/prover.h"

#include <math.h>

enum { HERMITE_DEGREE = 3 };

struct Certificate {
  Heap *heap;
  View *view;
  Prover *prover;
  /* rows call functions of moving columns: branches inside these are not visible, and may make the rows jump */
  bool has_calls;
  Segment *cubics;    /* Hermite cubics of a step */
  double credit;      /* the remaining budget of proofs; the unit is a line of plain numbers */
  double lines_a_row; /* the cost of an evaluation of a row */
  uint64_t counted;   /* evaluations of rows and entries that the credit already includes */
  CertificateTotals totals;
  TimeSpanVec unproven;
  double covered;   /* the end of the last step that counts; NAN: none yet */
  TimeSpan pending; /* the last step that was examined */
  Proof proof;      /* the proof for that step */
  bool is_pending;
  bool is_inside; /* the proof used the step's segment, or none was possible */
};

Certificate *certificate_new(Heap *heap, View *view) {
  Certificate *certificate = heap_alloc(heap, sizeof *certificate);
  *certificate = (Certificate){.heap = heap, .view = view};
  certificate->prover = prover_new(heap, view->evaluator, view->switches, view->states);
  certificate->has_calls = evaluator_calls_functions(view->evaluator);
  certificate->cubics = segment_new(heap, view->system.columns);
  certificate->credit = FIRST_CREDIT;
  certificate->covered = NAN;
  certificate->counted = view->evaluator->row_evaluations + view->evaluator->entry_evaluations;
  double rows = fmax(1, (double)view->evaluator->array->rows);
  certificate->lines_a_row = BOUNDS_COST + (double)program_size(view->evaluator->code->rows).lines / rows;
  return certificate;
}

void certificate_begin(Certificate *certificate) { prover_restart(certificate->prover); }

double certificate_credit(Certificate *certificate) {
  const Evaluator *evaluator = certificate->view->evaluator;
  uint64_t now = evaluator->row_evaluations + evaluator->entry_evaluations;
  certificate->credit += PROOF_PART * (double)(now - certificate->counted) * certificate->lines_a_row;
  certificate->counted = now;
  return certificate->credit;
}

void certificate_set_credit(Certificate *certificate, double credit) {
  certificate_credit(certificate);
  certificate->credit = credit;
  prover_forget(certificate->prover);
}

/* Hermite's cubic of column q, from values and rates at both ends: a step has these without further evaluations. Its error may be
 * much larger than that of the step, so it is used only if conditions are far from their edges. false: a rate is unknown. */
static bool make_cubic(const Certificate *certificate, uint32_t q, ConstMoment begin, ConstMoment end, double *b) {
  const System *system = &certificate->view->system;
  int32_t rate = system->successor ? system->successor[q] : -1;
  double third = (end.t - begin.t) / 3;
  b[0] = begin.y[q];
  b[3] = end.y[q];
  b[1] = rate < 0 ? (2 * b[0] + b[3]) / 3 : b[0] + third * begin.y[rate];
  b[2] = rate < 0 ? (b[0] + 2 * b[3]) / 3 : b[3] - third * end.y[rate];
  return rate >= 0 || !view_is_state(system, q);
}

static bool make_cubics(Certificate *certificate, const IndexVec *columns, ConstMoment begin, ConstMoment end) {
  segment_begin(certificate->cubics, begin.t, end.t, HERMITE_DEGREE);
  for (uint32_t k = 0; k < columns->count; k++) {
    uint32_t q = columns->data[k];
    if (!make_cubic(certificate, q, begin, end, segment_set(certificate->cubics, q))) return false;
  }
  return true;
}

static Proof prove_along(Certificate *certificate, Segment *segment, double slack, bool agrees, bool is_far) {
  ProverStep step = {segment, slack};
  uint64_t half = (uint64_t)fmax(certificate_credit(certificate) / 2, 0); /* the rest is for later steps */
  Proof proof = prover_prove(certificate->prover, &step, agrees, is_far, half);
  certificate->credit -= (double)proof.cost;
  certificate->totals.evaluations += proof.evaluations;
  return proof;
}

static bool is_whole(const Proof *proof) { return isnan(proof->first) && isnan(proof->high); }

/* The columns that a proof needs; NULL: no proof is possible. */
static const IndexVec *columns_of(Certificate *certificate) {
  const System *system = &certificate->view->system;
  if (!(certificate_credit(certificate) > 0)) return NULL;
  const IndexVec *columns = prover_columns(certificate->prover, system->link_from, system->links);
  certificate->credit -= (double)prover_take_debt(certificate->prover);
  return prover_scope(certificate->prover) == PROVER_ABLE ? columns : NULL;
}

static void prove_by_segment(Certificate *certificate, const WatchedStep *step, bool agrees, bool is_far) {
  const IndexVec *columns = columns_of(certificate);
  certificate->is_inside = true;
  if (!columns || !segment_open(step->segment)) return;
  segment_need(step->segment, columns->data, columns->count);
  certificate->credit -= (double)PRODUCT_COST * step->segment->count * step->segment->count * columns->count;
  certificate->proof = prove_along(certificate, step->segment, ROUND_OFF, agrees, is_far);
}

/* Begins a step about which nothing is known yet. */
static void begin_step(Certificate *certificate, double begin, double end) {
  certificate_accept(certificate, begin);
  certificate->pending = (TimeSpan){begin, end};
  certificate->is_pending = true;
  certificate->is_inside = false;
  certificate->proof = (Proof){.first = begin, .last = end, .low = NAN, .high = NAN};
}

static void prove_all(Certificate *certificate) {
  TimeSpan step = certificate->pending;
  certificate->proof = (Proof){.proven = step.to - step.from, .first = NAN, .last = NAN, .low = NAN, .high = NAN};
}

static bool covers(void *proofs, const WatchedStep *step) {
  Certificate *certificate = proofs;
  const System *system = &certificate->view->system;
  ConstMoment begin = {step->segment->t0, step->segment->begin}, end = {step->segment->t1, step->segment->end};
  const Interval *region = prover_region(certificate->prover, system->link_from, system->links, end.t);
  if (!region) return false;
  const IndexVec *columns = prover_columns(certificate->prover, system->link_from, system->links);
  for (uint32_t k = 0; k < columns->count; k++) {
    double b[4];
    if (!make_cubic(certificate, columns->data[k], begin, end, b)) return false;
    for (int i = 0; i < 4; i++)
      if (!(b[i] >= region[k].low && b[i] <= region[k].high)) return false;
  }
  begin_step(certificate, begin.t, end.t);
  prove_all(certificate);
  return true;
}

static StepProof prove(void *proofs, const WatchedStep *step, bool agrees, bool is_far) {
  Certificate *certificate = proofs;
  ConstMoment begin = {step->segment->t0, step->segment->begin}, end = {step->segment->t1, step->segment->end};
  begin_step(certificate, begin.t, end.t);
  if (prover_scope(certificate->prover) == PROVER_NOTHING) {
    prove_all(certificate);
    return STEP_PROVEN;
  }
  const IndexVec *columns = columns_of(certificate);
  if (!columns) return STEP_UNTRIED;
  uint64_t before = certificate->totals.evaluations;
  if (step->inside != INSIDE_KNOWN && is_far && make_cubics(certificate, columns, begin, end))
    certificate->proof = prove_along(certificate, certificate->cubics, 0, agrees, true);
  if (step->inside != INSIDE_UNREAD && !is_whole(&certificate->proof))
    prove_by_segment(certificate, step, agrees, is_far);
  if (is_whole(&certificate->proof)) return STEP_PROVEN;
  return certificate->totals.evaluations > before ? STEP_OPEN : STEP_UNTRIED;
}

static void prove_inside(void *proofs, const WatchedStep *step, bool agrees) {
  Certificate *certificate = proofs;
  if (!certificate->is_inside) prove_by_segment(certificate, step, agrees, false);
}

static bool bracket(void *proofs, double *low, double *high) {
  const Certificate *certificate = proofs;
  *low = certificate->proof.low;
  *high = certificate->proof.high;
  return !isnan(*high);
}

static void open_interval(void *proofs, double *low, double *high) {
  const Certificate *certificate = proofs;
  const Proof *proof = &certificate->proof;
  if (isnan(proof->first)) return; /* the proof contradicts the search */
  *low = proof->first;
  *high = proof->last;
}

static bool point_of(void *host, const Segment *segment, double t, double *y) {
  return view_point(((Certificate *)host)->view, segment, t, y) == EVAL_OK;
}

Watcher *certificate_watch(Heap *heap, Certificate *certificate) {
  static const ProofMethods methods = {covers, prove, prove_inside, bracket, open_interval};
  const View *view = certificate->view;
  WatcherPlan plan = {.host = certificate,
                      .edges = view->switches ? &view->switches->edges : NULL,
                      .system = &view->system,
                      .point = point_of,
                      .columns = view->watched.data,
                      .count = view->watched.count,
                      .reads_none = view->reads_none,
                      .methods = &methods,
                      .proofs = certificate};
  return watcher_new(heap, &plan);
}

void certificate_end(Certificate *certificate, double t) {
  Proof *proof = &certificate->proof;
  double start = certificate->pending.from;
  certificate->pending.to = t;
  if (proof->low <= t && t <= proof->high) proof->proven += t - proof->low;
  else if (t < proof->last || t < proof->high) {
    proof->proven = proof->first < t ? proof->first - start : 0;
    proof->first = start + proof->proven;
    proof->last = t;
  }
}

static void add_unproven(Certificate *certificate, double from, double to) {
  TimeSpanVec *spans = &certificate->unproven;
  if (spans->count && vec_last(spans).to >= from) vec_last(spans).to = to;
  else if (spans->count < LISTED) vec_push(certificate->heap, spans, (TimeSpan){from, to});
}

void certificate_accept(Certificate *certificate, double t) {
  if (!certificate->is_pending) return;
  const Proof *proof = &certificate->proof;
  TimeSpan span = certificate->pending;
  certificate->is_pending = false;
  if (span.to > t) return;
  if (span.from > certificate->covered) { /* a step that was not examined, like one over a fold */
    certificate->totals.time += span.from - certificate->covered;
    add_unproven(certificate, certificate->covered, span.from);
  }
  certificate->covered = span.to;
  certificate->totals.time += span.to - span.from;
  if (certificate->has_calls) {
    add_unproven(certificate, span.from, span.to);
    return;
  }
  certificate->totals.proven += proof->proven;
  if (proof->proven < span.to - span.from && proof->last > proof->first)
    add_unproven(certificate, proof->first, proof->last);
}

void certificate_lose_branch(Certificate *certificate) { certificate->totals.has_lost_branch = true; }

CertificateTotals certificate_totals(const Certificate *certificate) { return certificate->totals; }

const TimeSpanVec *certificate_unproven(const Certificate *certificate) { return &certificate->unproven; }
