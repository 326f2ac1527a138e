/* quiet: a cheap look at conditions that are far from their edges. Where the differences of all modes and their rates are sums of columns,
 * parameters and discrete values with constant coefficients, a few products at the end of a step tell whether any can have come near its
 * edge since it was looked at closely; most never do. */
#pragma once

#include "code/evaluator.h"

typedef struct Quiet Quiet;

/* For the modes of the evaluator's code; NULL where one is not such a sum. Lives in the heap. */
Quiet *quiet_new(Heap *heap, Evaluator *evaluator);

/* After a close look at mode m: its difference, how far that is from its edge, and how fast it moved of late. */
void quiet_set(Quiet *quiet, uint32_t m, double difference, double margin, double speed);

/* At the end of a step of this size, at (t, y): is every mode sure not to have reached its edge since its close look? */
bool quiet_holds(const Quiet *quiet, double t, const double *y, double step);
