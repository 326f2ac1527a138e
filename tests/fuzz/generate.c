#include "generate.h"
#include "text.h"

#include <ctype.h>
#include <string.h>

enum { NAMES = 40, EQUATIONS = 40, SIDE = 400 };

typedef struct Equation {
  Text left, right;
} Equation;

/* A model under construction. `names` can be used in expressions; the first `parameters` of them are parameters. */
typedef struct Draft {
  Random *random;
  char names[NAMES][16];
  uint32_t name_count, number;
  bool has_function[4];
  Text functions, declarations, initial, raw;
  Equation equations[EQUATIONS];
  uint32_t equation_count;
} Draft;

uint32_t random_below(Random *random, uint32_t bound) {
  uint64_t x = random->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)((x ^ (x >> 31)) % bound);
}

static bool chance(Draft *draft, uint32_t percent) { return random_below(draft->random, 100) < percent; }

/* ---- expressions ---- */

static const char *const NUMBERS[] = {"1", "2", "0.5", "3", "0.1", "1.5", "0", "10", "1e-3", "4"};

static void put_leaf(Draft *draft, Text *text) {
  uint32_t kind = random_below(draft->random, 10);
  if (kind < 6 && draft->name_count) put(text, "%s", draft->names[random_below(draft->random, draft->name_count)]);
  else if (kind < 8) put(text, "%s", PICK(draft->random, NUMBERS));
  else put(text, "time");
}

/* Patterns of expressions: `@` stands for a subexpression, `~` for a relation between two. Most patterns keep their values small.
 */
static const char *const PATTERNS[] = {
    "(@ + @)",
    "(@ - @)",
    "@*@",
    "-(@)",
    "2*@ - @",
    "sin(@)",
    "cos(@)",
    "tanh(@)",
    "atan(@)",
    "exp(-(@)^2)",
    "sqrt(1 + (@)^2)",
    "(@)/(2 + sin(@))",
    "(@)^2",
    "(@)^3",
    "0.1*(@)",
    "abs(@)",
    "max(@, @)",
    "min(@, @)",
    "(if ~ then @ else @)",
    "noEvent(if ~ then @ else @)",
    "smooth(0, if ~ then @ else @)",
    "log(1 + (@)^2)",
    "atan2(@, 2 + (@)^2)",
    "homotopy(@, @)",
    "sign(@)",
    "semiLinear(@, 1, 2)",
    "sinh(0.1*@)",
    "sum({@ for k in 1:3})",
    "{@, @, @}[2]",
    "({@, @}*{@, @})",
    "smooth(2, @)",
    "noEvent(@)",
    "(@)^0.5",
    "1/(@)",
    "asin(0.1*@)",
};
static const char *const RELATIONS[] = {"time > 0.5",       "@ > @",        "@ < 0.5",
                                        "@ >= @ and @ < 2", "not (@ <= 0)", "time < 0.03 or @ > 1"};

/* Functions that a model may bring along, and calls of them. */
static const char *const FUNCTIONS[] = {
    "  function polynomial input Real a; output Real b; algorithm b := 0; for i in 1:3 loop b := b*a + i; "
    "end for; end polynomial;\n",
    "  function halve input Real a; output Real b; protected Real c; algorithm b := 1; c := abs(a); while c "
    "> 0.25 loop c := c/2; "
    "b := b + 0.5*sin(a); end while; end halve;\n",
    "  function total input Real a[:]; output Real b; algorithm b := 0; for i in 1:size(a, 1) loop if a[i] > "
    "0 then b := b + a[i]; "
    "else b := b - 0.5*a[i]; end if; end for; end total;\n",
    "  function both input Real a; input Real c = 2; output Real b; output Real d; algorithm b := a*c; d := "
    "sin(a) + c; end both;\n",
};
static const char *const CALLS[] = {"0.1*polynomial(@)", "halve(@)", "total({@, @, @})", "both(@, @)"};

