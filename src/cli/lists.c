/* lists: see lists.h.
 *
 *   names  = name { "," name }
 *   values = name "=" number { "," name "=" number }
 *   guess  = name [ "=" number [ ":" least ":" greatest ] ]
 *   axis   = name "=" ( first ":" [ step ":" ] last | "log(" first "," last "," count ")"
 *            | "lin(" ... ")" | "{" value { "," value } "}" | value )
 */
#include "cli/lists.h"

#include "cli/suggest.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>

static const double MOST_VALUES = 1e7; /* largest number of values of an axis */

/* ---- texts ---- */

/* The first of the characters `stops` outside quotes, brackets, braces and parentheses, or the end. */
static const char *scan(const char *at, const char *stops) {
  int depth = 0;
  char quote = 0;
  for (; *at; at++) {
    if (quote && *at == '\\' && at[1]) at++;
    else if (quote) quote = *at == quote ? 0 : quote;
    else if (*at == '\'' || *at == '"') quote = *at;
    else if (depth <= 0 && strchr(stops, *at)) break;
    else depth += (strchr("[({", *at) != NULL) - (strchr("])}", *at) != NULL);
  }
  return at;
}

bool ends_with(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length > tail && !strcmp(path + length - tail, ending);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Zeroed memory that the arguments own; NULL after a message. */
static void *own_room(Arguments *arguments, size_t size) {
  JoinedText *joined = calloc(1, sizeof *joined + size);
  if (!joined) return usage_error("out of memory"), NULL;
  joined->before = arguments->joined;
  arguments->joined = joined;
  return joined->text;
}

/* A longer array that begins with the elements of the old one. */
static void *longer(Arguments *arguments, const void *before, size_t count, size_t more, size_t size) {
  char *array = own_room(arguments, (count + more) * size);
  if (array && count) memcpy(array, before, count * size);
  return array;
}

/* [begin, end) without blanks around it; NULL after a message. */
static const char *stripped(Arguments *arguments, const char *begin, const char *end) {
  while (begin < end && is_blank(*begin)) begin++;
  while (end > begin && is_blank(end[-1])) end--;
  char *text = own_room(arguments, (size_t)(end - begin) + 1);
  if (text) memcpy(text, begin, (size_t)(end - begin));
  return text;
}

/* [begin, end) without blanks around it, and without quotes if it is a quoted name. NULL after a message. */
static const char *trimmed(Arguments *arguments, const char *begin, const char *end) {
  while (begin < end && is_blank(*begin)) begin++;
  while (end > begin && is_blank(end[-1])) end--;
  bool is_quoted = end - begin >= 2 && *begin == '\'' && end[-1] == '\'';
  if (is_quoted) begin++, end--;
  char *text = own_room(arguments, (size_t)(end - begin) + 1);
  if (text) memcpy(text, begin, (size_t)(end - begin));
  return text;
}

/* Reads the text [begin, end) as one number, which may be infinite; blanks around it are skipped. false: it is not a number. */
static bool read_number(const char *begin, const char *end, double *value) {
  char text[64], *stop;
  while (begin < end && is_blank(*begin)) begin++;
  while (end > begin && is_blank(end[-1])) end--;
  size_t length = (size_t)(end - begin);
  if (!length || length >= sizeof text) return false;
  memcpy(text, begin, length);
  text[length] = '\0';
  *value = strtod(text, &stop);
  return *stop == '\0' && !isnan(*value);
}

/* Reads all of [begin, end) as numbers with a separator between them. 0: they are not all numbers, or there are more
 * than `most`. */
static uint32_t read_numbers(const char *begin, const char *end, char separator, double *numbers, uint32_t most) {
  for (uint32_t count = 0; count < most; count++) {
    const char *stop = memchr(begin, separator, (size_t)(end - begin));
    if (!read_number(begin, stop ? stop : end, &numbers[count])) return 0;
    if (!stop) return count + 1;
    begin = stop + 1;
  }
  return 0;
}

/* Reads "name=rest" up to `end`: returns the name, and sets `rest` to the beginning of the rest; NULL in `rest`: there is no equals
 * sign. */
static const char *read_name(Arguments *arguments, const char *begin, const char *end, const char **rest) {
  const char *equal = scan(begin, "=");
  bool has_rest = equal < end;
  *rest = has_rest ? equal + 1 : NULL;
  return trimmed(arguments, begin, has_rest ? equal : end);
}

static uint32_t count_items(const char *text) {
  uint32_t count = 0;
  for (const char *end; *text; text = *end ? end + 1 : end, count++) end = scan(text, ",");
  return count;
}

/* ---- names ---- */

static uint32_t count_names(const char *const *names) {
  uint32_t count = 0;
  while (names && names[count]) count++;
  return count;
}

bool names_append(Arguments *arguments, const char *option, const char *text, const char *const **list) {
  uint32_t count = count_names(*list);
  const char **names = longer(arguments, *list, count, strlen(text) + 1, sizeof *names);
  if (!names) return false;
  if (!*text) return usage_error("%s takes a value that is not empty", option);
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = scan(text, ",;");
    if (!(names[count] = stripped(arguments, text, end))) return false;
    if (*names[count]) count++;
  }
  names[count] = NULL;
  *list = names;
  return true;
}

