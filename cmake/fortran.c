/* fortran: the one function of Fortran's run-time library that LAPACK calls, for programs that are linked with LAPACK's archive. The whole
 * library cannot be linked into a shared library on every processor. */
#include <stddef.h>
#include <string.h>

// A program that is linked with Fortran's run-time library keeps that library's function. mingw does not link weak functions.
#ifdef _WIN32
#define WEAK
#else
#define WEAK __attribute__((weak))
#endif
WEAK void _gfortran_concat_string(size_t length, char *to, size_t first_length, const char *first, size_t second_length,
                                  const char *second);

/* to = first // second, cut or filled with blanks to its length. */
void _gfortran_concat_string(size_t length, char *to, size_t first_length, const char *first, size_t second_length,
                             const char *second) {
  size_t head = first_length < length ? first_length : length;
  size_t tail = second_length < length - head ? second_length : length - head;
  memcpy(to, first, head);
  memcpy(to + head, second, tail);
  memset(to + head + tail, ' ', length - head - tail);
}
