/* diagnostics_report: the diagnostics, as the last member of every JSON report. */
#pragma once

#include "base/diag.h"

/* Adds "diagnostics" to the object with which the text ends: the diagnostics of the model, then the diagnostics of the run (NULL:
 * none). */
void diagnostics_report_json(const Source *source, const Diags *model, const Diags *run, Heap *heap, TextVec *text);