bool libraries_append(Arguments *arguments, const char *text, const char *const **list) {
  if (*text) return names_append(arguments, "--allow-external", text, list);
  if (!*list) *list = own_room(arguments, sizeof **list);
  return *list != NULL;
}

/* ---- texts of a run ---- */

/* The name in a text that may be quoted, wholly or in parts. NULL after a message. */
static const char *unquoted(Arguments *arguments, const char *at, const char *end) {
  char *name = own_room(arguments, (size_t)(end - at) + 1), *to = name;
  bool is_quoted = false;
  for (; name && at < end; at++) {
    if (*at == '\'') is_quoted = !is_quoted;
    else if (is_quoted && *at == '\\' && at + 1 < end) *to++ = *++at;
    else if (is_quoted || !is_blank(*at)) *to++ = *at;
  }
  return name;
}

bool overrides_append(Arguments *arguments, const char *option, const char *text, OverrideList *list) {
  daedal_override *overrides = longer(arguments, list->list, list->count, count_items(text), sizeof *overrides);
  if (!overrides) return false;
  list->list = overrides;
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = scan(text, ",");
    const char *equal = scan(text, "=");
    daedal_override *override = &overrides[list->count];
    override->name = unquoted(arguments, text, equal < end ? equal : end);
    override->text = equal < end ? stripped(arguments, equal + 1, end) : "";
    if (!override->name || !override->text) return false;
    if (equal >= end || !*override->name)
      return usage_error("%s: '%s' is not of the form name=value", option, override->name);
    list->count++;
  }
  return list->count > 0 || usage_error("%s takes a value that is not empty", option);
}

/* u=sin(time), FILE.csv, held:FILE.csv, or only u. */
static bool read_input(Arguments *arguments, const char *begin, const char *end, daedal_input *input) {
  static const char held[] = "held:";
  const char *equal = scan(begin, "="), *name = stripped(arguments, begin, equal < end ? equal : end);
  if (!name) return false;
  input->name = name;
  if (equal < end) return (input->expression = stripped(arguments, equal + 1, end)) != NULL;
  if (!ends_with(name, ".csv")) return true;
  input->held = !strncmp(name, held, strlen(held));
  input->file = input->held ? name + strlen(held) : name;
  input->name = NULL;
  return true;
}

static bool take_inputs(Arguments *arguments) {
  const char *text = arguments->input;
  daedal_input *inputs = own_room(arguments, ((size_t)count_items(text) + 1) * sizeof *inputs);
  if (!inputs) return false;
  arguments->run.inputs = inputs;
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = scan(text, ",");
    if (!read_input(arguments, text, end, &inputs[arguments->run.input_count++])) return false;
  }
  return true;
}

/* RESULT[@TIME]; an @ that no number follows is part of the path. */
static bool take_start(Arguments *arguments) {
  const char *text = arguments->start_from, *at = strrchr(text, '@'), *end = text + strlen(text);
  bool has_time = at && read_number(at + 1, end, &arguments->run.start_from_time);
  return (arguments->run.start_from = stripped(arguments, text, has_time ? at : end)) != NULL;
}

