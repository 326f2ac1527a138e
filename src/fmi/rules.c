/* rules: see rules.h. Each function checks one part of the document and does not depend on the other checks. */
#include "fmi/rules.h"

#include "base/map.h"
#include "base/number.h"
#include "fmi/xml.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct RuleVariable {
  const XmlElement *element, *typed; /* attributes of the variable and of its type; the same element in FMI 3 */
  const char *name, *type, *causality, *variability, *initial, *start;
  uint32_t reference; /* MAP_NONE: none */
} RuleVariable;

typedef struct Rules {
  Arena arena;
  Heap *heap;
  RuleReport *report;
  void *context;
  uint32_t broken;
  bool is_third;
  const XmlElement *root;
  RuleVariable *list;
  uint32_t count;
  Map by_reference;
} Rules;

__attribute__((format(printf, 2, 3))) static void broken(Rules *rules, const char *format, ...) {
  va_list list;
  va_start(list, format);
  rules->report(rules->context, arena_vprintf(&rules->arena, format, list));
  va_end(list);
  rules->broken++;
}

static bool is_one_of(const char *text, const char *const *words) {
  for (; text && *words; words++)
    if (!strcmp(text, *words)) return true;
  return false;
}

static bool is(const char *text, const char *other) { return text && !strcmp(text, other); }

/* A whole number; MAP_NONE: there is none. */
static uint32_t index_of(const XmlElement *element, const char *name) {
  const char *text = xml_attribute(element, name);
  double value;
  if (!text || !number_parse(text, text + strlen(text), &value)) return MAP_NONE;
  return value >= 0 && value < MAP_NONE && value == floor(value) ? (uint32_t)value : MAP_NONE;
}

static bool read_number(const XmlElement *element, const char *name, double *value) {
  const char *text = xml_attribute(element, name);
  return text && number_parse(text, text + strlen(text), value);
}

/* ---- the head ---- */

static bool is_identifier(const char *text) {
  if (!text || !(isalpha((unsigned char)*text) || *text == '_')) return false;
  for (; *text; text++)
    if (!isalnum((unsigned char)*text) && *text != '_') return false;
  return true;
}

static void check_kind(Rules *rules, const char *name, uint32_t *kinds) {
  const XmlElement *kind = xml_child(rules->root, name);
  if (!kind) return;
  (*kinds)++;
  const char *identifier = xml_attribute(kind, "modelIdentifier");
  if (!is_identifier(identifier))
    broken(rules, "%s: modelIdentifier `%s` is not a name in C", name, identifier ? identifier : "");
}

static void check_head(Rules *rules) {
  const XmlElement *root = rules->root, *experiment = xml_child(root, "DefaultExperiment");
  uint32_t kinds = 0;
  double start, stop, tolerance;
  if (!xml_attribute(root, "modelName")) broken(rules, "modelName is missing");
  const char *token = rules->is_third ? "instantiationToken" : "guid";
  if (!xml_attribute(root, token)) broken(rules, "%s is missing", token);
  check_kind(rules, "ModelExchange", &kinds);
  check_kind(rules, "CoSimulation", &kinds);
  if (rules->is_third) check_kind(rules, "ScheduledExecution", &kinds);
  if (!kinds) broken(rules, "there is no interface: ModelExchange, CoSimulation or ScheduledExecution");
  if (read_number(experiment, "startTime", &start) && read_number(experiment, "stopTime", &stop) && !(stop >= start))
    broken(rules, "DefaultExperiment: stopTime is before startTime");
  if (read_number(experiment, "tolerance", &tolerance) && !(tolerance > 0))
    broken(rules, "DefaultExperiment: tolerance is not positive");
  const char *naming = xml_attribute(root, "variableNamingConvention");
  static const char *const namings[] = {"flat", "structured", NULL};
  if (naming && !is_one_of(naming, namings)) broken(rules, "variableNamingConvention `%s` does not exist", naming);
}

/* ---- variables ---- */

