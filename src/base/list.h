/* list: texts of options that are lists. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/* The first of the characters `stops` outside of quotes, brackets, braces and parentheses, or the end. */
const char *scan_list(const char *at, const char *stops);

/* "a,b[1,2],c": the names between commas outside of brackets, in the arena. */
const char **split_names(Arena *arena, const char *text, uint32_t *count);
