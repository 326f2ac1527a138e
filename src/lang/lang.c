/* lang: text to flat model: parse, collect, declare, evaluate, add, bind, equations; each step in its own file (elaborate.h). */
#include "lang/lang.h"

#include "lang/clock.h"
#include "lang/elaborate.h"
#include "lang/state_machine.h"
#include "syntax/parser.h"

#include <string.h>

Elaboration elaboration_make(Heap *heap, Names *names, const Ast *ast, Model *model, Diags *diags) {
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
                       .literals = map_make(heap),
                       .stems = map_make(heap),
                       .embedded = map_make(heap),
                       .instances = map_make(heap),
                       .invertible_of = map_make(heap),
                       .missing = map_make(heap),
                       .loop_code_of = map_make(heap),
                       .clock_operator_of = map_make(heap),
                       .clock_names = map_make(heap),
                       .state_resets = map_make(heap),
                       .state_select = NONE,
                       .assertion_level = NONE,
                       .guard = EXPR_NONE};
}

static bool is_same_assertion(const Action *a, const Action *b) {
  return a->value == b->value && a->guard == b->guard && a->message == b->message && a->is_warning == b->is_warning &&
         a->is_initial == b->is_initial;
}

/* A function that is called in several places repeats its assertions; only the first of each is kept. */
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

/* Collects the definitions of the flat program, by full name. */
static const ClassEntry *program_collect(Elaboration *el, const FlatProgram *program) {
  for (uint32_t i = 0; i < program->definitions.count; i++) class_define(el, program->definitions.data[i]);
  uint32_t model = class_define(el, program->model);
  for (uint32_t i = 0; i < program->constants.count; i++) {
    const AstElement *element = program->constants.data[i];
    component_declare_constant(el, element, element->component->label.name, 0);
  }
  return &el->classes.data[model];
}

static void elaborate_class(Elaboration *el, const ClassEntry *entry, LangOptions options) {
  el->model->is_strict = options.strict;
  if (options.strict) energy_refuse(el, entry->ast);
  el->model->name = entry->ast->label.name;
  el->model->description = entry->ast->comment;
  budget_task(heap_budget(el->heap), "the variables");
  components_declare(el, entry);
  when_mark(el, entry->ast);
  components_evaluate(el);
  components_add(el);
  states_declare(el, entry->ast);
  components_bind(el);
  equations_elaborate(el, entry->ast);
  experiment_read(el, entry->ast->annotation);
  if (el->diags->errors == 0) texts_replace(el);
  if (el->diags->errors == 0) state_machines_elaborate(el);
  if (el->diags->errors == 0) clocks_elaborate(el);
  if (el->diags->errors == 0) equations_classify(el, el->equations);
  if (el->diags->errors == 0) energy_elaborate(el, entry->ast, options.energy);
  if (el->diags->errors == 0) boundary_open(el->model, &options.boundary, el->diags);
  if (el->diags->errors == 0) starts_free(el);
  components_spread_structural(el);
  routines_check_uncalled(el);
}

static void elaborate(Elaboration *el, const char *class_name, const FlatProgram *program, LangOptions options) {
  Compiler compiler = compiler_make(el, &el->scratch, el->diags, 0);
  EquationVec equations = {0};
  ActionVec asserts = {0};
  el->compiler = &compiler;
  el->equations = &equations;
  el->actions = &asserts;
  symbolic_start(el);
  const ClassEntry *entry = program ? program_collect(el, program) : classes_collect(el, class_name);
  if (entry) elaborate_class(el, entry, options);
  keep_asserts(el, &asserts);
  vec_free(el->heap, &asserts);
  compiler_free(&compiler);
  vec_free(el->heap, &equations);
}

static Model *load(Heap *heap, Ast *ast, Source *source, const char *class_name, const FlatProgram *program,
                   const ModificationVec *modifications, LangOptions options, Diags *diags) {
  Model *model = model_new(heap, ast->names);
  model->source = source;
  Elaboration el = elaboration_make(heap, ast->names, ast, model, diags);
  el.rights = options.rights;
  read_modifications(&el, ast, modifications);
  if (options.boundary.text) final_read(&el, ast, options.boundary.text);
  elaborate(&el, class_name, program, options);
  if (el.failures && diags->errors == 0)
    diag_error(diags, DIAG_INTERNAL, (Span){0, 0}, "%u parts of the model gave no result, and no reason", el.failures);
  vec_free(heap, &el.components, &el.component_of_name);
  dag_trim(model->dag);
  return diags->errors ? NULL : model;
}

Model *lang_load_class(Heap *heap, Ast *ast, Source *source, const char *class_name,
                       const ModificationVec *modifications, LangOptions options, Diags *diags) {
  return load(heap, ast, source, class_name, NULL, modifications, options, diags);
}

Model *lang_load(Heap *heap, Names *names, Source *source, const char *class_name, const ModificationVec *modifications,
                 LangOptions options, Diags *diags) {
  void *ticket;
  Ast *ast = parse(heap_within(heap, &ticket), names, source, diags);
  Model *model = diags->errors ? NULL : lang_load_class(heap, ast, source, class_name, modifications, options, diags);
  heap_release(heap, ticket);
  return model;
}

Model *lang_load_program(Heap *heap, Ast *ast, Source *source, const FlatProgram *program,
                         const ModificationVec *modifications, LangOptions options, Diags *diags) {
  return load(heap, ast, source, NULL, program, modifications, options, diags);
}