static const char *const TYPES_2[] = {"Real", "Integer", "Boolean", "String", "Enumeration", NULL};
static const char *const TYPES_3[] = {"Float64", "Float32",     "Int8",  "UInt8",  "Int16",   "UInt16",
                                      "Int32",   "UInt32",      "Int64", "UInt64", "Boolean", "String",
                                      "Binary",  "Enumeration", "Clock", NULL};

static bool is_real(const RuleVariable *variable) {
  return is(variable->type, "Real") || is(variable->type, "Float64") || is(variable->type, "Float32");
}

static const char *given(const char *text, const char *otherwise) { return text ? text : otherwise; }

/* The default of `initial` (FMI 2.0.4, table of 2.2.7; FMI 3.0.1, 2.4.7.5). */
static const char *default_initial(const RuleVariable *variable) {
  const char *causality = variable->causality, *variability = variable->variability;
  if (is(variability, "constant") || is(causality, "parameter") || is(causality, "structuralParameter")) return "exact";
  if (is(causality, "input") || is(causality, "independent")) return NULL;
  return "calculated";
}

static RuleVariable read_variable(const Rules *rules, const XmlElement *element) {
  RuleVariable variable = {.element = element, .typed = rules->is_third ? element : NULL};
  for (const XmlElement *child = element->child; child && !variable.typed; child = child->next)
    if (is_one_of(child->name, TYPES_2)) variable.typed = child;
  variable.name = xml_attribute(element, "name");
  variable.type = variable.typed ? variable.typed->name : NULL;
  variable.reference = index_of(element, "valueReference");
  variable.causality = given(xml_attribute(element, "causality"), "local");
  const char *usual = is_real(&variable) ? "continuous" : "discrete";
  if (is(variable.causality, "parameter") || is(variable.causality, "calculatedParameter")) usual = "fixed";
  variable.variability =
      given(xml_attribute(element, "variability"), rules->is_third || is_real(&variable) ? usual : "discrete");
  if (!xml_attribute(element, "variability") && !rules->is_third) variable.variability = "continuous";
  variable.initial = given(xml_attribute(element, "initial"), default_initial(&variable));
  variable.start = xml_attribute(variable.typed, "start");
  if (!variable.start && xml_child(variable.typed, "Start")) variable.start = "";
  return variable;
}

static void list_variables(Rules *rules) {
  const XmlElement *all = xml_child(rules->root, "ModelVariables");
  uint32_t count = 0;
  if (!all) broken(rules, "ModelVariables is missing");
  for (const XmlElement *e = all ? all->child : NULL; e; e = e->next) count++;
  rules->list = arena_array(&rules->arena, (size_t)count + 1, sizeof *rules->list);
  for (const XmlElement *e = all ? all->child : NULL; e; e = e->next) {
    RuleVariable variable = read_variable(rules, e);
    if (!variable.name || !variable.typed || variable.reference == MAP_NONE ||
        !is_one_of(variable.type, rules->is_third ? TYPES_3 : TYPES_2)) {
      broken(rules, "variable `%s` has no name, no known type or no value reference", given(variable.name, e->name));
      variable.name = given(variable.name, "");
    }
    rules->list[rules->count++] = variable;
  }
}

/* Names must be unique. Value references must be unique in FMI 3.0; in FMI 2.0 variables with the same reference must have one
 * type. */
static void check_names(Rules *rules) {
  Names known = names_make(rules->heap);
  for (uint32_t k = 0; k < rules->count; k++) {
    const RuleVariable *variable = &rules->list[k];
    size_t length = strlen(variable->name);
    if (names_find(&known, variable->name, length) != MAP_NONE)
      broken(rules, "variable `%s` occurs twice", variable->name);
    else names_add(&known, variable->name, length);
    if (variable->reference == MAP_NONE) continue;
    uint32_t other = map_get(&rules->by_reference, variable->reference);
    if (other == MAP_NONE) map_put(&rules->by_reference, variable->reference, k);
    else if (rules->is_third || !is(rules->list[other].type, given(variable->type, "")))
      broken(rules, "variables `%s` and `%s` have one value reference", rules->list[other].name, variable->name);
  }
  names_free(&known);
}

