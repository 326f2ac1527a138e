/* element: one function for each letter with which an element's name may begin, and the cards that are read when names have values:
 * .tran, .dc, .ic and similar. Subcircuits are inserted with a list of scopes still to read, not by recursion. */
#include "spice/circuit.h"

#include "base/number.h"
#include "base/suggest.h"

#include <math.h>
#include <string.h>

enum { DEEPEST_SUBCIRCUIT = 100 };

/* The element being read. */
typedef struct Element {
  Circuit *circuit;
  Dag *dag;
  const Scope *scope;
  const Card *card;
  Fields *fields;
  const char *name; /* full: x1.r1 */
  struct Expansion *expansion;
} Element;

/* A card that names nodes, read when all of them exist. */
typedef struct LateCard {
  const Scope *scope;
  const Card *card;
} LateCard;

typedef struct Expansion {
  VEC(Scope *) scopes; /* to be read */
  VEC(LateCard) late;
} Expansion;

static uint32_t field_count(const Element *element) { return element->fields->list.count; }
static bool is_word(const Element *element, uint32_t k, const char *word) { return field_is(element->fields, k, word); }
static bool accept_word(const Element *element, uint32_t k, const char *word) {
  return field_accept(element->fields, k, word);
}

static bool refuse_field(const Element *element, uint32_t k, const char *message) {
  uint32_t end = (uint32_t)strlen(element->card->text);
  CardField field =
      k < field_count(element) ? element->fields->list.data[k] : (CardField){end ? end - 1 : 0, end, false};
  card_error(element->circuit->diags, element->card, field.begin, field.end, "%s: %s", element->name, message);
  return false;
}

__attribute__((format(printf, 2, 3))) static void warn(const Element *element, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *message = arena_vprintf(element->circuit->arena, format, list);
  va_end(list);
  card_warning(element->circuit->diags, element->card, 0, CARD_END, "%s: %s", element->name, message);
}

static bool has_fields(const Element *element, uint32_t count, const char *form) {
  if (field_count(element) >= count) return true;
  return refuse_field(element, field_count(element),
                      arena_printf(element->circuit->arena, "something is missing, the form is %s", form));
}

static Name name_at(const Element *element, uint32_t k) { return field_name(element->circuit, element->fields, k); }

static uint32_t node_at(const Element *element, uint32_t k) {
  return scope_node(element->circuit, element->scope, element->card, name_at(element, k));
}

/* The value after `=`, or an item of a list. */
static Expr value_at(const Element *element, uint32_t k) {
  if (k < field_count(element)) return field_value(element->circuit, element->scope, element->fields, k);
  refuse_field(element, k, "a value is missing");
  return EXPR_NONE;
}

static Expr item_at(const Element *element, uint32_t k) {
  if (k < field_count(element)) return field_item(element->circuit, element->scope, element->fields, k);
  refuse_field(element, k, "a value is missing");
  return EXPR_NONE;
}

static Expr rest_at(const Element *element, uint32_t k) {
  return field_rest(element->circuit, element->scope, element->fields, k);
}

/* An item or the rest of the card as an expression of a behavioural source. */
static Expr source_at(const Element *element, uint32_t k, Expr (*read)(const Element *element, uint32_t k)) {
  element->fields->is_source = true;
  Expr value = read(element, k);
  element->fields->is_source = false;
  return value;
}

static uint32_t find_word(const Element *element, const char *word) { return field_after(element->fields, 3, word); }

/* word = number, if it is given; false after an error. */
static bool number_of(const Element *element, const char *word, double *value, bool *given) {
  uint32_t at = find_word(element, word);
  if (given) *given = at != MAP_NONE;
  return at == MAP_NONE || field_constant(element->circuit, element->scope, element->fields, at, value);
}

static Name element_name(const Element *element) {
  return names_add(element->circuit->names, element->name, strlen(element->name));
}

/* The full name of the element that a field names, in the same block. */
static const char *named_element(const Element *element, uint32_t k) {
  return arena_printf(element->circuit->arena, "%s%s", element->scope->prefix,
                      names_text(element->circuit->names, name_at(element, k)));
}

/* A plain number becomes a parameter with the element's name, so that a run can change it. */
static Expr as_parameter(const Element *element, Expr value, const char *unit) {
  if (value == EXPR_NONE || !dag_is_constant(element->dag, value, NULL)) return value;
  return add_parameter(element->circuit, element_name(element), value, element->card, unit);
}

static Branch branch_between(const Element *element, BranchKind kind, Expr value) {
  return (Branch){.kind = kind,
                  .from = node_at(element, 1),
                  .to = node_at(element, 2),
                  .name = element_name(element),
                  .card = element->card,
                  .variable = MAP_NONE,
                  .value = value,
                  .still = EXPR_NONE,
                  .given = EXPR_NONE};
}

static void add_with_current(const Element *element, Branch branch) {
  branch.variable = circuit_current(element->circuit, element->name, element->card);
  add_branch(element->circuit, branch);
}

static bool depends_on_variables(const Element *element, Expr e) { return dag_depends(element->dag, e, OP_VARIABLE); }

static Expr scaled(const Element *element, Expr value, double factor) {
  return factor == 1 ? value : dag_multiply(element->dag, value, dag_constant(element->dag, factor));
}

/* m=: how many elements are in parallel, times m= of the enclosing subcircuits. */
static bool multiplicity(const Element *element, double *factor) {
  *factor = 1;
  if (!number_of(element, "m", factor, NULL)) return false;
  *factor *= element->scope->multiple;
  return true;
}

/* m= of a subcircuit does not reach this element, as in ngspice. */
static void warn_of_multiple(const Element *element) {
  if (element->scope->multiple != 1) warn(element, "m= of the enclosing subcircuit has no effect on this element");
}

/* ---- models of R, C, L, S, W ---- */

/* A parameter of a model that is used here. */
typedef struct Known {
  const char *name;
  double *value;
  bool *given; /* NULL: not needed */
} Known;

