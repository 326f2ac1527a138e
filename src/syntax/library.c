/* library: see library.h. */
#include "syntax/library.h"

#include "syntax/directory.h"
#include "syntax/parser.h"
#include "syntax/renames.h"
#include "syntax/versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A class in a separate file. */
typedef struct Member {
  StoredClass stored;
  Name name;
  bool is_read;
  const AstElement *element;      /* after reading; NULL: it was refused */
  struct LibraryPackage *package; /* for a directory; NULL until it is needed */
} Member;

/* A directory of classes: an entry of the path, or a package. */
typedef struct LibraryPackage {
  const char *directory;
  const char *name; /* the full name, Modelica.Blocks; "" for an entry of the path */
  bool is_listed;
  VEC(Member) members; /* members with the same name are adjacent */
  Map by_name;         /* the index of the first member of each name */
} LibraryPackage;

struct Library {
  Ast *ast;
  Source *source;
  Diags *diags;
  FileReader files;
  Arena arena;
  VEC(LibraryPackage *) roots;
  VEC(AstClass *) given;        /* classes of files that the user named */
  VEC(const AstElement *) tops; /* found so far; NULL: there is none */
  Map by_name;                  /* Name -> index in `tops` */
  Map main_classes;             /* Name -> index of the first class of that name in the main file */
  Map given_classes;            /* Name -> index in `given` */
  Versions versions;
  Renames renames;
  uint32_t scripts; /* number of scripts of `versions` that were read */
  struct stat main; /* the main file; st_ino 0: not known */
};

/* ---- directories ---- */

static LibraryPackage *package_make(Library *library, const char *directory, const char *name) {
  LibraryPackage *package = arena_alloc(&library->arena, sizeof *package);
  *package = (LibraryPackage){.directory = directory, .name = name, .by_name = map_make(library->ast->heap)};
  return package;
}

static void add_members(Library *library, LibraryPackage *package, const StoredClassVec *classes) {
  for (uint32_t i = 0; i < classes->count; i++) {
    const StoredClass *stored = &classes->data[i];
    Name name = names_add(library->ast->names, stored->name, strlen(stored->name));
    if (map_get(&package->by_name, name) == MAP_NONE) map_put(&package->by_name, name, package->members.count);
    vec_push(library->ast->heap, &package->members, (Member){.stored = *stored, .name = name});
  }
  package->is_listed = true;
}

static bool list_package(Library *library, LibraryPackage *package) {
  StoredClassVec classes = {0};
  if (package->is_listed) return true;
  bool is_read = directory_list(package->directory, &library->arena, &classes);
  if (!is_read)
    diag_error(library->diags, DIAG_FILE, (Span){0}, "the directory %s cannot be read: %s%s", package->directory,
               strerror(errno),
               library_is_package(package->directory) ? "; name the directory that holds package.mo" : "");
  add_members(library, package, &classes);
  vec_free(library->ast->heap, &classes);
  return is_read;
}

/* Adds an entry of the path. The user may also give the package, or the file, itself. */
static void add_root(Library *library, const char *path) {
  StoredClassVec classes = {0};
  LibraryPackage *root = package_make(library, path, "");
  if (directory_entry(path, &library->arena, &classes)) add_members(library, root, &classes);
  vec_free(library->ast->heap, &classes);
  if (list_package(library, root)) vec_push(library->ast->heap, &library->roots, root);
}

static Member *find_member(Library *library, LibraryPackage *package, Name name) {
  list_package(library, package);
  uint32_t index = map_get(&package->by_name, name);
  return index == MAP_NONE ? NULL : &package->members.data[index];
}

/* The package of a member that is a directory. */
static LibraryPackage *member_package(Library *library, const LibraryPackage *around, Member *member) {
  if (!member->package && member->stored.directory) {
    const char *name = member->stored.name;
    if (*around->name) name = arena_printf(&library->arena, "%s.%s", around->name, name);
    member->package = package_make(library, member->stored.directory, name);
  }
  return member->package;
}

/* ---- files ---- */

static bool is_main(const Library *library, const char *path) {
  struct stat info;
  return library->main.st_ino && stat(path, &info) == 0 && info.st_ino == library->main.st_ino &&
         info.st_dev == library->main.st_dev;
}

