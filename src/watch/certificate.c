/* certificate: see certificate.h. */
#include "watch/certificate.h"

#include "watch/prover.h"

#include <math.h>

enum {
  UNPROVEN_LIMIT = 100, /* spans that are listed */
  HERMITE_DEGREE = 3
};

/* Proofs may cost this part of what the steps do, and so many lines before: about twenty milliseconds. */
static const double PART_OF_STEPS = 0.25, FIRST_CREDIT = 4e6;

/* What a step does for each evaluation of a row beside that, in lines: stages, factors, error estimates. By instructions of small models. */
static const double BESIDE_ROW = 20;

/* Of the coefficients that are made of samples, over the largest of a column. */
static const double ROUND_OFF = 64 * DBL_EPSILON;

struct Certificate {
  Heap *heap;
  View *view;
  Prover *prover;
  Segment *segment;
  double credit;      /* what proofs may still cost, in lines of plain numbers */
  double lines_a_row; /* what an evaluation of a row costs */
  uint64_t counted;   /* evaluations of rows and entries that the credit is for */
  CertificateTotals totals;
  TimeSpanVec unproven;
  double covered;   /* the end of the last step that counts; NAN: none does yet */
  TimeSpan pending; /* the last step that was looked at */
  Proof proof;      /* of it */
  bool is_pending;
};

Certificate *certificate_new(Heap *heap, View *view) {
  Certificate *certificate = heap_alloc(heap, sizeof *certificate);
  *certificate = (Certificate){.heap = heap, .view = view};
  certificate->prover = prover_new(heap, view->evaluator, view->switches, view->states);
  certificate->segment = segment_new(heap, view->system.columns);
  certificate->credit = FIRST_CREDIT;
  certificate->covered = NAN;
  certificate->counted = view->evaluator->row_evaluations + view->evaluator->entry_evaluations;
  double rows = fmax(1, (double)view->evaluator->array->rows);
  certificate->lines_a_row = BESIDE_ROW + (double)program_size(view->evaluator->code->rows).lines / rows;
  return certificate;
}

void certificate_begin(Certificate *certificate) { prover_restart(certificate->prover); }

double certificate_credit(Certificate *certificate) {
  const Evaluator *evaluator = certificate->view->evaluator;
  uint64_t now = evaluator->row_evaluations + evaluator->entry_evaluations;
  certificate->credit += PART_OF_STEPS * (double)(now - certificate->counted) * certificate->lines_a_row;
  certificate->counted = now;
  return certificate->credit;
}

void certificate_set_credit(Certificate *certificate, double credit) {
  certificate_credit(certificate);
  certificate->credit = credit;
  prover_forget(certificate->prover);
}

/* Hermite's cubic, of values and rates at both ends, where the step has nothing better. false: a rate is not known. */
static bool make_cubics(Certificate *certificate, const IndexVec *columns, ConstMoment begin, ConstMoment end) {
  const int32_t *successor = certificate->view->system.successor;
  double third = (end.t - begin.t) / 3;
  segment_begin(certificate->segment, begin.t, end.t, HERMITE_DEGREE, (SegmentSource){0});
  for (uint32_t k = 0; k < columns->count; k++) {
    uint32_t q = columns->data[k];
    int32_t rate = successor ? successor[q] : -1;
    if (rate < 0 && view_is_state(&certificate->view->system, q)) return false;
    double *to = segment_set(certificate->segment, q);
    to[0] = begin.y[q];
    to[3] = end.y[q];
    to[1] = rate < 0 ? (2 * to[0] + to[3]) / 3 : to[0] + third * begin.y[rate];
    to[2] = rate < 0 ? (to[0] + 2 * to[3]) / 3 : to[3] - third * end.y[rate];
  }
  return true;
}

static Proof prove_along(Certificate *certificate, double slack, double until) {
  ProverStep step = {certificate->segment, slack};
  uint64_t half = (uint64_t)fmax(certificate_credit(certificate) / 2, 0); /* the rest is for later steps */
  Proof proof = prover_prove(certificate->prover, &step, until, half);
  certificate->credit -= (double)proof.cost;
  return proof;
}

/* Where the dense output would take evaluations, it is asked for only if Hermite's cubics leave something open. */
static Proof prove(Certificate *certificate, const Integrator *integrator, void *self, ConstMoment begin, double until,
                   StepInside inside) {
  const System *system = &certificate->view->system;
  Proof proof = {.first = begin.t, .last = until, .candidate = NAN};
  if (!(certificate_credit(certificate) > 0)) return proof;
  const IndexVec *columns = prover_columns(certificate->prover, system->link_from, system->links);
  certificate->credit -= (double)prover_take_debt(certificate->prover);
  if (prover_scope(certificate->prover) != PROVER_ABLE) return proof;
  ConstMoment end = {integrator->time(self), integrator->values(self)};
  if (inside != INSIDE_KNOWN && make_cubics(certificate, columns, begin, end))
    proof = prove_along(certificate, 0, until);
  if (inside == INSIDE_UNREAD || (proof.proven > 0 && isnan(proof.candidate) && !(proof.last > proof.first)))
    return proof;
  if (!integrator_segment(integrator, self, begin.t, certificate->segment)) return proof;
  segment_need(certificate->segment, columns->data, columns->count);
  uint64_t evaluations = proof.evaluations;
  proof = prove_along(certificate, ROUND_OFF, until);
  proof.evaluations += evaluations;
  return proof;
}

double certificate_step(Certificate *certificate, const Integrator *integrator, void *self, ConstMoment before,
                        double until, StepInside inside) {
  certificate_accept(certificate, before.t);
  if (prover_scope(certificate->prover) == PROVER_NOTHING)
    certificate->proof = (Proof){.proven = until - before.t, .candidate = NAN};
  else certificate->proof = prove(certificate, integrator, self, before, until, inside);
  certificate->pending = (TimeSpan){before.t, until};
  certificate->is_pending = true;
  certificate->totals.evaluations += certificate->proof.evaluations;
  return certificate->proof.candidate;
}

static void add_unproven(Certificate *certificate, double from, double to) {
  TimeSpanVec *spans = &certificate->unproven;
  if (spans->count && vec_last(spans).to >= from) vec_last(spans).to = to;
  else if (spans->count < UNPROVEN_LIMIT) vec_push(certificate->heap, spans, (TimeSpan){from, to});
}

void certificate_accept(Certificate *certificate, double t) {
  if (!certificate->is_pending) return;
  const Proof *proof = &certificate->proof;
  TimeSpan span = certificate->pending;
  certificate->is_pending = false;
  if (span.to > t) return;
  if (span.from > certificate->covered) { /* a step that nobody looked at, as over a fold */
    certificate->totals.time += span.from - certificate->covered;
    add_unproven(certificate, certificate->covered, span.from);
  }
  certificate->covered = span.to;
  certificate->totals.time += span.to - span.from;
  certificate->totals.proven += proof->proven;
  if (proof->proven < span.to - span.from && proof->last > proof->first)
    add_unproven(certificate, proof->first, proof->last);
}

CertificateTotals certificate_totals(const Certificate *certificate) { return certificate->totals; }

const TimeSpanVec *certificate_unproven(const Certificate *certificate) { return &certificate->unproven; }