/* x or integral(x) */
static bool take_gradient(Arguments *arguments) {
  static const char integral[] = "integral(";
  const char *text = arguments->gradient, *end = text + strlen(text);
  bool is_integral = !strncmp(text, integral, strlen(integral)) && end[-1] == ')';
  arguments->run.gradient_of_integral = is_integral;
  arguments->run.gradient = is_integral ? stripped(arguments, text + strlen(integral), end - 1) : text;
  return arguments->run.gradient != NULL;
}

bool run_take_texts(Arguments *arguments) {
  return (!arguments->input || take_inputs(arguments)) && (!arguments->start_from || take_start(arguments)) &&
         (!arguments->gradient || take_gradient(arguments));
}

/* ---- values ---- */

bool values_append(Arguments *arguments, const char *option, const char *text, ValueList *list) {
  daedal_value *values = longer(arguments, list->list, list->count, count_items(text), sizeof *values);
  if (!values) return false;
  list->list = values;
  for (const char *end, *rest; *text; text = *end ? end + 1 : end) {
    end = scan(text, ",");
    daedal_value *value = &values[list->count++];
    value->name = read_name(arguments, text, end, &rest);
    if (!value->name) return false;
    if (!rest || !*value->name || !read_number(rest, end, &value->value))
      return usage_error("%s: '%.*s' is not of the form name=number", option, (int)(end - text), text);
  }
  return list->count > 0 || usage_error("%s takes a value that is not empty", option);
}

bool guesses_append(Arguments *arguments, const char *option, const char *text, GuessList *list) {
  daedal_guess *guesses = longer(arguments, list->list, list->count, count_items(text), sizeof *guesses);
  if (!guesses) return false;
  list->list = guesses;
  for (const char *end, *rest; *text; text = *end ? end + 1 : end) {
    end = scan(text, ",");
    double numbers[3] = {NAN, 0, 0};
    daedal_guess *guess = &guesses[list->count++];
    guess->name = read_name(arguments, text, end, &rest);
    if (!guess->name) return false;
    uint32_t count = rest ? read_numbers(rest, end, ':', numbers, 3) : 0;
    if (!*guess->name || (rest && count != 1 && count != 3))
      return usage_error(
          "%s: '%.*s' is not of the form name=guess or name=guess:least:greatest, or the name of a parameter", option,
          (int)(end - text), text);
    if (count == 3 && !(numbers[1] < numbers[2]))
      return usage_error("%s: the guess of '%s' is not within its bounds", option, guess->name);
    guess->value = numbers[0], guess->low = numbers[1], guess->high = numbers[2];
  }
  return list->count > 0 || usage_error("%s takes a value that is not empty", option);
}

bool pairs_append(Arguments *arguments, const char *option, const char *text, PairList *list) {
  const char **names = longer(arguments, list->names, list->count, strlen(text) + 2, sizeof *names);
  if (!names) return false;
  list->names = names;
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = scan(text, ";");
    const char *comma = scan(text, ",;"), *other = *comma == ',' ? scan(comma + 1, ",;") : comma;
    if (comma == text || comma >= end || other != end || comma + 1 == end) {
      usage_error("%s: '%.*s' is not a pair of variables", option, (int)(end - text), text);
      terminal_say("  a curve of y over x is x,y; several are x,y;u,v");
      return false;
    }
    names[list->count] = trimmed(arguments, text, comma);
    names[list->count + 1] = trimmed(arguments, comma + 1, end);
    if (!names[list->count] || !names[list->count + 1]) return false;
    list->count += 2;
  }
  return list->count > 0 || usage_error("%s takes a value that is not empty", option);
}

/* ---- sweeps ---- */

/* Reads "f(1,2)" with at most `most` numbers. *length: the length of the word f. *count: how many numbers there are. false: the
 * text has another form. */
