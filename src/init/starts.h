/* starts: from the model's start values to columns of the array, through aliases. */
#ifndef DAEDAL_INIT_STARTS_H
#define DAEDAL_INIT_STARTS_H

#include "init/initial.h"

/* Fills initial->column[].{given, fixed, start, named} and the guesses in initial->y. Several fixed values of one alias class
 * that disagree are an error. */
bool starts_collect(const Evaluator *evaluator, const StartValues *starts, Initial *initial, Diags *diags);

/* Residuals of the initial equations with aliases put in; false (with an error) if one needs a derivative that the array
 * does not have. Owned by the heap. */
bool starts_equations(Heap *heap, const Evaluator *evaluator, ExprVec *residuals, Diags *diags);

#endif