static bool read_model(const Element *element, ModelCard *model, const Scope *owner, const Known *known, size_t count) {
  Circuit *circuit = element->circuit;
  Fields *fields = model->fields;
  for (uint32_t k = model->first; k < fields->list.count; k++) {
    const char *word = names_text(circuit->names, field_peek(circuit, fields, k));
    const Known *found = NULL;
    Suggestion suggestion = {.word = word};
    for (size_t j = 0; j < count; j++) {
      suggest_offer(&suggestion, known[j].name);
      if (!strcmp(known[j].name, word)) found = &known[j];
    }
    k += field_assigns(fields, k) ? 2 : 1;
    if (!found) {
      if (!model->was_checked) warn_of_parameter(circuit, model, word, suggestion.nearest);
      continue;
    }
    if (k >= fields->list.count) return refuse_parameter(circuit, model, word);
    if (!field_constant(circuit, owner, fields, k, found->value)) return false;
    if (found->given) *found->given = true;
  }
  model->was_checked = true;
  return true;
}

/* ---- R, C, L, K ---- */

/* The contents of a card of R, C or L: a value, a model or both, in any order. */
typedef struct Passive {
  Expr value; /* EXPR_NONE: none */
  ModelCard *model;
  const Scope *owner; /* of the model */
  bool is_behaviour;  /* the value depends on voltages or currents */
  double tc1, tc2, tce, tnom;
  double scale, width, length;
  bool has_width, has_length;
} Passive;

/* A value that depends on the circuit makes the element a behavioural source. */
static Expr passive_at(const Element *element, uint32_t k, Expr (*read)(const Element *element, uint32_t k)) {
  Expr value = read(element, k);
  return value != EXPR_NONE && depends_on_variables(element, value) ? source_at(element, k, read) : value;
}

static bool read_passive(const Element *element, const char *type, const char *const *words, Passive *passive) {
  Circuit *circuit = element->circuit;
  *passive = (Passive){.value = EXPR_NONE, .tnom = circuit->options.nominal_temperature, .scale = 1};
  for (uint32_t k = 3; k < field_count(element) && !field_assigns(element->fields, k); k++) {
    ModelCard *model = scope_model(element->scope, field_peek(circuit, element->fields, k), &passive->owner);
    if (model && !passive->model && !strcmp(model->type, type)) {
      passive->model = model;
      name_at(element, k);
    } else if (passive->value == EXPR_NONE) {
      passive->value = passive_at(element, k, item_at);
      if (passive->value == EXPR_NONE) return false;
    } else {
      break;
    }
  }
  for (; *words; words++) {
    uint32_t at = find_word(element, *words);
    if (at == MAP_NONE) continue;
    if (passive->value != EXPR_NONE) return refuse_field(element, at, "it already has a value");
    passive->value = passive_at(element, at, rest_at);
    if (passive->value == EXPR_NONE) return false;
  }
  passive->is_behaviour = passive->value != EXPR_NONE && depends_on_variables(element, passive->value);
  return true;
}

/* Reads parameters of the element itself, which override those of its model. */
static bool read_adjustments(const Element *element, Passive *passive, double *factor) {
  const CircuitOptions *options = &element->circuit->options;
  double temperature = options->temperature, change = 0;
  bool given, has_pair;
  if (!number_of(element, "tc", &passive->tc1, &has_pair)) return false;
  if (has_pair) { /* tc=first second */
    uint32_t at = 0;
    while (!is_word(element, at, "tc") || !field_assigns(element->fields, at)) at++;
    at += 3;
    bool has_second = at < field_count(element) && !field_assigns(element->fields, at);
    if (has_second && !field_constant(element->circuit, element->scope, element->fields, at, &passive->tc2))
      return false;
  }
  if (!number_of(element, "tc1", &passive->tc1, NULL) || !number_of(element, "tc2", &passive->tc2, NULL)) return false;
  /* As in ngspice, elements given by an expression have no separate temperature. */
  if (!passive->is_behaviour &&
      (!number_of(element, "dtemp", &change, NULL) || !number_of(element, "temp", &temperature, &given)))
    return false;
  if (!passive->is_behaviour && !given) temperature += change;
  change = temperature - passive->tnom;
  *factor =
      passive->tce != 0 ? pow(1.01, passive->tce * change) : 1 + passive->tc1 * change + passive->tc2 * change * change;
  return true;
}

static bool read_size(const Element *element, Passive *passive) {
  return number_of(element, "scale", &passive->scale, NULL) &&
         number_of(element, "w", &passive->width, &passive->has_width) &&
         number_of(element, "l", &passive->length, &passive->has_length);
}

static bool has_no_effect(const Element *element, const char *word) {
  double ignored;
  return number_of(element, word, &ignored, NULL);
}

/* As in ngspice, there is no resistance of 0. */
static Expr lowest_resistance(const Element *element, const char *what) {
  warn(element, "%s; 1 milliohm is taken", what);
  return dag_constant(element->dag, 1e-3);
}

static bool resistance_of_model(const Element *element, Passive *passive) {
  double sheet = 0, width = 1e-5, length = 1e-5, narrow = 0, shortening = 0, plain = 0;
  bool has_plain = false;
  const Known known[] = {{"r", &plain, &has_plain},     {"res", &plain, &has_plain},   {"rsh", &sheet, NULL},
                         {"defw", &width, NULL},        {"w", &width, NULL},           {"l", &length, NULL},
                         {"narrow", &narrow, NULL},     {"dw", &narrow, NULL},         {"short", &shortening, NULL},
                         {"dlr", &shortening, NULL},    {"tc1", &passive->tc1, NULL},  {"tc1r", &passive->tc1, NULL},
                         {"tc2", &passive->tc2, NULL},  {"tc2r", &passive->tc2, NULL}, {"tce", &passive->tce, NULL},
                         {"tnom", &passive->tnom, NULL}};
  if (!read_model(element, passive->model, passive->owner, known, sizeof known / sizeof *known)) return false;
  if (passive->has_width) width = passive->width;
  if (passive->has_length) length = passive->length;
  if (passive->value != EXPR_NONE) return true;
  if (sheet * width * length > 0)
    passive->value = dag_constant(element->dag, sheet * (length - 2 * shortening) / (width - 2 * narrow));
  else if (has_plain) passive->value = dag_constant(element->dag, plain);
  return true;
}

