/* overrides: values that replace those of the model: numbers, or texts in the syntax of the model.
 *
 *   value = scalar | "{" value { "," value } "}"
 *
 * The values are read once. Resolving them against a model finds the variables and gives the values their types. A parameter that
 * determines the structure, a new size, or a text cannot be set in a loaded model. Then the model is loaded again from its text,
 * with these values in place of the bindings. They are resolved against the new model, until nothing is left to load.
 *
 * Invariant: if a variable has several values, the last one counts. */
#include "api/handles.h"

#include "base/number.h"
#include "model/print.h"
#include "model/typed.h"

#include <math.h>
#include <string.h>

/* ---- reading ---- */

typedef struct OverrideReader {
  daedal_result *result;
  Arena *arena;
  const char *at;
} OverrideReader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_blanks(OverrideReader *reader) {
  while (is_blank(*reader->at)) reader->at++;
}

/* NULL: there is no scalar. */
static const char *read_scalar(OverrideReader *reader) {
  const char *begin = reader->at, *end = scan_list(begin, ",{}");
  reader->at = end;
  while (end > begin && is_blank(end[-1])) end--;
  return end > begin ? arena_copy(reader->arena, begin, (size_t)(end - begin)) : NULL;
}

/* Closes the braces that end after an element. false: rows have different lengths. */
static bool close_rows(OverrideReader *reader, Override *override, uint32_t *depth, uint32_t *counts) {
  for (skip_blanks(reader); *depth; skip_blanks(reader)) {
    uint32_t row = *depth - 1, *size = &override->extent.sizes[row];
    counts[row]++;
    if (*reader->at != '}') return true;
    if (*size && *size != counts[row]) return false;
    *size = counts[row];
    (*depth)--;
    reader->at++;
  }
  return true;
}

/* Parses a value up to the end of the text. false: the syntax is wrong. */
static bool read_value(OverrideReader *reader, Override *override) {
  uint32_t depth = 0, counts[TYPE_MAX_DIMENSIONS];
  VEC(const char *) texts = {0};
  do {
    if (texts.count) reader->at++;
    for (skip_blanks(reader); *reader->at == '{'; skip_blanks(reader)) {
      if (depth == TYPE_MAX_DIMENSIONS) return false;
      counts[depth++] = 0;
      reader->at++;
    }
    const char *text = read_scalar(reader);
    if (!text || (texts.count && override->extent.dimensions != depth)) return false;
    override->extent.dimensions = depth;
    vec_push(reader->result->heap, &texts, text);
    if (!close_rows(reader, override, &depth, counts)) return false;
  } while (depth && *reader->at == ',');
  override->texts = texts.data;
  override->count = texts.count;
  return !depth && !*reader->at;
}

static bool read_override(daedal_result *result, const daedal_override *given) {
  Arena *arena = &result->diags.arena;
  char number[NUMBER_SIZE];
  double value = given->value;
  bool is_netlist = result->model->circuit.model != NULL;
  if (!given->name || !*given->name) return refuse_usage(result, "an override needs a name");
  bool is_number = !given->text || (is_netlist && spice_number(arena, given->text, &value));
  if (is_number) number_shortest(value, number);
  Override override = {.name = user_name(result, arena, given->name)};
  OverrideReader reader = {result, arena, is_number ? number : given->text};
  if (!read_value(&reader, &override))
    return refuse_usage(
        result, arena_printf(arena, "the value of '%s' is neither a scalar nor an array such as {1,2}", override.name));
  vec_push(result->heap, &result->overrides, override);
  return true;
}

/* Reads the inputs and overrides of the options. Inputs that the model was loaded with are not read again. */
static bool work_read(daedal_result *result, const void *argument) {
  const daedal_options *options = argument;
  bool ok = result->model->has_inputs || inputs_read(result, options);
  for (uint32_t k = 0; ok && k < options->override_count; k++) ok = read_override(result, &options->overrides[k]);
  if (ok) return true;
  result->status = (daedal_status)diags_code(&result->diags);
  publish_result(result);
  return false;
}

/* ---- messages ---- */

