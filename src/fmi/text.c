/* text: see text.h. */
#include "fmi/text.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct Writing {
  Heap *heap;
  const FmiDescription *description;
  TextVec *text;
  bool is_exchange;
} Writing;

/* ---- parts ---- */

#define write(writing, ...) text_printf((writing)->heap, (writing)->text, __VA_ARGS__)

static bool is_plain(const char *name) {
  /* Keywords, and names with a meaning in the language. */
  static const char *const WORDS[] = {
#define KEYWORD(id, text) text,
#define SYMBOL(id, text)
#include "syntax/tokens.def"
      "time", "terminal", "sample", "pre", "Real", "Integer", "Boolean", "String"};
  if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
    if (!strcmp(WORDS[k], name)) return false;
  return true;
}

static void write_name(const Writing *writing, const char *name) {
  if (is_plain(name)) write(writing, "%s", name);
  else text_quote(writing->heap, writing->text, name, '\'');
}

static void write_number(const Writing *writing, double value) {
  char number[NUMBER_SIZE];
  number_shortest(value, number);
  write(writing, "%s", number);
}

static const char *type_name(const FmiScalar *scalar) {
  return scalar_is_real(scalar) ? "Real" : scalar->is_integer ? "Integer" : "Boolean";
}

static void write_start(const Writing *writing, const FmiScalar *scalar) {
  double start = isfinite(scalar->start) ? scalar->start : 0;
  if (scalar->type == FMI_BOOLEAN) write(writing, "%s", start != 0 ? "true" : "false");
  else write_number(writing, start);
}

/* Unit, nominal value and start value, if they exist. */
static void write_attributes(const Writing *writing, const FmiScalar *scalar, bool has_start) {
  const char *between = "(";
  if (scalar->unit && scalar_is_real(scalar)) {
    write(writing, "%sunit = ", between);
    text_quote(writing->heap, writing->text, scalar->unit, '"');
    between = ", ";
  }
  if (isfinite(scalar->nominal) && scalar->nominal != 0 && scalar_is_real(scalar)) {
    write(writing, "%snominal = ", between);
    write_number(writing, fabs(scalar->nominal));
    between = ", ";
  }
  if (has_start) {
    write(writing, "%sstart = ", between);
    write_start(writing, scalar);
    between = ", ";
  }
  if (*between == ',') write(writing, ")");
}

static void write_declaration(const Writing *writing, const FmiScalar *scalar, const char *prefix) {
  bool is_parameter = scalar->role == FMI_PARAMETER, is_state = scalar->role == FMI_STATE && writing->is_exchange;
  bool is_input = scalar->role == FMI_INPUT || scalar->role == FMI_SWITCH;
  bool can_be_set = is_parameter || is_input || (scalar->role == FMI_STATE && scalar_has_start(scalar));
  write(writing, can_be_set ? "  " : "  final ");
  if (is_input || scalar->is_output) write(writing, "'%s %s' ", type_name(scalar), is_input ? "input" : "output");
  else write(writing, "%s%s ", prefix, type_name(scalar));
  write_name(writing, scalar->name);
  write_attributes(writing, scalar, is_state || is_input);
  if (is_parameter) write(writing, " = "), write_start(writing, scalar);
  if (scalar->description && *scalar->description) {
    write(writing, " ");
    text_quote(writing->heap, writing->text, scalar->description, '"');
  }
  write(writing, ";\n");
}

static void write_declarations(const Writing *writing, FmiRole role, const char *prefix) {
  const FmiScalar *scalars = description_scalars(writing->description, role);
  for (uint32_t k = 0; k < description_count(writing->description, role); k++)
    write_declaration(writing, &scalars[k], prefix);
}

/* Writes a number of any type as Real. */
static void write_value(const Writing *writing, const FmiScalar *scalar) {
  if (scalar->type == FMI_BOOLEAN)
    write(writing, "if "), write_name(writing, scalar->name), write(writing, " then 1 else 0");
  else write_name(writing, scalar->name);
}

