/* verdict: messages for a structurally singular model, which name its smallest over- or under-determined part. */
#pragma once

#include "array/array.h"

/* Reports why `structure` of `problem` is not ok. */
void verdict_report(const Problem *problem, const Structure *structure, Diags *diags);

/* Adds the parts at fault to a message just made. */
void verdict_note(const Problem *problem, const Structure *structure, Diag *diag, Diags *diags);

/* Refuses a reinit of a variable that cannot be a state. */
void reset_report(const Model *model, const Action *reset, Diags *diags);
