/* fmu: the binary of an FMU, unpacked and loaded, after one interface for FMI 2.0 and 3.0.
 *
 * Invariant: the folder that the FMU was unpacked to is removed, and the library closed, with the heap. An FMU runs code of
 * strangers: who calls this has the leave of the user. A function that fails says why in `failure`. */
#pragma once

#include "fmi/description.h"
#include "fmi/zip.h"

enum { FMU_MESSAGE = 512 };

typedef struct Fmu {
  Heap *heap;
  const FmiDescription *description;
  bool is_exchange;
  bool saves; /* its state can be taken and set again */
  char *folder;
  void *library, *component;
  const struct FmiFunctions *functions;
  char failure[FMU_MESSAGE]; /* the last one; what the FMU itself logged stands in front */
} Fmu;

/* The description of an FMU in memory; NULL with the reason in the arena. */
FmiDescription *fmu_describe(const Zip *zip, Arena *arena, const char **failure);

/* Unpacks, loads and instantiates it. false: see fmu->failure. */
bool fmu_load(Fmu *fmu, Heap *heap, const Zip *zip, const FmiDescription *description, bool is_exchange);

/* Values of variables, all elements of an array one after the other. */
bool fmu_set(Fmu *fmu, const FmiScalar *scalars, uint32_t count, const double *values);
bool fmu_get(Fmu *fmu, const FmiScalar *scalars, uint32_t count, double *values);

/* Initialization mode; before it, values of parameters are set, in it those of inputs. */
bool fmu_begin(Fmu *fmu, double start, double tolerance);
bool fmu_end_initialization(Fmu *fmu);
bool fmu_reset(Fmu *fmu);

/* ---- model exchange ---- */

/* What an event brings. */
typedef struct FmuEvent {
  bool terminates;
  double next; /* time of the next event; INFINITY: none is known */
} FmuEvent;

bool fmu_enter_event_mode(Fmu *fmu);
bool fmu_update(Fmu *fmu, FmuEvent *event); /* until nothing changes any more; then in continuous-time mode */
bool fmu_set_time(Fmu *fmu, double time);
bool fmu_set_states(Fmu *fmu, const double *states);
bool fmu_get_states(Fmu *fmu, double *states);
bool fmu_get_rates(Fmu *fmu, double *rates);
bool fmu_get_indicators(Fmu *fmu, double *indicators);

/* ---- co-simulation ---- */

bool fmu_step(Fmu *fmu, double time, double step, bool *terminates);

/* ---- the state of the whole ---- */

/* Takes it, over what *state was (NULL: new); it belongs to the FMU. */
bool fmu_save(Fmu *fmu, void **state);
bool fmu_restore(Fmu *fmu, void *state);
void fmu_forget(Fmu *fmu, void **state);