/* Writes "{a, b}" for all variables of a role; an empty array if there are none. */
static void write_list(const Writing *writing, FmiRole role) {
  uint32_t count = description_count(writing->description, role);
  const FmiScalar *scalars = description_scalars(writing->description, role);
  if (!count || (role == FMI_STATE && !writing->is_exchange)) {
    write(writing, "zeros(0)");
    return;
  }
  for (uint32_t k = 0; k < count; k++) write(writing, k ? ", " : "{"), write_value(writing, &scalars[k]);
  write(writing, "}");
}

/* The name of the parameter for a state's start value: start(x). */
static void write_start_name(const Writing *writing, const FmiScalar *state) {
  TextVec name = {0};
  text_printf(writing->heap, &name, "start(%s)", state->name);
  text_quote(writing->heap, writing->text, name.data, '\'');
  vec_free(writing->heap, &name);
}

static void declare_starts(const Writing *writing) {
  const FmiScalar *states = description_scalars(writing->description, FMI_STATE);
  for (uint32_t k = 0; k < description_count(writing->description, FMI_STATE); k++) {
    if (!scalar_has_start(&states[k])) continue;
    write(writing, "  parameter Real ");
    write_start_name(writing, &states[k]);
    write(writing, " = ");
    write_start(writing, &states[k]);
    write(writing, " \"start value\";\n");
  }
}

/* Writes "{a, b, start(x)}": everything that is set before the start. */
static void write_settings(const Writing *writing) {
  const FmiScalar *parameters = description_scalars(writing->description, FMI_PARAMETER),
                  *states = description_scalars(writing->description, FMI_STATE);
  const char *between = "{";
  for (uint32_t k = 0; k < description_count(writing->description, FMI_PARAMETER); k++, between = ", ")
    write(writing, "%s", between), write_value(writing, &parameters[k]);
  for (uint32_t k = 0; k < description_count(writing->description, FMI_STATE); k++) {
    if (!scalar_has_start(&states[k])) continue;
    write(writing, "%s", between), write_start_name(writing, &states[k]);
    between = ", ";
  }
  write(writing, *between == '{' ? "zeros(0)" : "}");
}

/* Writes the arguments of functions of time: "'FMU', mode, time, states, inputs, discrete inputs". */
static void write_arguments(const Writing *writing, const char *mode) {
  write(writing, "('fmu', %s, time, ", mode);
  write_list(writing, FMI_STATE);
  write(writing, ", ");
  write_list(writing, FMI_INPUT);
  write(writing, ", ");
  write_list(writing, FMI_SWITCH);
  write(writing, ")");
}

/* ---- the model ---- */