static bool read_resistor(const Element *element) {
  static const char *const words[] = {"r", "resistance", NULL};
  Passive passive;
  double factor, parallel;
  if (!has_fields(element, 3, "Rname node node value") || !read_passive(element, "r", words, &passive) ||
      !read_size(element, &passive))
    return false;
  if (passive.model && !resistance_of_model(element, &passive)) return false;
  if (!has_no_effect(element, "ac") || !has_no_effect(element, "noisy") || !has_no_effect(element, "noise") ||
      !has_no_effect(element, "bv_max") || !number_of(element, "tce", &passive.tce, NULL) ||
      !read_adjustments(element, &passive, &factor) || !multiplicity(element, &parallel))
    return false;
  if (passive.value == EXPR_NONE) passive.value = lowest_resistance(element, "it has no resistance");
  else if (value_now(element->circuit, passive.value) == 0)
    passive.value = lowest_resistance(element, "its resistance is 0");
  Expr value = as_parameter(element, passive.value, "Ohm");
  Branch branch = branch_between(element, BRANCH_RESISTIVE, EXPR_NONE);
  Expr voltage = voltage_between(element->circuit, branch.from, branch.to);
  branch.value = dag_divide(element->dag, voltage, scaled(element, value, factor * passive.scale / parallel));
  add_branch(element->circuit, branch);
  return true;
}

static bool read_initial(const Element *element, Expr *given) {
  uint32_t at = find_word(element, "ic");
  *given = at == MAP_NONE ? EXPR_NONE : value_at(element, at);
  return at == MAP_NONE || *given != EXPR_NONE;
}

static bool capacitance_of_model(const Element *element, Passive *passive) {
  static const double vacuum = 8.854214871e-12;
  double plain = 0, area = 0, side = 0, width = 1e-5, length = 0, narrow = 0, shortening = 0, both = 0, dielectric = 0,
         thickness = 0;
  bool has_plain = false, has_area = false, has_both = false;
  const Known known[] = {{"cap", &plain, &has_plain},  {"cj", &area, &has_area},     {"cox", &area, &has_area},
                         {"cjsw", &side, NULL},        {"capsw", &side, NULL},       {"defw", &width, NULL},
                         {"w", &width, NULL},          {"defl", &length, NULL},      {"l", &length, NULL},
                         {"narrow", &narrow, NULL},    {"short", &shortening, NULL}, {"del", &both, &has_both},
                         {"tc1", &passive->tc1, NULL}, {"tc2", &passive->tc2, NULL}, {"tnom", &passive->tnom, NULL},
                         {"di", &dielectric, NULL},    {"thick", &thickness, NULL}};
  if (!read_model(element, passive->model, passive->owner, known, sizeof known / sizeof *known)) return false;
  if (passive->has_width) width = passive->width;
  if (passive->has_length) length = passive->length;
  if (has_both) narrow = shortening = 2 * both;
  if (!has_area && thickness > 0) area = (dielectric > 0 ? dielectric * vacuum : 3.9 * vacuum) / thickness;
  if (passive->value != EXPR_NONE) return true;
  double across = width - narrow, along = length - shortening;
  passive->value = dag_constant(element->dag, has_plain ? plain : area * across * along + side * 2 * (across + along));
  return true;
}

static bool read_capacitor(const Element *element) {
  static const char *const words[] = {"c", "cap", "capacitance", NULL};
  Passive passive;
  double factor, parallel;
  if (!has_fields(element, 4, "Cname node node value")) return false;
  Branch branch = branch_between(element, BRANCH_CAPACITOR, EXPR_NONE);
  if (!read_initial(element, &branch.given) || !read_passive(element, "c", words, &passive) ||
      !read_size(element, &passive))
    return false;
  if (passive.model && !capacitance_of_model(element, &passive)) return false;
  uint32_t charge = find_word(element, "q");
  if (charge != MAP_NONE) passive.is_behaviour = true;
  if (!has_no_effect(element, "bv_max") || !read_adjustments(element, &passive, &factor) ||
      !multiplicity(element, &parallel))
    return false;
  Expr value = charge != MAP_NONE ? source_at(element, charge, rest_at) : as_parameter(element, passive.value, "F");
  if (charge == MAP_NONE && value == EXPR_NONE) return refuse_field(element, 3, "a value is missing");
  if (value == EXPR_NONE) return false;
  value = scaled(element, value, factor * parallel * passive.scale);
  branch.is_slope = charge == MAP_NONE && depends_on_variables(element, value);
  if (charge == MAP_NONE && !branch.is_slope)
    value = dag_multiply(element->dag, value, voltage_between(element->circuit, branch.from, branch.to));
  branch.value = value;
  add_branch(element->circuit, branch);
  return true;
}

static bool inductance_of_model(const Element *element, Passive *passive) {
  double plain = 0;
  bool has_plain = false;
  const Known known[] = {{"ind", &plain, &has_plain},
                         {"tc1", &passive->tc1, NULL},
                         {"tc2", &passive->tc2, NULL},
                         {"tnom", &passive->tnom, NULL}};
  if (!read_model(element, passive->model, passive->owner, known, sizeof known / sizeof *known)) return false;
  if (passive->value == EXPR_NONE && has_plain) passive->value = dag_constant(element->dag, plain);
  return true;
}

static bool read_inductor(const Element *element) {
  static const char *const words[] = {"l", "inductance", NULL};
  Passive passive;
  double factor, parallel;
  if (!has_fields(element, 4, "Lname node node value")) return false;
  Branch branch = branch_between(element, BRANCH_INDUCTOR, EXPR_NONE);
  if (!read_initial(element, &branch.given) || !read_passive(element, "l", words, &passive) ||
      !number_of(element, "scale", &passive.scale, NULL))
    return false;
  if (passive.model && !inductance_of_model(element, &passive)) return false;
  if (!read_adjustments(element, &passive, &factor) || !multiplicity(element, &parallel)) return false;
  if (passive.value == EXPR_NONE) return refuse_field(element, 3, "a value is missing");
  branch.value = scaled(element, as_parameter(element, passive.value, "H"), factor * passive.scale / parallel);
  branch.is_slope = true; /* stays true until couplings are added */
  add_with_current(element, branch);
  return true;
}

static bool read_coupling(const Element *element) {
  if (!has_fields(element, 4, "Kname Lname Lname factor")) return false;
  Name ends[2];
  for (uint32_t k = 0; k < 2; k++) {
    const char *name = named_element(element, k + 1);
    ends[k] = names_add(element->circuit->names, name, strlen(name));
  }
  uint32_t at = find_word(element, "k");
  Expr factor = as_parameter(element, at == MAP_NONE ? item_at(element, 3) : value_at(element, at), "1");
  if (factor == EXPR_NONE) return false;
  if (fabs(value_now(element->circuit, factor)) > 1)
    warn(element, "with a coupling factor above 1 the inductors would create energy");
  vec_push(element->circuit->heap, &element->circuit->couplings, (Coupling){ends[0], ends[1], factor, element->card});
  return true;
}

