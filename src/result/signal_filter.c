/* signal_filter: see signal_filter.h. */
#include "result/signal_filter.h"

#include "base/suggest.h"

#include <regex.h>
#include <string.h>

typedef struct FilterWord {
  const char *text;
  bool is_name;       /* the word is the name of a signal or of an array */
  regex_t expression; /* expression of a word that is not a name */
} FilterWord;

struct SignalFilter {
  Arena arena;
  VEC(FilterWord) words;
};

/* The C library's matcher is recursive in the nesting of the pattern. */
enum { PATTERN_LIMIT = 4096 };

static void free_expression(void *object) { regfree(object); }

/* The name itself, or an element of the array of that name. */
static bool is_named(const char *word, const char *name) {
  size_t length = strlen(word);
  return strncmp(word, name, length) == 0 && (name[length] == '\0' || name[length] == '[');
}

static bool is_any_named(const char *word, NameList names) {
  const char *name;
  for (uint32_t k = 0; (name = names.at(names.context, k)); k++)
    if (is_named(word, name)) return true;
  return false;
}

static bool is_match(const FilterWord *word, const char *name) {
  return word->is_name ? is_named(word->text, name) : regexec(&word->expression, name, 0, NULL, 0) == 0;
}

static bool compile(Diags *diags, regex_t *expression, const char *pattern, const char *shown) {
  int error = regcomp(expression, pattern, REG_EXTENDED | REG_NOSUB);
  if (!error) return true;
  char reason[128];
  regerror(error, expression, reason, sizeof reason);
  Diag *diag =
      diag_error(diags, DIAG_USAGE, (Span){0, 0}, "`%s` is neither a name nor a regular expression: %s", shown, reason);
  diag_note(diags, diag, (Span){0, 0}, "a POSIX extended regular expression for the whole name, such as `body\\..*|x`");
  return false;
}

/* Compiles the word by itself first: a stray parenthesis must not pair with those added here. */
static bool compile_word(Heap *heap, Arena *arena, Diags *diags, FilterWord *word) {
  if (strlen(word->text) > PATTERN_LIMIT) {
    diag_error(diags, DIAG_USAGE, (Span){0, 0}, "a regular expression for variables is longer than %d bytes",
               PATTERN_LIMIT);
    return false;
  }
  if (!compile(diags, &word->expression, word->text, word->text)) return false;
  regfree(&word->expression);
  if (!compile(diags, &word->expression, arena_printf(arena, "^(%s)$", word->text), word->text)) return false;
  heap_defer(heap, free_expression, &word->expression);
  return true;
}

/* kind: what the names name, for the message. */
static bool check_used(Diags *diags, const FilterWord *word, NameList names, const char *kind) {
  Suggestion best = {.word = word->text};
  const char *name;
  for (uint32_t k = 0; (name = names.at(names.context, k)); k++) {
    if (is_match(word, name)) return true;
    if (!best.nearest || strcmp(best.nearest, name) != 0)
      suggest_offer(&best, arena_copy(&diags->arena, name, strlen(name)));
  }
  Diag *diag =
      diag_error(diags, DIAG_NO_SUCH_VARIABLE, (Span){0, 0}, "no %s is named `%s` or matches it", kind, word->text);
  if (best.nearest) diag_note(diags, diag, (Span){0, 0}, "did you mean `%s`?", best.nearest);
  return false;
}

SignalFilter *signal_filter_new(Heap *heap, Diags *diags, const char *const *words, NameList names) {
  SignalFilter *filter = heap_alloc(heap, sizeof *filter);
  filter->arena = arena_make(heap);
  for (uint32_t k = 0; words[k]; k++)
    vec_push(heap, &filter->words, (FilterWord){.text = arena_copy(&filter->arena, words[k], strlen(words[k]))});
  for (uint32_t k = 0; k < filter->words.count; k++) {
    FilterWord *word = &filter->words.data[k];
    word->is_name = is_any_named(word->text, names);
    if (word->is_name) continue;
    if (!compile_word(heap, &filter->arena, diags, word) || !check_used(diags, word, names, "variable")) return NULL;
  }
  return filter;
}

bool signal_filter_check(const SignalFilter *filter, Diags *diags, NameList signals) {
  for (uint32_t k = 0; k < filter->words.count; k++)
    if (!check_used(diags, &filter->words.data[k], signals, "signal of the run")) return false;
  return true;
}

bool signal_filter_match(const SignalFilter *filter, const char *name) {
  for (uint32_t k = 0; k < filter->words.count; k++)
    if (is_match(&filter->words.data[k], name)) return true;
  return false;
}

bool signal_filter_names(const SignalFilter *filter, const char *name) {
  for (uint32_t k = 0; k < filter->words.count; k++)
    if (filter->words.data[k].is_name && is_named(filter->words.data[k].text, name)) return true;
  return false;
}