static void write_functions(const Writing *writing) {
  static const char
      INPUTS[] = "    input 'FMU' fmu;\n    input Integer mode;\n",
      CAUSES[] =
          "    input Real at;\n    input Real states[:];\n    input Real inputs[:];\n    input Real switches[:];\n",
      NAMES[] = "fmu, mode, at, states, inputs, switches";
  uint32_t states = description_count(writing->description, FMI_STATE);
  write(writing, "protected\n  class 'FMU'\n    extends ExternalObject;\n    function constructor\n      input String "
                 "file;\n      input Integer "
                 "exchange;\n      input Real values[:];\n      input Real tolerance;\n      output 'FMU' fmu;\n      "
                 "external \"C\" fmu = "
                 "daedal_fmu_open(file, exchange, values, tolerance);\n    end constructor;\n    function destructor\n "
                 "     input 'FMU' fmu;\n  "
                 "    external \"C\" daedal_fmu_close(fmu);\n    end destructor;\n  end 'FMU';\n");
  write(writing, "  function 'FMU begin'\n    input 'FMU' fmu;\n    input Real at;\n    input Real inputs[:];\n    "
                 "input Real switches[:];\n    "
                 "output Integer mode;\n    external \"C\" mode = daedal_fmu_begin(fmu, at, inputs, switches);\n  end "
                 "'FMU begin';\n");
  write(writing,
        "  function 'FMU update'\n%s%s    output Integer next;\n    external \"C\" next = daedal_fmu_update(%s);\n  "
        "end 'FMU update';\n",
        INPUTS, CAUSES, NAMES);
  write(writing,
        "  function 'FMU timing'\n%s    output Real next;\n    output Integer ends;\n    external \"C\" "
        "daedal_fmu_timing(fmu, mode, "
        "next, ends);\n  end 'FMU timing';\n",
        INPUTS);
  write(writing,
        "  function 'FMU held'\n%s    input Integer reals;\n    input Integer integers;\n    output Real x[reals];\n   "
        " output Integer "
        "k[integers];\n    external \"C\" daedal_fmu_held(fmu, mode, x, k);\n  end 'FMU held';\n",
        INPUTS);
  if (!writing->is_exchange) return;
  write(writing,
        "  function 'FMU states'\n%s    output Real states[%u];\n    external \"C\" daedal_fmu_states(fmu, mode, "
        "states);\n  end 'FMU "
        "states';\n",
        INPUTS, (unsigned)states);
  write(writing,
        "  function 'FMU rates'\n%s%s    output Real rates[%u];\n    external \"C\" daedal_fmu_rates(%s, rates);\n  "
        "end 'FMU rates';\n",
        INPUTS, CAUSES, (unsigned)(states + writing->description->indicators), NAMES);
  write(writing,
        "  function 'FMU values'\n%s%s    output Real values[%u];\n    external \"C\" daedal_fmu_values(%s, values);\n "
        " end 'FMU values';\n",
        INPUTS, CAUSES, (unsigned)description_count(writing->description, FMI_CONTINUOUS), NAMES);
}

static void write_object(const Writing *writing, const char *path) {
  const FmiDescription *description = writing->description;
  write(writing, "  parameter 'FMU' 'fmu' = 'FMU'(");
  text_quote(writing->heap, writing->text, path, '"');
  write(writing, ", %d, ", writing->is_exchange);
  write_settings(writing);
  write(writing, ", ");
  write_number(writing, description->tolerance > 0 ? description->tolerance : 0);
  write(writing, ");\n  Integer 'fmu mode';\n  discrete Real 'fmu next';\n  Integer 'fmu ends';\n");
}

/* Variables that change only with the mode. */
static void write_held(const Writing *writing, FmiRole first) {
  const FmiDescription *description = writing->description;
  const FmiScalar *scalars = description_scalars(description, first);
  uint32_t count = description->first[FMI_ROLES] - description->first[first], reals = 0, integers = 0;
  if (!count) return;
  for (uint32_t k = 0; k < count; k++) {
    bool is_real = scalar_is_real(&scalars[k]);
    write(writing, "  ");
    write_name(writing, scalars[k].name);
    write(writing, " = 'fmu %s'[%u]%s;\n", is_real ? "reals" : "integers", (unsigned)(is_real ? ++reals : ++integers),
          scalars[k].type == FMI_BOOLEAN ? " <> 0" : "");
  }
  write(writing, "  ('fmu reals', 'fmu integers') = 'FMU held'('fmu', 'fmu mode', %u, %u);\n", (unsigned)reals,
        (unsigned)integers);
}

static void declare_held(const Writing *writing, FmiRole first) {
  const FmiDescription *description = writing->description;
  const FmiScalar *scalars = description_scalars(description, first);
  uint32_t count = description->first[FMI_ROLES] - description->first[first], reals = 0;
  for (uint32_t k = 0; k < count; k++) reals += scalar_is_real(&scalars[k]);
  if (count)
    write(writing, "  Real 'fmu reals'[%u];\n  Integer 'fmu integers'[%u];\n", (unsigned)reals,
          (unsigned)(count - reals));
}

