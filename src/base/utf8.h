/* utf8: the few questions about UTF-8 that reading and writing texts needs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The length in bytes of the character at `text` (`room` bytes, at least one); 0 if the bytes there are none:
 * overlong forms, surrogates and what lies beyond U+10FFFF included. */
size_t utf8_length(const char *text, size_t room);

/* The number of characters of a text; a byte that belongs to none counts as one. O(length). */
size_t utf8_count(const char *text);

/* Writes a character, at most 4 bytes without NUL; its length. The code is one of Unicode's. */
size_t utf8_write(uint32_t code, char *out);
