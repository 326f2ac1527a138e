/* directory: the classes that a directory holds: NAME.mo, or NAME with a file package.mo in it (Modelica 3.6, section
 * 13.4), each perhaps with a version: "NAME 4.1.0". Names come from the listing alone, never from the text of a model, so
 * none leads elsewhere; only regular files count, so none can block. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

typedef struct StoredClass {
  const char *name;
  const char *version;   /* "" if none */
  const char *path;      /* of the file that holds it: NAME.mo, or NAME/package.mo */
  const char *directory; /* of a package in several files; NULL: one file */
} StoredClass;

typedef VEC(StoredClass) StoredClassVec;

/* Appends what the directory holds, by name, of one name without a version first, then the latest. False: the directory
 * cannot be read; errno says why. O(n log n). */
bool directory_list(const char *path, Arena *arena, StoredClassVec *classes);

/* Appends the class that a file NAME.mo, an FMU, NAME=FILE.fmu or a directory with a package.mo is itself. false: it is none of
 * these. */
bool directory_entry(const char *path, Arena *arena, StoredClassVec *classes);

/* The path below a directory, spelled as the files are if it differs from them only in upper and lower case, as in
 * libraries from systems that ignore case; else unchanged. In the arena. */
const char *directory_spelled(const char *directory, const char *path, Arena *arena);

/* The order of versions, part by part: "3.2.3" before "3.10". Below zero: a is before b. */
int version_compare(const char *a, const char *b);
