/* nogood: discrete values with which some rows of the initial system have no solution, whatever the other rows are. The search for
 * modes skips every combination that contains such values (nogoods of constraint satisfaction: Stallman and Sussman
 * 1977). */
#pragma once

#include "init/system.h"

/* A discrete variable or mode, or pre() of it. */
typedef struct NogoodLeaf {
  uint32_t index;
  bool is_pre;
  double value;
} NogoodLeaf;

typedef VEC(NogoodLeaf) Nogood;
typedef VEC(Nogood) NogoodVec;

/* The discrete leaves in rows of the system, with their present values; NULL rows: in all of them. Owned by the system's heap. */
Nogood nogood_of_rows(const InitialSystem *system, const IndexVec *rows);

/* Do the present values match one of them? */
bool nogood_holds(const NogoodVec *nogoods, const Evaluator *evaluator);
