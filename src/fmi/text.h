/* text: the Modelica model around an FMU: its variables under their own names, and equations that call the FMU (external/fmu.c).
 * Inputs and parameters of the FMU are those of the model, so an FMU can be run, swept, fitted and used in other models like any
 * model. */
#pragma once

#include "fmi/description.h"

/* The interface to use of an FMU that offers both. */
typedef enum FmuKind { FMU_ANY, FMU_EXCHANGE, FMU_COSIMULATION } FmuKind;

/* Appends the text of a model with this name; `path` is the path of the FMU. false: the FMU does not offer this kind. */
bool fmu_write_model(Heap *heap, const FmiDescription *description, const char *name, const char *path, FmuKind kind,
                     TextVec *text);