/* ---- sources ---- */

/* Skips values for analyses that daedal does not have: `ac magnitude phase`, `distof1 magnitude phase`. false: the word
 * is not one of these. */
static bool skip_small_signal(const Element *element, uint32_t *k) {
  static const char *const words[] = {"ac", "distof1", "distof2", "acmag", "acphase"};
  Fields *fields = element->fields;
  for (size_t j = 0; j < sizeof words / sizeof *words; j++) {
    if (!accept_word(element, *k, words[j])) continue;
    accept_word(element, *k + 1, "=");
    *k += is_word(element, *k + 1, "=");
    for (int most = 2; most > 0 && *k + 1 < fields->list.count && !field_assigns(fields, *k + 1); most--) {
      if (!strchr("0123456789.-+{'", element->card->text[fields->list.data[*k + 1].begin])) break;
      fields->list.data[++*k].is_used = true;
    }
    return true;
  }
  return false;
}

/* [[dc] value] [ac ...] [waveform] from field `at`: a value comes first or after dc. */
static bool read_source_value(const Element *element, uint32_t at, const char *unit, double factor, Branch *branch) {
  Expr still = EXPR_NONE, moving = EXPR_NONE;
  uint32_t place = at; /* of a value */
  for (uint32_t k = at; k < field_count(element); k++) {
    if (element->fields->list.data[k].is_used || skip_small_signal(element, &k)) continue;
    if (accept_word(element, k, "dc")) {
      k += accept_word(element, k + 1, "=");
      place = k + 1;
      continue;
    }
    Expr wave;
    if (read_waveform(element->circuit, element->scope, element->fields, k, &wave)) {
      if (moving != EXPR_NONE) return refuse_field(element, k, "a source can have only one function of time");
      moving = wave;
      if (moving == EXPR_NONE) return false;
      continue;
    }
    if (field_assigns(element->fields, k) || k != place) continue; /* the field is reported later as unused */
    if (still != EXPR_NONE)
      return refuse_field(element, k, "a source can have only one value and one function of time");
    still = value_at(element, k);
    if (still == EXPR_NONE) return false;
  }
  if (still != EXPR_NONE && moving == EXPR_NONE) still = as_parameter(element, still, unit);
  if (still != EXPR_NONE) still = scaled(element, still, factor);
  if (moving != EXPR_NONE) moving = scaled(element, moving, factor);
  branch->still = still;
  branch->value = moving != EXPR_NONE ? moving : still != EXPR_NONE ? still : dag_constant(element->dag, 0);
  branch->is_independent = !depends_on_variables(element, branch->value);
  return true;
}

static bool read_voltage_source(const Element *element) {
  if (!has_fields(element, 3, "Vname node node value")) return false;
  Branch branch = branch_between(element, BRANCH_VOLTAGE, EXPR_NONE);
  if (!read_source_value(element, 3, "V", 1, &branch)) return false;
  add_with_current(element, branch);
  return true;
}

static bool read_current_source(const Element *element) {
  double parallel;
  if (!has_fields(element, 3, "Iname node node value") || !multiplicity(element, &parallel)) return false;
  Branch branch = branch_between(element, BRANCH_CURRENT, EXPR_NONE);
  if (!read_source_value(element, 3, "A", parallel, &branch)) return false;
  add_branch(element->circuit, branch);
  return true;
}

/* A current that depends on the voltages at its own ends is a resistance, of either sign. */
static bool depends_on_ends(const Element *element, const Branch *branch) {
  ExprVec variables = {0};
  bool found = false;
  dag_variables(element->dag, dag_scratch(element->dag), branch->value, &variables);
  for (uint32_t k = 0; k < variables.count; k++)
    found = found || variables.data[k] == node_voltage(element->circuit, branch->from) ||
            variables.data[k] == node_voltage(element->circuit, branch->to);
  vec_free(dag_scratch(element->dag)->heap, &variables);
  return found;
}

static bool add_source(const Element *element, bool is_voltage, Expr value) {
  if (value == EXPR_NONE) return false;
  Branch branch = branch_between(element, is_voltage ? BRANCH_VOLTAGE : BRANCH_CURRENT, value);
  branch.is_independent = !depends_on_variables(element, value);
  if (!is_voltage && depends_on_ends(element, &branch)) branch.kind = BRANCH_RESISTIVE;
  if (is_voltage) add_with_current(element, branch);
  else add_branch(element->circuit, branch);
  return true;
}

/* Monomials of degree d in n variables are ordered by their lists of variables; the last one changes fastest. */
static bool next_monomial(uint32_t *variables, uint32_t degree, uint32_t count) {
  uint32_t k = degree;
  while (k > 0 && variables[k - 1] == count - 1) k--;
  if (k == 0) return false;
  uint32_t value = variables[k - 1] + 1;
  for (; k <= degree; k++) variables[k - 1] = value;
  return true;
}

/* p0 + p1 x1 + ... + pn xn + p(n+1) x1^2 + ..., coefficients from field `at` on. */
static Expr read_polynomial(const Element *element, const ExprVec *x, uint32_t at) {
  enum { HIGHEST = 16 };
  uint32_t variables[HIGHEST] = {0}, degree = 0;
  bool is_last = at + 1 >= field_count(element) || field_assigns(element->fields, at + 1);
  bool is_gain = x->count == 1 && is_last; /* the only coefficient belongs to x1 */
  Expr sum = dag_constant(element->dag, 0);
  if (is_gain) degree = 1;
  for (; at < field_count(element) && !field_assigns(element->fields, at); at++) {
    Expr term = item_at(element, at);
    if (is_gain) term = as_parameter(element, term, "");
    if (term == EXPR_NONE) return EXPR_NONE;
    for (uint32_t k = 0; k < degree; k++) term = dag_multiply(element->dag, term, x->data[variables[k]]);
    sum = dag_add(element->dag, sum, term);
    if (next_monomial(variables, degree, x->count)) continue;
    if (++degree > HIGHEST) return refuse_field(element, at, "the polynomial has too high a degree"), EXPR_NONE;
    memset(variables, 0, sizeof variables);
  }
  return sum;
}

