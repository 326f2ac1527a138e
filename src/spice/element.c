/* element: one function for each letter that an element's name may begin with, and the cards that are read when names have
 * values: .tran, .dc, .ic and the like. Subcircuits are put in with a list of scopes still to read, not by recursion. */
#include "spice/circuit.h"

#include <math.h>
#include <string.h>

enum { DEEPEST_SUBCIRCUIT = 100 };

/* The element being read. */
typedef struct Element {
  Circuit *circuit;
  Dag *dag;
  const Scope *scope;
  const Card *card;
  FieldVec fields;
  const char *name; /* full: x1.r1 */
  struct Expansion *expansion;
} Element;

typedef struct Expansion {
  VEC(Scope *) scopes; /* to be read */
} Expansion;

static uint32_t field_count(const Element *element) { return element->fields.list.count; }
static CardField field_at(const Element *element, uint32_t k) { return element->fields.list.data[k]; }
static bool is_word(const Element *element, uint32_t k, const char *word) {
  return k < field_count(element) && field_is(element->card, field_at(element, k), word);
}

static bool refuse_field(const Element *element, uint32_t k, const char *message) {
  uint32_t end = (uint32_t)strlen(element->card->text);
  CardField field = k < field_count(element) ? field_at(element, k) : (CardField){end ? end - 1 : 0, end};
  card_error(element->circuit->diags, element->card, field.begin, field.end, "%s: %s", element->name, message);
  return false;
}

static bool has_fields(const Element *element, uint32_t count, const char *form) {
  if (field_count(element) >= count) return true;
  return refuse_field(element, field_count(element),
                      arena_printf(element->circuit->arena, "something is missing, the form is %s", form));
}

static uint32_t node_at(const Element *element, uint32_t k) {
  Name name = field_name(element->circuit, element->card, field_at(element, k));
  return scope_node(element->circuit, element->scope, element->card, name);
}

static Expr value_at(const Element *element, uint32_t k) {
  if (k < field_count(element))
    return read_field(element->circuit, element->scope, element->card, field_at(element, k));
  refuse_field(element, k, "a value is missing");
  return EXPR_NONE;
}

/* The expression from field k to the end of the card or to the next `name =`. */
static Expr rest_at(const Element *element, uint32_t k) {
  if (k >= field_count(element)) return value_at(element, k);
  Cursor cursor = {.card = element->card, .at = field_at(element, k).begin};
  return read_expression(element->circuit, element->scope, &cursor);
}

static Name element_name(const Element *element) {
  return names_add(element->circuit->names, element->name, strlen(element->name));
}

/* The full name of the element that a field names, which is one of the same block. */
static const char *named_element(const Element *element, uint32_t k) {
  CardField field = field_at(element, k);
  return arena_printf(element->circuit->arena, "%s%.*s", element->scope->prefix, (int)(field.end - field.begin),
                      element->card->text + field.begin);
}

/* A plain number becomes a parameter of the element's name, so that a run may have another one. */
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

static bool add_with_current(const Element *element, Branch branch) {
  branch.variable = circuit_current(element->circuit, element->name, element->card);
  if (map_get(&element->circuit->branch_of, branch.name) != MAP_NONE)
    return refuse_field(element, 0, "there is an element of this name already");
  add_branch(element->circuit, branch);
  return true;
}

/* ---- R, C, L, K ---- */

/* 1 + tc1*(T - Tnom) + tc2*(T - Tnom)^2 */
static bool temperature_factor(const Element *element, double *factor) {
  const CircuitOptions *options = &element->circuit->options;
  double change = options->temperature - options->nominal_temperature, tc1 = 0, tc2 = 0;
  uint32_t first = field_after(element->card, &element->fields, 3, "tc1"),
           second = field_after(element->card, &element->fields, 3, "tc2"),
           both = field_after(element->card, &element->fields, 3, "tc");
  if (both != MAP_NONE) {
    first = both;
    if (both + 1 < field_count(element) && !is_word(element, both + 2, "=")) second = both + 1;
  }
  if (first != MAP_NONE &&
      !read_constant(element->circuit, element->scope, element->card, field_at(element, first), &tc1))
    return false;
  if (second != MAP_NONE &&
      !read_constant(element->circuit, element->scope, element->card, field_at(element, second), &tc2))
    return false;
  *factor = 1 + tc1 * change + tc2 * change * change;
  return true;
}

