/* library: finds a function in the list of built-in functions, in LAPACK, or in a shared library that the user named. */
#include "external/foreign.h"
#include "external/functions.h"
#include "external/lapack.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LAPACK(title, ...) void title##_(void);
#include "external/functions.def"

/* clang-format off */
static const External FUNCTIONS[] = {
#define FUNCTION(title, function, letters, kind) \
  {.name = #title, .signature = letters, .run = external_##function, .effect = EFFECT_##kind},
#define SMOOTH(title, function, letters) \
  {.name = #title, .signature = letters, .run = external_##function, .is_smooth = true},
#define LAPACK(title, type, row) \
  {.name = #title, .run = external_lapack, .address = title##_, .is_fortran = true, .arguments = row, .result = EXTERNAL_##type},
#define ELIMINATION(title) {.name = #title, .is_smooth = true, .is_fortran = true},
#include "external/functions.def"
};
/* clang-format on */

static const External *find_builtin(ExternalName wanted) {
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
    if (strcmp(FUNCTIONS[i].name, wanted.name) == 0 && FUNCTIONS[i].is_fortran == wanted.is_fortran)
      return &FUNCTIONS[i];
  return NULL;
}

/* ---- shared libraries ---- */

typedef void (*Address)(void);

/* FORTRAN symbols are in lower case and end with an underscore. */
static const char *symbol_name(Arena *arena, ExternalName wanted) {
  if (!wanted.is_fortran) return wanted.name;
  char *name = arena_printf(arena, "%s_", wanted.name);
  for (char *c = name; *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
  return name;
}

static const External *find_foreign(Heap *heap, ExternalName wanted, const ExternalRights *rights) {
  Arena arena = arena_make(heap);
  Address address = external_address(rights, symbol_name(&arena, wanted));
  Address destructor = wanted.destructor ? external_address(rights, wanted.destructor) : NULL;
  arena_free(&arena);
  if (!address) return NULL;
  External *found = heap_alloc(heap, sizeof *found);
  *found =
      (External){.name = wanted.name, .run = external_foreign, .is_fortran = wanted.is_fortran, .address = address};
  memcpy(&found->release, &destructor, sizeof found->release);
  return found;
}

static void close_library(void *library) { dlclose(library); }

static bool open_library(Heap *heap, ExternalRights *rights, Arena *arena, const char *path, const char **failure) {
  bool is_here = !strchr(path, '/'); /* the loader does not look in the working directory */
  void *library = is_here ? dlopen(arena_printf(arena, "./%s", path), RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    *failure = arena_copy(arena, why, strlen(why));
    return false;
  }
  heap_defer(heap, close_library, library);
  vec_push(heap, &rights->libraries, library);
  return true;
}

bool external_allow(Heap *heap, ExternalRights *rights, const char *const *libraries, Arena *arena,
                    const char **failure) {
  rights->may_write = rights->reading.is_everywhere = true;
  for (uint32_t k = 0; libraries[k]; k++)
    if (!open_library(heap, rights, arena, libraries[k], failure)) return false;
  return true;
}

const External *external_find(Heap *heap, ExternalName wanted, const ExternalRights *rights, bool *is_forbidden) {
  const External *found = find_builtin(wanted);
  *is_forbidden = found && found->effect == EFFECT_WRITES && !(rights && rights->may_write);
  if (*is_forbidden) return NULL;
  if (!found) return find_foreign(heap, wanted, rights);
  if (!rights) return found;
  External *allowed = heap_alloc(heap, sizeof *allowed);
  *allowed = *found;
  allowed->rights = rights;
  return allowed;
}
