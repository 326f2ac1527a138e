/* foreign: functions in libraries, called by the mapping of arguments of Modelica 3.6, section 12.9. */
#pragma once

/* Begins the name of a function that tells the address of another one. */
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

/* The table of this name that the function usertab of a library, at this address, gives, as the standard library's tables ask for it; dimensions: 1 or 2, 0 of a table over
 * time. false after external_fail. */
bool foreign_table(ExternalCall *call, void (*address)(void), const char *name, int dimensions, Matrix *matrix);
