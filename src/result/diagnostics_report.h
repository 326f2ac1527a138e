/* diagnostics_report: what was said, as the last member of every JSON report. */
#pragma once

#include "base/diag.h"

/* Adds "diagnostics" to the object that the text ends with: of the model, then of the run (NULL: none). */
void diagnostics_report_json(const Source *source, const Diags *model, const Diags *run, Heap *heap, TextVec *text);
