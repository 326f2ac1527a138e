/* compile: programs as machine code. The system's compiler compiles the C text of programs, which is then loaded; workspaces
 * made afterwards give the same numbers without the tape. This pays only for long runs: a compiler takes about a millisecond
 * per statement. */
#pragma once

#include "code/program.h"

/* Compiles all these programs, which belong to one model, together, and loads their code. The text is in a private directory under
 * TMPDIR (or /tmp), which is removed before this returns; no shell is involved. A signal that would end the program ends the
 * compiler first. false: an error is in diags and the programs run as before. The code lives as long as `heap`, which must not be
 * destroyed before the programs. O(text), plus the compiler's time. */
bool program_compile(Heap *heap, Program *const *programs, uint32_t count, Diags *diags);
