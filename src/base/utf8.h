/* utf8: functions on UTF-8 for reading and writing texts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The length in bytes of the character at `text` (`room` bytes, at least one); 0 if the bytes are not a character. Overlong forms,
 * surrogates and codes beyond U+10FFFF are not characters. */
size_t utf8_length(const char *text, size_t room);

/* The number of characters of a text; an invalid byte counts as one. O(length). */
size_t utf8_count(const char *text);

/* Writes a character of at most 4 bytes, without NUL, and returns its length. The code must be one of Unicode. */
size_t utf8_write(uint32_t code, char *out);
