/* directory: the classes in a directory: NAME.mo, or NAME with a file package.mo in it (Modelica 3.6, section 13.4), each possibly
 * with a version: "NAME 4.1.0". Names come only from the listing of the directory, never from the text of a model, so no name
 * leads to another folder.
 * Only regular files count, so reading one cannot block. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

typedef struct StoredClass {
  const char *name;
  const char *version;   /* "": none */
  const char *path;      /* path of its file: NAME.mo, or NAME/package.mo */
  const char *directory; /* for a package in several files; NULL: one file */
} StoredClass;

typedef VEC(StoredClass) StoredClassVec;

/* Appends the classes in the directory, sorted by name. Among classes of one name, the one without a version comes first, then the
 * latest. False: the directory cannot be read; errno says why. O(n log n). */
bool directory_list(const char *path, Arena *arena, StoredClassVec *classes);

/* Appends the class of a path that is itself a class: a file NAME.mo, an FMU, NAME=FILE.fmu or a directory with a package.mo.
 * false: it is none of these. */
bool directory_entry(const char *path, Arena *arena, StoredClassVec *classes);

/* The path below a directory. If it differs from existing files only in upper and lower case, as in libraries from systems that
 * ignore case, it is spelled like the files; otherwise it is unchanged. In the arena. */
const char *directory_spelled(const char *directory, const char *path, Arena *arena);

/* Compares versions part by part: "3.2.3" is before "3.10". Below zero: a is before b. */
int version_compare(const char *a, const char *b);