static bool read_dimension(const Element *element, uint32_t at, uint32_t *count) {
  double value = 1;
  if (at >= field_count(element)) return refuse_field(element, at, "poly needs a number of inputs");
  if (!field_constant(element->circuit, element->scope, element->fields, at, &value)) return false;
  if (!(value >= 1 && value <= 100 && value == floor(value)))
    return refuse_field(element, at, "poly needs a number of inputs");
  *count = (uint32_t)value;
  return true;
}

/* The inputs of E and G (pairs of nodes) or of F and H (voltage sources), from field *at on. */
static bool read_inputs(const Element *element, bool by_current, uint32_t count, uint32_t *at, ExprVec *inputs) {
  for (uint32_t k = 0; k < count; k++) {
    uint32_t width = by_current ? 1 : 2;
    if (*at + width > field_count(element)) return refuse_field(element, *at, "an input is missing");
    Expr input;
    if (by_current) {
      uint32_t variable = circuit_current(element->circuit, named_element(element, *at), element->card);
      input = model_leaf(element->circuit->model, variable, 0);
    } else {
      uint32_t from = node_at(element, *at), to = node_at(element, *at + 1);
      input = voltage_between(element->circuit, from, to);
    }
    vec_push(element->circuit->heap, inputs, input);
    *at += width;
  }
  return true;
}

/* table {expression} = (x, y) (x, y) ... */
static Expr read_table(const Element *element, uint32_t at) {
  Expr input = source_at(element, at, item_at), value = EXPR_NONE;
  ExprVec points = {0};
  for (uint32_t k = at + 1; input != EXPR_NONE && k < field_count(element); k++) {
    if (accept_word(element, k, "=")) continue;
    if (field_assigns(element->fields, k)) break;
    Expr point = source_at(element, k, item_at);
    if (point == EXPR_NONE) return EXPR_NONE;
    vec_push(element->circuit->heap, &points, point);
  }
  if (input == EXPR_NONE) return input;
  if (points.count < 2 || points.count % 2) return refuse_field(element, at, "table needs pairs of numbers"), EXPR_NONE;
  value = table_value(element->dag, input, points.data, points.count);
  vec_free(element->circuit->heap, &points);
  return value;
}

static Expr controlled_value(const Element *element, bool by_current) {
  static const char *const words[] = {"value", "vol", "cur"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    uint32_t at = find_word(element, words[k]);
    if (at != MAP_NONE) return source_at(element, at, rest_at);
  }
  if (accept_word(element, 3, "table")) return read_table(element, 4);
  if (accept_word(element, 3, "value")) return source_at(element, 4, item_at);
  ExprVec inputs = {0};
  uint32_t count = 1, at = 3;
  Expr value = EXPR_NONE;
  bool is_poly = accept_word(element, 3, "poly");
  if (is_poly) at = 5;
  if ((!is_poly || read_dimension(element, 4, &count)) && read_inputs(element, by_current, count, &at, &inputs)) {
    if (at >= field_count(element)) refuse_field(element, at, "a value is missing");
    else value = read_polynomial(element, &inputs, at);
  }
  vec_free(element->circuit->heap, &inputs);
  return value;
}

static bool read_controlled(const Element *element, bool is_voltage, bool by_current) {
  double parallel = 1;
  if (!has_fields(element, 5, by_current ? "name node node Vname gain" : "name node node node node gain")) return false;
  if (!is_voltage && !multiplicity(element, &parallel)) return false;
  Expr value = controlled_value(element, by_current);
  return add_source(element, is_voltage, value == EXPR_NONE ? value : scaled(element, value, parallel));
}

static bool read_vcvs(const Element *element) { return read_controlled(element, true, false); }
static bool read_cccs(const Element *element) { return read_controlled(element, false, true); }
static bool read_vccs(const Element *element) { return read_controlled(element, false, false); }
static bool read_ccvs(const Element *element) { return read_controlled(element, true, true); }

/* The factor of the expression of B: m and the temperature, or their reciprocals. */
static bool behavioural_factor(const Element *element, double *factor) {
  const CircuitOptions *options = &element->circuit->options;
  double parallel = 1, inverts_m = 0, inverts_tc = 0, tc1 = 0, tc2 = 0, temperature = options->temperature, change = 0;
  bool given;
  if (!number_of(element, "m", &parallel, NULL) || !number_of(element, "reciprocm", &inverts_m, NULL) ||
      !number_of(element, "reciproctc", &inverts_tc, NULL) || !number_of(element, "tc1", &tc1, NULL) ||
      !number_of(element, "tc2", &tc2, NULL) || !number_of(element, "dtemp", &change, NULL) ||
      !number_of(element, "temp", &temperature, &given))
    return false;
  if (!given) temperature += change;
  change = temperature - options->nominal_temperature;
  double thermal = 1 + tc1 * change + tc2 * change * change;
  *factor = (inverts_m != 0 ? 1 / parallel : parallel) * (inverts_tc != 0 ? 1 / thermal : thermal);
  return true;
}

static bool read_behavioural(const Element *element) {
  double factor;
  if (!has_fields(element, 6, "Bname node node v=expression or i=expression")) return false;
  uint32_t voltage = find_word(element, "v"), current = find_word(element, "i");
  if ((voltage == MAP_NONE) == (current == MAP_NONE))
    return refuse_field(element, 3, "v=expression or i=expression is expected");
  bool is_voltage = voltage != MAP_NONE;
  if (!is_voltage) warn_of_multiple(element);
  Expr value = source_at(element, is_voltage ? voltage : current, rest_at);
  if (value == EXPR_NONE || !behavioural_factor(element, &factor)) return false;
  return add_source(element, is_voltage, scaled(element, value, factor));
}

/* ---- S, W ---- */

/* vt, vh, ron, roff of a model, or it, ih for a switch controlled by a current. */
typedef struct SwitchModel {
  double threshold, hysteresis, closed, open;
} SwitchModel;

