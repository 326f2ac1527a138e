/* refuse: reports wrong names and values of a call, with suggestions. */
#include "api/handles.h"

#include "base/suggest.h"

#include <string.h>

bool refuse_usage(daedal_result *result, const char *message) {
  diag_error(&result->diags, DIAG_USAGE, (Span){0}, "%s", message);
  return false;
}

bool refuse_method(daedal_result *result, const char *name) {
  Diag *diag = diag_error(&result->diags, DIAG_NO_SUCH_METHOD, (Span){0}, "there is no method '%s'", name);
  for (uint32_t m = 0; method_at(m); m++)
    diag_note(&result->diags, diag, (Span){0}, "%s: %s", method_at(m)->name, method_at(m)->description);
  return false;
}

bool refuse_name(const Model *model, Diags *diags, const char *name, const char *purpose) {
  Suggestion best = {.word = name};
  Diag *diag = diag_error(diags, DIAG_NO_SUCH_VARIABLE, (Span){0}, "there is no variable '%s' to %s", name, purpose);
  for (uint32_t v = 0; v < model->variables.count; v++) {
    const char *text = model_name(model, v), *subscript = strstr(text, "[1");
    suggest_offer(&best, text);
    if (subscript) suggest_offer(&best, arena_copy(&diags->arena, text, (size_t)(subscript - text)));
  }
  if (best.nearest) diag_note(diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
  return false;
}

bool find_solver(daedal_result *result, const char *name, const Integrator **integrator) {
  *integrator = integrator_find(name);
  if (*integrator || strcmp(name, SOLVER_AUTO) == 0) return true;
  Diag *diag =
      diag_error(&result->diags, DIAG_NO_SUCH_METHOD, (Span){0}, "there is no solver '%s' in this build", name);
  for (uint32_t s = 0; integrator_at(s); s++)
    diag_note(&result->diags, diag, (Span){0}, "%s: %s", integrator_at(s)->name, integrator_at(s)->description);
  return false;
}