/* The main value of R, C or L: third field, or behind its letter and `=`. */
static Expr main_value(const Element *element, const char *letter, const char *unit) {
  uint32_t at = field_after(element->card, &element->fields, 3, letter);
  if (at != MAP_NONE) {
    Expr value = rest_at(element, at);
    return value == EXPR_NONE ? value : as_parameter(element, value, unit);
  }
  if (is_word(element, 4, "=")) return value_at(element, field_count(element));
  return as_parameter(element, value_at(element, 3), unit);
}

static Expr scaled(const Element *element, Expr value, double factor) {
  return factor == 1 ? value : dag_multiply(element->dag, value, dag_constant(element->dag, factor));
}

/* m=: so many in parallel. */
static bool multiplicity(const Element *element, double *factor) {
  uint32_t at = field_after(element->card, &element->fields, 3, "m");
  *factor = 1;
  return at == MAP_NONE ||
         read_constant(element->circuit, element->scope, element->card, field_at(element, at), factor);
}

static bool read_resistor(const Element *element) {
  double factor, parallel, constant;
  if (!has_fields(element, 4, "Rname node node value")) return false;
  Expr value = main_value(element, "r", "Ohm");
  if (value == EXPR_NONE || !temperature_factor(element, &factor) || !multiplicity(element, &parallel)) return false;
  if (dag_is_constant(element->dag, value, &constant) && constant == 0)
    return add_with_current(element, branch_between(element, BRANCH_VOLTAGE, value));
  Branch branch = branch_between(element, BRANCH_RESISTIVE, EXPR_NONE);
  Expr voltage = voltage_between(element->circuit, branch.from, branch.to);
  branch.value = dag_divide(element->dag, voltage, scaled(element, value, factor / parallel));
  add_branch(element->circuit, branch);
  return true;
}

static bool read_initial(const Element *element, Expr *given) {
  uint32_t at = field_after(element->card, &element->fields, 3, "ic");
  *given = at == MAP_NONE ? EXPR_NONE : value_at(element, at);
  return at == MAP_NONE || *given != EXPR_NONE;
}

static bool depends_on_variables(const Element *element, Expr e) { return dag_depends(element->dag, e, OP_VARIABLE); }

static bool read_capacitor(const Element *element) {
  double factor, parallel;
  if (!has_fields(element, 4, "Cname node node value")) return false;
  Branch branch = branch_between(element, BRANCH_CAPACITOR, EXPR_NONE);
  if (!read_initial(element, &branch.given) || !temperature_factor(element, &factor) ||
      !multiplicity(element, &parallel))
    return false;
  uint32_t charge = field_after(element->card, &element->fields, 3, "q");
  Expr value = charge != MAP_NONE ? rest_at(element, charge) : main_value(element, "c", "F");
  if (value == EXPR_NONE) return false;
  value = scaled(element, value, factor * parallel);
  branch.is_slope = charge == MAP_NONE && depends_on_variables(element, value);
  if (charge == MAP_NONE && !branch.is_slope)
    value = dag_multiply(element->dag, value, voltage_between(element->circuit, branch.from, branch.to));
  branch.value = value;
  add_branch(element->circuit, branch);
  return true;
}

static bool read_inductor(const Element *element) {
  double factor, parallel;
  if (!has_fields(element, 4, "Lname node node value")) return false;
  Branch branch = branch_between(element, BRANCH_INDUCTOR, EXPR_NONE);
  if (!read_initial(element, &branch.given) || !temperature_factor(element, &factor) ||
      !multiplicity(element, &parallel))
    return false;
  Expr value = main_value(element, "l", "H");
  if (value == EXPR_NONE) return false;
  branch.value = scaled(element, value, factor / parallel);
  branch.is_slope = true; /* until couplings are put in */
  return add_with_current(element, branch);
}

static bool read_coupling(const Element *element) {
  if (!has_fields(element, 4, "Kname Lname Lname factor")) return false;
  Expr factor = as_parameter(element, value_at(element, 3), "1");
  if (factor == EXPR_NONE) return false;
  Name ends[2];
  for (uint32_t k = 0; k < 2; k++) {
    const char *name = named_element(element, k + 1);
    ends[k] = names_add(element->circuit->names, name, strlen(name));
  }
  vec_push(element->circuit->heap, &element->circuit->couplings, (Coupling){ends[0], ends[1], factor, element->card});
  return true;
}