static const char *type_name(const Model *model, Arena *arena, const Variable *variable) {
  Print print;
  TextVec text = {0};
  print_start(&print, model_layer(model, arena->heap), arena->heap, false);
  print_type(&print, &text, (Type){.base = (uint8_t)variable->type, .definition = variable->enumeration});
  const char *name = text_keep(arena->heap, &text, arena);
  print_free(&print);
  return name;
}

/* ---- arrays of the flat model ---- */

static uint32_t extent_count(const Extent *extent) {
  uint32_t count = 1;
  for (uint32_t d = 0; d < extent->dimensions; d++) count *= extent->sizes[d];
  return count;
}

/* "[2,3]"; for a scalar "". */
static const char *extent_text(Arena *arena, const Extent *extent) {
  const char *text = "";
  for (uint32_t d = 0; d < extent->dimensions; d++)
    text = arena_printf(arena, "%s%c%u", text, d ? ',' : '[', extent->sizes[d]);
  return extent->dimensions ? arena_printf(arena, "%s]", text) : text;
}

/* The position of element number n, the last subscript fastest; for a scalar, the position of the variable itself. */
static uint32_t element_find(const Model *model, Arena *arena, const char *name, const Extent *extent, uint32_t n) {
  Extent subscripts = *extent;
  for (uint32_t d = extent->dimensions; d-- > 0; n /= extent->sizes[d]) subscripts.sizes[d] = n % extent->sizes[d] + 1;
  return model_find(model, arena_printf(arena, "%s%s", name, extent_text(arena, &subscripts)));
}

/* The name in the declaration of a variable: the name of its array or record. */
static const char *declared_name(const Model *model, Arena *arena, const Variable *variable) {
  const char *text = source_text(model->source, variable->span.begin);
  return typed_name(arena, text, text + (variable->span.end - variable->span.begin));
}

/* ---- resolving ---- */

typedef struct Resolution {
  const Model *model;
  Diags *diags;
  Arena *arena;
  double *parameters, *starts;
} Resolution;

static bool refuse(Resolution *resolution, const char *message) {
  diag_error(resolution->diags, DIAG_USAGE, (Span){0}, "%s", message);
  return false;
}

static bool refuse_value(Resolution *resolution, const Variable *variable, const char *text) {
  Diag *diag = diag_error(
      resolution->diags, DIAG_BAD_VALUE, (Span){0}, "'%s' is not a value of '%s', which is of type %s", text,
      names_text(resolution->model->names, variable->name), type_name(resolution->model, resolution->arena, variable));
  if (variable->type != TYPE_ENUMERATION) return false;
  const Enumeration *enumeration = &resolution->model->enumerations.data[variable->enumeration];
  const char *list = "";
  for (uint32_t i = 0; i < enumeration->literals.count && i < 20; i++)
    list = arena_printf(resolution->arena, "%s%s%s", list, i ? ", " : "",
                        names_text(resolution->model->names, enumeration->literals.data[i]));
  diag_note(resolution->diags, diag, (Span){0}, "its values: %s%s", list,
            enumeration->literals.count > 20 ? ", ..." : "");
  return false;
}

/* Is the variable an input whose values over time are given? If the caller sets the input, the override is only its first value. */
static bool is_given_input(const Model *model, uint32_t position) {
  const Variable *variable = &model->variables.data[position];
  if (variable->causality != CAUSALITY_INPUT || variable->role == ROLE_PARAMETER || variable->binding == EXPR_NONE)
    return false;
  for (uint32_t k = 0; k < model->inputs.count; k++)
    if (model->inputs.data[k].variable == position) return model->inputs.data[k].kind != INPUT_SET;
  return true;
}