static const char *function_call(Draft *draft) {
  uint32_t which = random_below(draft->random, 4);
  if (!draft->has_function[which]) put(&draft->functions, "%s", FUNCTIONS[which]);
  draft->has_function[which] = true;
  return CALLS[which];
}

/* The depth is small, so the parts of a pattern are written by recursion. */
static void put_expression(Draft *draft, Text *text, int depth) {
  if (depth <= 0 || chance(draft, 20)) {
    put_leaf(draft, text);
    return;
  }
  const char *pattern = chance(draft, 4) ? function_call(draft) : PICK(draft->random, PATTERNS);
  for (const char *p = pattern; *p; p++) {
    const char *relation = *p == '~' ? PICK(draft->random, RELATIONS) : "";
    for (; *relation; relation++)
      if (*relation == '@') put_leaf(draft, text);
      else put(text, "%c", *relation);
    if (*p == '@') put_expression(draft, text, depth - 1);
    else if (*p != '~') put(text, "%c", *p);
  }
}

/* ---- declarations and equations ---- */

static const char *const ATTRIBUTES[] = {
    "start = @",
    "start = @",
    "start = @",
    "start = @, fixed = true",
    "nominal = 10",
    "min = -5, max = 5",
    "stateSelect = StateSelect.prefer",
    "stateSelect = StateSelect.avoid",
    "start = @, nominal = 1e-3",
    "unit = \"m\"",
    "stateSelect = StateSelect.always",
    "stateSelect = StateSelect.never",
};

/* Declares a new name that begins with the letter; it can be used once it is published. */
static const char *declare(Draft *draft, char letter, const char *attributes) {
  static const char none[] = "1";
  if (draft->name_count == NAMES) return none;
  char *name = draft->names[draft->name_count];
  snprintf(name, sizeof draft->names[0], "%c%u", letter, (unsigned)++draft->number);
  put(&draft->declarations, "  Real %s", name);
  if (!attributes && chance(draft, 50)) attributes = PICK(draft->random, ATTRIBUTES);
  if (attributes) {
    put(&draft->declarations, "(");
    for (const char *p = attributes; *p; p++)
      if (*p == '@') put(&draft->declarations, "%s", PICK(draft->random, NUMBERS));
      else put(&draft->declarations, "%c", *p);
    put(&draft->declarations, ")");
  }
  put(&draft->declarations, ";\n");
  draft->name_count++;
  return name;
}

/* An equation from a pattern: `@` an expression, `$0` ... `$4` the given names. */
static void add_equation(Draft *draft, const char *pattern, const char *const *given) {
  if (draft->equation_count == EQUATIONS) return;
  Equation *equation = &draft->equations[draft->equation_count++];
  *equation = (Equation){0};
  Text *side = &equation->left;
  for (const char *p = pattern; *p; p++) {
    if (*p == '=' && side == &equation->left) side = &equation->right;
    else if (*p == '@') put_expression(draft, side, 1 + (int)random_below(draft->random, 2));
    else if (*p == '$') put(side, "%s", given[*++p - '0']);
    else put(side, "%c", *p);
  }
}

/* ---- blocks ---- */

/* A block of a few unknowns: one letter and one equation for each, separated by `;`. Expressions in it use the declarations of
 * earlier blocks, not the block's own unknowns, so that the block stays determined. */
typedef struct Block {
  const char *letters, *equations, *initial; /* initial: an initial equation, or NULL */
  const char *attributes;                    /* attributes of all its unknowns, or NULL for any */
} Block;

