/* sandbox: takes from the process the rights that a command does not need, before it reads a model. */
#pragma once

#include "cli/command.h"

/* --sandbox: from here on the process opens only files that the arguments and the model's folders cover, writes only where the outputs
 * go, and makes no connections and no other processes. False after a message: the kernel cannot do it, or what is asked
 * for needs those rights. */
bool sandbox_enter(const Arguments *arguments);

/* What no option asks for: any file may be read, but only the folders of the outputs, the working directory, that for temporary
 * files and devices are written, and there are no connections and no programs. Nothing happens where the kernel cannot do it, or where the compiler,
 * external functions or MPI need more. */
void sandbox_enter_default(const Arguments *arguments);
