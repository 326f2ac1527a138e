/* energy: passes energy sections, which are collected like equations, to the derivation (energy/energy.h).
 *
 * If one statement stands for several constraints, its multipliers are the elements of one array. */
#include "energy/energy.h"

#include "lang/elaborate.h"

#include <string.h>

static const AstSection *first_energy(const AstClass *ast) {
  for (uint32_t i = 0; i < ast->sections.count; i++)
    if (ast->sections.data[i].energy) return &ast->sections.data[i];
  return NULL;
}

void energy_refuse(Elaboration *el, const AstClass *ast) {
  for (uint32_t i = 0; i < ast->sections.count; i++) {
    const AstSection *section = &ast->sections.data[i];
    if (section->energy || section->is_final)
      input_error(el, section->span, "section `%s` is not part of the language standard, and --strict refuses it",
                  section->is_final ? "final equation" : ast_energy_words[section->energy]);
  }
}

/* ---- multipliers ---- */

static bool is_identifier(const char *text) {
  static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", *digits = "0123456789";
  size_t first = strspn(text, letters);
  if (!first) return false;
  for (text += first; *text && (strchr(letters, *text) || strchr(digits, *text));) text++;
  return !*text;
}

static bool same_statement(const RawEquation *a, const RawEquation *b) { return a->span.begin == b->span.begin; }

/* The number of constraints that the statement of constraint `first` makes. */
static uint32_t count_statement(const EquationVec *list, uint32_t first) {
  uint32_t count = 0;
  for (uint32_t i = first; i < list->count; i++) count += same_statement(&list->data[i], &list->data[first]);
  return count;
}

/* lambda_NAME, from the comment of the constraint, or lambda_NUMBER. */
static Name multiplier_name(Elaboration *el, const RawEquation *constraint, uint32_t number, bool *is_named) {
  const char *comment = constraint->comment ? names_text(el->names, constraint->comment) : "";
  *is_named = is_identifier(comment);
  const char *text =
      *is_named ? arena_printf(&el->arena, "lambda_%s", comment) : arena_printf(&el->arena, "lambda_%u", number);
  return names_add(el->names, text, strlen(text));
}

static bool check_free(Elaboration *el, Name name, Span span) {
  uint32_t earlier = component_find(el, name);
  if (earlier == NONE && model_named(el->model, name) == MAP_NONE) return true;
  Diag *diag = input_error(el, span, "the multiplier of this constraint is `%s`, and that name is given twice",
                           names_text(el->names, name));
  if (earlier != NONE)
    diag_note(el->diags, diag, el->components.data[earlier].element->component->label.span, "first given here");
  return false;
}

/* Declares the multiplier of constraint i. An array of multipliers is declared with its first constraint. */
static void declare_multiplier(Elaboration *el, Map *arrays, uint32_t i) {
  const EquationVec *list = &el->energies[ENERGY_CONSTRAINT];
  const RawEquation *constraint = &list->data[i];
  bool is_named;
  Name name = multiplier_name(el, constraint, i + 1, &is_named);
  uint32_t first = is_named ? map_get(arrays, constraint->span.begin) : MAP_NONE;
  if (first == MAP_NONE) {
    uint32_t count = is_named ? count_statement(list, i) : 1;
    if (!check_free(el, name, constraint->span)) return;
    first = el->model->variables.count;
    component_add_derived(el, name, TYPE_REAL, count > 1 ? count : 0, constraint->span);
  }
  if (is_named) map_put(arrays, constraint->span.begin, first + 1);
  vec_push(el->heap, &el->multipliers, first);
}

void multipliers_declare(Elaboration *el) {
  Map arrays = map_make(el->heap); /* start of a statement -> position of its next multiplier */
  for (uint32_t i = 0; i < el->energies[ENERGY_CONSTRAINT].count; i++) declare_multiplier(el, &arrays, i);
  map_free(&arrays);
}

/* ---- passing to the derivation ---- */

static EnergyTerms take_terms(Elaboration *el, AstEnergy energy) {
  EnergyTerms terms = {0};
  const EquationVec *list = &el->energies[energy];
  for (uint32_t i = 0; i < list->count; i++) {
    const RawEquation *raw = &list->data[i];
    EnergyTerm term = {.left = raw->left, .right = raw->right, .is_integral = raw->is_integral, .span = raw->span};
    if (energy == ENERGY_CONSTRAINT) term.multiplier = el->multipliers.data[i];
    if (raw->base > TYPE_INTEGER)
      input_error(el, raw->span, "section `%s` must contain only numbers", ast_energy_words[energy]);
    vec_push(el->heap, &terms, term);
  }
  return terms;
}

void energy_elaborate(Elaboration *el, const AstClass *ast, bool has_signals) {
  const AstSection *section = first_energy(ast);
  if (!section) return;
  Energy energy = {.lagrangian = take_terms(el, ENERGY_LAGRANGIAN),
                   .dissipation = take_terms(el, ENERGY_DISSIPATION),
                   .force = take_terms(el, ENERGY_FORCE),
                   .minimize = take_terms(el, ENERGY_MINIMIZE),
                   .maximize = take_terms(el, ENERGY_MAXIMIZE),
                   .constraint = take_terms(el, ENERGY_CONSTRAINT),
                   .span = section->span,
                   .has_signals = has_signals};
  if (el->diags->errors == 0) energy_derive(el->model, &energy, el->diags);
}