static const Block BLOCKS[] = {
    {"x", "der($0) = -$0 + @", NULL, "start = @, fixed = true"},
    {"x", "der($0) = @ - 2*$0", NULL, NULL},
    {"x", "der($0) = sin($0) + @", "$0 = 1", NULL},
    {"x", "der($0) = 1 - $0 + @", "der($0) = 0", NULL},
    {"xv", "der($0) = $1; der($1) = -$0 - 0.1*$1 + @", NULL, "start = @, fixed = true"},
    {"z", "$0 = @", NULL, NULL},
    {"z", "$0 + 0.3*sin($0) = @", NULL, NULL},
    {"z", "$0^3 + $0 = @", NULL, NULL},
    {"z", "homotopy($0^3 + $0, $0) = @", NULL, NULL},
    {"z", "homotopy($0^3 - 2*$0 + 2, $0 + 2) = 0", NULL, "start = 0.1"},
    {"z", "$0 = if $0 > 1 then 0.5*$0 + @ else @", NULL, NULL},
    {"z", "$0 = if time > 0.05 then @ else @", NULL, NULL},
    {"a", "$0 = @", NULL, NULL},
    {"ab", "$0 = $1; $1 = @", NULL, NULL},
    {"ab", "$0 + $1 = 0; $0 = @", NULL, "start = @"},
    {"abc", "$0 = $1; $1 = -$2; der($0) = -$2 + @", NULL, NULL},
    {"cc", "$0 = @; $1 = der($0)", NULL, NULL},
    {"ccc", "$0 = sin(time) + 0.1*@; $1 = der($0); $2 = der($1)", NULL, NULL},
    {"ccc", "der($1) = $0; der($2) = $1; $2 = exp(-time) + @", NULL, NULL},
    {"xy", "der($0) + der($1) + $0 = sin(time); der($0) + der($1) + $1 = @", NULL, NULL},
    {"xy", "der($0) + time*der($1) = @; $0 + time*$1 = @", NULL, NULL},
    {"xy", "der($0) + der($1) = @; $0 + $1 + 0.1*sin($0 - $1) = cos(time)", NULL, NULL},
    {"xyz", "der($0) = $1 + $2; der($1) = $2 - $0; $0 + 2*$1 = @", NULL, NULL},
    {"xyz", "der($0) + $2*der($1) = @; $0 + $2*$1 = @; $2 = 2 + @", NULL, NULL},
    {"xy", "$0 + $1 = @; $0 - $1 = @", NULL, NULL},
    {"xy", "$0*$1 = 1; $0 - $1 = 1.5 + 0.1*@", NULL, "start = 2"},
    {"xyuvs", "der($0) = $2; der($1) = $3; der($2) = -$4*$0; der($3) = -$4*$1 - 9.81; $0^2 + $1^2 = 1", NULL,
     "start = 0.6"},
    {"xus", "der($0) = $1; der($1) = $2 - $0; $0 = 0.1*sin(time) + @", NULL, NULL},
    {"xx", "der($0) = $1; $1 = -$0 + @", NULL, "start = 1"},
    {"xyz", "der($0) = -$0 + $1; der($1) = $0 - $1 + $2; 0 = $0 + $1 + $2 - @", "$0 = 0.5", NULL},
};

static void add_block(Draft *draft) {
  const Block *block = &PICK(draft->random, BLOCKS);
  const char *given[5] = {0};
  uint32_t before = draft->name_count, count = (uint32_t)strlen(block->letters);
  if (before + count > NAMES || draft->equation_count + count > EQUATIONS) return;
  for (uint32_t k = 0; k < count; k++) given[k] = declare(draft, block->letters[k], block->attributes);
  uint32_t after = draft->name_count;
  if (!chance(draft, 10)) draft->name_count = before;
  char part[200];
  for (const char *p = block->equations; *p;) {
    size_t length = strcspn(p, ";");
    snprintf(part, sizeof part, "%.*s", (int)length, p);
    add_equation(draft, part, given);
    p += length + (p[length] == ';');
  }
  draft->name_count = after;
  for (const char *p = block->initial ? block->initial : ""; *p; p++)
    if (*p == '$') put(&draft->initial, "%s", given[*++p - '0']);
    else put(&draft->initial, "%c", *p);
  if (block->initial) put(&draft->initial, ";\n");
}

/* Declarations and sections that are more than scalar unknowns with one equation each. `$` is a new number; `@` an expression. */
typedef struct Piece {
  const char *declaration, *equation, *initial;
  const char *name; /* the name that later expressions may use */
} Piece;

