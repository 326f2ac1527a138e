/* map: a hash map with open addressing from 64-bit keys to 32-bit values, and interned strings on top of it. Iteration order is
 * never part of the interface, so results cannot depend on it. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

/* The key is in two halves, so that no slot is padded. */
typedef struct MapSlot {
  uint32_t key[2];
  uint32_t value; /* MAP_NONE: empty */
} MapSlot;

typedef struct Map {
  Heap *heap;
  MapSlot *slots;
  uint32_t count, capacity;
} Map;

#define MAP_NONE UINT32_MAX

/* An empty map; takes no memory yet. */
Map map_make(Heap *heap);

/* The value of a key, MAP_NONE if absent. O(1) expected, like map_put. */
uint32_t map_get(const Map *map, uint64_t key);

/* Sets the value (not MAP_NONE) of a new or existing key. */
void map_put(Map *map, uint64_t key, uint32_t value);

/* Frees the table; the map is empty then and can be used again. */
void map_free(Map *map);

/* A well mixed hash of a number, a hash of bytes, and one that continues a hash with a text (NULL differs from the empty text). */
static inline uint64_t hash_mix(uint64_t value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  value ^= value >> 32;
  return value;
}
uint64_t hash_bytes(const void *bytes, size_t length);
uint64_t hash_text(uint64_t hash, const char *text);

/* A hash for tables of names: names that differ only in their last number, like x[8] and x[9], may have neighbouring hashes. */
uint32_t hash_name(const char *text, size_t length);

/* Interned strings: equal text has equal index. Index 0 is the empty string. */
typedef uint32_t Name;

typedef struct NameEntry {
  const char *text;
  uint32_t length;
} NameEntry;

/* An index in the list + 1, or 0: empty. Half of the hash is stored to avoid most comparisons with other names. */
typedef struct NameSlot {
  uint32_t hash, place;
} NameSlot;

typedef struct Names {
  Arena arena;
  const struct Names *base; /* the names of this table come first; NULL: there is none */
  uint32_t first;           /* the name of list.data[0], which is the number of names in the base */
  NameSlot *slots;          /* open addressing */
  NameSlot *recent;         /* cache of a large table, by hash: the last used names; NULL: the table is small */
  uint32_t capacity;
  VEC(NameEntry) list;
} Names;

/* A table that contains the empty string. */
Names names_make(Heap *heap);

/* A table on top of another one, which must no longer grow and must outlive it. New names do not change the other table. */
Names names_over(Heap *heap, const Names *base);

/* The name of a text, added if it is new; the text is copied. O(length) expected, like names_find. */
Name names_add(Names *names, const char *text, size_t length);

/* Makes room for `more` further names. */
void names_reserve(Names *names, uint32_t more);

/* The name of a text, MAP_NONE if it was never added. */
Name names_find(const Names *names, const char *text, size_t length);

/* The text of a name, NUL-terminated. It stays valid and in place as long as the table lives. */
const char *names_text(const Names *names, Name name);
uint32_t names_length(const Names *names, Name name);

/* Frees the table and all texts; it must be made again before further use. */
void names_free(Names *names);
