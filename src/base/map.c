/* map: see map.h. Linear probing: at most half of the slots are used, in tables of names at most two thirds. Keys that differ only
 * in their last bits are neighbours, because the next number is often needed soon and is then in the processor's cache. The same
 * holds for names that differ only in their last number. */
#include "base/map.h"

#include <string.h>

enum { NEAR_KEYS = 8, NEAR_BITS = 3 };

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

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The hash of a name: the last bits of its last number select one of NEAR_KEYS neighbours; the other bits and the rest of the name
 * are mixed. */
uint32_t hash_name(const char *text, size_t length) {
  size_t end = length, begin;
  while (end && !is_digit(text[end - 1])) end--;
  uint64_t number = 0;
  for (begin = end; begin && is_digit(text[begin - 1]);) begin--;
  for (size_t i = begin; i < end; i++) number = 10 * number + (uint64_t)(text[i] - '0');
  uint64_t rest = hash_bytes(text + end, length - end), digits = end - begin;
  uint64_t hash = hash_mix(hash_bytes(text, begin) + rest + (number >> NEAR_BITS) + (digits << 56));
  return (uint32_t)(hash * NEAR_KEYS | (number & (NEAR_KEYS - 1)));
}

uint64_t hash_text(uint64_t hash, const char *text) {
  return hash_mix(hash ^ (text ? hash_bytes(text, strlen(text)) : 1));
}

Map map_make(Heap *heap) { return (Map){.heap = heap}; }

static uint32_t map_slot(const Map *map, uint64_t key) {
  uint32_t mask = map->capacity - 1, low = (uint32_t)key, high = (uint32_t)(key >> 32);
  uint32_t at = ((uint32_t)hash_mix(key >> NEAR_BITS) * NEAR_KEYS + (low & (NEAR_KEYS - 1))) & mask;
  for (const MapSlot *slot; slot = &map->slots[at], slot->value != MAP_NONE; at = (at + 1) & mask)
    if (slot->key[0] == low && slot->key[1] == high) break;
  return at;
}

uint32_t map_get(const Map *map, uint64_t key) {
  return map->capacity ? map->slots[map_slot(map, key)].value : MAP_NONE;
}

/* Twice the capacity; a table that no longer fits 32-bit slots counts as refused. */
static uint32_t larger_capacity(Heap *heap, uint32_t capacity) {
  if (capacity > UINT32_MAX / 2) heap_fail(heap);
  return capacity ? capacity * 2 : 8;
}

static void map_rehash(Map *map, uint32_t capacity) {
  Map next = {.heap = map->heap, .capacity = capacity, .count = map->count};
  next.slots = heap_array(map->heap, capacity, sizeof *next.slots);
  for (uint32_t i = 0; i < capacity; i++) next.slots[i].value = MAP_NONE;
  for (uint32_t i = 0; i < map->capacity; i++) {
    MapSlot slot = map->slots[i];
    if (slot.value != MAP_NONE) next.slots[map_slot(&next, (uint64_t)slot.key[1] << 32 | slot.key[0])] = slot;
  }
  map_free(map);
  *map = next;
}

void map_put(Map *map, uint64_t key, uint32_t value) {
  if (map->count >= map->capacity / 2) map_rehash(map, larger_capacity(map->heap, map->capacity));
  MapSlot *slot = &map->slots[map_slot(map, key)];
  if (slot->value == MAP_NONE) map->count++;
  *slot = (MapSlot){{(uint32_t)key, (uint32_t)(key >> 32)}, value};
}

void map_free(Map *map) {
  heap_free(map->heap, map->slots);
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

/* A table with more slots than FAR_NAMES exceeds the processor's cache; RECENT_NAMES slots fit into it. */
enum { FAR_NAMES = 1 << 17, RECENT_NAMES = 1 << 12 };

static bool is_name(const Names *names, NameSlot slot, const char *text, size_t length, uint32_t hash) {
  if (slot.hash != hash) return false;
  const NameEntry *entry = &names->list.data[slot.place - 1];
  return entry->length == length && (!length || memcmp(entry->text, text, length) == 0);
}

static uint32_t names_slot(const Names *names, const char *text, size_t length, uint32_t hash) {
  uint32_t mask = names->capacity - 1, at = hash & mask;
  while (names->slots[at].place && !is_name(names, names->slots[at], text, length, hash)) at = (at + 1) & mask;
  return at;
}

static void names_rehash(Names *names, uint32_t capacity) {
  Heap *heap = names->arena.heap;
  NameSlot *slots = heap_array(heap, capacity, sizeof *slots);
  for (uint32_t i = 0; i < names->capacity; i++) {
    NameSlot slot = names->slots[i];
    uint32_t at = slot.hash & (capacity - 1);
    if (!slot.place) continue;
    while (slots[at].place) at = (at + 1) & (capacity - 1);
    slots[at] = slot;
  }
  heap_free(heap, names->slots);
  names->slots = slots;
  names->capacity = capacity;
  if (capacity > FAR_NAMES && !names->recent) names->recent = heap_array(heap, RECENT_NAMES, sizeof *names->recent);
}

/* The number of names that a table holds before it grows. */
static uint32_t room_of(uint32_t capacity) { return capacity / 3 * 2; }

void names_reserve(Names *names, uint32_t more) {
  Heap *heap = names->arena.heap;
  uint32_t capacity = names->capacity;
  if (more > INT32_MAX - names->list.count) heap_fail(heap);
  while (names->list.count + more > room_of(capacity)) capacity = larger_capacity(heap, capacity);
  if (capacity > names->capacity) names_rehash(names, capacity);
  vec_reserve(heap, &names->list, more);
}

Name names_add(Names *names, const char *text, size_t length) {
  Heap *heap = names->arena.heap;
  heap_text(heap, length, length);
  if (length > INT32_MAX) heap_fail(heap);
  Name known = names->base ? names_find(names->base, text, length) : MAP_NONE;
  if (known != MAP_NONE) return known;
  if (names->list.count >= room_of(names->capacity)) names_rehash(names, larger_capacity(heap, names->capacity));
  uint32_t hash = hash_name(text, length);
  NameSlot *recent = names->recent ? &names->recent[hash & (RECENT_NAMES - 1)] : NULL;
  if (recent && recent->place && is_name(names, *recent, text, length, hash)) return names->first + recent->place - 1;
  NameSlot *slot = &names->slots[names_slot(names, text, length, hash)];
  if (!slot->place) {
    NameEntry entry = {arena_copy(&names->arena, text, length), (uint32_t)length};
    vec_push(heap, &names->list, entry);
    *slot = (NameSlot){hash, names->list.count};
  }
  if (recent) *recent = *slot;
  return names->first + slot->place - 1;
}

Name names_find(const Names *names, const char *text, size_t length) {
  for (; names; names = names->base) {
    uint32_t slot = names->capacity ? names_slot(names, text, length, hash_name(text, length)) : 0;
    if (names->capacity && names->slots[slot].place) return names->first + names->slots[slot].place - 1;
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
  heap_free_all(names->arena.heap, names->slots, names->recent);
  vec_free(names->arena.heap, &names->list);
  arena_free(&names->arena);
  names->slots = names->recent = NULL;
  names->capacity = 0;
}
