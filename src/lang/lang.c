/* lang: text to flat model: parse, collect, declare, settle, add, bind, equations; each step in its own
 * file (elaborate.h). */
#include "lang/lang.h"

#include "lang/elaborate.h"
#include "syntax/parser.h"

#include <string.h>

static Elaboration elaboration_make(Heap *heap, Names *names, const Ast *ast, Model *model, Diags *diags) {
  return (Elaboration){.heap = heap,
                       .names = names,
                       .ast = ast,
                       .model = model,
                       .dag = model->dag,
                       .diags = diags,
                       .quiet = diags_make(heap),
                       .arena = arena_make(heap),
                       .is_base = ast->main->version != 0,
                       .class_of_name = map_make(heap),
                       .package_constants = map_make(heap),
                       .stems = map_make(heap),
                       .embedded = map_make(heap),
                       .instances = map_make(heap),
                       .missing = map_make(heap),
                       .state_select = NONE,
                       .assertion_level = NONE,
                       .guard = EXPR_NONE};
}

static bool is_same_assertion(const Action *a, const Action *b) {
  return a->value == b->value && a->guard == b->guard && a->message == b->message && a->is_warning == b->is_warning;
}

/* Functions called in several places assert the same several times: the first of each is kept. */
static void keep_asserts(Elaboration *el, const ActionVec *asserts) {
  Map seen = map_make(el->heap);
  for (uint32_t i = 0; i < asserts->count; i++) {
    const Action *action = &asserts->data[i];
    uint64_t key = (uint64_t)action->value << 32 | action->guard;
    uint32_t before = action->kind == ACTION_ASSERT ? map_get(&seen, key) : MAP_NONE;
    if (before != MAP_NONE && is_same_assertion(action, &asserts->data[before])) continue;
    if (action->kind == ACTION_ASSERT) map_put(&seen, key, i);
    vec_push(el->heap, &el->model->asserts, *action);
  }
  map_free(&seen);
}

/* The tree is complete before the elaboration begins. */
static void read_modifications(Elaboration *el, Ast *ast, const ModificationVec *modifications) {
  for (uint32_t i = 0; modifications && i < modifications->count; i++) {
    const Modification *modification = &modifications->data[i];
    vec_push(el->heap, &el->modifications,
             (NewBinding){.name = names_add(el->names, modification->name, strlen(modification->name)),

                          .value = parse_value(ast, modification->value, el->diags)});
  }
}

static void elaborate(Elaboration *el, const char *class_name, LangOptions options) {
  Compiler compiler = compiler_make(el, &el->scratch, el->diags, 0);
  EquationVec equations = {0};
  ActionVec asserts = {0};
  el->compiler = &compiler;
  el->equations = &equations;
  el->actions = &asserts;
  symbolic_start(el);
  const ClassEntry *entry = classes_collect(el, class_name);
  if (!entry) return;
  if (options.strict) energy_refuse(el, entry->ast);
  el->model->name = entry->ast->label.name;
  el->model->description = entry->ast->comment;
  components_declare(el, entry);
  when_mark(el, entry->ast);
  components_evaluate(el);
  components_add(el);
  components_bind(el);
  equations_elaborate(el, entry->ast);
  if (el->diags->errors == 0) equations_classify(el, &equations);
  if (el->diags->errors == 0) energy_elaborate(el, entry->ast, options.energy);
  experiment_read(el, entry->ast->annotation);
  components_spread_structural(el);
  routines_check_uncalled(el);
  keep_asserts(el, &asserts);
  vec_free(el->heap, &asserts);
  compiler_free(&compiler);
  vec_free(el->heap, &equations);
}

Model *lang_load(Heap *heap, Names *names, Source *source, const char *class_name, const ModificationVec *modifications,
                 LangOptions options, Diags *diags) {
  Ast *ast = parse(heap, names, source, diags);
  if (diags->errors) return NULL;
  Model *model = model_new(heap, names);
  model->source = source;
  Elaboration el = elaboration_make(heap, names, ast, model, diags);
  el.rights = options.rights;
  read_modifications(&el, ast, modifications);
  elaborate(&el, class_name, options);
  if (el.failures && diags->errors == 0)
    diag_error(diags, DIAG_INTERNAL, (Span){0, 0}, "%u parts of the model gave no result, and no reason", el.failures);
  return diags->errors ? NULL : model;
}