static bool read_call(const char *text, size_t *length, double *numbers, uint32_t most, uint32_t *count) {
  const char *open = strchr(text, '('), *end = text + strlen(text);
  while (end > text && is_blank(end[-1])) end--;
  if (!open || end == text || end[-1] != ')') return false;
  *length = (size_t)(open - text);
  *count = read_numbers(open + 1, end - 1, ',', numbers, most);
  return *count > 0;
}

/* Allocates the values of an axis; NULL: there are too many, or no memory. */
static double *axis_values(Arguments *arguments, daedal_axis *axis, double count) {
  if (!(count >= 1 && count <= MOST_VALUES)) return NULL;
  double *values = own_room(arguments, (size_t)count * sizeof *values);
  axis->values = values;
  axis->count = (uint32_t)count;
  return values;
}

/* The last value is reached in spite of round-off, and is exact. */
static bool read_range(Arguments *arguments, daedal_axis *axis, const double *number, uint32_t count) {
  double first = number[0], last = number[count - 1], step = count == 3 ? number[1] : 1;
  double steps = (last - first) / step, slack = 1e-9 * fmax(1, steps);
  if (!(steps >= 0 && isfinite(steps))) return false;
  double *values = axis_values(arguments, axis, floor(steps + slack) + 1);
  for (uint32_t k = 0; values && k < axis->count; k++) values[k] = first + k * step;
  if (values && fabs(steps - (axis->count - 1)) <= slack) values[axis->count - 1] = last;
  return values != NULL;
}

static bool read_spaced(Arguments *arguments, daedal_axis *axis, bool is_log, const double *number) {
  double first = number[0], last = number[1], count = number[2];
  if (count != floor(count) || (is_log && !(first > 0 && last > 0))) return false;
  double *values = axis_values(arguments, axis, count);
  for (uint32_t k = 0; values && k < axis->count; k++) {
    double part = k / fmax(1, count - 1);
    values[k] = is_log ? first * pow(last / first, part) : first + part * (last - first);
  }
  if (values) values[0] = first;
  if (values && axis->count > 1) values[axis->count - 1] = last;
  return values != NULL;
}

static bool read_axis(Arguments *arguments, daedal_axis *axis, const char *text) {
  double number[3];
  uint32_t count;
  size_t word, length;
  while (is_blank(*text)) text++;
  for (length = strlen(text); length && is_blank(text[length - 1]);) length--;
  if (read_call(text, &word, number, 3, &count)) {
    bool is_log = word == 3 && !strncmp(text, "log", 3), is_lin = word == 3 && !strncmp(text, "lin", 3);
    return count == 3 && (is_log || is_lin) && read_spaced(arguments, axis, is_log, number);
  }
  if (length > 2 && text[0] == '{' && text[length - 1] == '}') {
    double *values = axis_values(arguments, axis, (double)length);
    axis->count = values ? read_numbers(text + 1, text + length - 1, ',', values, (uint32_t)length) : 0;
    return axis->count > 0;
  }
  count = read_numbers(text, text + length, ':', number, 3);
  return count == 1 ? read_range(arguments, axis, (double[]){number[0], 1, number[0]}, 3)
                    : count > 1 && read_range(arguments, axis, number, count);
}

bool axis_append(Arguments *arguments, const char *option, const char *text, AxisList *list) {
  daedal_axis *axes = longer(arguments, list->list, list->count, 1, sizeof *axes), *axis = axes + list->count;
  const char *rest;
  if (!axes || !(axis->name = read_name(arguments, text, text + strlen(text), &rest))) return false;
  list->list = axes;
  list->count++;
  if (rest && *axis->name && read_axis(arguments, axis, rest)) return true;
  usage_error("%s: '%s' gives no values to vary", option, text);
  terminal_say("  name=first:step:last, name=log(first,last,count), name=lin(first,last,count) or name={a,b,c}; 1000 "
               "or 1e3, not 1k");
  return false;
}

