/* lapack: routines of LAPACK as external functions. */
#pragma once

#include "external/external.h"

/* Checks the arguments against External.arguments (functions.def), then runs External.address on copies of them. */
bool external_lapack(ExternalCall *call);

/* BLAS and LAPACK call this when they refuse an argument. It does nothing; the library's own would print. The caller
 * checks info. (The shared library does not export the name, which would be that of the whole process.) */
void xerbla_(const char *routine, const int *argument, size_t length);
