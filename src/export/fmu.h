/* fmu: a model as a Functional Mock-up Unit of FMI 2.0 or 3.0: its description, its sources, and a binary for this platform made by
 * the system's compiler. */
#pragma once

#include "export/description.h"

/* Appends the bytes of the archive. false: an error is in diags, DIAG_STRUCTURE if the model cannot be exported,
 * DIAG_FILE if there is no compiler. In the heap; O(text), plus the compiler's time. */
bool export_fmu(Heap *heap, const ExportSource *sources, FmuKinds kinds, const char *tool, TextVec *bytes,
                Diags *diags);
