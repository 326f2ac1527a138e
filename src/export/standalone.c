/* standalone: see standalone.h. */
#include "export/standalone.h"

#include "export/runtime.h"

#include <string.h>

static void add_file(Heap *heap, ExportFiles *files, const char *name, const char *text) {
  vec_push(heap, files, (ExportFile){.name = name});
  text_append(heap, &vec_last(files).text, text, strlen(text));
}

static void add_makefile(Heap *heap, ExportFiles *files) {
  TextVec text = {0};
  text_printf(heap, &text,
              "# Builds the program `model`: make, then ./model [STOP [TOLERANCE]] > model.csv\n"
              "CC ?= cc\n"
              "CFLAGS ?= -Os -ffunction-sections -fdata-sections -fno-builtin-memset -fno-builtin-memcpy \\\n"
              "  -fno-asynchronous-unwind-tables -fno-math-errno -std=c99 -pedantic -Wall\n"
              "LDFLAGS ?= -Wl,--gc-sections -Wl,-z,noseparate-code\n"
              "SOURCES =");
  for (uint32_t k = 0; k < files->count; k++)
    if (strstr(files->data[k].name, ".c")) text_printf(heap, &text, " %s", files->data[k].name);
  text_printf(heap, &text,
              "\n\n# No fused operations: numbers are then the same everywhere.\n"
              "model: $(SOURCES) solver.h\n"
              "\t$(CC) $(CFLAGS) -ffp-contract=off -fno-pie -no-pie $(LDFLAGS) -o $@ $(SOURCES) -lm\n\n"
              "clean:\n"
              "\trm -f model\n\n"
              ".PHONY: clean\n");
  vec_push(heap, files, (ExportFile){.name = "Makefile", .text = text});
}

bool export_standalone(Heap *heap, const ExportSource *sources, ExportFiles *files, Diags *diags) {
  Arena *arena = &diags->arena;
  if (!export_possible(sources, diags)) return false;
  for (uint32_t k = 0; k < sources->systems; k++) {
    ExportVariables variables = export_variables(heap, arena, &sources[k]);
    vec_push(heap, files, (ExportFile){.name = export_file_name(arena, k)});
    if (!export_tables(heap, arena, &sources[k], &variables, &vec_last(files).text, diags)) return false;
  }
  const char **texts = arena_array(arena, files->count, sizeof *texts);
  for (uint32_t k = 0; k < files->count; k++) texts[k] = files->data[k].text.data;
  const bool *chosen = runtime_choose(arena, sources, "main.c", texts, files->count);
  for (size_t k = 0; runtime_files[k].name; k++)
    if (chosen[k]) add_file(heap, files, runtime_files[k].name, runtime_files[k].text);
  add_makefile(heap, files);
  return true;
}
