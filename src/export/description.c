/* description: see description.h. The texts are short and flat. A writer of escaped attributes is enough for them, so no XML
 * library is needed. The order of elements and attributes is that of the schemas. */
#include "export/description.h"

#include "model/units.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct XmlWriter {
  Heap *heap;
  TextVec *out;
  const Description *description;
} XmlWriter;

#define PUT(writer, ...) text_printf((writer)->heap, (writer)->out, __VA_ARGS__)

/* ---- attributes ---- */

static void put_escaped(const XmlWriter *writer, const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '&') PUT(writer, "&amp;");
    else if (*c == '<') PUT(writer, "&lt;");
    else if (*c == '>') PUT(writer, "&gt;");
    else if (*c == '"') PUT(writer, "&quot;");
    else if ((unsigned char)*c < ' ') PUT(writer, " ");
    else text_append(writer->heap, writer->out, c, 1);
  }
}

/* An attribute; nothing for an empty text. */
static void put_attribute(const XmlWriter *writer, const char *name, const char *value) {
  if (!value || !*value) return;
  PUT(writer, " %s=\"", name);
  put_escaped(writer, value);
  PUT(writer, "\"");
}

/* Writes nothing for a value that is not a number. */
static void put_number(const XmlWriter *writer, const char *name, double value) {
  if (isfinite(value)) PUT(writer, " %s=\"%.17g\"", name, value);
}

/* ---- units and types ---- */

/* A unit that may have another zero: `offset` in base units. */
typedef struct Scale {
  Unit unit;
  double offset;
} Scale;

/* A unit of the language, or the unit of a derivative: (m/s)/s. */
static bool read_unit(const XmlWriter *writer, const char *name, Unit *unit) {
  size_t length = strlen(name), levels = 0;
  while (length > 4 && name[levels] == '(' && strncmp(name + length - 3, ")/s", 3) == 0) length -= 3, levels++;
  char *inner = heap_alloc(writer->heap, length - levels + 1);
  memcpy(inner, name + levels, length - levels);
  bool is_known = unit_parse(inner, unit);
  unit->exponents[UNIT_SECOND] -= (double)levels;
  heap_free(writer->heap, inner);
  return is_known;
}

/* false: the unit is not known. */
static bool read_scale(const XmlWriter *writer, const char *name, Scale *scale) {
  static const struct {
    const char *name;
    double factor, offset;
  } temperatures[] = {{"degC", 1, 273.15}, {"degF", 5.0 / 9, 459.67 * 5 / 9}};
  scale->offset = 0;
  for (size_t k = 0; k < sizeof temperatures / sizeof *temperatures; k++) {
    if (strcmp(name, temperatures[k].name) != 0 || !unit_parse("K", &scale->unit)) continue;
    scale->unit.factor = temperatures[k].factor;
    scale->offset = temperatures[k].offset;
    return true;
  }
  return read_unit(writer, name, &scale->unit);
}

/* Base units, where all exponents are whole. */
static void put_base(const XmlWriter *writer, const Scale *scale) {
  static const char *const bases[UNIT_BASES] = {"m", "kg", "s", "A", "K", "mol", "cd"};
  for (int i = 0; i < UNIT_BASES; i++)
    if (scale->unit.exponents[i] != round(scale->unit.exponents[i])) return;
  PUT(writer, "<BaseUnit");
  for (int i = 0; i < UNIT_BASES; i++)
    if (scale->unit.exponents[i] != 0) PUT(writer, " %s=\"%.0f\"", bases[i], scale->unit.exponents[i]);
  if (scale->unit.factor != 1) put_number(writer, "factor", scale->unit.factor);
  if (scale->offset != 0) put_number(writer, "offset", scale->offset);
  PUT(writer, "/>");
}

