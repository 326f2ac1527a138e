/* outputs: see outputs.h. */
#include "study/outputs.h"

#include "base/number.h"
#include "base/suggest.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static const char *const function_names[] = {
    [DAEDAL_OUTPUT_FINAL] = "final", [DAEDAL_OUTPUT_INITIAL] = "initial", [DAEDAL_OUTPUT_MAX] = "max",
    [DAEDAL_OUTPUT_MIN] = "min",     [DAEDAL_OUTPUT_MEAN] = "mean",       [DAEDAL_OUTPUT_RMS] = "rms",
};

/* The number of conditions that a message lists. */
enum { LISTED = 8 };

static bool is_recorded(const Variable *variable) {
  return variable->type != TYPE_STRING && variable->type != TYPE_EXTERNAL_OBJECT && !variable->is_input_value;
}

static bool is_variable(const Model *model, const char *name) {
  uint32_t position = model_find(model, name);
  return position != MAP_NONE && is_recorded(&model->variables.data[position]);
}

/* Is the text a call f(inside) of this function? */
static bool is_call(const char *text, const char *function, const char **inside, size_t *length) {
  size_t head = strlen(function), whole = strlen(text);
  if (whole < head + 3 || strncmp(text, function, head) != 0 || text[head] != '(' || text[whole - 1] != ')')
    return false;
  *inside = text + head + 1;
  *length = whole - head - 2;
  return true;
}

static bool is_signal(const Model *model, Arena *arena, const char *name) {
  const char *inside;
  size_t length;
  if (strcmp(name, "time") == 0 || is_variable(model, name)) return true;
  return is_call(name, "der", &inside, &length) && is_variable(model, arena_copy(arena, inside, length));
}

static bool refuse(const Model *model, const char *text, const char *name, Diags *diags) {
  Suggestion best = {.word = name};
  Diag *diag = diag_error(diags, DIAG_USAGE, (Span){0}, "there is no variable '%s' for the output '%s'", name, text);
  for (uint32_t v = 0; v < model->variables.count; v++) suggest_offer(&best, model_name(model, v));
  if (best.nearest) diag_note(diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
  if (strcmp(text, name) == 0 && strchr(text, '('))
    diag_note(diags, diag, (Span){0}, "functions of outputs: final, initial, max, min, mean, rms, time");
  return false;
}

/* ---- names in conditions ---- */

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_' || c == '\''; }

/* The end of a possible name that begins at text, including its parts and subscripts. */
static const char *name_end(const char *text) {
  bool is_quoted = false;
  int open = 0;
  for (;; text++) {
    if (*text == '\'') is_quoted = !is_quoted;
    else if (*text == '[') open++;
    else if (*text == ']' && open) open--;
    else if (!*text || !(is_quoted || open || isalnum((unsigned char)*text) || *text == '_' || *text == '.'))
      return text;
  }
}

/* The end of a number that begins at text. */
static const char *number_end(const char *text) {
  while (isdigit((unsigned char)*text) || *text == '.') text++;
  if ((*text | 32) != 'e') return text;
  const char *exponent = text + 1 + (text[1] == '+' || text[1] == '-');
  if (!isdigit((unsigned char)*exponent)) return text;
  while (isdigit((unsigned char)*exponent)) exponent++;
  return exponent;
}

/* Is the name a word with a special meaning in the language? */
static bool is_word(const char *name) {
  static const char *const words[] = {"time", "true", "false", "and", "or", "not", "if", "then", "else"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strcmp(name, words[k]) == 0) return true;
  return false;
}

/* The name that alias elimination leaves for a name. */
static const char *representative(const Problem *problem, const char *name, Arena *arena) {
  const Model *model = problem->model;
  const Aliases *aliases = &problem->aliases;
  uint32_t position = model_find(model, name);
  if (position == MAP_NONE || model->variables.data[position].role != ROLE_UNKNOWN) return name;
  uint32_t unknown = model->variables.data[position].index;
  if (!aliases->removed || unknown >= aliases->count || aliases->root[unknown] == UINT32_MAX) return name;
  const char *root = model_name(model, model->unknowns.data[aliases->root[unknown]]);
  for (uint32_t k = 0; k < aliases->shift[unknown]; k++) root = arena_printf(arena, "der(%s)", root);
  return aliases->sign[unknown] < 0 ? arena_printf(arena, "-%s", root) : root;
}

