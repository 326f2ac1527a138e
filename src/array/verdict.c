/* verdict: see verdict.h. */
#include "array/verdict.h"

/* The most names and equations shown, and the most culprits reported: a message that lists everything does not help. */
enum { NAMES_SHOWN = 6, EQUATIONS_SHOWN = 6, CULPRITS_SHOWN = 5 };

static const char *variable_name(const Problem *problem, int32_t j) {
  const Model *model = problem->model;
  return model_name(model, model->unknowns.data[problem->unknown[j]]);
}

static const Equation *equation_of(const Problem *problem, int32_t i) {
  return &problem->model->equations.data[problem->equation[i]];
}

/* The places of two equations: "lines 3 and 4", or each with its file. */
static const char *two_places(const Problem *problem, int32_t i, int32_t j, Arena *arena) {
  const Source *source = problem->model->source;
  Span first = equation_of(problem, i)->span, second = equation_of(problem, j)->span;
  if (source_file(source, first.begin) == source_main(source) &&
      source_file(source, second.begin) == source_main(source))
    return arena_printf(arena, "lines %u and %u", source_line(source, first.begin), source_line(source, second.begin));
  return arena_printf(arena, "%s and %s", source_place(source, first, arena), source_place(source, second, arena));
}

/* "x", "x and y", "x, y and z", "x, y, z and 4 more". */
static const char *list_names(const Problem *problem, const DulmageSet *set, Arena *arena) {
  const char *text = "";
  int32_t shown = set->n_columns <= NAMES_SHOWN + 1 ? set->n_columns : NAMES_SHOWN;
  for (int32_t k = 0; k < shown; k++) {
    bool last = k == shown - 1 && shown == set->n_columns;
    const char *joint = k == 0 ? "" : last ? " and " : ", ";
    text = arena_printf(arena, "%s%s%s", text, joint, variable_name(problem, set->columns[k]));
  }
  if (shown < set->n_columns) text = arena_printf(arena, "%s and %d more", text, (int)(set->n_columns - shown));
  return text;
}

static const char *count_text(Arena *arena, int32_t count) {
  static const char *const words[] = {"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  return count < 10 ? words[count] : arena_printf(arena, "%d", (int)count);
}

static void note_equations(const Problem *problem, const DulmageSet *set, Diag *diag, Diags *diags) {
  for (int32_t k = 0; k < set->n_rows && k < EQUATIONS_SHOWN; k++) {
    const Equation *equation = equation_of(problem, set->rows[k]);
    diag_note(diags, diag, equation->span, "equation: %s",
              model_equation_text(problem->model, equation, &diags->arena));
  }
  if (set->n_rows > EQUATIONS_SHOWN)
    diag_note(diags, diag, (Span){0}, "and %d more equations", (int)(set->n_rows - EQUATIONS_SHOWN));
}

/* The part at fault, as notes of the message: the fault, the equations, a remedy. */
static void note_over(const Problem *problem, const DulmageComponent *component, Diag *diag, Diags *diags) {
  const DulmageSet *set = &component->culprit;
  Arena *arena = &diags->arena;
  Span span = equation_of(problem, set->rows[0])->span;
  if (set->n_columns == 0) {
    diag_note(diags, diag, span, "the equation `%s` contains no unknown variable",
              model_equation_text(problem->model, equation_of(problem, set->rows[0]), arena));
    diag_note(diags, diag, (Span){0}, "remove it, or make one of its parameters a variable");
    return;
  }
  if (set->n_columns == 1)
    diag_note(diags, diag, (Span){0}, "the equations at %s both determine %s",
              two_places(problem, set->rows[0], set->rows[1], arena), list_names(problem, set, arena));
  else
    diag_note(diags, diag, (Span){0}, "%s equations determine only %s variables: %s", count_text(arena, set->n_rows),
              count_text(arena, set->n_columns), list_names(problem, set, arena));
  note_equations(problem, set, diag, diags);
  diag_note(diags, diag, (Span){0}, "remove one of these equations, or let one of them depend on another variable");
}

/* Is the variable an input of a component, and does no equation of the set give it a value, as a connection would? */
static bool is_loose_input(const Problem *problem, const DulmageSet *set, int32_t column) {
  const Model *model = problem->model;
  uint32_t number = model->unknowns.data[problem->unknown[column]];
  Expr input = model_leaf(model, number, 0);
  bool is_loose = model->variables.data[number].causality == CAUSALITY_INNER_INPUT;
  for (int32_t k = 0; k < set->n_rows && is_loose; k++)
    is_loose = equation_of(problem, set->rows[k])->left != input && equation_of(problem, set->rows[k])->right != input;
  return is_loose;
}

static void note_under(const Problem *problem, const DulmageComponent *component, Diag *diag, Diags *diags) {
  const DulmageSet *set = &component->culprit;
  Arena *arena = &diags->arena;
  const Model *model = problem->model;
  Span span = model->variables.data[model->unknowns.data[problem->unknown[set->columns[0]]]].span;
  const char *names = list_names(problem, set, arena);
  if (set->n_rows == 0) diag_note(diags, diag, span, "no equation determines %s", names);
  else
    diag_note(diags, diag, span, "%s are determined by %s equation%s only", names, count_text(arena, set->n_rows),
              set->n_rows == 1 ? "" : "s");
  note_equations(problem, set, diag, diags);
  for (int32_t k = 0; k < set->n_columns; k++) {
    if (!is_loose_input(problem, set, set->columns[k])) continue;
    diag_note(diags, diag, (Span){0}, "nothing is connected to the input %s: connect it, or give it a value",
              variable_name(problem, set->columns[k]));
    return;
  }
  diag_note(diags, diag, (Span){0},
            set->n_rows ? "add an equation for one of them, or make one a parameter"
                        : "add an equation for it, or make it a parameter");
}

void verdict_note(const Problem *problem, const Structure *structure, Diag *diag, Diags *diags) {
  const Dulmage *dulmage = &structure->dulmage;
  for (int32_t k = 0; k < dulmage->n_over && k < CULPRITS_SHOWN; k++)
    note_over(problem, &dulmage->over[k], diag, diags);
  for (int32_t k = 0; k < dulmage->n_under && k < CULPRITS_SHOWN; k++)
    note_under(problem, &dulmage->under[k], diag, diags);
}

void verdict_report(const Problem *problem, const Structure *structure, Diags *diags) {
  int32_t difference = structure->n_equations - structure->n_variables;
  Diag *diag;
  if (structure->status == STRUCTURE_UNBALANCED)
    diag = diag_error(diags, DIAG_UNBALANCED, (Span){0}, "%d equation%s for %d variable%s: %d too %s",
                      (int)structure->n_equations, structure->n_equations == 1 ? "" : "s", (int)structure->n_variables,
                      structure->n_variables == 1 ? "" : "s", (int)(difference < 0 ? -difference : difference),
                      difference < 0 ? "few" : "many");
  else
    diag = diag_error(
        diags, DIAG_SINGULAR_STRUCTURE, (Span){0},
        "the model is structurally singular: as many equations as variables (%d), but no one-to-one assignment",
        (int)structure->n_equations);
  verdict_note(problem, structure, diag, diags);
}

void reset_report(const Model *model, const Action *reset, Diags *diags) {
  diag_error(diags, DIAG_INPUT, reset->span,
             "reinit cannot set `%s`, which is not a state: no equation contains its derivative",
             model_name(model, reset->target));
}
