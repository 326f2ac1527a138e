/* method: one file and one const struct for each way to reduce the index; methods.def lists them. */
#pragma once

#include "reduce/reduction.h"

typedef struct Method {
  const char *name;        /* as on the command line */
  const char *description; /* one line */

  /* Every constraint, written or hidden, holds to the accuracy of the equations: a residual beyond the tolerance
   * is an error. Otherwise it may drift, and the drift is reported. */
  bool enforces_all;
  bool chooses; /* the form depends on the point: it has a choice of states */
  bool
      offers_preferred; /* of the choice: variables that stateSelect prefers and no equation differentiates are among it */
  bool is_solved;       /* its text is in explicit equations */
  bool needs_values;    /* it makes a system of the initial values, and none without them */
  bool by_ranks;        /* numerical ranks decide: what structure says is of use, but may be wrong */

  /* Fills form, reduced and counts. false: the method does not apply; an error says why and what would. */
  bool (*apply)(Reduction *reduction);
} Method;

#define METHOD(id) extern const Method method_##id;
#include "reduce/methods.def"

/* By command-line name; NULL if there is none. */
const Method *method_find(const char *name);

/* Their names, NULL after the last. */
extern const char *const method_names[];

/* All of them, in the order of the table; NULL after the last. */
const Method *method_at(uint32_t index);