/* Converts a value from one unit to another: value * factor + offset. */
static void put_display(const XmlWriter *writer, const Scale *scale, const char *name, const Scale *display) {
  PUT(writer, "<DisplayUnit");
  put_attribute(writer, "name", name);
  put_number(writer, "factor", scale->unit.factor / display->unit.factor);
  if (scale->offset != display->offset)
    put_number(writer, "offset", (scale->offset - display->offset) / display->unit.factor);
  PUT(writer, "/>");
}

static bool is_new(Names *known, const char *name) {
  if (!*name || names_find(known, name, strlen(name)) != MAP_NONE) return false;
  names_add(known, name, strlen(name));
  return true;
}

/* The unit in which values of a variable are displayed; false if its own unit cannot be converted to one. */
static bool read_display(const XmlWriter *writer, const ExportVariable *variable, Scale *scale, Scale *display) {
  return read_scale(writer, variable->unit, scale) && read_scale(writer, variable->display_unit, display) &&
         memcmp(scale->unit.exponents, display->unit.exponents, sizeof scale->unit.exponents) == 0;
}

/* The units in which values of a unit are displayed, each once. */
static void put_displays(const XmlWriter *writer, const char *unit) {
  const ExportVariables *variables = writer->description->variables;
  Names known = names_make(writer->heap);
  Scale scale, display;
  for (uint32_t v = 0; v < variables->list.count; v++) {
    const ExportVariable *variable = &variables->list.data[v];
    if (strcmp(variable->unit, unit) == 0 && read_display(writer, variable, &scale, &display) &&
        is_new(&known, variable->display_unit))
      put_display(writer, &scale, variable->display_unit, &display);
  }
  names_free(&known);
}

static void put_units(const XmlWriter *writer) {
  Names known = names_make(writer->heap);
  const ExportVariables *variables = writer->description->variables;
  Scale scale;
  PUT(writer, "  <UnitDefinitions>\n");
  for (uint32_t v = 0; v < variables->list.count; v++) {
    const char *name = variables->list.data[v].unit;
    if (variables->list.data[v].type != TYPE_REAL || !is_new(&known, name)) continue;
    PUT(writer, "    <Unit");
    put_attribute(writer, "name", name);
    PUT(writer, ">");
    if (read_scale(writer, name, &scale)) put_base(writer, &scale);
    put_displays(writer, name);
    PUT(writer, "</Unit>\n");
  }
  PUT(writer, "  </UnitDefinitions>\n");
  names_free(&known);
}

static const char *enumeration_name(const Model *model, uint32_t enumeration) {
  return names_text(model->names, model->enumerations.data[enumeration].name);
}

static void put_items(const XmlWriter *writer, const Enumeration *enumeration, const Model *model) {
  for (uint32_t k = 0; k < enumeration->literals.count; k++) {
    PUT(writer, "      <Item");
    put_attribute(writer, "name", names_text(model->names, enumeration->literals.data[k]));
    PUT(writer, " value=\"%u\"/>\n", k + 1);
  }
}

static void put_types(const XmlWriter *writer) {
  const Model *model = writer->description->source->evaluator->model;
  bool is_third = writer->description->kinds.version == 3;
  if (!model->enumerations.count) return;
  PUT(writer, "  <TypeDefinitions>\n");
  for (uint32_t e = 0; e < model->enumerations.count; e++) {
    PUT(writer, is_third ? "    <EnumerationType" : "    <SimpleType");
    put_attribute(writer, "name", enumeration_name(model, e));
    PUT(writer, is_third ? ">\n" : "><Enumeration>\n");
    put_items(writer, &model->enumerations.data[e], model);
    PUT(writer, is_third ? "    </EnumerationType>\n" : "    </Enumeration></SimpleType>\n");
  }
  PUT(writer, "  </TypeDefinitions>\n");
}

/* ---- variables ---- */

static const char *causality(const ExportVariable *variable) {
  static const char *const names[] = {[EXPORT_PARAMETER_SET] = "parameter",
                                      [EXPORT_PARAMETER_CALCULATED] = "calculatedParameter",
                                      [EXPORT_INPUT] = "input",
                                      [EXPORT_OUTPUT] = "output",
                                      [EXPORT_LOCAL] = "local",
                                      [EXPORT_INDEPENDENT] = "independent"};
  return names[variable->causality];
}

