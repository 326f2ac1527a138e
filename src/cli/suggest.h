/* suggest: suggestions for a word that is not in a list, and usage errors. */
#pragma once

#include <stdbool.h>

/* Prints "daedal: error: ... [code]" on standard error. Always returns false. */
__attribute__((format(printf, 2, 3))) bool say_error(const char *code, const char *format, ...);
#define usage_error(...) say_error("D200", __VA_ARGS__)

/* Prints the names of a NULL-terminated list that are near the word on standard error; if there are none, prints all names
 * of that kind. */
void suggest_print(const char *word, const char *const *names, const char *kind);
