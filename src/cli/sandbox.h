/* sandbox: takes from the process the rights that a command does not need, before it reads a model (--sandbox). */
#pragma once

#include "cli/command.h"

/* From here on the process opens only files that the arguments and the model's folders cover, writes only where the outputs
 * go, and makes no connections and no other processes. False after a message: the kernel cannot do it, or what is asked
 * for needs those rights. */
bool sandbox_enter(const Arguments *arguments);