static const Piece PIECES[] = {
    {"  parameter Real p$ = 2;\n", "", "", "p$"},
    {"  parameter Real p$ = 1.5*sin(1) + 1; final parameter Real q$ = 2*p$; constant Real k$ = 3;\n", "", "", "q$"},
    {"  parameter Real p$(fixed = false, start = 1);\n", "", "p$ = @;\n", "p$"},
    {"  parameter Real p$(fixed = false, start = 1); Real g$(start = 1, fixed = true);\n", "  der(g$) = -p$*g$;\n",
     "der(g$) = -0.5;\n", "g$"},
    {"  parameter Integer n$ = 3; Real w$[n$](each start = 0.5);\n",
     "  for i in 1:n$ loop der(w$[i]) = -i*w$[i] + @; end for;\n", "", "w$[2]"},
    {"  Real w$[2], m$[2, 2];\n", "  m$ = {{2, 1}, {@, 3}}; m$*w$ = {1, time};\n", "", "w$[1]"},
    {"  Real w$[3];\n", "  w$[1] = @; for i in 2:3 loop w$[i] = 0.5*w$[i - 1] + sin(w$[1]); end for;\n", "", "sum(w$)"},
    {"  input Real q$ = 2*time;\n", "", "", "q$"},
    {"  input Real q$(start = 0.5);\n", "", "", "q$"},
    {"  parameter Boolean b$ = true; Real h$;\n", "  if b$ then h$ = @; else h$ = 2; end if;\n", "", "h$"},
    {"  Real h$, l$;\n", "  if time > 0.05 then h$ = @; l$ = h$ + 1; else l$ = @; h$ = -l$; end if;\n", "", "h$"},
    {"  Real h$, l$;\n", "algorithm\n  h$ := @; for i in 1:3 loop h$ := 0.5*h$ + i; end for; l$ := h$^2;\nequation\n",
     "", "l$"},
    {"  Real h$;\n", "algorithm\n  h$ := @; while h$ > 1 loop h$ := h$/2; end while;\nequation\n", "", "h$"},
    {"  Real h$;\n", "algorithm\n  h$ := time; for i in 1:8 loop h$ := sin(h$)*cos(h$) + 0.1*i; end for;\nequation\n",
     "", "h$"},
    {"  record R$ Real a; Real b = 2; end R$;\n  R$ r$(a(start = 1));\n", "  der(r$.a) = -r$.a + @; r$.b = r$.a + 1;\n",
     "", "r$.b"},
    {"  Real 'a.b[$]'(start = 1);\n", "  der('a.b[$]') = -'a.b[$]';\n", "", "'a.b[$]'"},
    {"  Real h$ = 1 + @;\n", "", "", "h$"},
    {"  Boolean c$; Real h$;\n", "  c$ = time > 0.05; h$ = if c$ then 1 else @;\n", "", "h$"},
    {"  discrete Real e$(start = 0); Real h$(start = 1, fixed = true);\n",
     "  der(h$) = -1; when h$ < 0.9 then e$ = pre(e$) + 1; reinit(h$, -0.5*pre(h$)); end when;\n", "", "h$"},
    {"  Real h$;\n", "  h$ = @; assert(h$ < 1000, \"too large\");\n", "", "h$"},
};

static void put_piece(Draft *draft, Text *text, const char *pattern, uint32_t number) {
  for (const char *p = pattern; *p; p++)
    if (*p == '@') put_expression(draft, text, 1 + (int)random_below(draft->random, 2));
    else if (*p == '$') put(text, "%u", (unsigned)number);
    else put(text, "%c", *p);
}

static void add_piece(Draft *draft) {
  const Piece *piece = &PICK(draft->random, PIECES);
  if (draft->name_count == NAMES) return;
  uint32_t number = ++draft->number;
  put_piece(draft, &draft->declarations, piece->declaration, number);
  put_piece(draft, &draft->raw, piece->equation, number);
  put_piece(draft, &draft->initial, piece->initial, number);
  char *name = draft->names[draft->name_count++];
  size_t length = 0;
  for (const char *p = piece->name; *p && length + 8 < sizeof draft->names[0]; p++)
    length +=
        (size_t)(*p == '$' ? snprintf(name + length, 8, "%u", (unsigned)number) : snprintf(name + length, 8, "%c", *p));
}