/* "  {der(x), z[1], z[2]} = 'FMU rates'(...);" */
static void write_rates(const Writing *writing) {
  uint32_t states = description_count(writing->description, FMI_STATE), indicators = writing->description->indicators;
  const FmiScalar *scalars = description_scalars(writing->description, FMI_STATE);
  const char *between = "  {";
  if (states + indicators == 0) return;
  for (uint32_t k = 0; k < states; k++, between = ", ")
    write(writing, "%sder(", between), write_name(writing, scalars[k].name), write(writing, ")");
  for (uint32_t k = 0; k < indicators; k++, between = ", ")
    write(writing, "%s'fmu indicators'[%u]", between, (unsigned)k + 1);
  write(writing, "} = 'FMU rates'");
  write_arguments(writing, "'fmu mode'");
  write(writing, ";\n");
  for (uint32_t k = 1; k <= indicators; k++)
    write(writing, "  'fmu signs'[%u] = 'fmu indicators'[%u] > 0;\n", (unsigned)k, (unsigned)k);
}

static void write_values(const Writing *writing) {
  if (!description_count(writing->description, FMI_CONTINUOUS)) return;
  write(writing, "  ");
  write_list(writing, FMI_CONTINUOUS);
  write(writing, " = 'FMU values'");
  write_arguments(writing, "'fmu mode'");
  write(writing, ";\n");
}

/* An event happens when an indicator changes its sign, a discrete input changes its value, or the next event time is reached. */
static void write_events(const Writing *writing) {
  const FmiDescription *description = writing->description;
  const FmiScalar *switches = description_scalars(description, FMI_SWITCH),
                  *states = description_scalars(description, FMI_STATE);
  write(writing, "  when {time >= pre('fmu next')");
  for (uint32_t k = 1; k <= description->indicators; k++) write(writing, ", change('fmu signs'[%u])", (unsigned)k);
  for (uint32_t k = 0; k < description_count(description, FMI_SWITCH); k++)
    write(writing, ", change("), write_name(writing, switches[k].name), write(writing, ")");
  write(writing, "} then\n    'fmu mode' = 'FMU update'");
  write_arguments(writing, "pre('fmu mode')");
  write(writing, ";\n    ('fmu next', 'fmu ends') = 'FMU timing'('fmu', 'fmu mode');\n");
  if (description_count(description, FMI_STATE))
    write(writing, "    'fmu states' = 'FMU states'('fmu', 'fmu mode');\n");
  for (uint32_t k = 0; k < description_count(description, FMI_STATE); k++)
    write(writing, "    reinit("), write_name(writing, states[k].name),
        write(writing, ", 'fmu states'[%u]);\n", (unsigned)k + 1);
  write(writing, "  end when;\n");
}

static void write_steps(const Writing *writing) {
  write(writing, "  when sample('communicationStep', 'communicationStep') then\n    'fmu mode' = 'FMU update'");
  write_arguments(writing, "pre('fmu mode')");
  write(writing, ";\n    ('fmu next', 'fmu ends') = 'FMU timing'('fmu', 'fmu mode');\n  end when;\n");
}

static void write_begin(const Writing *writing) {
  bool has_states = writing->is_exchange && description_count(writing->description, FMI_STATE);
  write(writing, "initial equation\n  'fmu mode' = 'FMU begin'('fmu', time, ");
  write_list(writing, FMI_INPUT);
  write(writing, ", ");
  write_list(writing, FMI_SWITCH);
  write(writing, ");\n  ('fmu next', 'fmu ends') = 'FMU timing'('fmu', 'fmu mode');\n");
  if (!has_states) return;
  write(writing, "  'fmu states' = 'FMU states'('fmu', 'fmu mode');\n  ");
  write_list(writing, FMI_STATE);
  write(writing, " = 'FMU states'('fmu', 'fmu mode');\n");
}

/* The default step: the communication step of the FMU if it gives one, otherwise a 500th of the time. */
static double default_step(const FmiDescription *description) {
  double start = isfinite(description->start) ? description->start : 0;
  double stop = isfinite(description->stop) && description->stop > start ? description->stop : start + 1;
  return description->step > 0 ? description->step : stop / 500 - start / 500;
}

