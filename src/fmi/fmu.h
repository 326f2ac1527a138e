/* fmu: the binary of an FMU, unpacked and loaded, with one interface for FMI 2.0 and 3.0.
 *
 * Invariant: the folder that the FMU was unpacked to is removed, and the library closed, with the heap. An FMU runs foreign code:
 * the caller must have the user's permission. A function that fails writes the reason to `failure`. */
#pragma once

#include "fmi/description.h"
#include "fmi/zip.h"

enum { FMU_MESSAGE = 512 };

typedef struct Fmu {
  Heap *heap;
  const FmiDescription *description;
  bool is_exchange;
  bool saves; /* its state can be saved and restored */
  char *folder;
  void *library, *component;
  const struct FmiFunctions *functions;
  char failure[FMU_MESSAGE]; /* the last failure, after the FMU's own log messages */
} Fmu;

/* The description of an FMU in memory; NULL: the reason is in the arena. */
FmiDescription *fmu_describe(const Zip *zip, Arena *arena, const char **failure);

/* Unpacks, loads and instantiates the FMU. false: see fmu->failure. */
bool fmu_load(Fmu *fmu, Heap *heap, const Zip *zip, const FmiDescription *description, bool is_exchange);

/* Sets or gets values of variables, all elements of an array one after another. */
bool fmu_set(Fmu *fmu, const FmiScalar *scalars, uint32_t count, const double *values);
bool fmu_get(Fmu *fmu, const FmiScalar *scalars, uint32_t count, double *values);

/* fmu_begin enters initialization mode. Parameters are set before it, inputs during it. */
bool fmu_begin(Fmu *fmu, double start, double tolerance);
bool fmu_end_initialization(Fmu *fmu);
bool fmu_reset(Fmu *fmu);

/* ---- model exchange ---- */

/* The result of an event. */
typedef struct FmuEvent {
  bool terminates;
  double next; /* time of the next event; INFINITY: none is known */
} FmuEvent;

bool fmu_enter_event_mode(Fmu *fmu);
bool fmu_update(Fmu *fmu, FmuEvent *event); /* repeats until nothing changes; ends in continuous-time mode */
bool fmu_set_time(Fmu *fmu, double time);
bool fmu_set_states(Fmu *fmu, const double *states);
bool fmu_get_states(Fmu *fmu, double *states);
bool fmu_get_rates(Fmu *fmu, double *rates);
bool fmu_get_indicators(Fmu *fmu, double *indicators);

/* ---- co-simulation ---- */

bool fmu_step(Fmu *fmu, double time, double step, bool *terminates);

/* ---- the state of the whole ---- */

/* Saves the state in *state, over an earlier one (NULL: new). It belongs to the FMU. */
bool fmu_save(Fmu *fmu, void **state);
bool fmu_restore(Fmu *fmu, void *state);
void fmu_forget(Fmu *fmu, void **state);
