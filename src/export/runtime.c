/* runtime: see runtime.h. */
#include "export/runtime.h"

#include <string.h>

static bool has_delays(const ExportSource *source) { return source->evaluator->code->modes->logic->delays.count > 0; }

static bool has_events(const ExportSource *source) {
  const Modes *modes = source->evaluator->code->modes;
  return modes->count || modes->kinks || source->decisions || source->branches->count || has_delays(source);
}

static void find_needs(const ExportSource *source, bool needs[RUNTIME_USES]) {
  memset(needs, 0, RUNTIME_USES * sizeof *needs);
  needs[RUNTIME_ALWAYS] = true;
  for (uint32_t k = 0; k < source->systems; k++) {
    needs[RUNTIME_EVENTS] = needs[RUNTIME_EVENTS] || has_events(&source[k]);
    needs[RUNTIME_DELAYS] = needs[RUNTIME_DELAYS] || has_delays(&source[k]);
  }
  needs[RUNTIME_NO_EVENTS] = !needs[RUNTIME_EVENTS];
  needs[RUNTIME_NO_DELAYS] = !needs[RUNTIME_DELAYS];
}

static bool is_named(const char *symbol, const char *const *texts, uint32_t count) {
  for (uint32_t k = 0; k < count; k++)
    if (strstr(texts[k], symbol)) return true;
  return false;
}

/* The interfaces, of which an export has one, begin with these names. */
static bool is_other_interface(const char *name, const char *interface) {
  static const char *const interfaces[] = {"main.c", "fmi2.c", "fmi3.c"};
  if (strcmp(interface, "main.c") == 0 && strcmp(name, "fmi.c") == 0) return true;
  for (size_t k = 0; k < sizeof interfaces / sizeof *interfaces; k++)
    if (strcmp(name, interfaces[k]) == 0) return strcmp(name, interface) != 0;
  return false;
}

static bool is_header(const RuntimeFile *file) { return !strstr(file->name, ".c"); }

/* Chooses the headers that the text includes. Returns true if one was not chosen before. */
static bool choose_included(const char *text, bool *chosen) {
  static const char begin[] = "#include \"";
  bool any = false;
  while ((text = strstr(text, begin))) {
    text += sizeof begin - 1;
    size_t length = strcspn(text, "\"");
    for (size_t k = 0; runtime_files[k].name; k++) {
      const RuntimeFile *file = &runtime_files[k];
      if (chosen[k] || strlen(file->name) != length || memcmp(file->name, text, length) != 0) continue;
      any = chosen[k] = true;
    }
  }
  return any;
}

bool *runtime_choose(Arena *arena, const ExportSource *source, const char *interface, const char *const *texts,
                     uint32_t count) {
  bool needs[RUNTIME_USES], any = true;
  size_t files = 0;
  while (runtime_files[files].name) files++;
  bool *chosen = arena_array(arena, files + 1, sizeof *chosen);
  find_needs(source, needs);
  for (size_t k = 0; k < files; k++) {
    const RuntimeFile *file = &runtime_files[k];
    chosen[k] = needs[file->use] && (!file->symbol || is_named(file->symbol, texts, count)) && !is_header(file) &&
                !is_other_interface(file->name, interface);
  }
  for (uint32_t k = 0; k < count; k++) choose_included(texts[k], chosen);
  while (any) {
    any = false;
    for (size_t k = 0; k < files; k++)
      if (chosen[k]) any = choose_included(runtime_files[k].text, chosen) || any;
  }
  return chosen;
}