/* ---- disguise ---- */

/* Adds a multiple of another equation, which keeps the solutions and changes the structure. */
static void add_multiple(Draft *draft, Equation *to, const Equation *from) {
  const char *factor = PICK(draft->random, NUMBERS);
  if (to == from || to->left.length + from->left.length > SIDE || to->right.length + from->right.length > SIDE) return;
  put(&to->left, " + %s*(%s)", factor, from->left.data);
  put(&to->right, " + %s*(%s)", factor, from->right.data);
}

static void disguise(Draft *draft) {
  uint32_t count = draft->equation_count;
  for (uint32_t k = 0; count && k < count; k++) {
    Equation *equation = &draft->equations[random_below(draft->random, count)];
    Equation *other = &draft->equations[random_below(draft->random, count)], keep = *equation;
    switch (random_below(draft->random, 8)) {
    case 0: add_multiple(draft, equation, other); break;
    case 1: *equation = (Equation){keep.right, keep.left}; break;
    case 2:
      *equation = *other;
      *other = keep;
      break;
    default: break;
    }
  }
}

/* ---- the whole ---- */

static void put_model(Draft *draft, Text *text) {
  put(text, "// %u\nmodel M\n%s%s", (unsigned)random_below(draft->random, 1u << 30), draft->functions.data,
      draft->declarations.data);
  if (draft->initial.length) put(text, "initial equation\n%s", draft->initial.data);
  put(text, "equation\n");
  for (uint32_t k = 0; k < draft->equation_count; k++) {
    Equation *equation = &draft->equations[k];
    text->full |= equation->left.full || equation->right.full;
    put(text, "  %s = %s;\n", equation->left.data, equation->right.data);
  }
  put(text, "%send M;\n", draft->raw.data);
  text->full |= draft->functions.full || draft->declarations.full || draft->initial.full || draft->raw.full;
}

size_t generate_model(Random *random, char *text, size_t limit) {
  static Draft draft; /* a few hundred kilobytes */
  static Text whole;
  memset(&draft, 0, sizeof draft);
  memset(&whole, 0, sizeof whole);
  draft.random = random;
  uint32_t parts = 1 + random_below(random, 5);
  for (uint32_t k = 0; k < parts; k++)
    if (chance(&draft, 70)) add_block(&draft);
    else add_piece(&draft);
  disguise(&draft);
  put_model(&draft, &whole);
  return put_out(&whole, text, limit);
}

/* ---- mutation ---- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The word at or after a random place that `fits`; an empty span if there is none. */
static Span random_word(Random *random, const char *text, size_t size, bool (*fits)(const char *word, size_t length)) {
  size_t start = random_below(random, (uint32_t)size);
  for (size_t begin = start; begin < size; begin++) {
    if (!is_word(text[begin]) || (begin > 0 && is_word(text[begin - 1]))) continue;
    size_t end = begin;
    while (end < size && is_word(text[end])) end++;
    if (fits(text + begin, end - begin)) return (Span){begin, end};
  }
  return (Span){0, 0};
}

static bool is_number(const char *word, size_t length) { return length && isdigit((unsigned char)*word); }

/* Names of variables are a letter with a number, here and in most seeds. */
static bool is_name(const char *word, size_t length) {
  return length && length < 4 && isalpha((unsigned char)*word) &&
         (length == 1 || isdigit((unsigned char)word[length - 1]));
}

/* A statement: the text between two semicolons. */
static Span random_statement(Random *random, const char *text, size_t size) {
  size_t begin = random_below(random, (uint32_t)size);
  while (begin > 0 && text[begin - 1] != ';') begin--;
  size_t end = begin;
  while (end < size && text[end] != ';') end++;
  return (Span){begin, end < size ? end + 1 : size};
}