static bool read_switch_model(const Element *element, uint32_t at, bool by_current, SwitchModel *values) {
  const Scope *owner;
  ModelCard *model = NULL;
  if (at < field_count(element)) model = scope_model(element->scope, name_at(element, at), &owner);
  if (!model || strcmp(model->type, by_current ? "csw" : "sw") != 0)
    return refuse_field(element, at,
                        by_current ? "a model of type csw is expected here" : "a model of type sw is expected here");
  const Known known[] = {{by_current ? "it" : "vt", &values->threshold, NULL},
                         {by_current ? "ih" : "vh", &values->hysteresis, NULL},
                         {"ron", &values->closed, NULL},
                         {"roff", &values->open, NULL}};
  if (!read_model(element, model, owner, known, sizeof known / sizeof *known)) return false;
  if (values->hysteresis < 0)
    return refuse_field(element, at, "a negative hysteresis, for a smooth transition, is not supported");
  return true;
}

/* Closed above threshold + hysteresis, open below threshold - hysteresis, unchanged between them. Without hysteresis it is closed
 * at the threshold itself. */
static bool read_switch(const Element *element, bool by_current) {
  if (!has_fields(element, by_current ? 5 : 6,
                  by_current ? "Wname node node Vname model" : "Sname node node node node model"))
    return false;
  Dag *dag = element->dag;
  SwitchModel model = {.closed = 1, .open = 1 / element->circuit->options.gmin};
  uint32_t at = 3;
  ExprVec inputs = {0};
  if (!read_inputs(element, by_current, 1, &at, &inputs) || !read_switch_model(element, at, by_current, &model))
    return false;
  bool starts_closed = accept_word(element, at + 1, "on");
  if (!starts_closed) accept_word(element, at + 1, "off");
  warn_of_multiple(element);
  Hysteresis *hysteresis = arena_alloc(element->circuit->arena, sizeof *hysteresis);
  *hysteresis = (Hysteresis){inputs.data[0],
                             dag_constant(dag, model.threshold + model.hysteresis),
                             dag_constant(dag, model.threshold - model.hysteresis),
                             dag_constant(dag, 1 / model.closed),
                             dag_constant(dag, 1 / model.open),
                             starts_closed};
  Branch branch = branch_between(element, BRANCH_RESISTIVE, EXPR_NONE);
  Op op = starts_closed || model.hysteresis == 0 ? OP_GREATER_EQUAL : OP_GREATER;
  Expr closed = dag_binary(dag, op, hysteresis->input, starts_closed ? hysteresis->low : hysteresis->high);
  Expr conductance = dag_if(dag, closed, hysteresis->closed, hysteresis->open);
  branch.value = dag_multiply(dag, conductance, voltage_between(element->circuit, branch.from, branch.to));
  if (model.hysteresis > 0) branch.hysteresis = hysteresis;
  add_branch(element->circuit, branch);
  vec_free(element->circuit->heap, &inputs);
  return true;
}

static bool read_voltage_switch(const Element *element) { return read_switch(element, false); }
static bool read_current_switch(const Element *element) { return read_switch(element, true); }

/* ---- T ---- */

/* One end of an ideal line: a resistance equal to the line's impedance, in series with a source. The source is the wave that left
 * the other end one delay ago. The wave v + z i leaves this end. */
static void add_line_end(const Element *element, uint32_t from, uint32_t to, Expr impedance, Expr arriving,
                         uint32_t wave) {
  Circuit *circuit = element->circuit;
  Dag *dag = element->dag;
  Branch branch = branch_between(element, BRANCH_RESISTIVE, EXPR_NONE);
  branch.from = from;
  branch.to = to;
  Expr voltage = voltage_between(circuit, from, to);
  branch.value = dag_divide(dag, dag_subtract(dag, voltage, arriving), impedance);
  add_branch(circuit, branch);
  Expr leaving = dag_subtract(dag, dag_scale(dag, 2, voltage), arriving);
  vec_push(
      circuit->heap, &circuit->relations,
      (Equation){.left = model_leaf(circuit->model, wave, 0), .right = leaving, .span = card_whole(element->card)});
}

/* td=delay, or nl=wave lengths at f=frequency. */
static Expr line_delay(const Element *element) {
  uint32_t td = find_word(element, "td"), nl = find_word(element, "nl"), f = find_word(element, "f");
  if (td != MAP_NONE) return value_at(element, td);
  if (f == MAP_NONE) return refuse_field(element, 0, "a line needs Z0= and TD=, or Z0=, F= and NL="), EXPR_NONE;
  Expr length = nl == MAP_NONE ? dag_constant(element->dag, 0.25) : value_at(element, nl),
       frequency = value_at(element, f);
  return length == EXPR_NONE || frequency == EXPR_NONE ? EXPR_NONE : dag_divide(element->dag, length, frequency);
}

/* What arrives at an end: the wave that left the other end one delay ago. With uic the line is without waves at the start. */
static Expr arriving_wave(const Element *element, uint32_t wave, Expr span) {
  const Circuit *circuit = element->circuit;
  Dag *dag = element->dag;
  Expr list[2] = {model_leaf(circuit->model, wave, 0), span}, before = dag_nary(dag, OP_DELAY, list, 2);
  if (!circuit->uses_initial) return before;
  return dag_if(dag, dag_binary(dag, OP_LESS, circuit_time(circuit), span), dag_constant(dag, 0), before);
}

static bool read_line(const Element *element) {
  if (!has_fields(element, 5, "Tname node node node node Z0=impedance TD=delay")) return false;
  uint32_t z0 = find_word(element, "z0");
  if (z0 == MAP_NONE) z0 = find_word(element, "zo");
  if (z0 == MAP_NONE) return refuse_field(element, 0, "a line needs Z0= and TD=, or Z0=, F= and NL=");
  Expr impedance = value_at(element, z0), span = line_delay(element);
  if (impedance == EXPR_NONE || span == EXPR_NONE) return false;
  warn_of_multiple(element);
  uint32_t waves[2];
  Expr arriving[2];
  for (int k = 0; k < 2; k++) {
    const char *name = arena_printf(element->circuit->arena, "%s.wave%d", element->name, k + 1);
    waves[k] = add_variable(element->circuit, name, "V", card_whole(element->card));
  }
  for (int k = 0; k < 2; k++) arriving[k] = arriving_wave(element, waves[1 - k], span);
  add_line_end(element, node_at(element, 1), node_at(element, 2), impedance, arriving[0], waves[0]);
  add_line_end(element, node_at(element, 3), node_at(element, 4), impedance, arriving[1], waves[1]);
  return true;
}

