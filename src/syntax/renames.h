/* renames: classes that had other names in the version of the library for which a model was written. The library's conversion
 * scripts list them (Modelica 3.6, section 18.8.2): convertClass("Old.Name", "New.Name"). Other changes in the scripts (elements,
 * modifiers, connections) are not applied. */
#pragma once

#include "base/map.h"

typedef struct Renames {
  Names *names;
  Map place;         /* Name of the package << 32 | Name of the class in it -> index in `targets` */
  VEC(Name) targets; /* full names */
} Renames;

Renames renames_make(Heap *heap, Names *names);

/* Reads the renamed classes of a script; `text` ends with a NUL. Later ones replace earlier ones. O(length), times the depth of
 * names. */
void renames_read(Renames *renames, const char *text);

/* The present full name of the class `name` of a package; 0: it was not renamed. */
Name renames_find(const Renames *renames, Name package, Name name);
