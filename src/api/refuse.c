/* refuse: reports wrong names and values of a call, with suggestions. */
#include "api/handles.h"

#include "base/suggest.h"

#include <string.h>

bool refuse_usage(daedal_result *result, const char *message) {
  diag_error(&result->diags, DIAG_USAGE, (Span){0}, "%s", message);
  return false;
}

static void note_nearest(Diags *diags, Diag *diag, Suggestion best) {
  if (best.nearest) diag_note(diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
}

bool refuse_method(daedal_result *result, const char *name) {
  Diag *diag = diag_error(&result->diags, DIAG_NO_SUCH_METHOD, (Span){0}, "there is no method '%s'", name);
  Suggestion best = {.word = name};
  for (uint32_t m = 0; method_at(m); m++) suggest_offer(&best, method_at(m)->name);
  note_nearest(&result->diags, diag, best);
  for (uint32_t m = 0; method_at(m); m++)
    diag_note(&result->diags, diag, (Span){0}, "%s: %s", method_at(m)->name, method_at(m)->description);
  return false;
}

/* The variable x of "x.start". Sensitivities use this name for the start value of x; in other lists it is x. NULL: there is
 * none. */
static const char *owner_of_start(const Model *model, Arena *arena, const char *name) {
  const char *dot = strrchr(name, '.');
  if (!dot || strcmp(dot, ".start") != 0) return NULL;
  const char *owner = arena_copy(arena, name, (size_t)(dot - name));
  return model_find(model, owner) == MAP_NONE ? NULL : owner;
}

bool refuse_name(const Model *model, Diags *diags, const char *name, const char *purpose) {
  Suggestion best = {.word = name};
  Diag *diag = diag_error(diags, DIAG_NO_SUCH_VARIABLE, (Span){0}, "there is no variable '%s' to %s", name, purpose);
  for (uint32_t v = 0; v < model->variables.count; v++) {
    const char *text = model_name(model, v), *subscript = strstr(text, "[1");
    suggest_offer(&best, text);
    if (subscript) suggest_offer(&best, arena_copy(&diags->arena, text, (size_t)(subscript - text)));
  }
  const char *owner = owner_of_start(model, &diags->arena, name);
  if (owner) diag_note(diags, diag, (Span){0}, "`%s=VALUE` gives the start value of `%s`", owner, owner);
  else note_nearest(diags, diag, best);
  return false;
}

bool find_solver(daedal_result *result, const char *name, const Integrator **integrator) {
  *integrator = integrator_find(name);
  if (*integrator || strcmp(name, SOLVER_AUTO) == 0) return true;
  Diag *diag =
      diag_error(&result->diags, DIAG_NO_SUCH_METHOD, (Span){0}, "there is no solver '%s' in this build", name);
  Suggestion best = {.word = name};
  for (uint32_t s = 0; integrator_at(s); s++) suggest_offer(&best, integrator_at(s)->name);
  note_nearest(&result->diags, diag, best);
  for (uint32_t s = 0; integrator_at(s); s++)
    diag_note(&result->diags, diag, (Span){0}, "%s: %s", integrator_at(s)->name, integrator_at(s)->description);
  return false;
}