static bool resolve_scalar(Resolution *resolution, Override *override, uint32_t position, const char *text) {
  const Variable *variable = &resolution->model->variables.data[position];
  const char *name = model_name(resolution->model, position);
  double value;
  if (variable->is_final || variable->variability == VARIABILITY_CONSTANT)
    return refuse(resolution, arena_printf(resolution->arena, "'%s' is %s and cannot be overridden", name,
                                           variable->is_final ? "final" : "a constant"));
  if (is_given_input(resolution->model, position))
    return refuse(resolution,
                  arena_printf(resolution->arena, "'%s' is an input that already has values over time", name));
  if (variable->has_fixed_start)
    return refuse(resolution, arena_printf(resolution->arena,
                                           "'%s' begins with a value that the equations of the model determine", name));
  if (!typed_read(resolution->model, variable, text, resolution->arena, &value))
    return refuse_value(resolution, variable, text);
  bool is_text = variable->type == TYPE_STRING;
  if (variable->is_structural || is_text) override->is_loaded = true;
  if (variable->role != ROLE_PARAMETER) resolution->starts[position] = value;
  else if (!is_text) resolution->parameters[variable->index] = value;
  return true;
}

/* A parameter may get other sizes if its declaration leaves its sizes open or takes them from another parameter. */
static bool resize(Resolution *resolution, Override *override, const Extent *extent) {
  uint32_t first = element_find(resolution->model, resolution->arena, override->name, extent, 0);
  if (first == MAP_NONE) return refuse_name(resolution->model, resolution->diags, override->name, "override");
  const Variable *variable = &resolution->model->variables.data[first];
  bool is_whole = strcmp(declared_name(resolution->model, resolution->arena, variable), override->name) == 0;
  if (variable->role != ROLE_PARAMETER || !is_whole || override->is_loaded ||
      override->extent.dimensions != extent->dimensions)
    return refuse(resolution, arena_printf(resolution->arena, "'%s' is an array of size %s, its value is %s%s",
                                           override->name, extent_text(resolution->arena, extent),
                                           override->extent.dimensions ? "of size " : "a scalar",
                                           extent_text(resolution->arena, &override->extent)));
  double value;
  for (uint32_t n = 0; n < override->count; n++)
    if (!typed_read(resolution->model, variable, override->texts[n], resolution->arena, &value))
      return refuse_value(resolution, variable, override->texts[n]);
  override->is_loaded = true;
  return true;
}

static bool resolve_element(Resolution *resolution, Override *override, uint32_t n) {
  uint32_t position = element_find(resolution->model, resolution->arena, override->name, &override->extent, n);
  if (position != MAP_NONE) return resolve_scalar(resolution, override, position, override->texts[n]);
  return refuse(resolution, arena_printf(resolution->arena, "'%s' is not a whole array", override->name));
}

/* In a model made of an FMU, a parameter start(x) gives the start value of x; an override of x means that parameter. */
static uint32_t find_scalar(const Resolution *resolution, const char *name) {
  uint32_t position = model_find(resolution->model, name);
  if (position == MAP_NONE || resolution->model->variables.data[position].role == ROLE_PARAMETER) return position;
  uint32_t start = model_find(resolution->model, arena_printf(resolution->arena, "start(%s)", name));
  return start != MAP_NONE ? start : position;
}

static bool resolve(Resolution *resolution, Override *override) {
  uint32_t position = find_scalar(resolution, override->name);
  if (position != MAP_NONE) {
    if (!override->extent.dimensions) return resolve_scalar(resolution, override, position, override->texts[0]);
    return refuse(resolution,
                  arena_printf(resolution->arena, "'%s' is a scalar, its value is an array", override->name));
  }
  Extent extent = array_extent(resolution->model, override->name);
  if (!extent.dimensions) return refuse_name(resolution->model, resolution->diags, override->name, "override");
  if (memcmp(&override->extent, &extent, sizeof extent) != 0) return resize(resolution, override, &extent);
  for (uint32_t n = 0; n < override->count; n++)
    if (!resolve_element(resolution, override, n)) return false;
  return true;
}

/* ---- loading ---- */

/* Adds the braces that open before element n, or close after it: one for each dimension whose row begins or ends there. */
static void append_braces(Heap *heap, TextVec *out, const Extent *extent, uint32_t n, const char *brace) {
  uint32_t row = 1;
  for (uint32_t d = extent->dimensions; d-- > 0;) {
    row *= extent->sizes[d];
    if (n % row == 0) text_append(heap, out, brace, 1);
  }
}