/* ---- X ---- */

static bool is_formal(const Block *block, Name name) {
  for (uint32_t k = 0; k < block->formal; k++)
    if (block->parameters.data[k].name == name) return true;
  return false;
}

/* name = expression ...: for parameters of the subcircuit, or m=. */
static bool read_actual(const Element *element, const Block *block, Scope *scope, uint32_t first) {
  Circuit *circuit = element->circuit;
  accept_word(element, first, "params:");
  for (uint32_t k = first; k + 2 < field_count(element); k++) {
    if (!field_assigns(element->fields, k) || element->fields->list.data[k].is_used) continue;
    Name name = field_peek(circuit, element->fields, k);
    bool is_multiple = is_word(element, k, "m") && !is_formal(block, name);
    if (!is_multiple && !is_formal(block, name)) continue; /* the field is reported later as unused */
    name_at(element, k);
    accept_word(element, k + 1, "=");
    Expr value = rest_at(element, k + 2);
    double multiple;
    if (value == EXPR_NONE || (is_multiple && !constant_value(circuit, element->card, value, &multiple))) return false;
    if (is_multiple) scope->multiple *= multiple;
    else scope_define(circuit, scope, (Definition){.name = name, .value = value, .state = DEFINITION_DONE});
  }
  return true;
}

static bool put_in_block(const Element *element, const Block *block, const Scope *owner, uint32_t last) {
  Circuit *circuit = element->circuit;
  uint32_t ports = last - 1;
  if (ports != block->ports.count)
    return refuse_field(element, last,
                        arena_printf(circuit->arena, "subcircuit %s has %u node%s, not %u",
                                     names_text(circuit->names, block->name), block->ports.count,
                                     plural(block->ports.count), ports));
  Scope *scope = scope_new(circuit, owner, block, arena_printf(circuit->arena, "%s.", element->name));
  scope->depth = element->scope->depth + 1;
  scope->multiple = element->scope->multiple;
  if (scope->depth > DEEPEST_SUBCIRCUIT)
    return refuse_field(element, 0, "subcircuits are nested too deep; does one contain itself?");
  for (uint32_t k = 0; k < ports; k++) map_put(&scope->nodes, block->ports.data[k], node_at(element, k + 1));
  for (uint32_t k = 0; k < block->parameters.count; k++) {
    Definition definition = block->parameters.data[k];
    definition.scope = scope;
    scope_define(circuit, scope, definition);
  }
  if (!read_actual(element, block, scope, last + 1)) return false;
  vec_push(circuit->heap, &element->expansion->scopes, scope);
  return true;
}

static bool read_instance(const Element *element) {
  if (!has_fields(element, 2, "Xname nodes... subcircuit")) return false;
  uint32_t last = 1;
  while (last + 1 < field_count(element) && !field_assigns(element->fields, last + 1) &&
         !is_word(element, last + 1, "params:"))
    last++;
  const Scope *owner;
  const Block *block = scope_block(element->scope, name_at(element, last), &owner);
  if (!block) return refuse_field(element, last, "there is no such subcircuit");
  return put_in_block(element, block, owner, last);
}

static bool read_semiconductor(const Element *element) {
  return read_device(element->circuit, element->scope, element->fields, element->name);
}

/* ---- cards that need values ---- */

static bool read_values(const Element *element, uint32_t first, double *values, uint32_t most, uint32_t *count) {
  for (*count = 0; first < field_count(element) && *count < most && !is_word(element, first, "uic"); first++)
    if (!field_constant(element->circuit, element->scope, element->fields, first, &values[(*count)++])) return false;
  return true;
}

/* A run makes one analysis: is there one already? */
static bool is_taken(const Element *element) {
  if (!element->circuit->analysis_card) return false;
  warn(element, "a run makes only one analysis, and there is another one: this one is not run");
  return true;
}

static bool read_transient(const Element *element) {
  Circuit *circuit = element->circuit;
  double values[4] = {0};
  uint32_t count;
  if (!read_values(element, 1, values, 4, &count)) return false;
  if (count < 2 || !(values[1] > 0) || !(values[0] > 0))
    return refuse_field(element, 0, "the form is .tran step stop [start [longest step]] [uic]");
  bool uses_initial = accept_word(element, 1 + count, "uic");
  if (is_taken(element)) return true;
  circuit->analysis = ANALYSIS_TRANSIENT;
  circuit->step = values[0];
  circuit->stop = values[1];
  circuit->made->output_start = values[2];
  circuit->made->max_step = values[3];
  circuit->uses_initial = uses_initial;
  circuit->analysis_card = element->card;
  return true;
}

static bool read_operating_point(const Element *element) {
  if (!is_taken(element)) element->circuit->analysis = ANALYSIS_OPERATING_POINT;
  return true;
}

double sweep_points(const Sweep *sweep) { return 1 + floor(fabs((sweep->stop - sweep->start) / sweep->step) + 1e-9); }

static bool read_sweep_at(const Element *element, uint32_t at, Sweep *sweep) {
  double values[3];
  uint32_t count = 0;
  if (field_count(element) < at + 4 || !read_values(element, at + 1, values, 3, &count) || count < 3 || values[2] == 0)
    return refuse_field(element, 0, "the form is .dc source start stop step [source start stop step]");
  *sweep = (Sweep){name_at(element, at), values[0], values[1], values[2]};
  return true;
}

static bool read_sweep(const Element *element) {
  Circuit *circuit = element->circuit;
  Sweep sweeps[2] = {0};
  uint32_t count = field_count(element) > 5 ? 2 : 1;
  for (uint32_t k = 0; k < count; k++)
    if (!read_sweep_at(element, 1 + 4 * k, &sweeps[k])) return false;
  if (is_taken(element)) return true;
  circuit->analysis = ANALYSIS_SWEEP;
  memcpy(circuit->sweeps, sweeps, sizeof sweeps);
  circuit->sweep_count = count;
  circuit->analysis_card = element->card;
  return true;
}

