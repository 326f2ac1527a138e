/* lapack: routines of LAPACK as external functions. */
#pragma once

#include "external/external.h"

/* Checks the arguments against External.arguments (functions.def), then runs External.address on copies of them. */
bool external_lapack(ExternalCall *call);

/* BLAS and LAPACK call this when they refuse an argument. It does nothing, because the default one would print; the caller checks
 * info. (The shared library does not export the name, which would replace xerbla in the whole process.) */
void xerbla_(const char *routine, const int *argument, size_t length);
