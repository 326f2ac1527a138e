/* survey: see survey.h. Each file has its own heap, names and tree, which are freed after the file is read. */
#include "syntax/survey.h"

#include "syntax/parser.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef VEC(const char *) PathVec;

typedef struct Survey {
  Heap *heap;
  Arena arena;
  Source *source;
  FileReader files;
  Diags *diags;
  Map seen;            /* hash of device and inode */
  PathVec directories; /* not yet read */
  PathVec models;      /* their full names */
  SurveyCounts counts;
} Survey;

/* ---- files ---- */

/* A class of a file, and the name of the enclosing class or package; NULL: its models are not listed. */
typedef struct FoundClass {
  const AstClass *definition;
  const char *around;
} FoundClass;

static const char *full_name(Survey *survey, const Ast *ast, FoundClass found) {
  const char *name = names_text(ast->names, found.definition->label.name);
  if (!found.around || found.definition->form == FORM_EXTENDS) return NULL;
  return *found.around ? arena_printf(&survey->arena, "%s.%s", found.around, name)
                       : arena_copy(&survey->arena, name, strlen(name));
}

/* Classes contain classes as elements, so the list grows while it is walked. */
static void list_classes(Survey *survey, const Ast *ast, Heap *heap) {
  VEC(FoundClass) list = {0};
  const AstFile *file = ast->main;
  const char *within = file->within.count ? ast_path_text(ast, file->within, &survey->arena) : "";
  for (uint32_t i = 0; i < file->classes.count; i++) vec_push(heap, &list, (FoundClass){file->classes.data[i], within});
  for (uint32_t i = 0; i < list.count; i++) {
    FoundClass found = list.data[i];
    const AstClass *definition = found.definition;
    const char *name = full_name(survey, ast, found);
    bool is_model = definition->kind == CLASS_MODEL || definition->kind == CLASS_BLOCK;
    if (name && is_model && !(definition->prefixes & PREFIX_PARTIAL)) vec_push(survey->heap, &survey->models, name);
    for (uint32_t k = 0; k < definition->elements.count; k++)
      if (definition->elements.data[k].kind == AST_CLASS)
        vec_push(heap, &list,
                 (FoundClass){definition->elements.data[k].class_definition,
                              definition->kind == CLASS_PACKAGE ? name : NULL});
  }
  survey->counts.classes += list.count;
}

static Span shift(Span span, uint32_t begin) {
  return span.end > span.begin ? (Span){span.begin + begin, span.end + begin} : span;
}

/* Keeps the messages about a file, and adds its text to the source. */
static void keep_diags(Survey *survey, Diags *found, const char *path, const char *text, uint32_t length) {
  uint32_t number = source_add(survey->source, path, arena_copy(&survey->arena, text, length), length);
  uint32_t begin = number == UINT32_MAX ? 0 : survey->source->files.data[number].begin;
  for (uint32_t i = 0; i < found->list.count; i++) {
    Diag *diag = &found->list.data[i];
    diag->span = shift(diag->span, begin);
    for (uint32_t k = 0; k < diag->notes.count; k++) diag->notes.data[k].span = shift(diag->notes.data[k].span, begin);
  }
  diags_append(survey->diags, found);
}

static void survey_file(Survey *survey, const char *path) {
  void *ticket;
  Heap *heap = heap_within(survey->heap, &ticket);
  Diags found = diags_make(heap);
  uint32_t length;
  char *text = survey->files.read(survey->files.reading, heap, &found, path, &length);
  if (text) {
    Names names = names_make(heap);
    Source source = source_make(heap, path, text, length);
    const Ast *ast = parse(heap, &names, &source, &found);
    survey->counts.files++;
    survey->counts.bytes += length;
    list_classes(survey, ast, heap);
  }
  if (found.list.count) keep_diags(survey, &found, path, text ? text : "", text ? length : 0);
  heap_release(survey->heap, ticket);
}

/* ---- directories ---- */

static bool is_new(Survey *survey, const struct stat *info) {
  uint64_t key = (uint64_t)info->st_dev * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)info->st_ino;
  if (map_get(&survey->seen, key) != MAP_NONE) return false;
  map_put(&survey->seen, key, 0);
  return true;
}

static bool is_modelica(const char *name) {
  size_t length = strlen(name);
  return length > 3 && !strcmp(name + length - 3, ".mo");
}

static void take_entry(Survey *survey, const char *directory, const char *name, PathVec *files) {
  struct stat info;
  if (name[0] == '.') return;
  const char *path = arena_printf(&survey->arena, "%s/%s", directory, name);
  if (stat(path, &info) != 0 || !is_new(survey, &info)) return;
  if (S_ISDIR(info.st_mode)) vec_push(survey->heap, &survey->directories, path);
  else if (S_ISREG(info.st_mode) && is_modelica(name)) vec_push(survey->heap, files, path);
}

static int compare_paths(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void close_directory(void *directory) { closedir(directory); }

static void survey_directory(Survey *survey, const char *path) {
  PathVec files = {0};
  DIR *directory = opendir(path);
  if (!directory) {
    diag_error(survey->diags, DIAG_FILE, (Span){0}, "the directory %s cannot be read: %s", path, strerror(errno));
    return;
  }
  void *ticket = heap_defer(survey->heap, close_directory, directory);
  for (const struct dirent *entry; (entry = readdir(directory));) take_entry(survey, path, entry->d_name, &files);
  heap_release(survey->heap, ticket);
  if (files.count) qsort(files.data, files.count, sizeof *files.data, compare_paths);
  for (uint32_t i = 0; i < files.count; i++) survey_file(survey, files.data[i]);
  vec_free(survey->heap, &files);
}

SurveyCounts survey_run(Source *source, LibraryOptions options, Diags *diags) {
  Heap *heap = source->heap;
  Survey survey = {.heap = heap, .source = source, .files = options.files, .diags = diags, .seen = map_make(heap)};
  survey.arena = arena_make(heap);
  for (const char *path = options.path; path && *path;) {
    size_t width = strcspn(path, ":");
    if (width) vec_push(heap, &survey.directories, arena_copy(&survey.arena, path, width));
    path += width + (path[width] == ':');
    while (survey.directories.count) survey_directory(&survey, vec_pop(&survey.directories));
  }
  map_free(&survey.seen);
  vec_free(heap, &survey.directories);
  survey.counts.models.data = survey.models.data;
  survey.counts.models.count = survey.models.count;
  return survey.counts;
}
