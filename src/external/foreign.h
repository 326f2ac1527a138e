/* foreign: calls functions in libraries, with arguments mapped as in Modelica 3.6, section 12.9. */
#pragma once

/* Prefix of the name of a function that returns the address of another one. */
#define EXTERNAL_TELLER "daedal_address_"

#include "external/external.h"
#include "external/matrix_file.h"

/* Utility functions that C functions may call (Modelica 3.6, section 12.9.6); their library has a variable of this type. */
typedef struct ForeignServices {
  void (*error)(const char *text); /* does not return */
  void (*message)(const char *text);
  char *(*allocate)(size_t size); /* NULL if there is no memory */
} ForeignServices;

#define EXTERNAL_SERVICES "daedal_services"
extern const ForeignServices foreign_services;

/* Runs External.address. */
bool external_foreign(ExternalCall *call);

/* Calls the function usertab of a library, at this address, for the table of this name, as the Modelica Standard Library does.
 * dimensions: 1 or 2; 0 for a table over time. false after external_fail. */
bool foreign_table(ExternalCall *call, void (*address)(void), const char *name, int dimensions, Matrix *matrix);
