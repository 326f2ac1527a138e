/* lapack: routines of LAPACK as external functions. */
#pragma once

#include "external/external.h"

/* Checks the arguments against External.arguments (functions.def), then runs External.address on copies of them. */
bool external_lapack(ExternalCall *call);
