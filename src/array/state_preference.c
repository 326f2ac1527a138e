/* state_preference: see state_preference.h. */
#include "array/state_preference.h"

#include "model/input.h"

static const Variable *variable_of(const Problem *problem, int32_t j) {
  return &problem->model->variables.data[problem->model->unknowns.data[problem->unknown[j]]];
}

/* Can the equation be differentiated again, so that its unknown can be a state? */
static bool is_smooth(const Problem *problem, Expr residual) {
  int32_t once = 1, order;
  return !model_lacking_input(problem->model, &residual, &once, 1, &order);
}

Structure state_preference_offer(const Problem *problem, const Structure *structure, Arena *arena) {
  bool *preferred = arena_array(arena, problem->unknowns, sizeof *preferred), any = false;
  bool *smooth = arena_array(arena, problem->equations, sizeof *smooth);
  for (uint32_t j = 0; j < problem->unknowns; j++) {
    preferred[j] = variable_of(problem, (int32_t)j)->select >= SELECT_PREFER;
    any = any || (preferred[j] && structure->d[j] == 0);
  }
  for (uint32_t i = 0; i < problem->equations && any; i++) smooth[i] = is_smooth(problem, problem->residual[i]);
  return any ? structure_prefer(arena, &problem->incidence, structure, preferred, smooth) : *structure;
}

/* The number of states of a block is its number of derivatives minus that of its differentiated equations (Modelica 3.6, section
 * 4.9.7.1). */
bool state_preference_check(const Problem *problem, const Structure *structure, Diags *diags) {
  const Model *model = problem->model;
  bool fits = true;
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++) {
    const Variable *never = NULL, *always = NULL;
    int32_t states = 0, asked = 0, others = 0;
    for (int32_t p = structure->blocks.start[b]; p < structure->blocks.start[b + 1]; p++) {
      int32_t j = structure->blocks.column[p];
      const Variable *variable = variable_of(problem, j);
      states += structure->d[j] - structure->c[structure->blocks.row[p]];
      if (variable->select == SELECT_ALWAYS) always = variable, asked++;
      if (variable->select != SELECT_NEVER) others += structure->d[j];
      else if (structure->d[j]) never = variable;
    }
    const Variable *wrong = asked > states ? always : never && others < states ? never : NULL;
    if (!wrong) continue;
    const char *state = wrong == always ? "cannot be a state, though its stateSelect says always"
                                        : "must be a state, though its stateSelect says never";
    const char *name = names_text(model->names, wrong->name);
    if (model->is_strict) diag_error(diags, DIAG_STRUCTURE, wrong->span, "`%s` %s", name, state), fits = false;
    else diag_warning(diags, DIAG_WARNING_LENIENT, wrong->span, "`%s` %s", name, state);
  }
  return fits;
}

bool state_preference_check_model(Model *model, Arena *arena, Diags *diags) {
  bool any = false;
  for (uint32_t v = 0; v < model->variables.count && !any; v++)
    any = model->variables.data[v].select == SELECT_ALWAYS || model->variables.data[v].select == SELECT_NEVER;
  if (!any) return true;
  Problem problem = problem_make(model, true, arena);
  Structure structure = structure_run(arena, &problem.incidence);
  if (structure.status != STRUCTURE_OK) return true;
  structure = state_preference_offer(&problem, &structure, arena);
  return state_preference_check(&problem, &structure, diags);
}
