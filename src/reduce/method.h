/* method: one file and one const struct for each way to reduce the index; this table finds them by name. */
#ifndef DAEDAL_REDUCE_METHOD_H
#define DAEDAL_REDUCE_METHOD_H

#include "reduce/reduction.h"

typedef struct Method {
  const char *name;        /* as on the command line */
  const char *description; /* one line */

  /* Every constraint, written or hidden, holds to the accuracy of the equations: a residual beyond the tolerance
   * is an error. Otherwise it may drift, and the drift is reported. */
  bool enforces_all;
  bool chooses;   /* the form depends on the point: it has a choice of states */
  bool is_solved; /* its text is in explicit equations */

  /* Fills form, reduced and counts. false: the method does not apply; an error says why and what would. */
  bool (*apply)(Reduction *reduction);
} Method;

extern const Method method_dummy, method_minimal, method_projection, method_baumgarte, method_ggl, method_underlying,
    method_overdetermined, method_strangeness, method_none;

/* By command-line name; NULL if there is none. Method strangeness makes no form of the array but goes its own way (strangeness.h). */
const Method *method_find(const char *name);

/* Their names, NULL behind the last. */
extern const char *const method_names[];

/* All of them, in the order of the table; NULL behind the last. */
const Method *method_at(uint32_t index);

#endif