/* Checks which causality, variability and initial may be combined. */
static void check_combination(Rules *rules, const RuleVariable *variable) {
  static const char *const causalities[] = {"parameter",   "calculatedParameter", "input", "output", "local",
                                            "independent", "structuralParameter", NULL};
  static const char *const variabilities[] = {"constant", "fixed", "tunable", "discrete", "continuous", NULL};
  static const char *const initials[] = {"exact", "approx", "calculated", NULL};
  const char *causality = variable->causality, *variability = variable->variability, *initial = variable->initial;
  const char *own = xml_attribute(variable->element, "initial");
  bool is_parameter = is(causality, "parameter") || is(causality, "structuralParameter");
  bool is_fixed = is(variability, "fixed") || is(variability, "tunable");
  bool fits = is_one_of(causality, causalities) && is_one_of(variability, variabilities) &&
              (!initial || is_one_of(initial, initials));
  if (is_parameter || is(causality, "calculatedParameter")) fits = fits && is_fixed;
  if (is(causality, "input")) fits = fits && (is(variability, "discrete") || is(variability, "continuous"));
  if (is(causality, "output")) fits = fits && !is_fixed;
  if (is(causality, "independent")) fits = fits && is(variability, "continuous");
  bool may_begin = rules->is_third && is(causality, "input") && is(own, "exact");
  if (is(causality, "input") || is(causality, "independent")) fits = fits && (!own || may_begin);
  if (is_parameter || is(variability, "constant")) fits = fits && is(initial, "exact");
  if (is(causality, "calculatedParameter")) fits = fits && !is(initial, "exact");
  if (is(variability, "continuous") && variable->type && !is_real(variable) && rules->is_third) fits = false;
  if (!fits)
    broken(rules, "variable `%s`: causality %s, variability %s and initial %s cannot be combined", variable->name,
           causality, variability, given(initial, "none"));
}

/* Start values must be given if they are needed, and only then. */
static void check_start(Rules *rules, const RuleVariable *variable) {
  bool needs = is(variable->initial, "exact") || is(variable->initial, "approx") || is(variable->causality, "input");
  bool forbids = is(variable->initial, "calculated") || is(variable->causality, "independent");
  bool is_clock = is(variable->type, "Clock");
  if (needs && !variable->start && !is_clock) broken(rules, "variable `%s` has no start value", variable->name);
  if (forbids && variable->start) broken(rules, "variable `%s` is calculated, and has a start value", variable->name);
  double start, least, greatest;
  bool has_least = read_number(variable->typed, "min", &least),
       has_greatest = read_number(variable->typed, "max", &greatest);
  if (has_least && has_greatest && least > greatest) broken(rules, "variable `%s`: min is above max", variable->name);
  if (is(variable->type, "String") || is(variable->type, "Binary") || is(variable->type, "Boolean")) return;
  if (!read_number(variable->typed, "start", &start)) return;
  if ((has_least && start < least) || (has_greatest && start > greatest))
    broken(rules, "variable `%s`: its start value is below min or above max", variable->name);
}

/* Checks that named units and types exist. */
static void check_reference(Rules *rules, const RuleVariable *variable, const char *attribute,
                            const char *definitions) {
  const char *wanted = xml_attribute(variable->typed, attribute);
  const XmlElement *all = xml_child(rules->root, definitions);
  if (!wanted) return;
  for (const XmlElement *e = all ? all->child : NULL; e; e = e->next)
    if (is(xml_attribute(e, "name"), wanted)) return;
  broken(rules, "variable `%s`: %s `%s` is not defined", variable->name, attribute, wanted);
}

static const RuleVariable *find_derivative(const Rules *rules, uint32_t of) {
  if (!rules->is_third) return of >= 1 && of <= rules->count ? &rules->list[of - 1] : NULL;
  uint32_t at = of == MAP_NONE ? MAP_NONE : map_get(&rules->by_reference, of);
  return at == MAP_NONE ? NULL : &rules->list[at];
}

static void check_derivative(Rules *rules, const RuleVariable *variable) {
  if (!xml_attribute(variable->typed, "derivative")) return;
  const RuleVariable *state = find_derivative(rules, index_of(variable->typed, "derivative"));
  if (!state || !is_real(state) || !is(state->variability, "continuous"))
    broken(rules, "variable `%s` is the derivative of no continuous variable", variable->name);
}

