/* heap: the memory that an integrator of the library is made in: a piece of that of the run, handed out once. Without a beginning it is only counted,
 * and the integrator itself is `self`. */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>

typedef struct Heap {
  char *begin;
  size_t used;
  void *self;
  size_t room; /* for it */
} Heap;

void *heap_alloc(Heap *heap, size_t size);
void *heap_array(Heap *heap, size_t count, size_t size);

#define heap_numbers(heap, count, ...)                                 \
  heap_number_arrays((heap), (count), (double **const[]){__VA_ARGS__}, \
                     sizeof(double **const[]){__VA_ARGS__} / sizeof(double **))
void heap_number_arrays(Heap *heap, size_t count, double **const *arrays, size_t array_count);

#endif
