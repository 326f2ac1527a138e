/* lookups: the tables that objects of an exported model are, as C99 data (external/lookup.h). */
#pragma once

#include "export/runtime.h"
#include "export/source.h"

/* The table of each parameter that is an object, by number; MAP_NONE for others. In the arena. */
const uint32_t *lookups_number(Arena *arena, const ExportSource *source, uint32_t *count);

/* The array `lookups` of them, and LOOKUPS, their number; appended. */
void lookups_write(Heap *heap, Arena *arena, const ExportSource *source, TextVec *out);

/* Parameters that objects are made of, themselves or by others: an exported model cannot make its tables again. In the arena. */
const bool *lookups_parameters(Arena *arena, const ExportSource *source);

/* Which files of the runtime an exported model needs, by their use. */
void export_needs(Arena *arena, const ExportSource *source, bool needs[RUNTIME_USES]);