/* Reads and parses a file; NULL after reporting. */
static const AstFile *read_file(Library *library, const char *path) {
  Ast *ast = library->ast;
  uint32_t length, errors = library->diags->errors;
  Heap *heap = library->source->heap; /* the text must outlive the tree */
  char *text = library->files.read(library->files.reading, heap, library->diags, path, &length);
  if (!text) return NULL;
  char *kept = heap_copy(heap, path, strlen(path) + 1, 1);
  uint32_t number = source_add(library->source, kept, text, length);
  if (number == UINT32_MAX) {
    diag_error(library->diags, DIAG_FILE, (Span){0}, "%s: the files of the model are larger than 2 GiB together", path);
    return NULL;
  }
  const AstFile *file = parse_file(ast, number, library->diags);
  return library->diags->errors == errors ? file : NULL;
}

/* A file of a package must say so: "within Modelica.Blocks;". */
static void check_within(Library *library, const AstFile *file, const AstClass *definition, const char *package) {
  const char *within = ast_path_text(library->ast, file->within, &library->arena);
  if (!strcmp(within, package)) return;
  if (!file->has_within)
    diag_warning(library->diags, DIAG_WARNING_OTHER, definition->label.span,
                 "`within %s;` is missing at the start of the file", package);
  else
    diag_error(library->diags, DIAG_INPUT, file->within.count ? file->within.span : definition->label.span,
               *package ? "the file is in package %s, but says `within %s;`"
                        : "the file is at the top%s, but says `within %s;`",
               package, within);
}

/* The only class of a file, which must have the name of the file. */
static AstClass *file_class(Library *library, const AstFile *file, const LibraryPackage *package,
                            const Member *member) {
  const Names *names = library->ast->names;
  AstClass *definition = file->classes.data[0];
  if (definition->label.name != member->name) {
    diag_error(library->diags, DIAG_INPUT, definition->label.span, "the file of class %s contains `%s`",
               names_text(names, member->name), names_text(names, definition->label.name));
    return NULL;
  }
  if (file->classes.count > 1)
    diag_error(library->diags, DIAG_INPUT, file->classes.data[1]->label.span,
               "a file of a library must contain one class; `%s` is a second one",
               names_text(names, file->classes.data[1]->label.name));
  check_within(library, file, definition, package->name);
  return definition;
}

static AstElement *class_element(Library *library, AstClass *definition) {
  AstElement *element = arena_alloc(&library->arena, sizeof *element);
  *element = (AstElement){.kind = AST_CLASS, .class_definition = definition, .span = definition->span};
  element->prefixes = definition->prefixes;
  return element;
}

/* Reports a class that is both in package.mo and in a separate file. */
static void check_members(Library *library, LibraryPackage *package, const AstClass *definition) {
  list_package(library, package);
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    const AstElement *element = &definition->elements.data[i];
    Name name = element->kind == AST_CLASS ? element->class_definition->label.name : 0;
    uint32_t index = name ? map_get(&package->by_name, name) : MAP_NONE;
    if (index == MAP_NONE) continue;
    diag_error(library->diags, DIAG_INPUT, element->span, "`%s` is both in package.mo and in %s",
               names_text(library->ast->names, name), package->members.data[index].stored.path);
  }
}

static const AstElement *read_member(Library *library, LibraryPackage *package, Member *member) {
  if (member->is_read) return member->element;
  const char *path = member->stored.path;
  const AstFile *file = is_main(library, path) ? library->ast->main : read_file(library, path);
  member->is_read = true;
  AstClass *definition = file && file->classes.count ? file_class(library, file, package, member) : NULL;
  if (!definition) return NULL;
  definition->package = member_package(library, package, member);
  if (definition->package) check_members(library, definition->package, definition);
  return member->element = class_element(library, definition);
}

/* Reports two files with the same name, unless they have different versions. */
static void check_single(Library *library, const LibraryPackage *package, const Member *member) {
  const Member *next = member + 1;
  if (next == package->members.data + package->members.count || next->name != member->name) return;
  if (strcmp(next->stored.version, member->stored.version)) return;
  diag_error(library->diags, DIAG_FILE, (Span){0}, "class %s is stored twice: in %s and in %s", member->stored.name,
             member->stored.path, next->stored.path);
}

/* ---- top level ---- */

/* How well a version of a library fits the one that `uses` requests. */
typedef enum VersionFit { FIT_EXACT, FIT_SAME_LINE, FIT_ANY, FIT_COUNT } VersionFit;

/* Is the version a later patch of the one asked for, like 3.2.3 for 3.2.2? Only the last of three numbers is larger, the others
 * are equal. */
static bool is_same_line(const char *version, const char *asked) {
  const char *dot = strrchr(asked, '.');
  size_t line = dot ? (size_t)(dot - asked) + 1 : 0;
  return line && strchr(asked, '.') < dot && strncmp(version, asked, line) == 0 &&
         strtol(version + line, NULL, 10) > strtol(dot + 1, NULL, 10);
}

