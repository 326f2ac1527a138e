/* suggest: what the user may have meant by a word that is not in a list, and usage errors. */
#pragma once

#include <stdbool.h>

/* Prints "daedal: error: ... [code]" on standard error. Always false. */
__attribute__((format(printf, 2, 3))) bool say_error(const char *code, const char *format, ...);
#define usage_error(...) say_error("D200", __VA_ARGS__)

/* Prints on standard error the names of a NULL-terminated list that come near the word, or else all of them
 * as what is available of that kind. */
void suggest_print(const char *word, const char *const *names, const char *kind);