/* ---- sources ---- */

/* [[dc] value] [ac ...] [waveform] from field `at`. */
static bool read_source_value(const Element *element, uint32_t at, const char *unit, Branch *branch) {
  Expr still = EXPR_NONE, moving = EXPR_NONE;
  for (uint32_t k = at; k < field_count(element); k++) {
    if (is_word(element, k, "dc")) continue;
    if (is_word(element, k, "ac")) { /* magnitude and phase have no meaning here */
      while (k + 1 < field_count(element) &&
             strchr("0123456789.-+{'", element->card->text[field_at(element, k + 1).begin]))
        k++;
      continue;
    }
    if (read_waveform(element->circuit, element->scope, element->card, &element->fields, k, &moving)) {
      if (moving == EXPR_NONE) return false;
      break;
    }
    if (still != EXPR_NONE) return refuse_field(element, k, "a source has one value and one function of time");
    still = value_at(element, k);
    if (still == EXPR_NONE) return false;
  }
  if (still != EXPR_NONE && moving == EXPR_NONE) still = as_parameter(element, still, unit);
  branch->still = still;
  branch->value = moving != EXPR_NONE ? moving : still != EXPR_NONE ? still : dag_constant(element->dag, 0);
  branch->is_independent = !depends_on_variables(element, branch->value);
  return true;
}

static bool read_voltage_source(const Element *element) {
  if (!has_fields(element, 3, "Vname node node value")) return false;
  Branch branch = branch_between(element, BRANCH_VOLTAGE, EXPR_NONE);
  return read_source_value(element, 3, "V", &branch) && add_with_current(element, branch);
}

static bool read_current_source(const Element *element) {
  if (!has_fields(element, 3, "Iname node node value")) return false;
  Branch branch = branch_between(element, BRANCH_CURRENT, EXPR_NONE);
  if (!read_source_value(element, 3, "A", &branch)) return false;
  add_branch(element->circuit, branch);
  return true;
}

/* A current that depends on the voltages at its own ends is a resistance, of whatever sign. */
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
  if (is_voltage) return add_with_current(element, branch);
  if (depends_on_ends(element, &branch)) branch.kind = BRANCH_RESISTIVE;
  add_branch(element->circuit, branch);
  return true;
}

