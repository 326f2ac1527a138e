/* functions: declarations of the functions of functions.def, for the list of functions and for the files that define them. */
#pragma once

#include "external/external.h"

#define FUNCTION(name, function, ...) bool external_##function(ExternalCall *call);
#define SMOOTH(name, function, signature) bool external_##function(ExternalCall *call);
#include "external/functions.def"