bool distribution_append(Arguments *arguments, const char *option, const char *text, DistributionList *list) {
  daedal_distribution *given = longer(arguments, list->list, list->count, 1, sizeof *given),
                      *last = given + list->count;
  const char *rest;
  uint32_t count;
  size_t word;
  if (!given || !(last->name = read_name(arguments, text, text + strlen(text), &rest))) return false;
  list->list = given;
  list->count++;
  if (!rest || !*last->name || !read_call(rest, &word, last->parameters, 3, &count)) {
    usage_error("%s: '%s' is not a distribution", option, text);
    terminal_say("  name=normal(mean,deviation), name=uniform(low,high), ...: docs/sweep.md lists them");
    return false;
  }
  last->kind = trimmed(arguments, rest, rest + word);
  return last->kind != NULL;
}

/* x, max(x), x@2.5, time(x > 1) or time(event) */
static bool read_output(Arguments *arguments, const char *text, daedal_output *output) {
  static const char *const functions[] = {
      [DAEDAL_OUTPUT_FINAL] = "final(", [DAEDAL_OUTPUT_INITIAL] = "initial(", [DAEDAL_OUTPUT_MAX] = "max(",
      [DAEDAL_OUTPUT_MIN] = "min(",     [DAEDAL_OUTPUT_MEAN] = "mean(",       [DAEDAL_OUTPUT_RMS] = "rms(",
      [DAEDAL_OUTPUT_EVENT] = "time(",
  };
  const char *end = text + strlen(text), *at = strrchr(text, '@');
  output->name = text;
  for (unsigned kind = 0; kind <= DAEDAL_OUTPUT_EVENT; kind++) {
    size_t length = functions[kind] ? strlen(functions[kind]) : 0;
    if (!length || strncmp(text, functions[kind], length) != 0 || end[-1] != ')') continue;
    output->kind = (daedal_output_kind)kind;
    output->name = stripped(arguments, text + length, end - 1);
    if (kind == DAEDAL_OUTPUT_EVENT && output->name && !strcmp(output->name, "event")) return output->name = NULL, true;
    return output->name != NULL;
  }
  if (!at || !read_number(at + 1, end, &output->time)) return true;
  output->kind = DAEDAL_OUTPUT_AT;
  return (output->name = stripped(arguments, text, at)) != NULL;
}

bool outputs_take(Arguments *arguments) {
  OutputList *list = &arguments->kept;
  list->count = count_names(arguments->outputs);
  daedal_output *outputs = own_room(arguments, ((size_t)list->count + 1) * sizeof *outputs);
  list->list = arguments->outputs ? outputs : NULL;
  for (uint32_t k = 0; outputs && k < list->count; k++)
    if (!read_output(arguments, arguments->outputs[k], &outputs[k])) return false;
  return outputs != NULL;
}

/* ---- limits ---- */

/* "4000000", "4e6", "4M" */
static bool read_amount(const char *begin, const char *end, uint64_t *amount) {
  static const char prefixes[] = "kMGT";
  while (end > begin && is_blank(end[-1])) end--;
  const char *prefix = end > begin ? memchr(prefixes, end[-1], sizeof prefixes - 1) : NULL;
  double number = 0;
  bool is_number = read_number(begin, prefix ? end - 1 : end, &number);
  if (prefix) number *= pow(1000, (double)(prefix - prefixes) + 1);
  if (!is_number || !(number >= 1) || !(number < 1e18))
    return usage_error("a limit is a number such as 4000000, 4e6 or 4M");
  *amount = (uint64_t)number;
  return true;
}

bool limits_read(const char *text, Limits *limits) {
  static const char *const names[] = {"memory", "work", "text"};
  uint64_t *const places[] = {&limits->memory, &limits->work, &limits->text};
  while (*text) {
    text += strspn(text, " ");
    const char *end = text + strcspn(text, ","), *equal = memchr(text, '=', (size_t)(end - text));
    int kind = 0;
    if (!equal) return usage_error("limits are written memory=8G,work=1e10,text=1G");
    size_t length = (size_t)(equal - text);
    while (kind < 3 && (strlen(names[kind]) != length || strncmp(names[kind], text, length) != 0)) kind++;
    if (kind == 3) return usage_error("there are limits of memory, work and text");
    if (!read_amount(equal + 1, end, places[kind])) return false;
    text = end + (*end == ',');
  }
  return true;
}