static void write_experiment(const Writing *writing) {
  const FmiDescription *description = writing->description;
  const struct {
    const char *name;
    double value;
  } parts[] = {{"StartTime", description->start},
               {"StopTime", description->stop},
               {"Tolerance", description->tolerance},
               {"Interval", description->step}};
  const char *between = "";
  write(writing, "  annotation(experiment(");
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    if (!isfinite(parts[k].value) || (k >= 2 && !(parts[k].value > 0))) continue;
    write(writing, "%s%s = ", between, parts[k].name);
    write_number(writing, parts[k].value);
    between = ", ";
  }
  write(writing, "));\n");
}

/* Inputs and outputs are connectors, so that `connect` accepts them. */
static void write_connectors(const Writing *writing) {
  static const char *const TYPES[] = {"Real", "Integer", "Boolean"}, *const WAYS[] = {"input", "output"};
  for (size_t way = 0; way < 2; way++)
    for (size_t type = 0; type < 3; type++)
      write(writing, "  connector '%s %s' = %s %s;\n", TYPES[type], WAYS[way], WAYS[way], TYPES[type]);
}

static void write_variables(const Writing *writing) {
  bool is_exchange = writing->is_exchange;
  write_connectors(writing);
  write_declarations(writing, FMI_PARAMETER, "parameter ");
  declare_starts(writing);
  if (!is_exchange) {
    write(writing, "  parameter Real 'communicationStep'(unit = \"s\") = ");
    write_number(writing, default_step(writing->description));
    write(writing, " \"between two steps of the FMU\";\n");
  }
  write_declarations(writing, FMI_INPUT, "");
  write_declarations(writing, FMI_SWITCH, "");
  write_declarations(writing, FMI_STATE, "");
  if (!is_exchange) write_declarations(writing, FMI_RATE, "");
  write_declarations(writing, FMI_CONTINUOUS, "");
  write_declarations(writing, FMI_DISCRETE, "");
}

static void write_hidden(const Writing *writing) {
  const FmiDescription *description = writing->description;
  if (!writing->is_exchange) return;
  if (description_count(description, FMI_STATE))
    write(writing, "  discrete Real 'fmu states'[%u];\n", (unsigned)description_count(description, FMI_STATE));
  if (description->indicators)
    write(writing, "  Real 'fmu indicators'[%u];\n  Boolean 'fmu signs'[%u];\n", (unsigned)description->indicators,
          (unsigned)description->indicators);
}

bool fmu_write_model(Heap *heap, const FmiDescription *description, const char *name, const char *path, FmuKind kind,
                     TextVec *text) {
  bool is_exchange = kind == FMU_EXCHANGE || (kind == FMU_ANY && description->exchange);
  Writing writing = {.heap = heap, .description = description, .text = text, .is_exchange = is_exchange};
  FmiRole held = is_exchange ? FMI_DISCRETE : FMI_STATE;
  if (is_exchange ? !description->exchange : !description->cosimulation) return false;
  write(&writing, "model ");
  write_name(&writing, name);
  if (description->description && *description->description)
    write(&writing, " "), text_quote(heap, text, description->description, '"');
  write(&writing, "\n");
  write_variables(&writing);
  write_functions(&writing);
  write_object(&writing, path);
  write_hidden(&writing);
  declare_held(&writing, held);
  write_begin(&writing);
  write(&writing, "equation\n");
  if (is_exchange) write_rates(&writing), write_values(&writing), write_events(&writing);
  else write_steps(&writing);
  write_held(&writing, held);
  write(&writing, "  when 'fmu ends' <> 0 then\n    terminate(\"the FMU ends the simulation\");\n  end when;\n");
  write_experiment(&writing);
  write(&writing, "end ");
  write_name(&writing, name);
  write(&writing, ";\n");
  return true;
}
