/* description: see description.h. */
#include "fmi/description.h"

#include "base/map.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS_MAX = 1 << 20 }; /* elements of one array, so that a short description cannot exhaust memory */
enum { DIMENSIONS_MAX = 16 };    /* as in Modelica */
enum { SCALAR_WORK = 100 };      /* steps of work for an element and its name */

/* A variable as the document declares it. */
typedef struct Declared {
  const XmlElement *element; /* name and attributes of the variable */
  const XmlElement *typed;   /* attributes of its type; the same element in FMI 3 */
  uint32_t reference;
  uint32_t position; /* for a state: its place among the derivatives; MAP_NONE: it is not a state */
  bool is_rate;      /* it is the derivative of a state */
} Declared;

typedef struct Describing {
  Arena *arena;
  FmiDescription *made;
  Declared *list;
  uint32_t count;
  Map by_reference; /* value reference to position in the list */
  VEC(FmiScalar) scalars[FMI_ROLES];
  const char *failure;
} Describing;

__attribute__((format(printf, 2, 3))) static bool fail(Describing *describing, const char *format, ...) {
  va_list list;
  va_start(list, format);
  describing->failure = arena_vprintf(describing->arena, format, list);
  va_end(list);
  return false;
}

/* ---- attributes ---- */

static bool is_attribute(const XmlElement *element, const char *name, const char *value) {
  const char *found = xml_attribute(element, name);
  return found && !strcmp(found, value);
}

static double number_of(const XmlElement *element, const char *name) {
  const char *text = xml_attribute(element, name);
  double value;
  return text && number_parse(text, text + strlen(text), &value) && isfinite(value) ? value : NAN;
}

/* An unsigned integer attribute; MAP_NONE: there is none. */
static uint32_t index_of(const XmlElement *element, const char *name) {
  double value = number_of(element, name);
  return value >= 0 && value < MAP_NONE && value == floor(value) ? (uint32_t)value : MAP_NONE;
}

/* Reads the next value of a list of numbers or Booleans separated by blanks; the list then begins after it. NAN: no value is left,
 * or it is not a number. A single value stays in the list and applies to all elements. */
static double next_number(const char **list, bool is_alone) {
  double value;
  if (!*list) return NAN;
  const char *at = *list + strspn(*list, " ");
  size_t length = strcspn(at, " ");
  if (!is_alone) *list = at + length;
  if (length == 4 && !strncmp(at, "true", length)) return 1;
  return length && number_parse(at, at + length, &value) ? value : NAN;
}

/* ---- types ---- */

typedef struct TypeName {
  const char *name;
  FmiType type;
  bool is_integer;
} TypeName;

static const TypeName TYPES_2[] = {{"Real", FMI_FLOAT64, false},     {"Integer", FMI_INT32, true},
                                   {"Enumeration", FMI_INT32, true}, {"Boolean", FMI_BOOLEAN, false},
                                   {"String", FMI_OTHER, false},     {0}};
static const TypeName TYPES_3[] = {{"Float64", FMI_FLOAT64, false},  {"Float32", FMI_FLOAT32, false},
                                   {"Int8", FMI_INT8, true},         {"UInt8", FMI_UINT8, true},
                                   {"Int16", FMI_INT16, true},       {"UInt16", FMI_UINT16, true},
                                   {"Int32", FMI_INT32, true},       {"UInt32", FMI_UINT32, true},
                                   {"Int64", FMI_INT64, true},       {"UInt64", FMI_UINT64, true},
                                   {"Enumeration", FMI_INT64, true}, {"Boolean", FMI_BOOLEAN, false},
                                   {"String", FMI_OTHER, false},     {"Binary", FMI_OTHER, false},
                                   {"Clock", FMI_OTHER, false},      {0}};

static const TypeName *find_type(const FmiDescription *description, const char *name) {
  for (const TypeName *type = description->version == 2 ? TYPES_2 : TYPES_3; type->name; type++)
    if (!strcmp(type->name, name)) return type;
  return NULL;
}