/* Finds the next name in a condition that is not the name of a function, and returns it. *text is then the text after it, and
 * *before the text in front of it, without blanks and with numbers in one spelling. NULL: there are no more names. */
static const char *next_name(const char **text, const char **before, Arena *arena) {
  *before = "";
  for (const char *next = *text; *next;) {
    bool is_number = isdigit((unsigned char)*next);
    const char *end = is_number ? number_end(next) : is_letter(*next) ? name_end(next) : next + 1;
    const char *part = arena_copy(arena, next, (size_t)(end - next));
    double value;
    if (is_number && number_parse(next, end, &value)) part = arena_printf(arena, "%.17g", value);
    if (is_letter(*next) && *end != '(' && !is_word(part)) {
      *text = end;
      return part;
    }
    if (*next != ' ') *before = arena_printf(arena, "%s%s", *before, part);
    next = end;
  }
  *text += strlen(*text);
  return NULL;
}

/* A condition without blanks, with the names that alias elimination leaves. */
static const char *plain_condition(const Problem *problem, const char *text, Arena *arena) {
  const char *plain = "", *before, *name;
  while ((name = next_name(&text, &before, arena)))
    plain = arena_printf(arena, "%s%s%s", plain, before, representative(problem, name, arena));
  return arena_printf(arena, "%s%s", plain, before);
}

/* ---- reading ---- */

/* Is every name in the condition a variable? */
static bool has_names(const Output *output, const Model *model, Arena *arena, Diags *diags) {
  const char *text = output->signal ? output->signal : "", *before, *name;
  while ((name = next_name(&text, &before, arena)))
    if (model_find(model, name) == MAP_NONE) return refuse(model, output->text, name, diags);
  return true;
}

static const char *column_name(const daedal_output *given, Arena *arena) {
  char number[NUMBER_SIZE];
  switch (given->kind) {
  case DAEDAL_OUTPUT_FINAL: return arena_copy(arena, given->name, strlen(given->name));
  case DAEDAL_OUTPUT_AT: number_shortest(given->time, number); return arena_printf(arena, "%s@%s", given->name, number);
  case DAEDAL_OUTPUT_EVENT: return arena_printf(arena, "time(%s)", given->name ? given->name : "event");
  default: return arena_printf(arena, "%s(%s)", function_names[given->kind], given->name);
  }
}

static bool read_output(Output *output, const daedal_output *given, const Model *model, Arena *arena, Diags *diags) {
  bool is_event = given->kind == DAEDAL_OUTPUT_EVENT;
  if ((unsigned)given->kind > DAEDAL_OUTPUT_EVENT || (!given->name && !is_event)) {
    diag_error(diags, DIAG_USAGE, (Span){0}, "an output needs a name and a kind");
    return false;
  }
  *output = (Output){.text = column_name(given, arena), .kind = given->kind, .time = given->time};
  if (given->name) output->signal = arena_copy(arena, given->name, strlen(given->name));
  if (is_event) return has_names(output, model, arena, diags);
  return is_signal(model, arena, output->signal) || refuse(model, output->text, output->signal, diags);
}

static bool has_final_value(const Model *model, uint32_t position, const SignalFilter *filter) {
  const Variable *variable = &model->variables.data[position];
  if (variable->variability <= VARIABILITY_PARAMETER || !is_recorded(variable)) return false;
  return !filter || signal_filter_match(filter, model_name(model, position));
}

static void add_final_value(OutputVec *outputs, const char *name, Arena *arena) {
  vec_push(arena->heap, outputs, ((Output){.text = name, .signal = name, .kind = DAEDAL_OUTPUT_FINAL}));
}

static void add_final_values(OutputVec *outputs, const Model *model, const SignalFilter *filter, Arena *arena) {
  for (uint32_t v = 0; v < model->variables.count; v++)
    if (has_final_value(model, v, filter)) add_final_value(outputs, model_name(model, v), arena);
}

static bool has_output(const OutputVec *outputs, const char *name) {
  for (uint32_t k = outputs->count; k-- > 0;)
    if (strcmp(outputs->data[k].text, name) == 0) return true;
  return false;
}

void outputs_extend(OutputVec *outputs, const Model *base, const Model *model, const SignalFilter *filter,
                    Arena *arena) {
  for (uint32_t v = 0; v < model->variables.count; v++) {
    const char *name = model_name(model, v);
    if (model_find(base, name) != MAP_NONE || !has_final_value(model, v, filter) || has_output(outputs, name)) continue;
    add_final_value(outputs, arena_copy(arena, name, strlen(name)), arena);
  }
}

