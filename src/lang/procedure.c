/* procedure: algorithm sections with data-dependent control flow. The section is compiled again as a function. Its inputs are all
 * variables that it reads, the previous values of the variables that it assigns, and time. Its outputs are the variables that it
 * assigns.
 *
 * Invariant: the function depends on its inputs only, so its calls are differentiated and evaluated like any other. */
#include "lang/algorithm.h"
#include "lang/compile.h"

#include <string.h>

typedef struct ProcedurePlan {
  Elaboration *el;
  const Assigned *assigned;
  uint32_t assigned_count;
  IndexVec read; /* components that the section reads but does not assign */
  bool uses_time;
} ProcedurePlan;

static bool is_assigned(const ProcedurePlan *plan, uint32_t component) {
  for (uint32_t i = 0; i < plan->assigned_count; i++)
    if (plan->assigned[i].component == component) return true;
  return false;
}

static bool is_listed(const IndexVec *list, uint32_t item) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->data[i] == item) return true;
  return false;
}

/* Collects the variables that the code reads; false if the code does something that a function cannot do. */
static bool plan_read(ProcedurePlan *plan, const Routine *routine) {
  Elaboration *el = plan->el;
  for (uint32_t i = 0; i < routine->code.count; i++) {
    Instruction instruction = routine->code.data[i];
    bool is_component = instruction.code == CODE_GLOBAL || instruction.code == CODE_SIZES;
    if (is_component && !el->components.data[instruction.b].is_package && !is_assigned(plan, instruction.b) &&
        !is_listed(&plan->read, instruction.b))
      vec_push(el->heap, &plan->read, instruction.b);
    if (instruction.code == CODE_SPECIAL && instruction.b == SPECIAL_TIME) plan->uses_time = true;
    else if (instruction.code == CODE_SPECIAL || instruction.code == CODE_WHEN || instruction.code == CODE_REINIT ||
             instruction.code == CODE_TERMINATE) {
      Span where;
      const char *obstacle = machine_obstacle(el->machine, &where);
      Diag *diag = input_error(
          el, routine->spans.data[i],
          "not supported yet: this in an algorithm in which %s is known only during the simulation", obstacle);
      if (where.end) diag_note(el->diags, diag, where, "here");
      return false;
    }
  }
  return true;
}

static void declare_output(Compiler *c, const Component *component, uint32_t slot, uint32_t preset, Span span) {
  Heap *heap = c->el->heap;
  for (uint32_t k = 0; k < component->type.dimensions; k++) emit_constant(c, TYPE_INTEGER, component->sizes[k], span);
  compile_emit(c, CODE_DECLARE, component->type.dimensions, slot, span);
  compile_emit(c, CODE_LOCAL, 0, preset, span);
  uint32_t at = c->routine->extra.count;
  vec_push(heap, &c->routine->extra, slot);
  vec_push(heap, &c->routine->extra, 0);
  compile_emit(c, CODE_STORE, 0, at, span);
}

static Name suffixed(Elaboration *el, Name name, const char *suffix) {
  const char *text = arena_printf(&el->arena, "%s%s", names_text(el->names, name), suffix);
  return names_add(el->names, text, strlen(text));
}

/* algorithm1, algorithm2, ...: a name that no class of the file has. */
static Name free_name(Elaboration *el) {
  for (uint32_t number = el->sections;; number++) {
    const char *text = arena_printf(&el->arena, "algorithm%u", number);
    Name name = names_add(el->names, text, strlen(text));
    bool is_free = !class_find_name(el, el->scope, name);
    for (uint32_t i = 0; i < el->model->routines.count; i++)
      is_free = is_free && el->model->routines.data[i]->name != name;
    if (is_free) return name;
  }
}

/* Slots: the variables that are read, the previous values of the outputs, time; then the outputs. */
static void declare_slots(Compiler *c, const ProcedurePlan *plan, Span span) {
  Elaboration *el = c->el;
  for (uint32_t i = 0; i < plan->read.count; i++) {
    const Component *component = &el->components.data[plan->read.data[i]];
    map_put(&c->slots, plan->read.data[i], compile_local(c, component->name, component->type, span));
  }
  for (uint32_t i = 0; i < plan->assigned_count; i++) {
    const Component *component = &el->components.data[plan->assigned[i].component];
    compile_local(c, suffixed(el, component->name, ".before"), component->type, span);
  }
  if (plan->uses_time)
    c->time_slot = compile_local(c, names_add(el->names, "time.now", 8), type_scalar(TYPE_REAL), span);
  c->routine->inputs = c->routine->locals.count;
  for (uint32_t i = 0; i < plan->assigned_count; i++) {
    const Component *component = &el->components.data[plan->assigned[i].component];
    map_put(&c->slots, plan->assigned[i].component, compile_local(c, component->name, component->type, span));
  }
  c->routine->outputs = plan->assigned_count;
}

