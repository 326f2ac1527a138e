/* renames: see renames.h.
 *
 * Invariant: in a key, only the last part is an old name; the parts before it are present names. If A.B is now A.C, the old
 * A.B.X is found as X of A.C, since a lookup reaches A.C on its way. */
#include "syntax/renames.h"

#include "base/arena.h"

#include <string.h>

Renames renames_make(Heap *heap, Names *names) { return (Renames){.names = names, .place = map_make(heap)}; }

Name renames_find(const Renames *renames, Name package, Name name) {
  uint32_t place = map_get(&renames->place, (uint64_t)package << 32 | name);
  return place == MAP_NONE ? 0 : renames->targets.data[place];
}

static Name add_part(const Renames *renames, const char *text, size_t length) {
  return names_add(renames->names, text, length);
}

/* Splits a name into its package, in present names, and its last part. */
static void split(const Renames *renames, Arena *arena, const char *source, Name *package, Name *last) {
  const char *at = source;
  size_t width = strcspn(at, ".");
  *package = 0;
  *last = add_part(renames, at, width);
  while (at[width] == '.') {
    Name moved = renames_find(renames, *package, *last);
    const char *outer = names_text(renames->names, *package), *inner = names_text(renames->names, *last);
    const char *whole = *package ? arena_printf(arena, "%s.%s", outer, inner) : inner;
    *package = moved ? moved : add_part(renames, whole, strlen(whole));
    at += width + 1;
    width = strcspn(at, ".");
    *last = add_part(renames, at, width);
  }
}

static void add_rename(Renames *renames, Arena *arena, const char *source, const char *target) {
  Name package, last;
  split(renames, arena, source, &package, &last);
  map_put(&renames->place, (uint64_t)package << 32 | last, renames->targets.count);
  vec_push(renames->place.heap, &renames->targets, add_part(renames, target, strlen(target)));
}

/* ---- scripts ---- */

/* Skips blanks and comments. */
static const char *skip_blanks(const char *at) {
  for (;;) {
    at += strspn(at, " \t\r\n\f");
    const char *end = !strncmp(at, "/*", 2) ? strstr(at, "*/") : NULL;
    if (!strncmp(at, "//", 2)) at += strcspn(at, "\n");
    else if (end) at = end + 2;
    else return at;
  }
}

/* Reads "text" or {"text", ...} as Names; NULL: it is something else. Names have no escapes. */
static const char *read_list(const Renames *renames, const char *at, IndexVec *list) {
  at = skip_blanks(at);
  bool is_list = *at == '{';
  if (is_list) at = skip_blanks(at + 1);
  for (;;) {
    size_t length = *at == '"' ? strcspn(at + 1, "\"") : 0;
    if (*at != '"' || at[1 + length] != '"') return NULL;
    vec_push(renames->place.heap, list, add_part(renames, at + 1, length));
    at = skip_blanks(at + length + 2);
    if (!is_list || *at != ',') break;
    at = skip_blanks(at + 1);
  }
  if (is_list && *at != '}') return NULL;
  return is_list ? skip_blanks(at + 1) : at;
}

/* Reads the two arguments of convertClass: as many new names as old ones, or one for all. */
static void read_pair(Renames *renames, Arena *arena, const char *at) {
  IndexVec old = {0}, new = {0};
  at = read_list(renames, at, &old);
  if (at && *at == ',' && read_list(renames, at + 1, &new) && (new.count == 1 || new.count == old.count))
    for (uint32_t i = 0; i < old.count; i++)
      add_rename(renames, arena, names_text(renames->names, old.data[i]),
                 names_text(renames->names, new.data[new.count == 1 ? 0 : i]));
  vec_free(renames->place.heap, &old, &new);
}

void renames_read(Renames *renames, const char *text) {
  static const char word[] = "convertClass";
  Arena arena = arena_make(renames->place.heap);
  for (const char *at = skip_blanks(text); *at; at = skip_blanks(at + 1)) {
    if (strncmp(at, word, sizeof word - 1) != 0) continue;
    const char *open = skip_blanks(at + sizeof word - 1);
    if (*open == '(') read_pair(renames, &arena, open + 1);
  }
  arena_free(&arena);
}
