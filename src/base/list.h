/* list: NULL-terminated lists of names, and the elements of a list in a text. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/* Finds the first character of `stops` that is outside quotes, brackets, braces and parentheses; otherwise returns the end. */
const char *scan_list(const char *at, const char *stops);

uint32_t names_count(const char *const *names); /* 0 for NULL */

/* Copies the list and its names to the arena; NULL stays NULL. */
const char *const *names_copy(Arena *arena, const char *const *names);