static bool is_parameter(const ExportVariable *variable) {
  return variable->causality == EXPORT_PARAMETER_SET || variable->causality == EXPORT_PARAMETER_CALCULATED;
}

static const char *variability(const ExportVariable *variable) {
  if (variable->is_constant) return "constant";
  if (is_parameter(variable)) return variable->is_tunable || variable->is_varied ? "tunable" : "fixed";
  if (variable->kind == EXPORT_CONSTANT) return variable->is_varied ? "tunable" : "fixed";
  return variable->is_discrete || variable->type != TYPE_REAL ? "discrete" : "continuous";
}

/* Can a guess for its start value be set? A parameter that is bound to others then no longer follows them. */
static bool has_guess(const ExportVariable *variable) { return variable->has_start || variable->is_settable; }

/* Does the variable begin with its start value, rather than with a computed value? */
static bool is_exact(const ExportVariable *variable) {
  return variable->is_constant || variable->causality == EXPORT_PARAMETER_SET ||
         (variable->has_start && variable->is_fixed);
}

static bool has_initial(const ExportVariable *variable) {
  return variable->causality != EXPORT_INPUT && variable->causality != EXPORT_INDEPENDENT;
}

static bool has_start(const ExportVariable *variable) {
  return is_exact(variable) || has_guess(variable) || variable->causality == EXPORT_INPUT;
}

static void put_start(const XmlWriter *writer, const ExportVariable *variable) {
  if (!has_start(variable)) return;
  if (variable->type == TYPE_REAL) put_number(writer, "start", variable->start);
  else if (variable->type == TYPE_BOOLEAN) PUT(writer, " start=\"%s\"", variable->start != 0 ? "true" : "false");
  else PUT(writer, " start=\"%.0f\"", variable->start);
}

/* Writes the attributes of the type that both versions have. */
static void put_type(const XmlWriter *writer, const ExportVariable *variable) {
  const Model *model = writer->description->source->evaluator->model;
  if (variable->type == TYPE_ENUMERATION)
    put_attribute(writer, "declaredType", enumeration_name(model, variable->enumeration));
  if (variable->type == TYPE_REAL) {
    Scale scale, display;
    put_attribute(writer, "unit", variable->unit);
    if (read_display(writer, variable, &scale, &display)) put_attribute(writer, "displayUnit", variable->display_unit);
    if (fabs(variable->min) < DBL_MAX) put_number(writer, "min", variable->min);
    if (fabs(variable->max) < DBL_MAX) put_number(writer, "max", variable->max);
    if (variable->nominal > 0) put_number(writer, "nominal", variable->nominal);
  }
}

static const char *type_name(const XmlWriter *writer, BaseType type) {
  bool is_third = writer->description->kinds.version == 3;
  switch (type) {
  case TYPE_INTEGER: return is_third ? "Int32" : "Integer";
  case TYPE_BOOLEAN: return "Boolean";
  case TYPE_ENUMERATION: return "Enumeration";
  default: return is_third ? "Float64" : "Real";
  }
}

static void put_common(const XmlWriter *writer, const ExportVariable *variable, uint32_t reference) {
  put_attribute(writer, "name", variable->name);
  PUT(writer, " valueReference=\"%u\"", reference);
  put_attribute(writer, "description", variable->description);
  put_attribute(writer, "causality", causality(variable));
  put_attribute(writer, "variability", variability(variable));
  if (has_initial(variable))
    put_attribute(writer, "initial", is_exact(variable) ? "exact" : has_guess(variable) ? "approx" : "calculated");
}