bool outputs_read(OutputVec *outputs, const daedal_output *given, uint32_t count, const Model *model,
                  const SignalFilter *filter, Arena *arena, Diags *diags) {
  for (uint32_t k = 0; given && k < count; k++) {
    Output output;
    if (!read_output(&output, &given[k], model, arena, diags)) return false;
    vec_push(arena->heap, outputs, output);
  }
  if (!given) add_final_values(outputs, model, filter, arena);
  if (outputs->count) return true;
  diag_error(diags, DIAG_USAGE, (Span){0}, "there are no outputs: no variable is requested, or none matches");
  return false;
}

/* ---- what a plan has ---- */

/* The condition of an event, as runs print it; NULL: no event has it. */
static const char *find_relation(const Problem *problem, const Modes *modes, Expr relation, Arena *arena) {
  Expr meant = problem_expression(problem, relation);
  for (uint32_t m = 0; m < modes->count; m++)
    if (modes->relation[m] == meant) return model_text(problem->model, meant, arena);
  return NULL;
}

/* A condition as runs print it; NULL: no event has it. The user may also write it as in the model, before alias elimination. */
static const char *find_condition(const char *condition, const Problem *problem, const Modes *modes, Arena *arena) {
  Dag *dag = problem->model->dag;
  const char *plain = plain_condition(problem, condition, arena), *text, *found = NULL;
  for (uint32_t m = 0; m < modes->count; m++) {
    text = model_text(problem->model, modes->relation[m], arena);
    if (strcmp(plain_condition(problem, text, arena), plain) == 0) return text;
  }
  for (Expr e = 0, end = dag_size(dag); e < end && !found; e++) {
    OpKind kind = op_kind(dag_op(dag, e));
    if (kind != KIND_RELATION && kind != KIND_PIECEWISE) continue;
    text = model_text(problem->model, e, arena);
    if (strcmp(plain_condition(problem, text, arena), plain) == 0) found = find_relation(problem, modes, e, arena);
  }
  return found;
}

/* der(x) is a signal if the equations have it. */
static bool has_derivative(const Output *output, const Problem *problem, const uint32_t *orders, Arena *arena) {
  const Model *model = problem->model;
  const char *inside;
  size_t length;
  if (model_find(model, output->signal) != MAP_NONE || !is_call(output->signal, "der", &inside, &length)) return true;
  const Variable *variable = &model->variables.data[model_find(model, arena_copy(arena, inside, length))];
  return variable->role == ROLE_UNKNOWN && orders[variable->index] > 0;
}