/* The element of FMI 2 that gives the type of a scalar. */
static const XmlElement *type_element(const FmiDescription *description, const XmlElement *variable) {
  if (description->version == 3) return variable;
  for (const XmlElement *child = variable->child; child; child = child->next)
    if (find_type(description, child->name)) return child;
  return NULL;
}

/* ---- variables ---- */

static bool list_variables(Describing *describing, const XmlElement *root) {
  const XmlElement *all = xml_child(root, "ModelVariables");
  uint32_t count = 0;
  for (const XmlElement *e = all ? all->child : NULL; e; e = e->next) count++;
  describing->list = arena_array(describing->arena, (size_t)count + 1, sizeof *describing->list);
  for (const XmlElement *e = all ? all->child : NULL; e; e = e->next) {
    Declared declared = {.element = e,
                         .typed = type_element(describing->made, e),
                         .reference = index_of(e, "valueReference"),
                         .position = MAP_NONE};
    const char *name = xml_attribute(e, "name");
    if (!name || declared.reference == MAP_NONE || !declared.typed)
      return fail(describing, "variable `%s` has no name, type or value reference", name ? name : e->name);
    if (!find_type(describing->made, declared.typed->name))
      return fail(describing, "variable `%s` is of an unknown type", name);
    if (map_get(&describing->by_reference, declared.reference) == MAP_NONE)
      map_put(&describing->by_reference, declared.reference, describing->count);
    describing->list[describing->count++] = declared;
  }
  return true;
}

static Declared *find_reference(const Describing *describing, uint32_t reference) {
  uint32_t at = reference == MAP_NONE ? MAP_NONE : map_get(&describing->by_reference, reference);
  return at == MAP_NONE ? NULL : &describing->list[at];
}

/* The state whose derivative the variable is: by its place in the list in FMI 2, by its reference in FMI 3. */
static Declared *state_of(const Describing *describing, const Declared *rate) {
  uint32_t of = rate ? index_of(rate->typed, "derivative") : MAP_NONE;
  if (of == MAP_NONE) return NULL;
  if (describing->made->version == 3) return find_reference(describing, of);
  return of >= 1 && of <= describing->count ? &describing->list[of - 1] : NULL;
}

static Declared *unknown_of(const Describing *describing, const XmlElement *unknown) {
  if (describing->made->version == 3) return find_reference(describing, index_of(unknown, "valueReference"));
  uint32_t index = index_of(unknown, "index");
  return index >= 1 && index <= describing->count ? &describing->list[index - 1] : NULL;
}

/* The size of a dimension: a number, or the start value of another variable; MAP_NONE: it is invalid. */
static uint32_t dimension_size(const Describing *describing, const XmlElement *dimension) {
  const Declared *by = find_reference(describing, index_of(dimension, "valueReference"));
  return index_of(by ? by->typed : dimension, "start");
}

static const XmlElement *next_dimension(const XmlElement *element) {
  while (element && strcmp(element->name, "Dimension")) element = element->next;
  return element;
}

/* FMI 2 has no arrays. */
static const XmlElement *first_dimension(const Describing *describing, const Declared *declared) {
  return describing->made->version == 3 ? next_dimension(declared->typed->child) : NULL;
}

/* The number of elements of an array; MAP_NONE after a failure. */
static uint32_t variable_size(Describing *describing, const Declared *declared) {
  double size = 1;
  uint32_t dimensions = 0;
  bool is_known = true;
  for (const XmlElement *e = first_dimension(describing, declared); e; e = next_dimension(e->next), dimensions++) {
    uint32_t dimension = dimension_size(describing, e);
    is_known = is_known && dimension != MAP_NONE;
    size *= dimension;
  }
  if (is_known && dimensions <= DIMENSIONS_MAX && size <= ELEMENTS_MAX) return (uint32_t)size;
  fail(describing, "array `%s` has no size, or too large a one", xml_attribute(declared->element, "name"));
  return MAP_NONE;
}

