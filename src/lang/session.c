/* session: values of expressions while a model is still being assembled. Components are declared one by one; an expression is
 * compiled and run when its value is needed.
 *
 * Invariant: nothing becomes a variable. Parameters and constants are replaced by their values; everything else is unknown. */
#include "lang/elaborate.h"

struct LangSession {
  Elaboration el;
  Compiler compiler;
  Diags diags;
  EquationVec equations;
  ActionVec actions;
  bool is_condition; /* the last value was a scalar Boolean */
};

LangSession *lang_session(Ast *ast, LangOptions options) {
  LangSession *session = heap_alloc(ast->heap, sizeof *session);
  session->diags = diags_make(ast->heap);
  Elaboration *el = &session->el;
  *el = elaboration_make(ast->heap, ast->names, ast, model_new(ast->heap, ast->names), &session->diags);
  el->rights = options.rights;
  el->is_session = true;
  session->compiler = compiler_make(el, &el->scratch, el->diags, 0);
  el->compiler = &session->compiler;
  el->equations = &session->equations;
  el->actions = &session->actions;
  symbolic_start(el);
  return session;
}

void lang_define(LangSession *session, const AstClass *definition) { class_define(&session->el, definition); }

uint32_t lang_declare(LangSession *session, const AstElement *element, bool is_constant) {
  Elaboration *el = &session->el;
  uint32_t number = el->components.count;
  if (is_constant) component_declare_constant(el, element, element->component->label.name, 0);
  else component_declare(el, element, 0);
  return number;
}

/* False if one of the numbers changes with time. */
static bool collect_numbers(const Elaboration *el, const Value *value, NumberVec *numbers) {
  bool is_known = true;
  for (uint32_t i = 0; value->type.base != TYPE_RECORD && i < value->count; i++) {
    double number = 0;
    is_known &= dag_is_constant(el->dag, value_exprs(value)[i], &number) || value->type.base == TYPE_STRING;
    vec_push(el->heap, numbers, number);
  }
  return is_known;
}

LangStatus lang_evaluate(LangSession *session, AstExpr e, NumberVec *numbers) {
  Elaboration *el = &session->el;
  IndexVec list = {0};
  Value value;
  diags_keep(&session->diags, 0);
  session->diags.errors = 0;
  el->marks_structural = true;
  expression_dependencies(el, e, 0, &list);
  for (uint32_t i = 0; i < list.count; i++) component_evaluate(el, list.data[i]);
  vec_free(el->heap, &list);
  ExecuteStatus status = evaluate_now(el, e, 0, type_nothing(), LOAD_VALUES, &session->diags, &value);
  el->marks_structural = false;
  session->is_condition = status == EXECUTE_OK && value.type.base == TYPE_BOOLEAN && value.type.dimensions == 0;
  if (status == EXECUTE_OK && !collect_numbers(el, &value, numbers)) return LANG_UNKNOWN;
  return status == EXECUTE_OK ? LANG_VALUE : status == EXECUTE_UNKNOWN ? LANG_UNKNOWN : LANG_ERROR;
}

const uint32_t *lang_sizes(LangSession *session, uint32_t component, uint32_t *count) {
  Elaboration *el = &session->el;
  component_evaluate(el, component);
  const Component *found = &el->components.data[component];
  *count = found->type.dimensions;
  return found->progress == PROGRESS_DONE ? found->sizes : NULL;
}

bool lang_is_structural(const LangSession *session, uint32_t component) {
  return session->el.components.data[component].is_structural;
}

bool lang_is_condition(const LangSession *session) { return session->is_condition; }

const Diag *lang_error(const LangSession *session) { return diags_first_error(&session->diags); }