static bool fits_version(const char *version, const char *asked, VersionFit fit) {
  if (fit == FIT_ANY) return true;
  return fit == FIT_EXACT ? strcmp(version, asked) == 0 : is_same_line(version, asked);
}

/* The member of an entry of the path whose version fits the requested one. */
static Member *find_version(Library *library, LibraryPackage *root, Name name, const char *asked, VersionFit fit) {
  Member *member = find_member(library, root, name);
  const Member *end = root->members.data + root->members.count;
  while (member && member < end && member->name == name && !fits_version(member->stored.version, asked, fit)) member++;
  return member && member < end && member->name == name ? member : NULL;
}

static Member *find_top(Library *library, Name name, LibraryPackage **root) {
  const char *asked = versions_asked(&library->versions, name);
  for (VersionFit fit = asked ? FIT_EXACT : FIT_ANY; fit < FIT_COUNT; fit++)
    for (uint32_t i = 0; i < library->roots.count; i++) {
      *root = library->roots.data[i];
      Member *member = find_version(library, *root, name, asked, fit);
      if (member) return member;
    }
  return NULL;
}

static const AstElement *read_top(Library *library, Name name) {
  LibraryPackage *root;
  Member *member = find_top(library, name, &root);
  if (!member) return NULL;
  check_single(library, root, member);
  const AstElement *element = read_member(library, root, member);
  if (element) versions_read(&library->versions, element->class_definition, library->diags);
  return element;
}

static const AstElement *main_class(Library *library, Name name) {
  const AstFile *file = library->ast->main;
  for (uint32_t i = library->main_classes.count ? 0 : file->classes.count; i-- > 0;)
    map_put(&library->main_classes, file->classes.data[i]->label.name, i);
  uint32_t place = map_get(&library->main_classes, name);
  return place == MAP_NONE ? NULL : class_element(library, file->classes.data[place]);
}

static const AstElement *given_class(Library *library, Name name) {
  uint32_t place = map_get(&library->given_classes, name);
  return place == MAP_NONE ? NULL : class_element(library, library->given.data[place]);
}

const AstElement *library_find(Library *library, Name name) {
  uint32_t index = map_get(&library->by_name, name);
  if (index != MAP_NONE) return library->tops.data[index];
  const AstElement *element = library->ast->main->within.count ? NULL : main_class(library, name);
  if (!element) element = given_class(library, name);
  if (!element) element = read_top(library, name);
  if (!element) element = main_class(library, name);
  map_put(&library->by_name, name, library->tops.count);
  vec_push(library->ast->heap, &library->tops, element);
  return element;
}