/* Reads the places of the states and the number of event indicators. */
static bool read_structure(Describing *describing, const XmlElement *root) {
  FmiDescription *made = describing->made;
  const XmlElement *structure = xml_child(root, "ModelStructure");
  const XmlElement *first = made->version == 3 ? structure : xml_child(structure, "Derivatives");
  uint32_t position = 0;
  double indicators = made->version == 2 ? number_of(root, "numberOfEventIndicators") : 0;
  for (const XmlElement *e = first ? first->child : NULL; e; e = e->next) {
    Declared *unknown = unknown_of(describing, e);
    if (made->version == 3 && !strcmp(e->name, "EventIndicator")) {
      uint32_t size = unknown ? variable_size(describing, unknown) : 1;
      if (size == MAP_NONE) return false;
      indicators += size;
    }
    if (strcmp(e->name, made->version == 3 ? "ContinuousStateDerivative" : "Unknown")) continue;
    Declared *state = state_of(describing, unknown);
    if (!state || state->position != MAP_NONE)
      return fail(describing, "a derivative of the model's structure belongs to no state");
    state->position = position++;
    unknown->is_rate = true;
  }
  made->indicators = indicators >= 0 && indicators <= ELEMENTS_MAX ? (uint32_t)indicators : 0;
  return true;
}

/* ---- scalars ---- */

/* The role of a variable. FMI_ROLES: the variable is left out (the time, a text, a size). */
static FmiRole role_of(const Declared *declared, const TypeName *type) {
  const char *causality = xml_attribute(declared->element, "causality");
  bool is_real = type->type == FMI_FLOAT64 || type->type == FMI_FLOAT32;
  bool is_constant = is_attribute(declared->element, "variability", "constant");
  if (!causality) causality = "local";
  if (type->type == FMI_OTHER || !strcmp(causality, "independent") || !strcmp(causality, "structuralParameter"))
    return FMI_ROLES;
  if (declared->position != MAP_NONE) return FMI_STATE;
  if (!strcmp(causality, "parameter")) return is_constant ? FMI_DISCRETE : FMI_PARAMETER;
  const char *variability = xml_attribute(declared->element, "variability");
  bool is_continuous = is_real && (!variability || !strcmp(variability, "continuous"));
  if (!strcmp(causality, "input")) return is_continuous ? FMI_INPUT : FMI_SWITCH;
  if (declared->is_rate) return FMI_RATE;
  return is_continuous && strcmp(causality, "calculatedParameter") != 0 ? FMI_CONTINUOUS : FMI_DISCRETE;
}

/* "x[2,3]", counted from 1, the last index fastest. */
static const char *element_name(const Describing *describing, const Declared *declared, uint32_t element) {
  const char *name = xml_attribute(declared->element, "name");
  const char *indices = "";
  for (const XmlElement *e = first_dimension(describing, declared); e; e = next_dimension(e->next)) {
    uint64_t behind = 1; /* the sizes after this dimension */
    for (const XmlElement *later = next_dimension(e->next); later; later = next_dimension(later->next))
      behind *= dimension_size(describing, later);
    indices = arena_printf(describing->arena, "%s%s%u", indices, *indices ? "," : "", (unsigned)(element / behind) + 1);
    element = (uint32_t)(element % behind);
  }
  return *indices ? arena_printf(describing->arena, "%s[%s]", name, indices) : name;
}

static bool add_scalars(Describing *describing, const Declared *declared) {
  Heap *heap = describing->arena->heap;
  const TypeName *type = find_type(describing->made, declared->typed->name);
  FmiRole role = role_of(declared, type);
  if (role == FMI_ROLES) return true;
  uint32_t size = variable_size(describing, declared);
  if (size == MAP_NONE) return false;
  heap_work(heap, (uint64_t)size * SCALAR_WORK);
  const char *start = xml_attribute(declared->typed, "start");
  bool is_alone = start && !strchr(start, ' ');
  for (uint32_t k = 0; k < size; k++) {
    FmiScalar scalar = {.name = element_name(describing, declared, k),
                        .unit = xml_attribute(declared->typed, "unit"),
                        .description = xml_attribute(declared->element, "description"),
                        .reference = declared->reference,
                        .element = k,
                        .size = size,
                        .type = type->type,
                        .role = role,
                        .start = next_number(&start, is_alone),
                        .nominal = number_of(declared->typed, "nominal"),
                        .is_integer = type->is_integer,
                        .is_output = is_attribute(declared->element, "causality", "output")};
    vec_push(heap, &describing->scalars[role], scalar);
  }
  return true;
}