static Routine *compile_procedure(ProcedurePlan *plan, const AstSection *section) {
  Elaboration *el = plan->el;
  Routine *routine = heap_alloc(el->heap, sizeof *routine);
  routine->span = section->span;
  routine->name = free_name(el);
  Compiler c = compiler_make(el, routine, el->diags, el->scope);
  c.has_slots = true;
  c.slots = map_make(el->heap);
  declare_slots(&c, plan, section->span);
  for (uint32_t i = 0; i < routine->inputs; i++) {
    const Component *component = i < plan->read.count ? &el->components.data[plan->read.data[i]]
                                 : i < plan->read.count + plan->assigned_count
                                     ? &el->components.data[plan->assigned[i - plan->read.count].component]
                                     : NULL;
    uint32_t dimensions = component ? component->type.dimensions : 0;
    for (uint32_t k = 0; k < dimensions; k++) emit_constant(&c, TYPE_INTEGER, component->sizes[k], section->span);
    compile_emit(&c, CODE_DECLARE, dimensions, i, section->span);
  }
  for (uint32_t i = 0; i < plan->assigned_count; i++)
    declare_output(&c, &el->components.data[plan->assigned[i].component], routine->inputs + i, plan->read.count + i,
                   section->span);
  compile_emit(&c, CODE_BODY, 0, 0, section->span);
  compile_statements(&c, section->body.data, section->body.count);
  routine->is_broken = c.errors > 0;
  routine->number = el->model->routines.count;
  vec_push(el->heap, &el->model->routines, routine);
  vec_push(el->heap, &el->class_of_routine, NONE);
  el->routine_list = el->model->routines.data;
  compiler_free(&c);
  return routine;
}

/* An equation for each scalar of a variable that the section assigns. */
static void equate(Elaboration *el, const Value *variable, const Value *result, Span span) {
  uint32_t scalars = value_scalars(variable, el->record_list);
  Expr *leaves = heap_array(el->heap, scalars, sizeof *leaves);
  Expr *values = heap_array(el->heap, scalars, sizeof *values);
  value_flatten(&el->domain, variable, el->record_list, (char *)leaves);
  value_flatten(&el->domain, result, el->record_list, (char *)values);
  for (uint32_t k = 0; k < scalars; k++) {
    BaseType type = el->model->variables.data[variable_of_leaf(el, leaves[k])].type;
    RawEquation equation = {
        .left = leaves[k], .right = values[k], .base = type, .span = span, .clock = el->clock, .state = el->state};
    vec_push(el->heap, el->equations, equation);
  }
  heap_free_all(el->heap, leaves, values);
}

void procedure_make(Elaboration *el, const AstSection *section, const Routine *code, const Assigned *assigned,
                    uint32_t count) {
  ProcedurePlan plan = {.el = el, .assigned = assigned, .assigned_count = count};
  if (!plan_read(&plan, code)) return;
  Routine *routine = compile_procedure(&plan, section);
  if (routine->is_broken) return;
  Value *inputs = arena_array(&el->arena, routine->inputs, sizeof *inputs);
  Value *outputs = arena_array(&el->arena, routine->outputs, sizeof *outputs);
  Expr now = dag_time(el->dag);
  for (uint32_t i = 0; i < routine->inputs; i++) {
    if (i < plan.read.count) inputs[i] = el->components.data[plan.read.data[i]].leaves;
    else if (i < plan.read.count + count) inputs[i] = code->presets[i - plan.read.count].value;
    else inputs[i] = (Value){.type = type_scalar(TYPE_REAL), .count = 1, .data = (char *)&now};
  }
  for (uint32_t i = 0; i < count; i++)
    outputs[i] = value_copy(el->machine, &el->components.data[assigned[i].component].leaves);
  if (call_routine(el, routine, inputs, outputs))
    for (uint32_t i = 0; i < count; i++)
      equate(el, &el->components.data[assigned[i].component].leaves, &outputs[i], section->span);
  vec_free(el->heap, &plan.read);
}
