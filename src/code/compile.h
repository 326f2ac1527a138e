/* compile: programs as machine code. The C text of programs is compiled by the system's compiler and
 * loaded; workspaces made from then on give the same numbers without the tape. Worth it for long runs only: a
 * compiler takes about a millisecond per statement. */
#pragma once

#include "code/program.h"

/* Compiles and loads the code of all these programs, which are of one model, in one go. The text is in a private
 * directory under TMPDIR (or /tmp) which is gone when this returns; no shell is involved. A signal that would end the
 * program ends the compiler first. false: an error is in diags and the programs run as before. The code lives as long
 * as `heap`, which must not be destroyed before the programs. O(text), and the compiler's time. */
bool program_compile(Heap *heap, Program *const *programs, uint32_t count, Diags *diags);