/* Collects the names of the text for inserted expressions. */
static void collect_names(Draft *draft, const char *text, size_t size) {
  for (uint32_t k = 0; k < 8 && size; k++) {
    Span span = random_word(draft->random, text, size, is_name);
    if (span.end > span.begin)
      snprintf(draft->names[draft->name_count++], sizeof draft->names[0], "%.*s", (int)(span.end - span.begin),
               text + span.begin);
  }
}

static size_t mutate_expression(Random *random, char *text, size_t size, size_t limit) {
  static Draft draft;
  static Text expression;
  memset(&draft, 0, sizeof draft);
  memset(&expression, 0, sizeof expression);
  draft.random = random;
  memset(draft.has_function, 1, sizeof draft.has_function);
  collect_names(&draft, text, size);
  Span span = random_word(random, text, size, random_below(random, 3) ? is_name : is_number);
  if (span.end == span.begin) return size;
  put(&expression, "(");
  put_expression(&draft, &expression, 1 + (int)random_below(random, 3));
  put(&expression, ")");
  return replace(text, size, limit, span, expression.data, expression.length);
}

static size_t mutate_name(Random *random, char *text, size_t size, size_t limit) {
  Span to = random_word(random, text, size, is_name), from = random_word(random, text, size, is_name);
  char name[16];
  size_t length = from.end - from.begin;
  if (to.end == to.begin || !length) return size;
  memcpy(name, text + from.begin, length);
  return replace(text, size, limit, to, name, length);
}

static size_t mutate_number(Random *random, char *text, size_t size, size_t limit) {
  static const char *const MORE[] = {"0", "1", "2", "3", "0.5", "1e-8", "1e8", "1e-300", "1e300", "7", "100", "0.05"};
  Span span = random_word(random, text, size, is_number);
  const char *number = PICK(random, MORE);
  return span.end > span.begin ? replace(text, size, limit, span, number, strlen(number)) : size;
}

/* Changes the choice of runs: the number in the comment on the first line. */
static size_t mutate_choice(Random *random, char *text, size_t size, size_t limit) {
  char line[32];
  int length = snprintf(line, sizeof line, "// %u\n", (unsigned)random_below(random, 1u << 30));
  const char *end = size > 2 && memcmp(text, "// ", 3) == 0 ? memchr(text, '\n', size) : NULL;
  return replace(text, size, limit, (Span){0, end ? (size_t)(end - text) + 1 : 0}, line, (size_t)length);
}

static size_t mutate_statement(Random *random, char *text, size_t size, size_t limit) {
  static char copy[SECTION];
  Span span = random_statement(random, text, size), other = random_statement(random, text, size);
  size_t length = span.end - span.begin;
  if (length > sizeof copy) return size;
  memcpy(copy, text + span.begin, length);
  switch (random_below(random, 3)) {
  case 0: return replace(text, size, limit, span, "", 0);
  case 1: return replace(text, size, limit, (Span){other.end, other.end}, copy, length);
  default: return replace(text, size, limit, other, copy, length);
  }
}

size_t mutate_model(Random *random, char *text, size_t size, size_t limit) {
  if (!size) return generate_model(random, text, limit);
  switch (random_below(random, 9)) {
  case 0: return mutate_number(random, text, size, limit);
  case 1:
  case 2: return mutate_name(random, text, size, limit);
  case 3: return mutate_statement(random, text, size, limit);
  case 4:
  case 5: return mutate_choice(random, text, size, limit);
  default: return mutate_expression(random, text, size, limit);
  }
}

size_t mutate_or_generate(size_t (*generate)(Random *, char *, size_t),
                          size_t (*mutate)(Random *, char *, size_t, size_t), unsigned seed, char *text, size_t size,
                          size_t limit) {
  Random random = {seed};
  if (limit > LONGEST_INPUT) limit = LONGEST_INPUT;
  if (size > limit) size = limit;
  size_t made = random_below(&random, 4) ? 0 : generate(&random, text, limit);
  if (made) return made;
  for (uint32_t k = random_below(&random, 3) + 1; k > 0; k--) size = mutate(&random, text, size, limit);
  return size;
}
