/* What the language refuses by the text of a class alone: every pair of prefixes, every kind of class with every prefix
 * of a component and every section, and single rules. */
#include "syntax/parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The first error of the text; "" if it has none. It is valid until the next call. */
static const char *first_error(const char *text) {
  static char message[300];
  Heap *heap = heap_new(NULL);
  Names names = names_make(heap);
  Diags diags = diags_make(heap);
  Source source = source_make(heap, "test.mo", text, (uint32_t)strlen(text));
  parse(heap, &names, &source, &diags);
  snprintf(message, sizeof message, "%s", diags.errors ? diags.list.data[0].message : "");
  heap_destroy(heap);
  return message;
}

static void expect(const char *text, bool is_fine, const char *said) {
  const char *message = first_error(text);
  if ((*message == '\0') == is_fine && strstr(message, said)) return;
  fail_msg("%s\n  says '%s', expected '%s'", text, message, is_fine ? "" : said);
}

static void prefixes_exclude_each_other(void **state) {
  (void)state;
  static const struct {
    const char *word;
    int group;
  } prefixes[] = {{"flow", 1},     {"stream", 1}, {"discrete", 2}, {"parameter", 2},
                  {"constant", 2}, {"input", 3},  {"output", 3},   {"final", 4}};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
      char text[200];
      snprintf(text, sizeof text, "model M %s %s Real x; end M;", prefixes[i].word, prefixes[k].word);
      expect(text, prefixes[i].group != prefixes[k].group, i == k ? "stands here twice" : "");
    }
}

static void kinds_of_classes_restrict_components(void **state) {
  (void)state;
  static const char *const prefixes[] = {"",          "protected", "inner",    "outer", "flow",  "stream",
                                         "parameter", "constant",  "discrete", "input", "output"};
  static const struct {
    const char *kind, *allowed; /* one letter a prefix */
  } kinds[] = {{"model", "yyyyyyyyyyy"},    {"block", "yyyyyyyyyyy"},     {"class", "yyyyyyyyyyy"},
               {"record", "ynnnnnyyynn"},   {"connector", "ynnnyyyyyyy"}, {"package", "nnnnnnnynnn"},
               {"function", "nynnnnyynyy"}, {"type", "nnnnnnnnnnn"},      {"operator", "nnnnnnnnnnn"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
      char text[200];
      snprintf(text, sizeof text, "%s M %s Real x; end M;", kinds[i].kind, prefixes[k]);
      expect(text, kinds[i].allowed[k] == 'y', "");
    }
}

static void kinds_of_classes_restrict_sections(void **state) {
  (void)state;
  static const char *const sections[] = {"equation", "algorithm", "initial equation", "initial algorithm",
                                         "external \"C\" ;"};
  static const struct {
    const char *kind, *allowed;
  } kinds[] = {{"model", "yyyyn"},    {"block", "yyyyn"},     {"class", "yyyyn"},
               {"record", "nnnnn"},   {"connector", "nnnnn"}, {"package", "nnnnn"},
               {"function", "nynny"}, {"type", "nnnnn"},      {"operator", "nnnnn"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t k = 0; k < sizeof sections / sizeof *sections; k++) {
      char text[200];
      snprintf(text, sizeof text, "%s M %s end M;", kinds[i].kind, sections[k]);
      expect(text, kinds[i].allowed[k] == 'y', "");
    }
}

static void single_rules_hold(void **state) {
  (void)state;
  static const struct {
    const char *text, *said; /* "": it is fine */
  } cases[] = {
      {"model M Real x; model x end x; end M;", "`x` is declared twice"},
      {"model M Real x, y, x; end M;", "`x` is declared twice"},
      {"model M A A; end M;", "has the name of its type"},
      {"model M B.A A; end M;", ""},
      {"model M Integer Real; end M;", "is a type of the language"},
      {"model M Integer 'Real'; end M;", ""},
      {"model String end String;", "is a type of the language"},
      {"package P model Boolean end Boolean; end P;", "is a type of the language"},
      {"package P type Integer = Real; end P;", "is a type of the language"},
      {"type E = enumeration(a, min);", "`min` is an attribute"},
      {"type E = enumeration(a, 'min');", ""},
      {"record R Real x = time; end R;", "does not know the `time`"},
      {"connector C Real x = 2 * time; end C;", "does not know the `time`"},
      {"function f output Real y; algorithm y := time; end f;", "does not know the `time`"},
      {"function f input Real time; output Real y; algorithm y := time; end f;", ""},
      {"function f extends g; algorithm y := time; end f;", ""},
      {"function f input R.time t; output Real y = t.time; end f;", ""},
      {"model M model N Real y = time; end N; end M;", ""},
      {"package P model N Real y = time; end N; end P;", ""},
      {"function f input Real x; protected output Real y; end f;", "cannot be protected"},
      {"function f input Real x; Real y; end f;", "neither input nor output"},
      {"function f input Real x; T y; end f;", ""},
      {"//! base 0.1.0\nfunction f input Real x; Real y; end f;", ""},
      {"function f algorithm algorithm end f;", "one algorithm only"},
      {"function f algorithm external \"C\"; end f;", "not both"},
      {"operator O model M end M; end O;", "functions only"},
      {"operator O function f end f; import A.B; end O;", ""},
      {"pure model M end M;", "cannot be `pure`"},
      {"pure impure function f end f;", "exclude each other"},
      {"expandable model M end M;", "cannot be `expandable`"},
      {"expandable connector C end C;", ""},
      {"model M input model N end N; end M;", "cannot be `input`"},
      {"model M partial Real x; end M;", "a component cannot be `partial`"},
      {"model M replaceable extends N; end M;", "an extends clause cannot be `replaceable`"},
      {"model M final import A.B; end M;", "an import clause cannot be `final`"},
      {"model M protected import A.B; extends C; end M;", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(cases[i].text, !*cases[i].said, cases[i].said);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prefixes_exclude_each_other),
      cmocka_unit_test(kinds_of_classes_restrict_components),
      cmocka_unit_test(kinds_of_classes_restrict_sections),
      cmocka_unit_test(single_rules_hold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
