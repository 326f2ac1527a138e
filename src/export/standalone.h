/* standalone: a directory of C99 that simulates the model without daedal: its tables, and the runtime. */
#pragma once

#include "export/tables.h"

/* Makes the files. false: an error is in diags, DIAG_STRUCTURE if the model cannot be exported. In the heap; O(text). */
bool export_standalone(Heap *heap, const ExportSource *sources, ExportFiles *files, Diags *diags);
