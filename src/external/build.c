/* build: external functions whose C text is in the annotation Include, or whose library is in the annotation Library (Modelica 3.6,
 * section 12.9.4). All such functions are compiled into one shared library. Functions in the text may be static, so the library
 * has, for each of them, a function that returns its address. */
#include "external/foreign.h"

#include "base/compiler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char UTILITIES_HEADER[] =
    "#ifndef MODELICA_UTILITIES_H\n#define MODELICA_UTILITIES_H\n#include <stddef.h>\n#include <stdarg.h>\n"
    "#if defined(__cplusplus)\nextern \"C\" {\n#endif\n"
    "void ModelicaMessage(const char *);\nvoid ModelicaFormatMessage(const char *, ...);\n"
    "void ModelicaVFormatMessage(const char *, va_list);\n"
    "void ModelicaWarning(const char *);\nvoid ModelicaFormatWarning(const char *, ...);\n"
    "void ModelicaVFormatWarning(const char *, va_list);\n"
    "void ModelicaError(const char *) __attribute__((noreturn));\n"
    "void ModelicaFormatError(const char *, ...) __attribute__((noreturn));\n"
    "void ModelicaVFormatError(const char *, va_list) __attribute__((noreturn));\n"
    "char *ModelicaAllocateString(size_t);\nchar *ModelicaAllocateStringWithErrorReturn(size_t);\n"
    "char *ModelicaDuplicateString(const char *);\nchar *ModelicaDuplicateStringWithErrorReturn(const char *);\n"
    "#if defined(__cplusplus)\n}\n#endif\n#endif\n";

static const char UTILITIES[] =
    "#include \"ModelicaUtilities.h\"\n#include <stdio.h>\n#include <string.h>\n"
    "__attribute__((visibility(\"default\"))) struct { void (*error)(const char *); void (*message)(const char *);\n"
    "  char *(*allocate)(size_t); } " EXTERNAL_SERVICES ";\n"
    "static void write_text(void (*to)(const char *), const char *format, va_list list) {\n"
    "  char text[4096];\n  vsnprintf(text, sizeof text, format, list);\n  to(text);\n}\n"
    "#define SEND(name, to) void name(const char *format, ...) { va_list list; va_start(list, format);\\\n"
    "  write_text(to, format, list); va_end(list); for (; to == daedal_services.error;); }\n"
    "#define SEND_LIST(name, to) void name(const char *format, va_list list) { write_text(to, format, list);\\\n"
    "  for (; to == daedal_services.error;); }\n"
    "SEND(ModelicaFormatMessage, daedal_services.message)\nSEND_LIST(ModelicaVFormatMessage, daedal_services.message)\n"
    "SEND(ModelicaFormatWarning, daedal_services.message)\nSEND_LIST(ModelicaVFormatWarning, daedal_services.message)\n"
    "SEND(ModelicaFormatError, daedal_services.error)\nSEND_LIST(ModelicaVFormatError, daedal_services.error)\n"
    "void ModelicaMessage(const char *text) { daedal_services.message(text); }\n"
    "void ModelicaWarning(const char *text) { daedal_services.message(text); }\n"
    "void ModelicaError(const char *text) { daedal_services.error(text); for (;;); }\n"
    "char *ModelicaAllocateStringWithErrorReturn(size_t n) { return daedal_services.allocate(n + 1); }\n"
    "char *ModelicaAllocateString(size_t n) { return daedal_services.allocate(n + 1); }\n"
    "char *ModelicaDuplicateString(const char *text) {\n"
    "  char *copy = ModelicaAllocateString(strlen(text)); return strcpy(copy, text); }\n"
    "char *ModelicaDuplicateStringWithErrorReturn(const char *text) { return ModelicaDuplicateString(text); }\n";

/* ---- the text ---- */

static bool is_repeated(const ExternalSource *sources, uint32_t number) {
  for (uint32_t i = 0; i < number; i++)
    if (sources[i].include && strcmp(sources[i].include, sources[number].include) == 0) return true;
  return false;
}

static void add_teller(Heap *heap, TextVec *text, const char *name) {
  text_printf(heap, text,
              "__attribute__((visibility(\"default\"))) void *" EXTERNAL_TELLER "%s(void) { return (void *)%s; }\n",
              name, name);
}

/* Writes each include text once. Functions that no text declares go to a separate text. */
static void write_texts(Heap *heap, const ExternalSource *sources, uint32_t count, TextVec *included, TextVec *plain) {
  for (uint32_t i = 0; i < count; i++)
    if (sources[i].include && !is_repeated(sources, i)) text_printf(heap, included, "%s\n", sources[i].include);
  for (uint32_t i = 0; i < count; i++) {
    if (!sources[i].include) text_printf(heap, plain, "extern void %s(void);\n", sources[i].name);
    add_teller(heap, sources[i].include ? included : plain, sources[i].name);
  }
}

typedef VEC(char *) WordVec;

static void add_word(Heap *heap, Arena *arena, WordVec *words, const char *option, const char *value) {
  char *word = arena_printf(arena, "%s%s", option, value);
  for (uint32_t i = 0; i < words->count; i++)
    if (strcmp(words->data[i], word) == 0) return;
  vec_push(heap, words, word);
}

static void list_words(Heap *heap, Arena *arena, const ExternalSource *sources, uint32_t count, WordVec *words) {
  for (uint32_t i = 0; i < count; i++) {
    if (sources[i].include_directory) add_word(heap, arena, words, "-I", sources[i].include_directory);
    if (!sources[i].library_directory || !sources[i].library_count) continue;
    add_word(heap, arena, words, "-L", sources[i].library_directory);
    add_word(heap, arena, words, "-Wl,-rpath,", sources[i].library_directory);
  }
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < sources[i].library_count; k++) add_word(heap, arena, words, "-l", sources[i].libraries[k]);
}

/* ---- the library ---- */

static bool take_library(void *context, const char *path, char *failure) {
  void **library = context;
  *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*library) snprintf(failure, COMPILER_FAILURE, "%s", dlerror());
  return *library != NULL;
}

static void close_library(void *library) { dlclose(library); }

bool external_build(Heap *heap, ExternalRights *rights, const ExternalSource *sources, uint32_t count, char *failure) {
  Arena arena = arena_make(heap);
  TextVec included = {0}, plain = {0};
  WordVec words = {0};
  void *library = NULL;
  text_printf(heap, &included,
              "#include \"ModelicaUtilities.h\"\n"
              "__attribute__((visibility(\"default\"))) int usertab(char *, int, int[], int *, double **);\n");
  text_printf(heap, &plain, "\n");
  write_texts(heap, sources, count, &included, &plain);
  list_words(heap, &arena, sources, count, &words);
  CompilerSource texts[] = {{"ModelicaUtilities.h", UTILITIES_HEADER, sizeof UTILITIES_HEADER - 1},
                            {"utilities.c", UTILITIES, sizeof UTILITIES - 1},
                            {"included.c", included.data, included.count},
                            {"plain.c", plain.data, plain.count}};
  bool is_built = compiler_build_with(heap, "cc", texts, 4, words.data, words.count, take_library, &library, failure);
  if (library) {
    void *services = dlsym(library, EXTERNAL_SERVICES);
    if (services) memcpy(services, &foreign_services, sizeof foreign_services);
    heap_defer(heap, close_library, library);
    vec_push(heap, &rights->libraries, library);
  }
  vec_free(heap, &included, &plain, &words);
  arena_free(&arena);
  return is_built;
}
