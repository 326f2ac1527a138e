/* fmu: see fmu.h. */
#include "export/fmu.h"

#include "base/compiler.h"
#include "export/archive.h"
#include "export/runtime.h"
#include "export/tables.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Names of this platform in FMI 2.0 and in FMI 3.0. FMI 2.0 has none for ARM: importers there look for linux64. */
#if defined __x86_64__
static const char *const PLATFORMS_2[] = {"linux64", NULL}, *const PLATFORMS_3[] = {"x86_64-linux", NULL};
#else
static const char *const PLATFORMS_2[] = {"linux64", "aarch64-linux", NULL}, *const PLATFORMS_3[] = {"aarch64-linux",
                                                                                                     NULL};
#endif

/* Compiles libraries for Windows; used if it is found. */
static const char WINDOWS_COMPILER[] = "x86_64-w64-mingw32-gcc";

typedef VEC(CompilerSource) SourceVec;

/* The name of the model as a C identifier. */
static const char *identifier(const char *name, Arena *arena) {
  char *copy = arena_printf(arena, "%s%s", isdigit((unsigned char)*name) ? "_" : "", name);
  for (char *c = copy; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  return copy;
}

/* Equal sources have equal tokens. */
static const char *make_token(const TextVec *text, int version, Arena *arena) {
  uint64_t first = hash_mix(hash_bytes(text->data, text->count) + (uint64_t)version),
           second = hash_mix(first + text->count);
  return arena_printf(arena, "{%08x-%04x-%04x-%04x-%012llx}", (unsigned)(first >> 32), (unsigned)(first >> 16 & 0xffff),
                      (unsigned)(first & 0xffff), (unsigned)(second >> 48),
                      (unsigned long long)(second & 0xffffffffffff));
}

static SourceVec collect_sources(Heap *heap, Arena *arena, const ExportSource *source, const TextVec *systems,
                                 int version) {
  SourceVec sources = {0};
  for (uint32_t k = 0; k < source->systems; k++)
    vec_push(heap, &sources, (CompilerSource){export_file_name(arena, k), systems[k].data, systems[k].count});
  const char **texts = arena_array(arena, sources.count, sizeof *texts);
  for (uint32_t k = 0; k < sources.count; k++) texts[k] = sources.data[k].text;
  const bool *chosen = runtime_choose(arena, source, version == 3 ? "fmi3.c" : "fmi2.c", texts, sources.count);
  for (const RuntimeFile *file = runtime_files; file->name; file++)
    if (chosen[file - runtime_files])
      vec_push(heap, &sources, (CompilerSource){file->name, file->text, strlen(file->text)});
  return sources;
}

/* ---- the binary ---- */

/* Opens the library. The open file stays readable after its directory is removed. */
static bool open_library(void *context, const char *path, char *failure) {
  int *file = context;
  *file = open(path, O_RDONLY | O_CLOEXEC);
  if (*file < 0) snprintf(failure, COMPILER_FAILURE, "%s", strerror(errno));
  return *file >= 0;
}

static void close_library(void *object) {
  const int *file = object;
  if (*file >= 0) close(*file);
}

static bool read_library(Heap *heap, int file, TextVec *bytes) {
  char buffer[1 << 16];
  ssize_t count;
  while ((count = read(file, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))
    if (count > 0) text_append(heap, bytes, buffer, (size_t)count);
  return count == 0;
}

/* Leaves out what the model does not use. */
static char *const SMALL[] = {"-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables",
                              "-Wl,--gc-sections", "-s"};
enum { SMALL_COUNT = sizeof SMALL / sizeof *SMALL };

static bool compile(Heap *heap, const char *program, const SourceVec *sources, TextVec *library, char *failure) {
  int *file = heap_alloc(heap, sizeof *file);
  *file = -1;
  heap_defer(heap, close_library, file);
  return compiler_build_with(heap, program, sources->data, sources->count, SMALL, SMALL_COUNT, open_library, file,
                             failure) &&
         read_library(heap, *file, library);
}

static bool compile_here(Heap *heap, const SourceVec *sources, TextVec *library, Diags *diags) {
  char failure[COMPILER_FAILURE];
  bool is_done = compile(heap, "cc", sources, library, failure);
  if (!is_done) diag_error(diags, DIAG_FILE, (Span){0}, "the binary of the FMU cannot be made: %s", failure);
  return is_done;
}

/* Does nothing if there is no such compiler. */
static void compile_for_windows(Heap *heap, const SourceVec *sources, TextVec *library, Diags *diags) {
  char failure[COMPILER_FAILURE];
  if (!compiler_is_found(WINDOWS_COMPILER) || compile(heap, WINDOWS_COMPILER, sources, library, failure)) return;
  diag_warning(diags, DIAG_WARNING, (Span){0}, "the FMU has no binary for Windows: %s", failure);
  library->count = 0;
}

/* ---- the archive ---- */

static bool add_text(Archive *archive, const char *path, TextVec *text) {
  return archive_add(archive, path, text->data, text->count);
}

static bool add_descriptions(Archive *archive, const Description *description) {
  TextVec text = {0}, build = {0}, terminals = {0};
  description_write(archive->heap, description, &text);
  if (!add_text(archive, "modelDescription.xml", &text)) return false;
  if (description->kinds.version != 3) return true;
  description_write_build(archive->heap, description, &build);
  if (!add_text(archive, "sources/buildDescription.xml", &build)) return false;
  return !description_write_terminals(archive->heap, description, &terminals) ||
         add_text(archive, "terminalsAndIcons/terminalsAndIcons.xml", &terminals);
}

static bool add_binaries(Archive *archive, int version, const char *name, TextVec *library, TextVec *windows,
                         Arena *arena) {
  bool ok = true;
  for (const char *const *platform = version == 3 ? PLATFORMS_3 : PLATFORMS_2; *platform && ok; platform++)
    ok = add_text(archive, arena_printf(arena, "binaries/%s/%s.so", *platform, name), library);
  if (!windows->count) return ok;
  const char *folder = version == 3 ? "x86_64-windows" : "win64";
  return ok && add_text(archive, arena_printf(arena, "binaries/%s/%s.dll", folder, name), windows);
}

static bool add_sources(Archive *archive, const SourceVec *sources, Arena *arena) {
  bool ok = true;
  for (uint32_t k = 0; k < sources->count && ok; k++)
    ok = archive_add(archive, arena_printf(arena, "sources/%s", sources->data[k].name), sources->data[k].text,
                     (uint32_t)sources->data[k].length);
  return ok;
}

/* Writes the texts of all systems; the variables come from the first system. */
static TextVec *write_systems(Heap *heap, Arena *arena, const ExportSource *sources, ExportVariables *variables,
                              Diags *diags) {
  TextVec *systems = arena_array(arena, sources->systems, sizeof *systems);
  for (uint32_t k = sources->systems; k-- > 0;) {
    *variables = export_variables(heap, arena, &sources[k]);
    if (!export_tables(heap, arena, &sources[k], variables, &systems[k], diags)) return NULL;
  }
  return systems;
}

bool export_fmu(Heap *heap, const ExportSource *source, FmuKinds kinds, const char *tool, TextVec *bytes,
                Diags *diags) {
  Arena *arena = &diags->arena;
  TextVec library = {0}, windows = {0};
  ExportVariables variables;
  if (!export_possible(source, diags)) return false;
  TextVec *systems = write_systems(heap, arena, source, &variables, diags);
  if (!systems) return false;
  export_report_fixed(&variables, source, diags);
  const char *token = make_token(systems, kinds.version, arena), *name = identifier(source->name, arena);
  text_printf(heap, systems, "\nextern const char model_token[];\nconst char model_token[] = \"%s\";\n", token);
  SourceVec sources = collect_sources(heap, arena, source, systems, kinds.version);
  if (!compile_here(heap, &sources, &library, diags)) return false;
  compile_for_windows(heap, &sources, &windows, diags);

  VEC(const char *) files = {0};
  for (uint32_t k = 0; k < sources.count; k++)
    if (strstr(sources.data[k].name, ".c")) vec_push(heap, &files, sources.data[k].name);
  Dependencies dependencies = dependencies_find(arena, source, &variables);
  Description description = {source, &variables, &dependencies, kinds, name, token, tool, files.data, files.count};
  Archive archive = {.heap = heap};
  if (!add_descriptions(&archive, &description) ||
      !add_binaries(&archive, kinds.version, name, &library, &windows, arena) ||
      !add_sources(&archive, &sources, arena)) {
    diag_error(diags, DIAG_INTERNAL, (Span){0}, "the archive cannot be compressed");
    return false;
  }
  archive_end(&archive);
  *bytes = archive.bytes;
  return true;
}