/* In FMI 2.0 the type is a separate element, and derivatives name the position of the state. */
static void put_variable_2(const XmlWriter *writer, const ExportVariable *variable, uint32_t reference) {
  PUT(writer, "    <ScalarVariable");
  put_common(writer, variable, reference);
  PUT(writer, "><%s", type_name(writer, variable->type));
  put_type(writer, variable);
  put_start(writer, variable);
  if (variable->derivative != MAP_NONE) PUT(writer, " derivative=\"%u\"", variable->derivative + 1);
  PUT(writer, "/></ScalarVariable>\n");
}

static void put_variable_3(const XmlWriter *writer, const ExportVariable *variable, uint32_t reference) {
  PUT(writer, "    <%s", type_name(writer, variable->type));
  put_common(writer, variable, reference);
  put_type(writer, variable);
  put_start(writer, variable);
  if (variable->derivative != MAP_NONE) PUT(writer, " derivative=\"%u\"", variable->derivative);
  PUT(writer, "/>\n");
}

/* FMI 2.0 only counts event indicators; in the list only time comes after them. */
static bool is_listed(const Description *description, const ExportVariable *variable) {
  return description->kinds.version == 3 || variable->kind != EXPORT_INDICATOR;
}

static void put_variables(const XmlWriter *writer) {
  const ExportVariables *variables = writer->description->variables;
  PUT(writer, "  <ModelVariables>\n");
  for (uint32_t v = 0; v < variables->list.count; v++) {
    const ExportVariable *variable = &variables->list.data[v];
    if (!is_listed(writer->description, variable)) continue;
    if (writer->description->kinds.version == 3) put_variable_3(writer, variable, v);
    else put_variable_2(writer, variable, v);
  }
  PUT(writer, "  </ModelVariables>\n");
}

/* ---- structure ---- */

static bool is_output(const ExportVariable *variable) { return variable->causality == EXPORT_OUTPUT; }
static bool is_rate(const ExportVariable *variable) { return variable->is_rate; }
static bool is_indicator(const ExportVariable *variable) { return variable->kind == EXPORT_INDICATOR; }

/* Is the variable's value at the start computed? */
static bool is_initial_unknown(const ExportVariable *variable) {
  bool counts = is_output(variable) || variable->causality == EXPORT_PARAMETER_CALCULATED || is_rate(variable) ||
                variable->is_state;
  return counts && !is_exact(variable);
}

/* Writes its dependencies, if they are known; otherwise it depends on all. FMI 2.0 uses positions, FMI 3.0 value
 * references. */
static void put_dependencies(const XmlWriter *writer, const ExportVariable *variable) {
  const Dependencies *dependencies = writer->description->dependencies;
  const uint64_t *set = dependencies_of(dependencies, variable);
  const char *space = "";
  if (!set) return;
  PUT(writer, " dependencies=\"");
  for (uint32_t k = 0; k < dependencies->count; k++) {
    if (!dependencies_has(set, k)) continue;
    PUT(writer, "%s%u", space, dependencies->known[k] + (writer->description->kinds.version == 2));
    space = " ";
  }
  PUT(writer, "\" dependenciesKind=\"");
  space = "";
  for (uint32_t k = 0; k < dependencies->count; k++) {
    if (!dependencies_has(set, k)) continue;
    PUT(writer, "%s%s", space, dependencies_is_fixed(dependencies, set, k) ? "fixed" : "dependent");
    space = " ";
  }
  PUT(writer, "\"");
}

/* FMI 2.0 uses positions, FMI 3.0 value references. */
static void put_unknown(const XmlWriter *writer, const char *element, uint32_t v, bool with_dependencies) {
  if (writer->description->kinds.version == 3) PUT(writer, "    <%s valueReference=\"%u\"", element, v);
  else PUT(writer, "      <Unknown index=\"%u\"", v + 1);
  if (with_dependencies) put_dependencies(writer, &writer->description->variables->list.data[v]);
  PUT(writer, "/>\n");
}

