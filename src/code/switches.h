/* switches: the modes of relations made numeric. Between events the modes are frozen in the evaluator's discrete values;
 * a relation that no longer agrees with its mode is an event. */
#ifndef DAEDAL_CODE_SWITCHES_H
#define DAEDAL_CODE_SWITCHES_H

#include "array/modes.h"
#include "code/evaluator.h"

typedef struct Switches {
  const Modes *modes;
  Evaluator *evaluator;
  Workspace *workspace; /* of the conditions of the evaluator's code */
  double *difference;   /* of the last evaluation */
  double *before;       /* at the end of the last step; see switches_keep */
  double *scale;        /* largest size of each difference at such ends */
  double *band;         /* part of its scale within which a difference contradicts no mode: round-off, unless widened */
  uint8_t *changes;     /* of each mode since switches_begin */
} Switches;

/* For the modes of the evaluator's code; NULL if it has none. Lives in the heap. */
Switches *switches_new(Heap *heap, Evaluator *evaluator);

/* Evaluates the differences at (t, y); false where one is not defined. */
bool switches_evaluate(Switches *switches, double t, const double *y);

/* Keeps the last differences as those at the end of a step. */
void switches_keep(Switches *switches);

/* May some difference have had another sign between the kept point and the last evaluation, although it has not at both? */
bool switches_may_hide(const Switches *switches);

/* Does relation m, by its last difference, contradict its mode? A difference within its band around zero contradicts nothing. */
bool switches_contradict(const Switches *switches, uint32_t m);

/* The last difference of relation m less the edge of its band that it has passed: zero where a contradiction begins. */
double switches_beyond(const Switches *switches, uint32_t m);

/* From now on relation m contradicts its mode only when passed by this part of its scale: hysteresis, for a solution that
 * slides along it. */
void switches_widen(Switches *switches, uint32_t m, double band);

/* Begins the search for modes that agree with their relations. */
void switches_begin(Switches *switches);

/* Sets every mode by its last difference; returns how many changed. A mode that has changed to and fro since
 * switches_begin stays: at an event the difference is zero but for round-off, and its sign then means nothing. */
uint32_t switches_set(Switches *switches);

#endif