/* The states in the order of their derivatives, then all others as declared. */
static bool sort_scalars(Describing *describing) {
  FmiDescription *made = describing->made;
  Declared **states = arena_array(describing->arena, (size_t)describing->count + 1, sizeof *states);
  uint32_t count = 0;
  for (uint32_t k = 0; k < describing->count; k++) {
    Declared *declared = &describing->list[k];
    if (declared->position != MAP_NONE) states[declared->position] = declared, count++;
    else if (!add_scalars(describing, declared)) return false;
  }
  for (uint32_t k = 0; k < count; k++)
    if (!add_scalars(describing, states[k])) return false;
  for (FmiRole role = 0; role < FMI_ROLES; role++)
    made->first[role + 1] = made->first[role] + describing->scalars[role].count;
  made->scalars = arena_array(describing->arena, (size_t)made->first[FMI_ROLES] + 1, sizeof *made->scalars);
  for (FmiRole role = 0; role < FMI_ROLES; role++) {
    if (describing->scalars[role].count)
      memcpy(made->scalars + made->first[role], describing->scalars[role].data,
             describing->scalars[role].count * sizeof *made->scalars);
    vec_free(describing->arena->heap, &describing->scalars[role]);
  }
  return true;
}

/* ---- the whole ---- */

static bool read_head(Describing *describing, const XmlElement *root) {
  FmiDescription *made = describing->made;
  const char *version = xml_attribute(root, "fmiVersion");
  const XmlElement *experiment = xml_child(root, "DefaultExperiment");
  const XmlElement *exchange = xml_child(root, "ModelExchange"), *cosimulation = xml_child(root, "CoSimulation");
  if (strcmp(root->name, "fmiModelDescription") || !version)
    return fail(describing, "modelDescription.xml has element `%s`, not fmiModelDescription with a version",
                root->name);
  made->version = !strncmp(version, "3.", 2) ? 3 : !strcmp(version, "2.0") ? 2 : 0;
  if (!made->version) return fail(describing, "it is of FMI %s; 2.0 and 3.0 are read", version);
  bool is_third = made->version == 3;
  const char *saves = is_third ? "canGetAndSetFMUState" : "canGetAndSetFMUstate";
  made->name = xml_attribute(root, "modelName");
  made->description = xml_attribute(root, "description");
  made->token = xml_attribute(root, is_third ? "instantiationToken" : "guid");
  made->exchange = xml_attribute(exchange, "modelIdentifier");
  made->cosimulation = xml_attribute(cosimulation, "modelIdentifier");
  made->exchange_saves = is_attribute(exchange, saves, "true");
  made->cosimulation_saves = is_attribute(cosimulation, saves, "true");
  made->start = number_of(experiment, "startTime");
  made->stop = number_of(experiment, "stopTime");
  made->tolerance = number_of(experiment, "tolerance");
  made->step = number_of(experiment, "stepSize");
  if (!made->name || !made->token)
    return fail(describing, "it has no modelName or no %s", is_third ? "instantiationToken" : "guid");
  return made->exchange || made->cosimulation || fail(describing, "it offers neither model exchange nor co-simulation");
}

FmiDescription *description_read(const char *text, Arena *arena, const char **failure) {
  uint32_t line;
  const XmlElement *root = xml_read(text, arena, &line);
  if (!root) {
    *failure = arena_printf(arena, "modelDescription.xml is not an XML document: see line %u", (unsigned)line);
    return NULL;
  }
  Describing describing = {
      .arena = arena, .made = arena_alloc(arena, sizeof *describing.made), .by_reference = map_make(arena->heap)};
  bool is_read = read_head(&describing, root) && list_variables(&describing, root) &&
                 read_structure(&describing, root) && sort_scalars(&describing);
  map_free(&describing.by_reference);
  *failure = describing.failure;
  return is_read ? describing.made : NULL;
}
