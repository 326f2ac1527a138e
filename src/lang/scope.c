/* scope: names of components and constants, and suggestions for misspelt names. */
#include "lang/elaborate.h"

#include <string.h>

uint32_t component_find(const Elaboration *el, Name name) {
  return name < el->component_of_name.count ? el->component_of_name.data[name] - 1 : NONE;
}

void component_register(Elaboration *el, Name name, uint32_t component) {
  while (el->component_of_name.count <= name) {
    uint32_t more = name + 1 - el->component_of_name.count;
    uint32_t *fresh = vec_extend(el->heap, &el->component_of_name, more);
    memset(fresh, 0, more * sizeof *fresh);
  }
  el->component_of_name.data[name] = component + 1;
}

uint32_t package_constant_find(Elaboration *el, Name scope, Name name) {
  const char *prefix = names_text(el->names, scope), *text = names_text(el->names, name);
  size_t length = scope ? names_length(el->names, scope) : 0;
  if (el->package_constants.count == 0) return NONE;
  for (;;) {
    Name candidate = name;
    if (length) {
      const char *full = arena_printf(&el->arena, "%.*s.%s", (int)length, prefix, text);
      candidate = names_find(el->names, full, strlen(full));
    }
    uint32_t found = candidate == MAP_NONE ? MAP_NONE : map_get(&el->package_constants, candidate);
    if (found != MAP_NONE) return found;
    if (length == 0) return NONE;
    while (length && prefix[length - 1] != '.') length--;
    if (length) length--;
  }
}

/* ---- suggestions ---- */

enum { SUGGEST_LENGTH = 64, SUGGEST_SCAN = 200000 };

/* Edit distance, given up beyond `limit`; case counts little. */
static uint32_t distance(const char *a, const char *b, uint32_t limit) {
  size_t m = strlen(a), n = strlen(b);
  if (m > SUGGEST_LENGTH || n > SUGGEST_LENGTH || (m > n ? m - n : n - m) > limit) return limit + 1;
  uint32_t row[SUGGEST_LENGTH + 1];
  for (size_t j = 0; j <= n; j++) row[j] = (uint32_t)j;
  for (size_t i = 1; i <= m; i++) {
    uint32_t diagonal = row[0];
    row[0] = (uint32_t)i;
    for (size_t j = 1; j <= n; j++) {
      uint32_t change = diagonal + (a[i - 1] != b[j - 1]), best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = change < best ? change : best;
    }
  }
  return row[n];
}

typedef struct Best {
  const char *wanted;
  const char *text;
  uint32_t distance;
} Best;

static Best best_start(const char *wanted) {
  size_t length = strlen(wanted);
  return (Best){wanted, NULL, length < 3 ? 1 : length < 8 ? 2 : 3};
}

static void best_offer(Best *best, const char *text) {
  uint32_t found = distance(best->wanted, text, best->distance);
  if (found > best->distance || (best->text && found == best->distance)) return;
  if (found >= strlen(best->wanted)) return;
  best->distance = found;
  best->text = text;
}

Name suggest_component(Elaboration *el, Name name) {
  Best best = best_start(names_text(el->names, name));
  for (uint32_t i = 0; i < el->components.count && i < SUGGEST_SCAN; i++)
    best_offer(&best, names_text(el->names, el->components.data[i].name));
  return best.text ? names_add(el->names, best.text, strlen(best.text)) : 0;
}

Name suggest_function(Elaboration *el, const char *name) {
  Best best = best_start(name);
  for (uint32_t i = 0; intrinsic_name(i); i++) best_offer(&best, intrinsic_name(i));
  for (uint32_t i = 0; i < el->classes.count; i++)
    if (el->classes.data[i].role == ROLE_CLASS_FUNCTION)
      best_offer(&best, names_text(el->names, el->classes.data[i].ast->label.name));
  return best.text ? names_add(el->names, best.text, strlen(best.text)) : 0;
}
