/* library: classes of other files, found by name (Modelica 3.6, section 13.4). A directory of the path contains libraries, like an
 * entry of MODELICAPATH. A package is a directory with a file package.mo, or one file.
 *
 * Invariant: a file is read once, when a class in it is first looked up; so a model costs only the files that it uses. Files join
 * the source and the tree of the model. Errors in them are reported in the model's diagnostics. */
#pragma once

#include "base/reading.h"
#include "syntax/ast.h"

/* How libraries are found. */
typedef struct LibraryOptions {
  const char *path; /* directories separated by colons; NULL: none */
  FileReader files; /* without a reader there are no libraries */
} LibraryOptions;

typedef struct Library Library;

/* Makes the libraries for a tree whose main file is read. If that file belongs to a package (within), or is the package.mo of one,
 * its packages are found above it. The arguments must outlive the library. */
Library *library_make(Ast *ast, Source *source, LibraryOptions options, Diags *diags);

/* Is the file the package.mo of a directory, by its name? */
bool library_is_package(const char *path);

/* The top-level class of that name, as an element: from the main file, or from a library. NULL if there is none, or it cannot be
 * read, which is reported. If there are several versions: the one that `uses` names, otherwise one without a version, otherwise the
 * latest. */
const AstElement *library_find(Library *library, Name name);

/* A class of a package in a separate file next to its package.mo; NULL as above. The elements of package.mo itself are in the tree.
 * O(1) except for the first time. */
const AstElement *library_member(Library *library, const AstClass *package, Name name);

/* The names of all classes of a package that library_member finds: in the order of package.order, then by name. */
typedef LIST(Name) LibraryNames;
LibraryNames library_members(Library *library, const AstClass *package);

/* For the class `name` of `package` (a full name) in the requested version: its full name in the installed version, if that
 * differs; otherwise NULL. */
const char *library_renamed(Library *library, Name package, Name name);

/* Notes where a top-level class that was not found could have been. */
void library_note_missing(Library *library, Name name, Diag *diag);

/* Notes where a library of this name could have been, if a library that was read uses it. */
void library_note_used(Library *library, Name name, Diag *diag);

/* The file that modelica://Package.Name/path or file:///path refers to, in the arena; NULL, with `reason` set: there is no such
 * package, or the path leads out of it. Any other text is a path. */
const char *library_resource(Library *library, const char *uri, Arena *arena, const char **reason);
