/* map: a hash map from 64-bit keys to 32-bit values, open addressing, and interned strings on
 * top of it. Iteration order is never part of the interface, so results cannot depend on it. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

/* A key in halves, so that no slot is padded. */
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

/* The value of a key, MAP_NONE if absent. O(1) expected, as map_put is. */
uint32_t map_get(const Map *map, uint64_t key);

/* Sets the value (not MAP_NONE) of a key, new or there already. */
void map_put(Map *map, uint64_t key, uint32_t value);

/* Frees the table; the map is empty then and can be used again. */
void map_free(Map *map);

/* A well mixed hash, a hash of bytes, and one of a text (NULL is another than the empty one) after others. */
uint64_t hash_mix(uint64_t value);
uint64_t hash_bytes(const void *bytes, size_t length);
uint64_t hash_text(uint64_t hash, const char *text);

/* A hash for tables of names: names that differ in their last number only, as x[8] and x[9], may have neighbouring ones. */
uint32_t hash_name(const char *text, size_t length);

/* Interned strings: equal text has equal index. Index 0 is the empty string. */
typedef uint32_t Name;

typedef struct NameEntry {
  const char *text;
  uint32_t length;
} NameEntry;

/* A place in the list + 1, 0: empty; the half of the hash spares most visits to other names. */
typedef struct NameSlot {
  uint32_t hash, place;
} NameSlot;

typedef struct Names {
  Arena arena;
  const struct Names *base; /* its names come first; NULL: none */
  uint32_t first;           /* the name of list.data[0]: how many the base has */
  NameSlot *slots;          /* open addressing */
  NameSlot
      *recent; /* of a large table, by hash: names used last, which stay in the processor's cache; NULL: it is small */
  uint32_t capacity;
  VEC(NameEntry) list;
} Names;

/* A table that holds the empty string. */
Names names_make(Heap *heap);

/* A table over another that no longer grows and outlives it: what is entered here leaves the other as it is. */
Names names_over(Heap *heap, const Names *base);

/* The name of a text, entered if it is new; the text is copied. O(length) expected, as names_find is. */
Name names_add(Names *names, const char *text, size_t length);

/* The name of a text, MAP_NONE if it was never entered. */
Name names_find(const Names *names, const char *text, size_t length);

/* The text of a name, NUL-terminated; it lives and stays in place as long as the table. */
const char *names_text(const Names *names, Name name);
uint32_t names_length(const Names *names, Name name);

/* Frees the table and all texts; it must be made again before it is used again. */
void names_free(Names *names);
