/* map: a hash map from 64-bit keys to 32-bit values, open addressing, and interned strings on
 * top of it. Iteration order is never part of the interface, so results cannot depend on it. */
#ifndef DAEDAL_BASE_MAP_H
#define DAEDAL_BASE_MAP_H

#include "base/arena.h"
#include "base/vec.h"

typedef struct Map {
  Heap *heap;
  uint64_t *keys;
  uint32_t *values; /* MAP_NONE marks an empty slot */
  uint32_t count, capacity;
} Map;

#define MAP_NONE UINT32_MAX

Map map_make(Heap *heap);
uint32_t map_get(const Map *map, uint64_t key); /* MAP_NONE if absent */
void map_put(Map *map, uint64_t key, uint32_t value); /* value != MAP_NONE */
void map_free(Map *map);

/* A well mixed hash, and a hash of bytes. */
uint64_t hash_mix(uint64_t value);
uint64_t hash_bytes(const void *bytes, size_t length);

/* Interned strings: equal text has equal index. Index 0 is the empty string. */
typedef uint32_t Name;

typedef struct Names {
  Arena arena;
  uint32_t *slots; /* open addressing, holds name + 1 */
  uint32_t capacity;
  VEC(struct NameEntry {
    const char *text;
    uint32_t length;
    uint64_t hash;
  }) list;
} Names;

Names names_make(Heap *heap);
Name names_add(Names *names, const char *text, size_t length);
Name names_find(const Names *names, const char *text, size_t length); /* MAP_NONE if absent */
const char *names_text(const Names *names, Name name);
uint32_t names_length(const Names *names, Name name);
void names_free(Names *names);

#endif
