/* sandbox: takes from the process the rights that a command does not need, before it reads a model. */
#pragma once

#include "cli/command.h"

/* --sandbox: from here on the process opens only files that the arguments and the model's folders cover, writes only where the
 * outputs go, and makes no connections and no other processes. false after a message: the kernel cannot do it, or the request needs
 * those rights. */
bool sandbox_enter(const Arguments *arguments);

/* Without an option: any file may be read. Only the folders of the outputs, the working directory, the directory for temporary
 * files and devices may be written. There are no connections and no programs. Nothing happens where the kernel cannot do it, or
 * where the compiler, external functions or MPI need more. */
void sandbox_enter_default(const Arguments *arguments);