/* One element for each variable of a kind; derivatives come in the order of their states. */
static void put_unknowns(const XmlWriter *writer, const char *element, bool (*is_meant)(const ExportVariable *)) {
  const ExportVariables *variables = writer->description->variables;
  for (uint32_t k = 0; k < variables->rates.count && is_meant == is_rate; k++)
    put_unknown(writer, element, variables->rates.data[k], true);
  for (uint32_t v = 0; v < variables->list.count && is_meant != is_rate; v++)
    if (is_meant(&variables->list.data[v])) put_unknown(writer, element, v, is_meant != is_initial_unknown);
}

static void put_list_2(const XmlWriter *writer, const char *list, bool (*is_meant)(const ExportVariable *)) {
  const ExportVariables *variables = writer->description->variables;
  bool any = false;
  for (uint32_t v = 0; v < variables->list.count && !any; v++) any = is_meant(&variables->list.data[v]);
  if (!any) return;
  PUT(writer, "    <%s>\n", list);
  put_unknowns(writer, "Unknown", is_meant);
  PUT(writer, "    </%s>\n", list);
}

static void put_structure(const XmlWriter *writer) {
  PUT(writer, "  <ModelStructure>\n");
  if (writer->description->kinds.version == 3) {
    put_unknowns(writer, "Output", is_output);
    put_unknowns(writer, "ContinuousStateDerivative", is_rate);
    put_unknowns(writer, "InitialUnknown", is_initial_unknown);
    put_unknowns(writer, "EventIndicator", is_indicator);
  } else {
    put_list_2(writer, "Outputs", is_output);
    put_list_2(writer, "Derivatives", is_rate);
    put_list_2(writer, "InitialUnknowns", is_initial_unknown);
  }
  PUT(writer, "  </ModelStructure>\n");
}

/* ---- the whole ---- */

static void put_sources(const XmlWriter *writer, const char *element, const char *indent) {
  const Description *description = writer->description;
  for (uint32_t k = 0; k < description->source_count; k++)
    PUT(writer, "%s<%s name=\"%s\"/>\n", indent, element, description->sources[k]);
}

static void put_kind_2(const XmlWriter *writer, const char *element, const char *more) {
  PUT(writer,
      "  <%s modelIdentifier=\"%s\"%s canBeInstantiatedOnlyOncePerProcess=\"false\""
      " canNotUseMemoryManagementFunctions=\"true\" canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\""
      " providesDirectionalDerivative=\"true\">\n    <SourceFiles>\n",
      element, writer->description->identifier, more);
  put_sources(writer, "File", "      ");
  PUT(writer, "    </SourceFiles>\n  </%s>\n", element);
}

static void put_kind_3(const XmlWriter *writer, const char *element, const char *more) {
  PUT(writer,
      "  <%s modelIdentifier=\"%s\" canBeInstantiatedOnlyOncePerProcess=\"false\" canGetAndSetFMUState=\"true\""
      " canSerializeFMUState=\"true\" providesDirectionalDerivatives=\"true\" "
      "providesAdjointDerivatives=\"true\"%s/>\n",
      element, writer->description->identifier, more);
}

static void put_kinds(const XmlWriter *writer) {
  const FmuKinds *kinds = &writer->description->kinds;
  bool is_third = kinds->version == 3;
  if (kinds->has_exchange && is_third) put_kind_3(writer, "ModelExchange", " needsCompletedIntegratorStep=\"true\"");
  else if (kinds->has_exchange) put_kind_2(writer, "ModelExchange", " completedIntegratorStepNotNeeded=\"false\"");
  if (kinds->has_cosimulation && is_third)
    put_kind_3(
        writer, "CoSimulation",
        " canHandleVariableCommunicationStepSize=\"true\" providesIntermediateUpdate=\"true\""
        " canReturnEarlyAfterIntermediateUpdate=\"true\" hasEventMode=\"true\" mightReturnEarlyFromDoStep=\"true\"");
  else if (kinds->has_cosimulation)
    put_kind_2(writer, "CoSimulation", " canHandleVariableCommunicationStepSize=\"true\"");
}

void description_write(Heap *heap, const Description *description, TextVec *out) {
  XmlWriter own = {heap, out, description}, *writer = &own;
  const ExportSource *source = description->source;
  const Model *model = source->evaluator->model;
  bool is_third = description->kinds.version == 3;
  PUT(writer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"%s\"",
      is_third ? "3.0" : "2.0");
  put_attribute(writer, "modelName", source->name);
  put_attribute(writer, is_third ? "instantiationToken" : "guid", description->token);
  put_attribute(writer, "description", names_text(model->names, model->description));
  put_attribute(writer, "generationTool", description->tool);
  PUT(writer, " variableNamingConvention=\"flat\"");
  if (!is_third) PUT(writer, " numberOfEventIndicators=\"%u\"", description->variables->indicator_count);
  PUT(writer, ">\n");
  put_kinds(writer);
  put_units(writer);
  put_types(writer);
  PUT(writer, "  <LogCategories>\n    <Category name=\"logStatusError\"/>\n    <Category name=\"logStatusWarning\"/>\n"
              "  </LogCategories>\n  <DefaultExperiment");
  put_number(writer, "startTime", source->start);
  put_number(writer, "stopTime", source->stop);
  put_number(writer, "tolerance", source->tolerance);
  put_number(writer, "stepSize", source->interval);
  PUT(writer, "/>\n");
  put_variables(writer);
  put_structure(writer);
  PUT(writer, "</fmiModelDescription>\n");
}

void description_write_build(Heap *heap, const Description *description, TextVec *out) {
  XmlWriter own = {heap, out, description}, *writer = &own;
  PUT(writer,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n"
      "  <BuildConfiguration modelIdentifier=\"%s\">\n    <SourceFileSet language=\"C99\">\n",
      description->identifier);
  put_sources(writer, "SourceFile", "      ");
  PUT(writer, "    </SourceFileSet>\n    <Library name=\"m\"/>\n  </BuildConfiguration>\n</fmiBuildDescription>\n");
}

/* ---- terminals ---- */

/* The length of the component's name within the name of a variable; 0 if there is none. */
static size_t component_length(const ExportVariable *variable) {
  const char *dot = strrchr(variable->name, '.');
  bool counts = variable->causality == EXPORT_INPUT || variable->causality == EXPORT_OUTPUT;
  return counts && dot ? (size_t)(dot - variable->name) : 0;
}

static void put_terminal(const XmlWriter *writer, const char *name, size_t length) {
  const ExportVariables *variables = writer->description->variables;
  char *component = heap_alloc(writer->heap, length + 1);
  memcpy(component, name, length);
  PUT(writer, "    <Terminal");
  put_attribute(writer, "name", component);
  PUT(writer, " matchingRule=\"bus\">\n");
  for (uint32_t v = 0; v < variables->list.count; v++) {
    const ExportVariable *variable = &variables->list.data[v];
    if (component_length(variable) != length || strncmp(variable->name, component, length) != 0) continue;
    PUT(writer, "      <TerminalMemberVariable variableKind=\"signal\"");
    put_attribute(writer, "memberName", variable->name + length + 1);
    put_attribute(writer, "variableName", variable->name);
    PUT(writer, "/>\n");
  }
  PUT(writer, "    </Terminal>\n");
  heap_free(writer->heap, component);
}

bool description_write_terminals(Heap *heap, const Description *description, TextVec *out) {
  XmlWriter own = {heap, out, description}, *writer = &own;
  Names known = names_make(heap);
  bool any = false;
  PUT(writer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiTerminalsAndIcons fmiVersion=\"3.0\">\n  <Terminals>\n");
  for (uint32_t v = 0; v < description->variables->list.count; v++) {
    const ExportVariable *variable = &description->variables->list.data[v];
    size_t length = component_length(variable);
    if (!length || names_find(&known, variable->name, length) != MAP_NONE) continue;
    names_add(&known, variable->name, length);
    put_terminal(writer, variable->name, length);
    any = true;
  }
  PUT(writer, "  </Terminals>\n</fmiTerminalsAndIcons>\n");
  names_free(&known);
  return any;
}
