/* library: classes of other files, found by name (Modelica 3.6, section 13.4). A directory of the path holds libraries
 * as an entry of MODELICAPATH does; a package is a directory with a file package.mo, or one file.
 *
 * Invariant: a file is read when a class in it is first looked up, and once; so a model costs what it reaches. Files
 * join the source and the tree of the model. Whatever is wrong with them is reported in its diagnostics. */
#pragma once

#include "base/reading.h"
#include "syntax/ast.h"

/* How libraries are found. */
typedef struct LibraryOptions {
  const char *path; /* directories with colons between; NULL: none */
  FileReader files; /* none: there are no libraries */
} LibraryOptions;

typedef struct Library Library;

/* The libraries around a tree whose main file is read. If that file belongs to a package (within), or is the package.mo
 * of one, its packages are found above it. What they point to must outlive the library. */
Library *library_make(Ast *ast, Source *source, LibraryOptions options, Diags *diags);

/* The file is the package.mo of a directory, by its name. */
bool library_is_package(const char *path);

/* The class of that name at the top, with the class as element: of the main file, or of a library. NULL if there is none, or it
 * cannot be read, which is reported. If there are several versions: the one that `uses` names, otherwise one without a version,
 * otherwise the latest. */
const AstElement *library_find(Library *library, Name name);

/* A class of a package in a separate file beside the package.mo of the package; NULL as above. The elements of package.mo itself
 * are in the tree. O(1) except for the first time. */
const AstElement *library_member(Library *library, const AstClass *package, Name name);

/* The names of all classes that library_member knows of a package: in the order of package.order, then by name. */
typedef LIST(Name) LibraryNames;
LibraryNames library_members(Library *library, const AstClass *package);

/* A class is called `name` of `package` (a whole name) in the requested version. Returns its whole name in the installed version,
 * if that differs; otherwise NULL. */
const char *library_renamed(Library *library, Name package, Name name);

/* Says where a class that was not found at the top could have been. */
void library_note_missing(Library *library, Name name, Diag *diag);

/* The file that modelica://Package.Name/path or file:///path means, in the arena; NULL, with `reason` set, if there is no such
 * package, or the path leads out of it. Any other text is a path. */
const char *library_resource(Library *library, const char *uri, Arena *arena, const char **reason);