/* Writes as many scalars as the extent has, beginning with number `begin`, as text of the language. */
static const char *value_text(Resolution *resolution, Heap *heap, const Override *override, const Variable *variable,
                              uint32_t begin, const Extent *extent) {
  TextVec out = {0};
  uint32_t count = extent_count(extent);
  for (uint32_t n = 0; n < count; n++) {
    const char *text = override->texts[begin + n];
    double value;
    typed_read(resolution->model, variable, text, resolution->arena, &value);
    if (n) text_append(heap, &out, ",", 1);
    append_braces(heap, &out, extent, n, "{");
    typed_print(heap, &out, resolution->model, variable, value, text);
    append_braces(heap, &out, extent, n + 1, "}");
  }
  return out.data;
}

/* Adds the modification for an override: a whole component, or scalars. */
static void modify(Resolution *resolution, daedal_result *result, const Override *override) {
  bool is_whole = false;
  for (uint32_t n = 0; n < override->count && !is_whole; n++) {
    uint32_t position = element_find(resolution->model, resolution->arena, override->name, &override->extent, n);
    const Variable *variable = &resolution->model->variables.data[position];
    const char *name = model_name(resolution->model, position);
    is_whole = strcmp(declared_name(resolution->model, resolution->arena, variable), override->name) == 0;
    Modification modification = {
        is_whole ? override->name : arena_copy(&result->diags.arena, name, strlen(name)),
        value_text(resolution, result->heap, override, variable, n, is_whole ? &override->extent : &(Extent){0})};
    vec_push(result->heap, &result->modifications, modification);
  }
}

static uint32_t count_loaded(const OverrideVec *overrides) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < overrides->count; i++) count += overrides->data[i].is_loaded;
  return count;
}

static double *no_values(Heap *heap, uint32_t count) {
  double *values = heap_array(heap, count, sizeof *values);
  for (uint32_t i = 0; i < count; i++) values[i] = NAN;
  return values;
}

/* Collects the values that the model must be loaded with. false: the model was already loaded with all these values. Values that
 * do not fit may fit the next model; overrides_apply reports those that never do. */
static bool work_collect(daedal_result *result, const void *argument) {
  const Model *model = result->model->model;
  Heap *heap = result->heap;
  Diags quiet = diags_make(heap);
  Arena arena = arena_make(heap);
  Resolution resolution = {model, &quiet, &arena, no_values(heap, model->parameters.count),
                           no_values(heap, model->variables.count)};
  uint32_t before = count_loaded(&result->overrides);
  bool *fits = arena_array(&arena, result->overrides.count, sizeof *fits);
  for (uint32_t i = 0; i < result->overrides.count; i++) fits[i] = resolve(&resolution, &result->overrides.data[i]);
  bool is_more = count_loaded(&result->overrides) > before || (result->inputs.count && !result->model->has_inputs);
  result->modifications.count = 0;
  if (is_more && result->model->has_inputs && !result->inputs.count) inputs_read(result, argument);
  for (uint32_t k = 0; is_more && k < result->inputs.count; k++) {
    const GivenInput *input = &result->inputs.data[k];
    Modification modification = {input->name, input->expression ? input->expression : "time"};
    vec_push(heap, &result->modifications, modification);
  }
  for (uint32_t i = 0; is_more && i < result->overrides.count; i++)
    if (result->overrides.data[i].is_loaded && fits[i]) modify(&resolution, result, &result->overrides.data[i]);
  heap_free_all(heap, resolution.parameters, resolution.starts);
  arena_free(&arena);
  return is_more;
}

/* Reports that the overrides are wrong, since the model without them is fine. */
static bool work_refuse(daedal_result *result, const void *argument) {
  const daedal_model *loaded = argument;
  for (uint32_t i = 0; i < loaded->diags.list.count; i++) {
    const Diag *diag = &loaded->diags.list.data[i];
    if (diag->severity == SEVERITY_ERROR)
      diag_error(&result->diags, DIAG_USAGE, diag->span, "with these %s: %s",
                 result->inputs.count ? "inputs" : "overrides", diag->message);
  }
  result->status = DAEDAL_USAGE;
  publish_result(result);
  return false;
}

