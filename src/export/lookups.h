/* lookups: the tables in the objects of an exported model, as C99 data (external/lookup.h). */
#pragma once

#include "export/source.h"

/* The table number of each parameter that is an object; MAP_NONE for others. In the arena. */
const uint32_t *lookups_number(Arena *arena, const ExportSource *source, uint32_t *count);

/* Appends the array `lookups` of these tables, and LOOKUPS, their number. */
void lookups_write(Heap *heap, Arena *arena, const ExportSource *source, TextVec *out);

/* The parameters from which objects are made, directly or through others: an exported model cannot make its tables again. In the
 * arena. */
const bool *lookups_parameters(Arena *arena, const ExportSource *source);
