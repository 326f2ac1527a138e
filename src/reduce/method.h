/* method: one file and one const struct for each way to reduce the index; methods.def lists them. */
#pragma once

#include "reduce/reduction.h"

typedef struct Method {
  const char *name;        /* as on the command line */
  const char *description; /* one line */

  /* Every constraint, written or hidden, holds to the accuracy of the equations: a residual above the tolerance is an error.
   * Otherwise it may drift, and the drift is reported. */
  bool enforces_all;
  bool chooses;          /* the form depends on the point: it has a choice of states */
  bool offers_preferred; /* the choice includes variables that stateSelect prefers and no equation differentiates */
  bool is_solved;        /* it is printed as explicit equations */
  bool needs_values;     /* it makes its system from the initial values, and has none without them */
  bool by_ranks;         /* numerical ranks decide: structural information helps, but may be wrong */

  /* Fills form, reduced and counts. false: the method does not apply; an error says why, and which methods do. */
  bool (*apply)(Reduction *reduction);
} Method;

#define METHOD(id) extern const Method method_##id;
#include "reduce/methods.def"

/* By command-line name; NULL if there is none. */
const Method *method_find(const char *name);

/* Their names, NULL after the last. */
extern const char *const method_names[];

/* Method number `index` of the table; NULL after the last. */
const Method *method_at(uint32_t index);
