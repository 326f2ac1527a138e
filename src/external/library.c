/* library: where a function comes from: built in, or a shared library that the user named. */
#include "external/functions.h"

#include <string.h>

const External *external_find(Heap *heap, const char *name, bool is_fortran, const ExternalRights *rights,
                              bool *is_forbidden) {
  (void)heap, (void)is_fortran;
  const External *found = external_builtin(name);
  *is_forbidden = found && found->effect == EFFECT_WRITES && !(rights && rights->may_write);
  return *is_forbidden ? NULL : found;
}