/* v(node) = value ... */
static bool read_node_values(const Element *element, NodeValueVec *list) {
  for (uint32_t k = 1; k < field_count(element); k += 4) {
    if (!accept_word(element, k, "v") || !accept_word(element, k + 2, "="))
      return refuse_field(element, k, "v(node) = value is expected");
    uint32_t known = element->circuit->nodes.count, node = node_at(element, k + 1);
    Expr value = value_at(element, k + 3);
    if (value == EXPR_NONE) return false;
    if (node >= known) return refuse_field(element, k + 1, "there is no such node");
    vec_push(element->circuit->heap, list, (NodeValue){node, value, element->card});
  }
  return true;
}
static bool read_ic(const Element *element) { return read_node_values(element, &element->circuit->initial); }
static bool read_nodeset(const Element *element) { return read_node_values(element, &element->circuit->guesses); }

static bool read_global(const Element *element) {
  for (uint32_t k = 1; k < field_count(element); k++) {
    Name name = name_at(element, k);
    uint32_t node = scope_node(element->circuit, element->circuit->scope, element->card, name);
    map_put(&element->circuit->scope->nodes, name, node);
  }
  return true;
}

/* ---- the whole ---- */

static const struct {
  const char *name; /* a letter, or a card with its dot */
  bool (*read)(const Element *element);
} READERS[] = {{"r", read_resistor},      {"c", read_capacitor},      {"l", read_inductor},
               {"k", read_coupling},      {"v", read_voltage_source}, {"i", read_current_source},
               {"e", read_vcvs},          {"f", read_cccs},           {"g", read_vccs},
               {"h", read_ccvs},          {"b", read_behavioural},    {"x", read_instance},
               {"d", read_semiconductor}, {"q", read_semiconductor},  {"m", read_semiconductor},
               {"j", read_semiconductor}, {"s", read_voltage_switch}, {"w", read_current_switch},
               {"t", read_line},          {".tran", read_transient},  {".op", read_operating_point},
               {".dc", read_sweep},       {".ic", read_ic},           {".nodeset", read_nodeset},
               {".global", read_global}};

static bool is_known(const Element *element) {
  Map *known = &element->circuit->element_of;
  Name name = element_name(element);
  if (element->card->text[0] == '.') return false;
  if (map_get(known, name) != MAP_NONE) return true;
  map_put(known, name, 1);
  return false;
}

static bool read_by_letter(Element *element) {
  for (size_t k = 0; k < sizeof READERS / sizeof *READERS; k++) {
    bool is_dot = READERS[k].name[0] == '.';
    if (is_dot ? is_word(element, 0, READERS[k].name) : element->card->text[0] == READERS[k].name[0])
      return READERS[k].read(element);
  }
  return refuse_field(element, 0, "elements of this letter are not supported");
}

/* Every field of the card must be used, or there is an error. */
static void read_element(Circuit *circuit, const Scope *scope, const Card *card, Expansion *expansion) {
  Fields fields = fields_split(circuit, card);
  Element element = {
      .circuit = circuit, .dag = circuit->dag, .scope = scope, .card = card, .fields = &fields, .expansion = expansion};
  if (fields.list.count) {
    element.name =
        arena_printf(circuit->arena, "%s%s", scope->prefix, names_text(circuit->names, name_at(&element, 0)));
    if (is_known(&element)) refuse_field(&element, 0, "there is already an element of this name");
    else if (read_by_letter(&element)) fields_check(circuit, &fields, element.name);
  }
  vec_free(circuit->heap, &fields.list);
}

/* Waveforms need the analysis and its times, so its card is read first; .tran has precedence over .dc. */
static int pass_of(const Card *card) {
  if (!strncmp(card->text, ".tran", 5) || !strncmp(card->text, ".global", 7)) return 0;
  return strncmp(card->text, ".dc", 3) ? 2 : 1;
}

/* A value of a node does not create the node. */
static bool comes_last(const Card *card) {
  return !strncmp(card->text, ".ic", 3) || !strncmp(card->text, ".nodeset", 8);
}
/* Reading an element costs as much as this many steps of work, plus its expressions. */
enum { ELEMENT_WORK = 250 };

static void read_block(Circuit *circuit, const Scope *scope, Expansion *expansion) {
  const Block *block = scope->block;
  for (int pass = 0; pass < 3; pass++)
    for (uint32_t k = 0; k < block->elements.count; k++) {
      const Card *card = &circuit->deck.cards.data[block->elements.data[k]];
      if (pass_of(card) != pass) continue;
      heap_work(circuit->heap, ELEMENT_WORK);
      if (comes_last(card)) vec_push(circuit->heap, &expansion->late, (LateCard){scope, card});
      else read_element(circuit, scope, card, expansion);
    }
}

static void check_currents(Circuit *circuit) {
  bool *has_branch = arena_array(circuit->arena, circuit->model->variables.count, sizeof *has_branch);
  for (uint32_t b = 0; b < circuit->branches.count; b++)
    if (circuit->branches.data[b].variable != MAP_NONE) has_branch[circuit->branches.data[b].variable] = true;
  for (uint32_t k = 0; k < circuit->currents.count; k++) {
    const Card *card = circuit->current_cards.data[k];
    if (!has_branch[circuit->currents.data[k]])
      card_error(circuit->diags, card, 0, CARD_END, "%s is requested, but no such element has a current",
                 model_name(circuit->model, circuit->currents.data[k]));
  }
}

bool read_elements(Circuit *circuit) {
  uint32_t errors = circuit->diags->errors;
  Expansion expansion = {0};
  circuit->scope = scope_new(circuit, NULL, circuit->top, "");
  for (uint32_t k = 0; k < circuit->top->parameters.count; k++) {
    Definition definition = circuit->top->parameters.data[k];
    definition.scope = circuit->scope;
    scope_define(circuit, circuit->scope, definition);
  }
  for (uint32_t k = 0; k < circuit->scope->definitions.count; k++) {
    bool found;
    scope_parameter(circuit, circuit->scope, circuit->scope->definitions.data[k].name, &found);
  }
  vec_push(circuit->heap, &expansion.scopes, circuit->scope);
  for (uint32_t k = 0; k < expansion.scopes.count && circuit->diags->errors == errors; k++)
    read_block(circuit, expansion.scopes.data[k], &expansion);
  for (uint32_t k = 0; k < expansion.late.count && circuit->diags->errors == errors; k++)
    read_element(circuit, expansion.late.data[k].scope, expansion.late.data[k].card, &expansion);
  if (circuit->diags->errors == errors) check_currents(circuit);
  vec_free(circuit->heap, &expansion.scopes, &expansion.late);
  return circuit->diags->errors == errors;
}
