/* sandbox: removes rights that a command does not need from the process, before it reads a model. */
#pragma once

#include "cli/command.h"

/* For --sandbox: from here on the process opens only files that the arguments and the model's folders cover. It writes only to the
 * outputs, and makes no connections and no other processes. false after a message: the kernel cannot restrict the process in
 * this way, or the request needs more rights. */
bool sandbox_enter(const Arguments *arguments);

/* Without an option: any file may be read. Only the folders of the outputs, the working directory, the directory for temporary
 * files and devices may be written. Connections and other programs are refused. Does nothing if the kernel cannot do it, or if the
 * compiler, external functions or MPI need more. */
void sandbox_enter_default(const Arguments *arguments);