/* The monomials of degree d in n variables follow each other as their lists of variables do, the last changing fastest. */
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
  bool is_gain = x->count == 1 && at + 1 == field_count(element); /* the only coefficient is that of x1 */
  Expr sum = dag_constant(element->dag, 0);
  if (is_gain) degree = 1;
  for (; at < field_count(element) && !is_word(element, at + 1, "="); at++) {
    Expr term = value_at(element, at);
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
  if (at >= field_count(element) ||
      !read_constant(element->circuit, element->scope, element->card, field_at(element, at), &value))
    return false;
  if (!(value >= 1 && value <= 100)) return refuse_field(element, at, "poly needs a number of inputs");
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
  Expr input = value_at(element, at), value = EXPR_NONE;
  ExprVec points = {0};
  for (uint32_t k = at + 1; input != EXPR_NONE && k < field_count(element); k++) {
    if (is_word(element, k, "=")) continue;
    Expr point = value_at(element, k);
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
  static const char *const words[] = {"value", "vol", "cur", "v", "i"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    uint32_t at = field_after(element->card, &element->fields, 3, words[k]);
    if (at != MAP_NONE) return rest_at(element, at);
  }
  if (is_word(element, 3, "table")) return read_table(element, 4);
  if (is_word(element, 3, "value")) return value_at(element, 4);
  ExprVec inputs = {0};
  uint32_t count = 1, at = 3;
  Expr value = EXPR_NONE;
  bool is_poly = is_word(element, 3, "poly");
  if (is_poly) at = 5;
  if ((!is_poly || read_dimension(element, 4, &count)) && read_inputs(element, by_current, count, &at, &inputs)) {
    if (is_poly) value = read_polynomial(element, &inputs, at);
    else {
      Expr gain = as_parameter(element, value_at(element, at), "");
      value = gain == EXPR_NONE ? gain : dag_multiply(element->dag, gain, inputs.data[0]);
    }
  }
  vec_free(element->circuit->heap, &inputs);
  return value;
}

static bool read_controlled(const Element *element, bool is_voltage, bool by_current) {
  if (!has_fields(element, 5, by_current ? "name node node Vname gain" : "name node node node node gain")) return false;
  return add_source(element, is_voltage, controlled_value(element, by_current));
}

static bool read_vcvs(const Element *element) { return read_controlled(element, true, false); }
static bool read_cccs(const Element *element) { return read_controlled(element, false, true); }
static bool read_vccs(const Element *element) { return read_controlled(element, false, false); }
static bool read_ccvs(const Element *element) { return read_controlled(element, true, true); }

static bool read_behavioural(const Element *element) {
  if (!has_fields(element, 6, "Bname node node v=expression or i=expression")) return false;
  bool is_voltage = is_word(element, 3, "v");
  if ((!is_voltage && !is_word(element, 3, "i")) || !is_word(element, 4, "="))
    return refuse_field(element, 3, "v=expression or i=expression is expected");
  return add_source(element, is_voltage, rest_at(element, 5));
}

/* ---- S, W ---- */

/* vt, vh, ron, roff of a model, or it, ih for a switch by current. */
typedef struct SwitchModel {
  double threshold, hysteresis, closed, open;
} SwitchModel;

static bool read_switch_model(const Element *element, uint32_t at, bool by_current, SwitchModel *values) {
  const Scope *owner;
  const ModelCard *model = NULL;
  if (at < field_count(element))
    model = scope_model(element->scope, field_name(element->circuit, element->card, field_at(element, at)), &owner);
  if (!model || strcmp(model->type, by_current ? "csw" : "sw") != 0)
    return refuse_field(element, at,
                        by_current ? "a model of type csw is expected here" : "a model of type sw is expected here");
  const struct {
    const char *name;
    double *place;
  } known[] = {{by_current ? "it" : "vt", &values->threshold},
               {by_current ? "ih" : "vh", &values->hysteresis},
               {"ron", &values->closed},
               {"roff", &values->open}};
  for (uint32_t k = model->first; k + 2 < model->fields->list.count; k += 3) {
    double *place = NULL;
    for (size_t j = 0; j < sizeof known / sizeof *known; j++)
      if (field_is(model->card, model->fields->list.data[k], known[j].name)) place = known[j].place;
    CardField field = model->fields->list.data[k];
    if (!place) {
      card_error(element->circuit->diags, model->card, field.begin, field.end, "a switch does not have this parameter");
      return false;
    }
    if (!read_constant(element->circuit, owner, model->card, model->fields->list.data[k + 2], place)) return false;
  }
  if (values->hysteresis < 0)
    return refuse_field(element, at, "a negative hysteresis, for a smooth transition, is not supported");
  return true;
}

/* Closed above threshold + hysteresis, open below threshold - hysteresis. */
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
  Hysteresis *hysteresis = arena_alloc(element->circuit->arena, sizeof *hysteresis);
  *hysteresis = (Hysteresis){inputs.data[0], dag_constant(dag, model.threshold + model.hysteresis),
                             dag_constant(dag, model.threshold - model.hysteresis), dag_constant(dag, 1 / model.closed),
                             dag_constant(dag, 1 / model.open)};
  Branch branch = branch_between(element, BRANCH_RESISTIVE, EXPR_NONE);
  bool starts_closed = is_word(element, at + 1, "on");
  Expr closed = dag_binary(dag, OP_GREATER, hysteresis->input, starts_closed ? hysteresis->low : hysteresis->high);
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

/* One end of an ideal line: a resistance of the line's impedance, behind which is the wave that left the other end a delay ago.
 * wave = v + z i is what leaves this end. */
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

static bool read_line(const Element *element) {
  if (!has_fields(element, 5, "Tname node node node node Z0=impedance TD=delay")) return false;
  uint32_t z0 = field_after(element->card, &element->fields, 5, "z0"),
           td = field_after(element->card, &element->fields, 5, "td");
  if (z0 == MAP_NONE || td == MAP_NONE) return refuse_field(element, 0, "a line needs Z0= and TD=");
  Expr impedance = value_at(element, z0), span = value_at(element, td);
  if (impedance == EXPR_NONE || span == EXPR_NONE) return false;
  uint32_t waves[2];
  Expr arriving[2];
  for (int k = 0; k < 2; k++) {
    const char *name = arena_printf(element->circuit->arena, "%s.wave%d", element->name, k + 1);
    waves[k] = add_variable(element->circuit, name, "V", card_whole(element->card));
  }
  for (int k = 0; k < 2; k++) {
    Expr list[2] = {model_leaf(element->circuit->model, waves[1 - k], 0), span};
    arriving[k] = dag_nary(element->dag, OP_DELAY, list, 2);
  }
  add_line_end(element, node_at(element, 1), node_at(element, 2), impedance, arriving[0], waves[0]);
  add_line_end(element, node_at(element, 3), node_at(element, 4), impedance, arriving[1], waves[1]);
  return true;
}

/* ---- X ---- */

static bool put_in_block(const Element *element, const Block *block, const Scope *owner, uint32_t last) {
  Circuit *circuit = element->circuit;
  uint32_t ports = last - 1;
  if (ports != block->ports.count)
    return refuse_field(element, last,
                        arena_printf(circuit->arena, "subcircuit %s has %u nodes, not %u",
                                     names_text(circuit->names, block->name), block->ports.count, ports));
  Scope *scope = scope_new(circuit, owner, block, arena_printf(circuit->arena, "%s.", element->name));
  scope->depth = element->scope->depth + 1;
  if (scope->depth > DEEPEST_SUBCIRCUIT)
    return refuse_field(element, 0, "subcircuits are nested too deep; does one contain itself?");
  for (uint32_t k = 0; k < ports; k++) map_put(&scope->nodes, block->ports.data[k], node_at(element, k + 1));
  for (uint32_t k = 0; k < block->parameters.count; k++) {
    Definition definition = block->parameters.data[k];
    definition.scope = scope;
    scope_define(circuit, scope, definition);
  }
  for (uint32_t k = last + 1; k + 2 < field_count(element) + 1 && k + 2 <= field_count(element); k++) {
    if (!is_word(element, k + 1, "=")) continue;
    Expr value = rest_at(element, k + 2);
    if (value == EXPR_NONE) return false;
    scope_define(circuit, scope,
                 (Definition){.name = field_name(circuit, element->card, field_at(element, k)),
                              .value = value,
                              .state = DEFINITION_DONE});
  }
  vec_push(circuit->heap, &element->expansion->scopes, scope);
  return true;
}

static bool read_instance(const Element *element) {
  if (!has_fields(element, 2, "Xname nodes... subcircuit")) return false;
  uint32_t last = 1;
  while (last + 1 < field_count(element) && !is_word(element, last + 2, "=") && !is_word(element, last + 1, "params:"))
    last++;
  const Scope *owner;
  const Block *block =
      scope_block(element->scope, field_name(element->circuit, element->card, field_at(element, last)), &owner);
  if (!block) return refuse_field(element, last, "there is no such subcircuit");
  return put_in_block(element, block, owner, last);
}

static bool read_semiconductor(const Element *element) {
  return read_device(element->circuit, element->scope, element->card, &element->fields, element->name);
}

/* ---- cards that need values ---- */

static bool read_values(const Element *element, uint32_t first, double *values, uint32_t most, uint32_t *count) {
  for (*count = 0; first < field_count(element) && *count < most && !is_word(element, first, "uic"); first++)
    if (!read_constant(element->circuit, element->scope, element->card, field_at(element, first), &values[(*count)++]))
      return false;
  return true;
}

static bool read_transient(const Element *element) {
  Circuit *circuit = element->circuit;
  double values[4];
  uint32_t count;
  if (!read_values(element, 1, values, 4, &count)) return false;
  if (count < 2 || !(values[1] > 0) || !(values[0] > 0))
    return refuse_field(element, 0, "the form is .tran step stop [start [longest step]] [uic]");
  circuit->analysis = ANALYSIS_TRANSIENT;
  circuit->step = values[0];
  circuit->stop = values[1];
  circuit->uses_initial = is_word(element, field_count(element) - 1, "uic");
  circuit->analysis_card = element->card;
  return true;
}

static bool read_operating_point(const Element *element) {
  if (!element->circuit->analysis_card) element->circuit->analysis = ANALYSIS_OPERATING_POINT;
  return true;
}

double sweep_points(const Sweep *sweep) { return 1 + floor(fabs((sweep->stop - sweep->start) / sweep->step) + 1e-9); }

static bool read_sweep_at(const Element *element, uint32_t at, Sweep *sweep) {
  double values[3];
  uint32_t count = 0;
  if (field_count(element) < at + 4 || !read_values(element, at + 1, values, 3, &count) || count < 3 || values[2] == 0)
    return refuse_field(element, 0, "the form is .dc source start stop step [source start stop step]");
  *sweep = (Sweep){field_name(element->circuit, element->card, field_at(element, at)), values[0], values[1], values[2]};
  return true;
}

static bool read_sweep(const Element *element) {
  Circuit *circuit = element->circuit;
  Sweep sweeps[2] = {0};
  uint32_t count = field_count(element) > 5 ? 2 : 1;
  for (uint32_t k = 0; k < count; k++)
    if (!read_sweep_at(element, 1 + 4 * k, &sweeps[k])) return false;
  if (circuit->analysis_card) return true;
  circuit->analysis = ANALYSIS_SWEEP;
  memcpy(circuit->sweeps, sweeps, sizeof sweeps);
  circuit->sweep_count = count;
  circuit->analysis_card = element->card;
  return true;
}

/* v(node) = value ... */
static bool read_node_values(const Element *element, NodeValueVec *list) {
  for (uint32_t k = 1; k < field_count(element); k += 4) {
    if (!is_word(element, k, "v") || !is_word(element, k + 2, "="))
      return refuse_field(element, k, "v(node) = value is expected");
    uint32_t node = node_at(element, k + 1);
    Expr value = value_at(element, k + 3);
    if (value == EXPR_NONE) return false;
    vec_push(element->circuit->heap, list, (NodeValue){node, value, element->card});
  }
  return true;
}
static bool read_ic(const Element *element) { return read_node_values(element, &element->circuit->initial); }
static bool read_nodeset(const Element *element) { return read_node_values(element, &element->circuit->guesses); }

static bool read_global(const Element *element) {
  for (uint32_t k = 1; k < field_count(element); k++) {
    Name name = field_name(element->circuit, element->card, field_at(element, k));
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

static bool read_element(Element *element) {
  const Card *card = element->card;
  element->fields = fields_split(element->circuit, card);
  if (!field_count(element)) return true;
  CardField first = field_at(element, 0);
  element->name = arena_printf(element->circuit->arena, "%s%.*s", element->scope->prefix,
                               (int)(first.end - first.begin), card->text + first.begin);
  for (size_t k = 0; k < sizeof READERS / sizeof *READERS; k++) {
    bool is_dot = READERS[k].name[0] == '.';
    if (is_dot ? field_is(card, first, READERS[k].name) : card->text[first.begin] == READERS[k].name[0])
      return READERS[k].read(element);
  }
  return refuse_field(element, 0, "elements of this letter are not supported");
}

/* Waveforms need the times of .tran: it is read first. */
static bool comes_first(const Card *card) {
  return !strncmp(card->text, ".tran", 5) || !strncmp(card->text, ".global", 7);
}

/* To read an element takes as long as so many steps of work, beside its expressions. */
enum { ELEMENT_WORK = 250 };

static void read_block(Circuit *circuit, const Scope *scope, Expansion *expansion) {
  const Block *block = scope->block;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t k = 0; k < block->elements.count; k++) {
      const Card *card = &circuit->deck.cards.data[block->elements.data[k]];
      if (comes_first(card) != (pass == 0)) continue;
      heap_work(circuit->heap, ELEMENT_WORK);
      Element element = {.circuit = circuit, .dag = circuit->dag, .scope = scope, .card = card, .expansion = expansion};
      read_element(&element);
      vec_free(circuit->heap, &element.fields.list);
    }
}

static void check_currents(Circuit *circuit) {
  bool *has_branch = arena_array(circuit->arena, circuit->model->variables.count, sizeof *has_branch);
  for (uint32_t b = 0; b < circuit->branches.count; b++)
    if (circuit->branches.data[b].variable != MAP_NONE) has_branch[circuit->branches.data[b].variable] = true;
  for (uint32_t k = 0; k < circuit->currents.count; k++) {
    const Card *card = circuit->current_cards.data[k];
    if (!has_branch[circuit->currents.data[k]])
      card_error(circuit->diags, card, 0, CARD_END, "%s is asked for, but no such element has a current",
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
  if (circuit->diags->errors == errors) check_currents(circuit);
  vec_free(circuit->heap, &expansion.scopes);
  return circuit->diags->errors == errors;
}
