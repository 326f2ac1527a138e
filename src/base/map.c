/* map: see map.h. Linear probing at a load of at most one half. */
#include "base/map.h"

#include <string.h>

uint64_t hash_mix(uint64_t value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  value ^= value >> 32;
  return value;
}

uint64_t hash_bytes(const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
  for (; length >= 8; p += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    hash = hash_mix(hash ^ word);
  }
  uint64_t tail = 0;
  if (length) memcpy(&tail, p, length);
  return hash_mix(hash ^ tail);
}

uint64_t hash_text(uint64_t hash, const char *text) {
  return hash_mix(hash ^ (text ? hash_bytes(text, strlen(text)) : 1));
}

Map map_make(Heap *heap) { return (Map){.heap = heap}; }

static uint32_t map_slot(const Map *map, uint64_t key) {
  uint32_t mask = map->capacity - 1;
  uint32_t slot = (uint32_t)hash_mix(key) & mask;
  while (map->values[slot] != MAP_NONE && map->keys[slot] != key) slot = (slot + 1) & mask;
  return slot;
}

uint32_t map_get(const Map *map, uint64_t key) { return map->capacity ? map->values[map_slot(map, key)] : MAP_NONE; }

/* Twice the slots; a table that no longer fits 32-bit slots counts as refused. */
static uint32_t larger_capacity(Heap *heap, uint32_t capacity) {
  if (capacity > UINT32_MAX / 2) heap_fail(heap);
  return capacity ? capacity * 2 : 8;
}

static void map_rehash(Map *map, uint32_t capacity) {
  Map next = {.heap = map->heap, .capacity = capacity, .count = map->count};
  next.keys = heap_array(map->heap, capacity, sizeof *next.keys);
  next.values = heap_array(map->heap, capacity, sizeof *next.values);
  memset(next.values, 0xff, capacity * sizeof *next.values);
  for (uint32_t i = 0; i < map->capacity; i++) {
    if (map->values[i] == MAP_NONE) continue;
    uint32_t slot = map_slot(&next, map->keys[i]);
    next.keys[slot] = map->keys[i];
    next.values[slot] = map->values[i];
  }
  map_free(map);
  *map = next;
}

void map_put(Map *map, uint64_t key, uint32_t value) {
  if (map->count >= map->capacity / 2) map_rehash(map, larger_capacity(map->heap, map->capacity));
  uint32_t slot = map_slot(map, key);
  if (map->values[slot] == MAP_NONE) map->count++;
  map->keys[slot] = key;
  map->values[slot] = value;
}

void map_free(Map *map) {
  heap_free_all(map->heap, map->keys, map->values);
  *map = map_make(map->heap);
}

Names names_make(Heap *heap) {
  Names names = {.arena = arena_make(heap)};
  names_add(&names, "", 0);
  return names;
}

Names names_over(Heap *heap, const Names *base) {
  return (Names){.arena = arena_make(heap), .base = base, .first = base->first + base->list.count};
}

static uint32_t names_slot(const Names *names, const char *text, size_t length, uint64_t hash) {
  uint32_t mask = names->capacity - 1;
  for (uint32_t slot = (uint32_t)hash & mask;; slot = (slot + 1) & mask) {
    if (!names->slots[slot]) return slot;
    const NameEntry *entry = &names->list.data[names->slots[slot] - 1];
    if (entry->hash != hash || entry->length != length) continue;
    if (!length || memcmp(entry->text, text, length) == 0) return slot;
  }
}

static void names_rehash(Names *names, uint32_t capacity) {
  Heap *heap = names->arena.heap;
  uint32_t *slots = heap_array(heap, capacity, sizeof *slots);
  for (uint32_t i = 0; i < names->list.count; i++) {
    uint32_t slot = (uint32_t)names->list.data[i].hash & (capacity - 1);
    while (slots[slot]) slot = (slot + 1) & (capacity - 1);
    slots[slot] = i + 1;
  }
  heap_free(heap, names->slots);
  names->slots = slots;
  names->capacity = capacity;
}

Name names_add(Names *names, const char *text, size_t length) {
  Heap *heap = names->arena.heap;
  heap_text(heap, length, length);
  if (length > INT32_MAX) heap_fail(heap);
  Name known = names->base ? names_find(names->base, text, length) : MAP_NONE;
  if (known != MAP_NONE) return known;
  if (names->list.count >= names->capacity / 2) names_rehash(names, larger_capacity(heap, names->capacity));
  uint64_t hash = hash_bytes(text, length);
  uint32_t slot = names_slot(names, text, length, hash);
  if (names->slots[slot]) return names->first + names->slots[slot] - 1;
  NameEntry entry = {arena_copy(&names->arena, text, length), (uint32_t)length, hash};
  vec_push(heap, &names->list, entry);
  names->slots[slot] = names->list.count;
  return names->first + names->list.count - 1;
}

Name names_find(const Names *names, const char *text, size_t length) {
  for (; names; names = names->base) {
    uint32_t slot = names->capacity ? names_slot(names, text, length, hash_bytes(text, length)) : 0;
    if (names->capacity && names->slots[slot]) return names->first + names->slots[slot] - 1;
  }
  return MAP_NONE;
}

static const NameEntry *names_entry(const Names *names, Name name) {
  while (name < names->first) names = names->base;
  return &names->list.data[name - names->first];
}

const char *names_text(const Names *names, Name name) { return names_entry(names, name)->text; }
uint32_t names_length(const Names *names, Name name) { return names_entry(names, name)->length; }

void names_free(Names *names) {
  heap_free(names->arena.heap, names->slots);
  vec_free(names->arena.heap, &names->list);
  arena_free(&names->arena);
  names->slots = NULL;
  names->capacity = 0;
}