daedal_override *overrides_extend(Arena *arena, daedal_options *options, uint32_t more) {
  uint32_t count = options->override_count;
  daedal_override *list = arena_array(arena, (size_t)count + more, sizeof *list);
  if (count) memcpy(list, options->overrides, count * sizeof *list);
  options->overrides = list;
  options->override_count = count + more;
  return list + count;
}

void overrides_keep(Arena *arena, daedal_options *options) {
  daedal_override *end = overrides_extend(arena, options, 0);
  for (daedal_override *given = end - options->override_count; given < end; given++) {
    if (given->name) given->name = arena_copy(arena, given->name, strlen(given->name));
    if (given->text) given->text = arena_copy(arena, given->text, strlen(given->text));
  }
}

bool overrides_take(daedal_result *result, const daedal_options *options) {
  if (!result_protect(result, work_read, options)) return false;
  while (result->overrides.count + result->inputs.count && result_protect(result, work_collect, options)) {
    daedal_model *loaded = model_load_modified(result->model, &result->modifications, &result->inputs);
    if (!loaded) result->broken = true, result->status = DAEDAL_INTERNAL;
    else if (!loaded->model) result_protect(result, work_refuse, loaded);
    if (!loaded || !loaded->model) return daedal_free(loaded), false;
    daedal_free(result->model);
    result->model = loaded;
  }
  return !result->broken;
}

/* ---- applying ---- */

static bool check_bounds(Resolution *resolution, uint32_t position, const double *parameters, DagScratch *scratch) {
  const Model *model = resolution->model;
  const Variable *variable = &model->variables.data[position];
  bool is_parameter = variable->role == ROLE_PARAMETER;
  double value = is_parameter ? resolution->parameters[variable->index] : resolution->starts[position], bound;
  for (int is_max = 0; is_max < 2; is_max++) {
    Expr e = is_max ? variable->max : variable->min;
    if (e == EXPR_NONE || !model_evaluate(model, scratch, e, parameters, &bound)) continue;
    if (is_max ? value > bound : value < bound)
      return refuse(resolution,
                    arena_printf(resolution->arena, "the value %.15g of '%s' is %s, %.15g", value,
                                 model_name(model, position), is_max ? "above its max" : "below its min", bound));
  }
  return true;
}

/* Bounds may depend on parameters, so they are checked after all values are known. */
static bool check_all_bounds(Resolution *resolution, const OverrideVec *overrides, Heap *heap) {
  const Model *model = resolution->model;
  Diags quiet = diags_make(heap);
  DagScratch scratch = dag_scratch_make(heap);
  double *parameters = NULL;
  bool ok = true;
  for (uint32_t i = 0; i < overrides->count; i++) {
    const Override *override = &overrides->data[i];
    for (uint32_t n = 0; ok && n < override->count; n++) {
      uint32_t position = element_find(model, resolution->arena, override->name, &override->extent, n);
      const Variable *variable = &model->variables.data[position];
      if (variable->min == EXPR_NONE && variable->max == EXPR_NONE) continue;
      if (!parameters) {
        parameters = heap_array(heap, model->parameters.count, sizeof *parameters);
        model_parameter_values(model, heap, resolution->parameters, parameters, &quiet);
      }
      ok = check_bounds(resolution, position, parameters, &scratch);
    }
  }
  heap_free(heap, parameters);
  dag_scratch_free(&scratch);
  return ok;
}

bool overrides_apply(daedal_result *result, double *parameters, double *starts) {
  Arena arena = arena_make(result->heap);
  Resolution resolution = {result->model->model, &result->diags, &arena, parameters, starts};
  bool ok = true;
  for (uint32_t i = 0; ok && i < result->overrides.count; i++) ok = resolve(&resolution, &result->overrides.data[i]);
  ok = ok && check_all_bounds(&resolution, &result->overrides, result->heap);
  arena_free(&arena);
  return ok;
}