static bool refuse_condition(const Output *output, const Problem *problem, const Modes *modes, Arena *arena,
                             Diags *diags) {
  Diag *diag = diag_error(diags, DIAG_USAGE, (Span){0}, "no event has the condition '%s' of the output '%s'",
                          output->signal, output->text);
  Suggestion best = {.word = output->signal};
  const char *list = "";
  for (uint32_t m = 0; m < modes->count; m++) {
    const char *text = model_text(problem->model, modes->relation[m], arena);
    suggest_offer(&best, text);
    if (m < LISTED) list = arena_printf(arena, "%s%s`%s`", list, m ? ", " : "", text);
  }
  if (best.nearest) diag_note(diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
  else if (modes->count) diag_note(diags, diag, (Span){0}, "conditions of the model: %s", list);
  return false;
}

bool outputs_fit(OutputVec *outputs, const Problem *problem, const Modes *modes, const uint32_t *orders, Arena *arena,
                 Diags *diags) {
  for (uint32_t k = 0; k < outputs->count; k++) {
    Output *output = &outputs->data[k];
    if (output->kind == DAEDAL_OUTPUT_EVENT) {
      const char *found = output->signal ? find_condition(output->signal, problem, modes, arena) : NULL;
      if (output->signal && !found) return refuse_condition(output, problem, modes, arena, diags);
      output->signal = found;
    } else if (!has_derivative(output, problem, orders, arena)) {
      diag_error(diags, DIAG_USAGE, (Span){0},
                 "the equations have no '%s' for the output '%s': only derivatives that the model writes are signals",
                 output->signal, output->text);
      return false;
    }
  }
  return true;
}

/* ---- output points ---- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double *outputs_times(const OutputVec *outputs, Arena *arena, uint32_t *count, bool *all) {
  double *times = arena_array(arena, outputs->count, sizeof *times);
  uint32_t given = 0;
  *all = false;
  for (uint32_t k = 0; k < outputs->count; k++) {
    daedal_output_kind kind = outputs->data[k].kind;
    if (kind == DAEDAL_OUTPUT_AT) times[given++] = outputs->data[k].time;
    *all |= kind != DAEDAL_OUTPUT_AT && kind != DAEDAL_OUTPUT_FINAL && kind != DAEDAL_OUTPUT_INITIAL &&
            kind != DAEDAL_OUTPUT_EVENT;
  }
  qsort(times, given, sizeof *times, ascending);
  *count = 0;
  for (uint32_t k = 0; k < given; k++)
    if (!*count || times[k] > times[*count - 1]) times[(*count)++] = times[k];
  return times;
}

/* ---- values ---- */

/* A column of the trajectory. */
typedef struct Course {
  const Trajectory *trajectory;
  const Signal *signal; /* NULL: time */
} Course;

static double course_value(const Course *course, size_t row) {
  if (!course->signal) return trajectory_time(course->trajectory, row);
  return signal_value(course->signal, trajectory_row(course->trajectory, row));
}

static double extreme(const Course *course, double sign) {
  double most = NAN;
  for (size_t row = 0; row < course->trajectory->rows; row++) {
    double value = course_value(course, row);
    if (!(sign * value <= sign * most)) most = value;
  }
  return most;
}

/* The mean of the values, or of their squares: the trapezoidal rule between the rows. */
static double mean(const Course *course, bool of_squares) {
  const Trajectory *trajectory = course->trajectory;
  double length = trajectory_time(trajectory, trajectory->rows - 1) - trajectory_time(trajectory, 0), sum = 0;
  double before = course_value(course, 0);
  if (of_squares) before *= before;
  if (!(length > 0)) return before;
  for (size_t row = 1; row < trajectory->rows; row++) {
    double value = course_value(course, row);
    if (of_squares) value *= value;
    sum += (trajectory_time(trajectory, row) - trajectory_time(trajectory, row - 1)) * (before + value) / 2;
    before = value;
  }
  return sum / length;
}

/* Events at the start do not count. */
static double event_time(const Output *output, const Problem *problem, double start, const daedal_event *events,
                         uint32_t count, Arena *arena) {
  const char *meant = output->signal ? plain_condition(problem, output->signal, arena) : NULL;
  for (uint32_t k = 0; k < count; k++) {
    if (!(events[k].time > start)) continue;
    if (!meant || strcmp(plain_condition(problem, events[k].condition, arena), meant) == 0) return events[k].time;
  }
  return NAN;
}

double output_value(const Output *output, const Problem *problem, const Trajectory *trajectory,
                    const daedal_event *events, uint32_t event_count, Arena *arena) {
  if (!trajectory->rows) return NAN;
  if (output->kind == DAEDAL_OUTPUT_EVENT)
    return event_time(output, problem, trajectory_time(trajectory, 0), events, event_count, arena);
  Course course = {.trajectory = trajectory};
  bool is_time = strcmp(output->signal, "time") == 0;
  uint32_t signal = is_time ? MAP_NONE : signals_find(trajectory->signals, output->signal);
  if (!is_time && signal == MAP_NONE) return NAN;
  if (!is_time) course.signal = &trajectory->signals->list.data[signal];
  switch (output->kind) {
  case DAEDAL_OUTPUT_FINAL: return course_value(&course, trajectory->rows - 1);
  case DAEDAL_OUTPUT_INITIAL: return course_value(&course, 0);
  case DAEDAL_OUTPUT_MAX: return extreme(&course, 1);
  case DAEDAL_OUTPUT_MIN: return extreme(&course, -1);
  case DAEDAL_OUTPUT_MEAN: return mean(&course, false);
  case DAEDAL_OUTPUT_RMS: return sqrt(mean(&course, true));
  case DAEDAL_OUTPUT_AT: {
    size_t row = trajectory_find(trajectory, output->time);
    return trajectory_time(trajectory, row) == output->time ? course_value(&course, row) : NAN;
  }
  case DAEDAL_OUTPUT_EVENT: break;
  }
  return NAN;
}
