/* text: the model around an FMU, in Modelica: its variables under their own names, and equations that call the FMU
 * (external/fmu.c). Inputs are inputs of the model, parameters are parameters; so an FMU is run, swept, fitted and used in other
 * models like any model. */
#pragma once

#include "fmi/description.h"

/* How an FMU that offers both is used. */
typedef enum FmuKind { FMU_ANY, FMU_EXCHANGE, FMU_COSIMULATION } FmuKind;

/* Appends the text of the model of this name; `path` is that of the FMU. false: it does not offer the kind. */
bool fmu_write_model(Heap *heap, const FmiDescription *description, const char *name, const char *path, FmuKind kind,
                     TextVec *text);
