/* scope: names of components and constants, what a component stands for, and suggestions for misspelt names. */
#include "base/suggest.h"
#include "lang/elaborate.h"

#include <string.h>

uint32_t component_find(const Elaboration *el, Name name) {
  return name < el->component_of_name.count ? el->component_of_name.data[name] - 1 : NONE;
}

const Value *component_load(const Elaboration *el, Component *component) {
  if (component->progress != PROGRESS_DONE) return NULL;
  bool is_text = component->type.base == TYPE_STRING; /* texts are compared here; equations contain only numbers */
  bool is_settled = (component->is_structural || is_text) &&
                    component->has_value; /* the value can no longer change, and may be used in ranges */
  if (component->is_package || is_settled || el->mode != LOAD_LEAVES) {
    if (!component->has_value) return NULL;
    if (el->marks_structural || is_text) component->is_structural = true;
    return &component->value;
  }
  bool is_missing = component->variability == VARIABILITY_CONSTANT && component->binding == AST_NONE &&
                    !component->has_value && component->type.base != TYPE_RECORD;
  return el->model->is_strict && is_missing ? NULL : &component->leaves;
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
  if (el->package_constants.count == 0) return NONE;
  for (;; scope = class_outer(el, scope)) {
    Name candidate = name;
    if (scope) {
      const char *full = arena_printf(&el->arena, "%s.%s", names_text(el->names, scope), names_text(el->names, name));
      candidate = names_find(el->names, full, strlen(full));
    }
    uint32_t found = candidate == MAP_NONE ? MAP_NONE : map_get(&el->package_constants, candidate);
    if (found != MAP_NONE) return found;
    if (!scope) return NONE;
  }
}

/* ---- suggestions ---- */

enum { SUGGEST_SCAN = 200000 };

Name suggest_component(Elaboration *el, Name name) {
  Suggestion best = {.word = names_text(el->names, name)};
  for (uint32_t i = 0; i < el->components.count && i < SUGGEST_SCAN; i++)
    suggest_offer(&best, names_text(el->names, el->components.data[i].name));
  return best.nearest ? names_add(el->names, best.nearest, strlen(best.nearest)) : 0;
}

Name suggest_function(Elaboration *el, const char *name) {
  Suggestion best = {.word = name};
  for (uint32_t i = 0; intrinsic_name(i); i++) suggest_offer(&best, intrinsic_name(i));
  for (uint32_t i = 0; i < el->classes.count; i++)
    if (el->classes.data[i].role == ROLE_CLASS_FUNCTION)
      suggest_offer(&best, names_text(el->names, el->classes.data[i].ast->label.name));
  return best.nearest ? names_add(el->names, best.nearest, strlen(best.nearest)) : 0;
}
