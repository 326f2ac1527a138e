/* description: modelDescription.xml and the files next to it, for FMI 2.0 and 3.0. */
#pragma once

#include "export/dependencies.h"

/* The interfaces that an FMU offers. */
typedef struct FmuKinds {
  int version; /* 2 or 3 */
  bool has_exchange, has_cosimulation;
} FmuKinds;

typedef struct Description {
  const ExportSource *source;
  const ExportVariables *variables;
  const Dependencies *dependencies;
  FmuKinds kinds;
  const char *identifier, *token, *tool;
  const char *const *sources; /* names of C files */
  uint32_t source_count;
} Description;

/* Appends the text of modelDescription.xml. O(variables). */
void description_write(Heap *heap, const Description *description, TextVec *out);

/* Appends the text of sources/buildDescription.xml of FMI 3.0. */
void description_write_build(Heap *heap, const Description *description, TextVec *out);

/* Appends the text of terminalsAndIcons/terminalsAndIcons.xml of FMI 3.0: the inputs and outputs of a component are a terminal.
 * false: there are none. */
bool description_write_terminals(Heap *heap, const Description *description, TextVec *out);