static void check_variables(Rules *rules) {
  uint32_t independents = 0;
  for (uint32_t k = 0; k < rules->count; k++) {
    const RuleVariable *variable = &rules->list[k];
    if (!variable->typed) continue;
    check_combination(rules, variable);
    check_start(rules, variable);
    check_reference(rules, variable, "declaredType", "TypeDefinitions");
    check_reference(rules, variable, "unit", "UnitDefinitions");
    check_derivative(rules, variable);
    independents += is(variable->causality, "independent");
    if (is(variable->type, "Enumeration") && !xml_attribute(variable->typed, "declaredType"))
      broken(rules, "enumeration `%s` has no declaredType", variable->name);
  }
  if (independents > 1 || (rules->is_third && !independents))
    broken(rules, "there are %u independent variables, not one", independents);
}

/* ---- the structure ---- */

static const RuleVariable *find_unknown(const Rules *rules, const XmlElement *unknown) {
  return find_derivative(rules, index_of(unknown, rules->is_third ? "valueReference" : "index"));
}

/* Checks the lists of dependencies of an unknown. */
static void check_dependencies(Rules *rules, const RuleVariable *variable, const XmlElement *unknown) {
  const char *at = xml_attribute(unknown, "dependencies"), *kinds = xml_attribute(unknown, "dependenciesKind");
  uint32_t count = 0, kind_count = 0;
  for (; at && *(at += strspn(at, " ")); at += strcspn(at, " "), count++) {
    double value;
    bool is_number = number_parse(at, at + strcspn(at, " "), &value) && value >= 0 && value < MAP_NONE;
    if (!is_number || !find_derivative(rules, (uint32_t)value))
      broken(rules, "the dependencies of `%s` name no variable: %.*s", variable->name, (int)strcspn(at, " "), at);
  }
  for (const char *k = kinds; k && *(k += strspn(k, " ")); k += strcspn(k, " ")) kind_count++;
  if (kinds && kind_count != count)
    broken(rules, "`%s` has %u dependencies, and %u kinds of them", variable->name, count, kind_count);
}

/* Marks the variables of a list; each must occur once and be of the right kind. */
static void read_list(Rules *rules, const XmlElement *first, const char *element, const char *what, bool *listed) {
  for (const XmlElement *e = first; e; e = e->next) {
    if (strcmp(e->name, element) != 0) continue;
    const RuleVariable *variable = find_unknown(rules, e);
    if (!variable) {
      broken(rules, "the list of %s names no variable", what);
      continue;
    }
    if (listed[variable - rules->list]) broken(rules, "`%s` occurs twice in the list of %s", variable->name, what);
    listed[variable - rules->list] = true;
    check_dependencies(rules, variable, e);
  }
}

static bool *list_of(Rules *rules, const char *list_2, const char *element_3, const char *what) {
  const XmlElement *structure = xml_child(rules->root, "ModelStructure");
  const XmlElement *list = rules->is_third ? structure : xml_child(structure, list_2);
  bool *listed = arena_array(&rules->arena, rules->count + 1, sizeof *listed);
  read_list(rules, list ? list->child : NULL, rules->is_third ? element_3 : "Unknown", what, listed);
  return listed;
}

static void check_structure(Rules *rules) {
  if (!xml_child(rules->root, "ModelStructure")) {
    broken(rules, "ModelStructure is missing");
    return;
  }
  const bool *outputs = list_of(rules, "Outputs", "Output", "outputs");
  const bool *rates = list_of(rules, "Derivatives", "ContinuousStateDerivative", "derivatives");
  const bool *unknowns = list_of(rules, "InitialUnknowns", "InitialUnknown", "initial unknowns");
  if (rules->is_third) list_of(rules, NULL, "EventIndicator", "event indicators");
  for (uint32_t k = 0; k < rules->count; k++) {
    const RuleVariable *variable = &rules->list[k];
    if (!variable->typed || is(variable->type, "Clock")) continue;
    bool is_clocked = xml_attribute(variable->element, "clocks") != NULL;
    bool is_output = is(variable->causality, "output"), is_found = variable->initial && !is(variable->initial, "exact");
    if (is_output != outputs[k]) broken(rules, "`%s` is an output, or is listed as one, but not both", variable->name);
    if (rates[k] && !xml_attribute(variable->typed, "derivative"))
      broken(rules, "`%s` is listed as a derivative, but has no state", variable->name);
    bool needs = is_output || is(variable->causality, "calculatedParameter") || rates[k];
    if (needs && is_found && !is_clocked && !unknowns[k])
      broken(rules, "`%s` is missing in the list of initial unknowns", variable->name);
  }
}

