/* number: converts doubles to text and back, in any locale of the surrounding program. Invariant: number_parse reads
 * back, bit for bit, the texts of number_shortest and of number_format with 17 digits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for any number that the functions below write, including its NUL. */
enum { NUMBER_SIZE = 32 };

/* Writes `value` as printf's "%.*g" does in the C locale (1 to 17 digits, correctly rounded); "nan", "inf", "-inf" if it is not
 * finite. Returns the length. */
size_t number_format(double value, int digits, char out[NUMBER_SIZE]);

/* Writes the shortest of 15, 16 or 17 digits that reads back the same. Returns the length. */
size_t number_shortest(double value, char out[NUMBER_SIZE]);

/* Reads a decimal number from [text, end), with blanks around it allowed; also nan, inf, infinity, true, false in any case. False
 * for any other text; *value is then unchanged. O(length). */
bool number_parse(const char *text, const char *end, double *value);

/* Is the machine big-endian? */
bool number_is_big_endian(void);

/* The ending of a noun after a number: "%u row%s". */
static inline const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }
