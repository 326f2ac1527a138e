/* renames: classes that a library has under other names than the version that a model was written for. The library's
 * conversion scripts say so (Modelica 3.6, section 18.8.2): convertClass("Old.Name", "New.Name"). What else the scripts
 * change (elements, modifiers, connections) is not changed here. */
#pragma once

#include "base/map.h"

typedef struct Renames {
  Names *names;
  Map place;         /* Name of the package << 32 | Name of the class in it -> place in `targets` */
  VEC(Name) targets; /* whole names */
} Renames;

Renames renames_make(Heap *heap, Names *names);

/* Takes the renamed classes of a script; `text` ends with a NUL. Later ones win. O(length), times the depth of names. */
void renames_read(Renames *renames, const char *text);

/* The whole name of today for the class `name` of a package; 0 if it has no other. */
Name renames_find(const Renames *renames, Name package, Name name);
