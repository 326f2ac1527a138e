/* standalone: see standalone.h. */
#include "export/standalone.h"

#include "export/runtime.h"

#include <string.h>

static const char makefile_text[] =
    "# Builds the program `model`: make, then ./model [STOP [TOLERANCE]] > model.csv\n"
    "CC ?= cc\n"
    "CFLAGS ?= -O2 -std=c99 -pedantic -Wall\n"
    "SOURCES = main.c model.c solver.c initial.c states.c events.c past.c profile.c radau.c matrix.c linear.c\n\n"
    "# No fused operations: numbers are then the same everywhere.\n"
    "model: $(SOURCES) solver.h\n"
    "\t$(CC) $(CFLAGS) -ffp-contract=off -o $@ $(SOURCES) -lm\n\n"
    "clean:\n"
    "\trm -f model\n\n"
    ".PHONY: clean\n";

static void add_file(Heap *heap, ExportFiles *files, const char *name, const char *text) {
  vec_push(heap, files, (ExportFile){.name = name});
  text_append(heap, &vec_last(files).text, text, strlen(text));
}

bool export_standalone(Heap *heap, const ExportSource *source, ExportFiles *files, Diags *diags) {
  Arena *arena = &diags->arena;
  if (!export_possible(source, diags)) return false;
  ExportVariables variables = export_variables(heap, arena, source);
  vec_push(heap, files, (ExportFile){.name = "model.c"});
  if (!export_tables(heap, arena, source, &variables, &vec_last(files).text, diags)) return false;
  for (const RuntimeFile *file = runtime_files; file->name; file++)
    if (strncmp(file->name, "fmi", 3) != 0) add_file(heap, files, file->name, file->text);
  add_file(heap, files, "Makefile", makefile_text);
  return true;
}