/* ---- files ---- */

static bool has_file(const ZipEntry *entries, uint32_t count, const char *begin, const char *end) {
  for (uint32_t k = 0; k < count; k++) {
    size_t length = strlen(entries[k].name);
    if (length >= strlen(begin) + strlen(end) && !strncmp(entries[k].name, begin, strlen(begin)) &&
        !strcmp(entries[k].name + length - strlen(end), end))
      return true;
  }
  return false;
}

static void check_files(Rules *rules, const ZipEntry *entries, uint32_t count) {
  static const char *const kinds[] = {"ModelExchange", "CoSimulation", "ScheduledExecution"};
  for (uint32_t k = 0; k < count; k++)
    if (!zip_path_is_safe(entries[k].name))
      broken(rules, "the archive has a file outside of its folder: %s", entries[k].name);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const char *name = xml_attribute(xml_child(rules->root, kinds[k]), "modelIdentifier");
    if (!name) continue;
    bool has_binary = has_file(entries, count, "binaries/", arena_printf(&rules->arena, "/%s.so", name)) ||
                      has_file(entries, count, "binaries/", arena_printf(&rules->arena, "/%s.dll", name)) ||
                      has_file(entries, count, "binaries/", arena_printf(&rules->arena, "/%s.dylib", name));
    if (!has_binary && !has_file(entries, count, "sources/", ".c"))
      broken(rules, "%s: there is neither a binary `%s` nor a source", kinds[k], name);
  }
  if (rules->is_third && has_file(entries, count, "sources/", ".c") &&
      !has_file(entries, count, "sources/buildDescription.xml", ""))
    broken(rules, "there are sources, and no sources/buildDescription.xml");
}

static const XmlElement *read_root(Rules *rules, const Zip *zip, const ZipEntry *entries) {
  uint32_t line = 0;
  for (uint32_t k = 0; k < zip->count; k++) {
    if (strcmp(entries[k].name, "modelDescription.xml") != 0) continue;
    const char *text = zip_unpack(zip, &entries[k], rules->heap);
    const XmlElement *root = text ? xml_read(text, &rules->arena, &line) : NULL;
    if (!text) broken(rules, "modelDescription.xml is damaged");
    else if (!root) broken(rules, "modelDescription.xml is not an XML document: see line %u", line);
    return root;
  }
  broken(rules, "modelDescription.xml is missing");
  return NULL;
}

uint32_t rules_check(const Zip *zip, Heap *heap, RuleReport *report, void *context) {
  Rules rules = {
      .arena = arena_make(heap), .heap = heap, .report = report, .context = context, .by_reference = map_make(heap)};
  const ZipEntry *entries = zip_entries(zip, &rules.arena);
  if (!entries) broken(&rules, "the list of the archive is damaged");
  rules.root = entries ? read_root(&rules, zip, entries) : NULL;
  const char *version = xml_attribute(rules.root, "fmiVersion");
  rules.is_third = version && !strncmp(version, "3.", 2);
  bool is_known = rules.root && is(rules.root->name, "fmiModelDescription") && (rules.is_third || is(version, "2.0"));
  if (rules.root && !is_known) broken(&rules, "it is not a description of FMI 2.0 or 3.0");
  if (is_known) {
    check_head(&rules);
    list_variables(&rules);
    check_names(&rules);
    check_variables(&rules);
    check_structure(&rules);
    check_files(&rules, entries, zip->count);
  }
  map_free(&rules.by_reference);
  arena_free(&rules.arena);
  return rules.broken;
}
