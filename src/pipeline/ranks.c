/* ranks: the method by numerical ranks replaces one that structural analysis misled. */
#include "pipeline/parts.h"

Request ranks_ask(const Request *request, Heap *heap, Diags **attempt) {
  Request asked = *request;
  asked.method = &method_strangeness;
  asked.resumption = NULL;
  *attempt = heap_alloc(heap, sizeof **attempt);
  **attempt = diags_make(heap);
  return asked;
}

bool ranks_take_over(const Strangeness *strangeness, const Request *request, const Diags *attempt, uint32_t before,
                     Diags *diags) {
  Diag *error = diags_first_error(diags);
  if (!error) return false;
  if (request->method == &method_dummy && !request->keeps_method && !strangeness->v && !strangeness->u) {
    const char *reason = error->message;
    diags_keep(diags, before);
    diag_warning(diags, DIAG_METHOD_REPLACED, (Span){0}, "method %s fails, method strangeness takes its place: %s",
                 request->method->name, reason);
    diags_append(diags, attempt);
    return true;
  }
  diag_note(diags, error, (Span){0},
            "method strangeness runs this model; equations that follow from others: %d, free variables: %d",
            (int)strangeness->v, (int)strangeness->u);
  return false;
}
