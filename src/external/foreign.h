/* foreign: functions in libraries, called by the mapping of arguments of Modelica 3.6, section 12.9. */
#pragma once

/* Begins the name of a function that returns the address of another one. */
#define EXTERNAL_TELLER "daedal_address_"

#include "external/external.h"
#include "external/matrix_file.h"

/* What functions in C call back (Modelica 3.6, section 12.9.6); the library that they are in has a variable of this type. */
typedef struct ForeignServices {
  void (*error)(const char *text); /* does not return */
  void (*message)(const char *text);
  char *(*allocate)(size_t size); /* NULL if there is no memory */
} ForeignServices;

#define EXTERNAL_SERVICES "daedal_services"
extern const ForeignServices foreign_services;

/* Runs External.address. */
bool external_foreign(ExternalCall *call);

/* Calls a library's function usertab, at this address, for the table of this name, as the standard library does.
 * dimensions: 1 or 2; 0 for a table over time. false after external_fail. */
bool foreign_table(ExternalCall *call, void (*address)(void), const char *name, int dimensions, Matrix *matrix);
