/* quiet: a cheap look at conditions that are far from their edges. Where the differences of all modes and their rates are sums of columns,
 * the time and values that only events change, with constant coefficients, a few products at the end of a step tell whether any can have
 * come near its edge since it was looked at closely; most never do. */
#pragma once

#include "code/evaluator.h"

typedef struct Quiet Quiet;

/* For the modes of the evaluator's code, none of which is known yet; NULL where a difference is not such a sum. Where a rate is none nothing
 * ever holds. Lives in the heap. */
Quiet *quiet_new(Heap *heap, const Evaluator *evaluator);

/* After a close look at mode m: its difference, how far that is from its edge, and how fast it moved of late. */
void quiet_set(Quiet *quiet, uint32_t m, double difference, double margin, double speed);

/* No mode is known any longer, until quiet_set. */
void quiet_forget(Quiet *quiet);

/* At the end of a step of this size, at (t, y): is every mode known, and sure not to have reached its edge since its close look? */
bool quiet_holds(const Quiet *quiet, double t, const double *y, double step);