static bool is_same_directory(const char *a, const char *b) {
  struct stat left, right;
  return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

void library_note_missing(Library *library, Name name, Diag *diag) {
  const char *version = versions_asked(&library->versions, name), *text = names_text(library->ast->names, name);
  if (version) diag_note(library->diags, diag, (Span){0}, "`uses` requests version %s of %s", version, text);
  for (uint32_t i = 0; i < library->roots.count; i++) {
    const LibraryPackage *root = library->roots.data[i];
    bool is_package = root->members.count == 1 && root->members.data[0].stored.directory &&
                      is_same_directory(root->members.data[0].stored.directory, root->directory);
    diag_note(library->diags, diag, (Span){0}, "no class %s in %s%s", text, root->directory,
              is_package ? ", which is a library itself: name the directory around it to find others" : "");
  }
  if (!library->roots.count)
    diag_note(library->diags, diag, (Span){0}, "the directory of a library is given with --library or MODELICAPATH");
}

void library_note_used(Library *library, Name name, Diag *diag) {
  if (versions_asked(&library->versions, name)) library_note_missing(library, name, diag);
}

/* ---- members ---- */

const AstElement *library_member(Library *library, const AstClass *package, Name name) {
  if (!package->package) return NULL;
  Member *member = find_member(library, package->package, name);
  if (!member) return NULL;
  if (!member->is_read) check_single(library, package->package, member);
  return read_member(library, package->package, member);
}

typedef VEC(Name) NameVec;

/* Adds the names that package.order lists, one per line. Names that are not members are elements of package.mo. */
static void add_ordered(Library *library, LibraryPackage *package, bool *is_taken, NameVec *names) {
  Diags quiet = diags_make(library->ast->heap);
  const char *path = arena_printf(&library->arena, "%s/package.order", package->directory);
  struct stat info;
  uint32_t length;
  bool is_file = stat(path, &info) == 0 && S_ISREG(info.st_mode);
  char *text = is_file ? library->files.read(library->files.reading, library->ast->heap, &quiet, path, &length) : NULL;
  for (const char *line = text; line && *line; line += strspn(line, "\r\n")) {
    size_t width = strcspn(line, "\r\n");
    Name name = names_find(library->ast->names, line, width);
    uint32_t index = name == MAP_NONE ? MAP_NONE : map_get(&package->by_name, name);
    if (index != MAP_NONE && !is_taken[index]) vec_push(library->ast->heap, names, name);
    if (index != MAP_NONE) is_taken[index] = true;
    line += width;
  }
  heap_free(library->ast->heap, text);
}

LibraryNames library_members(Library *library, const AstClass *definition) {
  LibraryPackage *package = definition->package;
  NameVec names = {0};
  if (!package || !list_package(library, package)) return (LibraryNames){0};
  bool *is_taken = arena_array(&library->arena, package->members.count, sizeof *is_taken);
  add_ordered(library, package, is_taken, &names);
  for (uint32_t i = 0; i < package->members.count; i++) {
    Name name = package->members.data[i].name;
    if (map_get(&package->by_name, name) == i && !is_taken[i]) vec_push(library->ast->heap, &names, name);
  }
  LibraryNames list = {arena_copy_array(&library->arena, names.data, names.count, sizeof *names.data), names.count};
  vec_free(library->ast->heap, &names);
  return list;
}

/* ---- resources ---- */

/* The directory that contains the class of a dotted name, this many levels below an entry of the path; NULL: there
 * is no such library. */
static const char *class_directory(Library *library, const char *text, size_t length, uint32_t *levels) {
  const char *end = text + length;
  size_t width = 0;
  while (width < length && text[width] != '.') width++;
  LibraryPackage *package = NULL;
  Name name = names_add(library->ast->names, text, width);
  Member *member = find_top(library, name, &package);
  if (!member) return NULL;
  *levels = 0;
  while (member && member->stored.directory && text + width < end) {
    ++*levels;
    package = member_package(library, package, member);
    text += width + 1;
    for (width = 0; text + width < end && text[width] != '.';) width++;
    name = names_add(library->ast->names, text, width);
    member = find_member(library, package, name);
  }
  if (member && member->stored.directory) return ++*levels, member->stored.directory;
  return package->directory;
}

/* Decodes "%20" to a blank. */
static char *decode(const char *text, Arena *arena) {
  char *out = arena_copy(arena, text, strlen(text)), *end = out;
  for (const char *at = text; *at; at++) {
    unsigned byte = 0;
    bool is_code = at[0] == '%' && strspn(at + 1, "0123456789abcdefABCDEF") >= 2;
    if (is_code) byte = (unsigned)strtoul((char[]){at[1], at[2], 0}, NULL, 16);
    *end++ = byte ? (char)byte : *at;
    if (byte) at += 2;
  }
  *end = '\0';
  return out;
}

/* Does any prefix of the path lead more than `levels` directories up? */
static bool leads_above(const char *path, uint32_t levels) {
  for (const char *at = path; *at;) {
    size_t width = strcspn(at, "/");
    bool is_up = width == 2 && at[0] == '.' && at[1] == '.', is_here = width == 0 || (width == 1 && *at == '.');
    if (is_up && levels-- == 0) return true;
    levels += !is_up && !is_here;
    at += width;
    at += strspn(at, "/");
  }
  return false;
}

const char *library_resource(Library *library, const char *uri, Arena *arena, const char **reason) {
  static const char scheme[] = "modelica://", file_scheme[] = "file://";
  if (!strncmp(uri, file_scheme, sizeof file_scheme - 1)) return decode(uri + sizeof file_scheme - 1, arena);
  if (strncmp(uri, scheme, sizeof scheme - 1) != 0) return uri;
  const char *name = uri + sizeof scheme - 1, *path = name + strcspn(name, "/?#");
  uint32_t levels = 0;
  const char *directory = class_directory(library, name, (size_t)(path - name), &levels);
  if (!directory) *reason = arena_printf(arena, "there is no library of the class %.*s", (int)(path - name), name);
  const char *rest = decode(path, arena);
  if (directory && leads_above(rest, levels)) *reason = "`..` leads out of the library's folder", directory = NULL;
  if (!directory) return NULL;
  const char *found = directory_spelled(directory, rest, arena);
  if (strcmp(found + strlen(directory), rest) != 0)
    diag_warning(library->diags, DIAG_WARNING_OTHER, (Span){0}, "`%s` is the file `%s`: upper and lower case differ",
                 uri, found);
  return found;
}

/* ---- other versions ---- */

/* A missing script changes nothing. */
static void read_script(Library *library, const char *uri) {
  const char *reason, *path = library_resource(library, uri, &library->arena, &reason);
  Diags quiet = diags_make(library->ast->heap);
  uint32_t length;
  char *text = path ? library->files.read(library->files.reading, library->ast->heap, &quiet, path, &length) : NULL;
  if (text) renames_read(&library->renames, text);
  heap_free(library->ast->heap, text);
  diags_clear(&quiet);
}

const char *library_renamed(Library *library, Name package, Name name) {
  while (library->scripts < library->versions.scripts.count)
    read_script(library, names_text(library->ast->names, library->versions.scripts.data[library->scripts++]));
  Name found = library->scripts ? renames_find(&library->renames, package, name) : 0;
  return found ? names_text(library->ast->names, found) : NULL;
}

/* ---- set-up ---- */

static bool is_model_file(const char *path) {
  size_t length = strlen(path);
  struct stat info;
  bool is_named = length > 3 && !strcmp(path + length - 3, ".mo") && !library_is_package(path);
  return is_named && !(stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* Adds the classes of a file that the user named, at the same level as those of the main file. */
static void add_file(Library *library, const char *path) {
  const AstFile *file = is_main(library, path) ? NULL : read_file(library, path);
  for (uint32_t i = 0; file && i < file->classes.count; i++) {
    AstClass *definition = file->classes.data[i];
    if (file->within.count) check_within(library, file, definition, "");
    if (map_get(&library->given_classes, definition->label.name) != MAP_NONE) continue;
    map_put(&library->given_classes, definition->label.name, library->given.count);
    vec_push(library->ast->heap, &library->given, definition);
    versions_read(&library->versions, definition, library->diags);
  }
}

static void add_path(Library *library, const char *path) {
  while (path && *path) {
    size_t width = strcspn(path, ":");
    const char *entry = arena_copy(&library->arena, path, width);
    if (is_model_file(entry)) add_file(library, entry);
    else if (width) add_root(library, entry);
    path += width + (path[width] == ':');
  }
}

bool library_is_package(const char *path) {
  const char *base = strrchr(path, '/');
  return !strcmp(base ? base + 1 : path, "package.mo");
}

/* The directory `levels` above the file; relative paths stay relative. */
static const char *directory_above(const char *path, uint32_t levels, Arena *arena) {
  const char *slash = strrchr(path, '/');
  const char *directory = slash ? arena_copy(arena, path, (size_t)(slash - path)) : ".";
  if (slash == path) directory = "/";
  for (; levels > 0; levels--) directory = arena_printf(arena, "%s/..", directory);
  return directory;
}

static void find_main(Library *library) {
  const char *path = source_main(library->source)->path;
  if (!path || !*path || stat(path, &library->main) != 0 || !S_ISREG(library->main.st_mode))
    library->main = (struct stat){0};
}

/* Finds the libraries that contain the main file. */
static void place_main(Library *library) {
  const AstFile *file = library->ast->main;
  const char *path = source_main(library->source)->path;
  if (!library->main.st_ino) return;
  bool is_package = library_is_package(path) && file->classes.count > 0;
  uint32_t levels = file->within.count + is_package;
  if (levels) add_root(library, directory_above(path, levels, &library->arena));
  if (!is_package || file->within.count) return;
  AstClass *definition = file->classes.data[0];
  const char *name = names_text(library->ast->names, definition->label.name);
  definition->package = package_make(library, directory_above(path, 0, &library->arena), name);
  check_members(library, definition->package, definition);
}

Library *library_make(Ast *ast, Source *source, LibraryOptions options, Diags *diags) {
  Library *library = heap_alloc(ast->heap, sizeof *library);
  *library = (Library){.ast = ast, .source = source, .diags = diags, .files = options.files};
  library->arena = arena_make(ast->heap);
  library->by_name = map_make(ast->heap);
  library->main_classes = map_make(ast->heap);
  library->given_classes = map_make(ast->heap);
  library->versions = versions_make(ast);
  library->renames = renames_make(ast->heap, ast->names);
  if (!options.files.read) return library;
  find_main(library);
  add_path(library, options.path);
  place_main(library);
  for (uint32_t i = 0; i < ast->main->classes.count; i++)
    versions_read(&library->versions, ast->main->classes.data[i], diags);
  return library;
}
