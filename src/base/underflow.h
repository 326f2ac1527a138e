/* underflow: sets denormal numbers to zero while a thread integrates. A wave that has not arrived yet leaves such numbers in
 * thousands of unknowns. Arithmetic with them costs a hundred times as much, and compared with any tolerance they are zero. */
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>

enum { UNDERFLOW_FLUSH = 0x8040 }; /* operands and results: DAZ and FTZ of MXCSR */

typedef unsigned Underflow;
static inline Underflow underflow_mode(void) { return _mm_getcsr(); }
static inline void underflow_restore(Underflow mode) { _mm_setcsr(mode); }

#elif defined(__aarch64__)
#include <stdint.h>

enum { UNDERFLOW_FLUSH = 1 << 24 }; /* FZ of FPCR */

typedef uint64_t Underflow;
static inline Underflow underflow_mode(void) {
  Underflow mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
static inline void underflow_restore(Underflow mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }

#else

enum { UNDERFLOW_FLUSH = 0 }; /* slow if such numbers occur */

typedef unsigned Underflow;
static inline Underflow underflow_mode(void) { return 0; }
static inline void underflow_restore(Underflow mode) { (void)mode; }

#endif

/* Turns flushing on in this thread. Returns the previous mode, which must be restored. */
static inline Underflow underflow_flush(void) {
  Underflow before = underflow_mode();
  underflow_restore(before | UNDERFLOW_FLUSH);
  return before;
}
