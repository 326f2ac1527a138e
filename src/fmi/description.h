/* description: the content of an FMU's modelDescription.xml (FMI 2.0.4, FMI 3.0.1), as far as a run needs it. */
#pragma once

#include <math.h>

#include "fmi/xml.h"

/* The type of a value in the functions of an FMU. Enumerations are Int32 in FMI 2 and Int64 in FMI 3. */
typedef enum FmiType {
  FMI_FLOAT64,
  FMI_FLOAT32,
  FMI_INT8,
  FMI_UINT8,
  FMI_INT16,
  FMI_UINT16,
  FMI_INT32,
  FMI_UINT32,
  FMI_INT64,
  FMI_UINT64,
  FMI_BOOLEAN,
  FMI_OTHER, /* String, Binary, Clock: not read here */
} FmiType;

/* The role of a variable in a model that contains the FMU. */
typedef enum FmiRole {
  FMI_PARAMETER,  /* may be set before the start */
  FMI_INPUT,      /* given from outside, continuous */
  FMI_SWITCH,     /* given from outside, may change at events only */
  FMI_STATE,      /* integrated outside, by model exchange */
  FMI_RATE,       /* the derivative of a state */
  FMI_CONTINUOUS, /* a function of time, states and inputs */
  FMI_DISCRETE,   /* changes at events only */
  FMI_ROLES,
} FmiRole;

/* A number: a scalar variable, or an element of an array. */
typedef struct FmiScalar {
  const char *name; /* with indices: x[2,1] */
  const char *unit, *description;
  uint32_t reference, element; /* value reference of its variable, and the position in it */
  uint32_t size;               /* elements of the variable */
  FmiType type;
  FmiRole role;
  double start, nominal; /* NAN: not given */
  bool is_integer;       /* Integer or enumeration */
  bool is_output;        /* of the FMU */
} FmiScalar;

typedef struct FmiDescription {
  uint32_t version; /* 2 or 3 */
  const char *name, *description, *token;
  const char *exchange, *cosimulation;     /* identifiers of the two interfaces; NULL: not offered */
  bool exchange_saves, cosimulation_saves; /* the state of the whole FMU can be saved and restored */
  double start, stop, tolerance, step;     /* NAN: not given */
  uint32_t indicators;
  FmiScalar *scalars; /* sorted by role; states in the order of their derivatives */
  uint32_t first[FMI_ROLES + 1];
} FmiDescription;

/* Reads the text; NULL: the reason is in the arena. */
FmiDescription *description_read(const char *text, Arena *arena, const char **failure);

static inline uint32_t description_count(const FmiDescription *description, FmiRole role) {
  return description->first[role + 1] - description->first[role];
}
static inline const FmiScalar *description_scalars(const FmiDescription *description, FmiRole role) {
  return description->scalars + description->first[role];
}
/* Does the state have a start value, which may be set before the start? */
static inline bool scalar_has_start(const FmiScalar *state) {
  return state->role == FMI_STATE && isfinite(state->start);
}

static inline bool scalar_is_real(const FmiScalar *scalar) {
  return scalar->type == FMI_FLOAT64 || scalar->type == FMI_FLOAT32;
}
