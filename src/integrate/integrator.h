/* integrator: the methods of this build (contract.h), and the segments (segment/segment.h) that their steps return. */
#pragma once

#include "integrate/contract.h"
#include "segment/segment.h"

#define SOLVER(id) extern const Integrator integrator_##id;
#include "integrate/solvers.def"

/* The solver that leaves the choice of the integrator to the run. */
#define SOLVER_AUTO "auto"

/* Command-line names of the solvers, SOLVER_AUTO first; NULL-terminated. */
extern const char *const solver_names[];

/* Makes the segment describe the last step, which began at `begin`. Valid until the next call of step, start or switch_states. */
void integrator_segment(const Integrator *integrator, void *self, double t0, const double *begin, Segment *segment);

/* In the order of the table; NULL after the last. */
const Integrator *integrator_at(uint32_t index);

/* By command-line name; NULL if this build has none. */
const Integrator *integrator_find(const char *name);
