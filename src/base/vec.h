/* vec: growing arrays, typed by the struct that VEC(T) makes. Memory comes from a heap.
 *
 *   typedef VEC(int) IntVec;
 *   IntVec v = {0};
 *   vec_push(heap, &v, 7);            v.data[0] == 7, v.count == 1
 */
#pragma once

#include "base/arena.h"

#include <stdint.h>

#define VEC(T)                \
  struct {                    \
    T *data;                  \
    uint32_t count, capacity; \
  }

/* Makes room for `more` further elements; the data pointer may move. Evaluates `more` twice. */
#define vec_reserve(heap, v, more)      \
  ((more) <= (v)->capacity - (v)->count \
       ? (void)0                        \
       : (void)((v)->data = vec_grow((heap), (v)->data, sizeof *(v)->data, (v)->count, &(v)->capacity, (more))))

/* Appends one element; the value must not itself push to v. Amortized O(1). */
#define vec_push(heap, v, ...) \
  (vec_reserve((heap), (v), 1), (void)((v)->data[(v)->count] = (__VA_ARGS__), (v)->count++))

/* Appends `more` elements, not initialized, and returns a pointer to the first; evaluates `more` four times. */
#define vec_extend(heap, v, more) \
  (vec_reserve((heap), (v), (more)), (v)->count += (more), (v)->data + ((v)->count - (more)))

#define vec_pop(v) ((v)->data[--(v)->count])
#define vec_last(v) ((v)->data[(v)->count - 1])

/* Frees up to six vectors and leaves them empty. */
#define vec_free(heap, ...) VEC_SIXTH(__VA_ARGS__, VEC_6, VEC_5, VEC_4, VEC_3, VEC_2, VEC_1, 0)(heap, __VA_ARGS__)
#define VEC_SIXTH(a, b, c, d, e, f, chosen, ...) chosen
#define VEC_1(heap, v) (heap_free((heap), (v)->data), (v)->data = NULL, (v)->count = (v)->capacity = 0)
#define VEC_2(heap, v, ...) (VEC_1(heap, v), VEC_1(heap, __VA_ARGS__))
#define VEC_3(heap, v, ...) (VEC_1(heap, v), VEC_2(heap, __VA_ARGS__))
#define VEC_4(heap, v, ...) (VEC_1(heap, v), VEC_3(heap, __VA_ARGS__))
#define VEC_5(heap, v, ...) (VEC_1(heap, v), VEC_4(heap, __VA_ARGS__))
#define VEC_6(heap, v, ...) (VEC_1(heap, v), VEC_5(heap, __VA_ARGS__))

typedef VEC(int32_t) IntVec;
typedef VEC(uint32_t) IndexVec;
typedef VEC(char) TextVec;

/* The index of the last of `count` ascending keys that is not above `key`; 0 if all are above. The keys are `stride` bytes apart.
 * O(log count). */
uint32_t search_last(const uint32_t *first, size_t stride, uint32_t count, uint32_t key);

/* Used by vec_reserve: doubles the capacity, or makes exactly the requested room if that is more. */
void *vec_grow(Heap *heap, void *data, size_t size, uint32_t count, uint32_t *capacity, uint32_t more);

/* Appends to a text, which is always NUL-terminated after `count`. A text beyond 2 GiB is refused like memory. */
void text_append(Heap *heap, TextVec *text, const char *bytes, size_t length);
__attribute__((format(printf, 3, 4))) void text_printf(Heap *heap, TextVec *text, const char *format, ...);

/* Moves the text to the arena: copies it and frees the vector. */
char *text_keep(Heap *heap, TextVec *text, Arena *arena);

/* Appends the string in quotes of this kind, with the escapes of the language. */
void text_quote(Heap *heap, TextVec *text, const char *string, char quote);
