/* tables: the model of a solver as C99: its programs, and the tables through which the runtime finds them (struct Model of
 * runtime/solver.h). */
#pragma once

#include "code/export.h"
#include "export/variables.h"

/* Appends the text of model.c, or of another system of the model. false: the model calls a function that cannot be written as C; an
 * error is in diags. O(text). */
bool export_tables(Heap *heap, Arena *arena, const ExportSource *source, const ExportVariables *variables, TextVec *out,
                   Diags *diags);

/* The name of the file of a system: model.c, model1.c, ... */
const char *export_file_name(Arena *arena, uint32_t system);
