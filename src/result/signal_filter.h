/* signal_filter: a choice of signals by a list of words. A word that is the name of a signal selects that signal, and the name of
 * an array selects its elements. Any other word is a POSIX extended regular expression that must match a whole name. So a name
 * needs no escapes, even if its characters have a meaning in an expression. */
#pragma once

#include "base/diag.h"

typedef struct SignalFilter SignalFilter;

/* The names that signals may have, from 0 on; NULL after the last. A name is valid until the next call. */
typedef struct NameList {
  const char *(*at)(void *context, uint32_t index);
  void *context;
} NameList;

/* The filter belongs to the heap. Returns NULL after reporting a DIAG_USAGE error: a word matches no name of the list, or is not a
 * valid expression. O(names * words). */
SignalFilter *signal_filter_new(Heap *heap, Diags *diags, const char *const *words, NameList names);

/* Does every word select a signal of the run? If not, reports an error: a run need not have the derivative of each variable. */
bool signal_filter_check(const SignalFilter *filter, Diags *diags, NameList signals);

bool signal_filter_match(const SignalFilter *filter, const char *name);

/* Was the signal requested by its own name, or by the name of its array? */
bool signal_filter_names(const SignalFilter *filter, const char *name);
