/* number: doubles as text and back, in any locale of the program around the library.
 *
 * Invariant: number_parse reads back bit for bit what number_format writes with 17 digits, or number_shortest. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for any number that the functions below write, with its NUL. */
enum { NUMBER_SIZE = 32 };

/* Writes `value` as printf's "%.*g" does in the C locale (digits 1 to 17, correctly rounded); "nan", "inf",
 * "-inf" where it is not finite. Returns the length. */
size_t number_format(double value, int digits, char out[NUMBER_SIZE]);

/* The shortest of 15, 16, 17 digits that reads back the same. Returns the length. */
size_t number_shortest(double value, char out[NUMBER_SIZE]);

/* Reads a decimal number from [text, end), surrounding blanks allowed; also nan, inf, infinity, true, false
 * in any case. False when the text is anything else; then *value is unchanged. O(length). */
bool number_parse(const char *text, const char *end, double *value);

/* The order of the bytes of a number in memory. */
bool number_is_big_endian(void);

/* The ending of a noun after a number: "%u row%s". */
static inline const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }
