/* foreign: functions in libraries, called by the mapping of arguments of Modelica 3.6, section 12.9. */
#pragma once

#include "external/external.h"

/* Runs External.address. */
bool external_foreign(ExternalCall *call);
