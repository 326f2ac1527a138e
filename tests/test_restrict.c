/* The rules by which the language refuses models. From the text of a class: every pair of prefixes, every kind of class with
 * every prefix of a component and every section, and single rules. In a model: every kind of class as a base of every other;
 * final, protected and redeclared elements in every position; the results of names and imports; inner and outer. Each rule
 * has members that are refused and members that are accepted. */
#include "instance/load.h"
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

/* The first error of the last model of the text, with its first note; "" if it has none. */
static const char *first_error_of_model(const char *text) {
  static char message[600];
  Heap *heap = heap_new(NULL);
  Names names = names_make(heap);
  Diags diags = diags_make(heap);
  Source source = source_make(heap, "test.mo", text, (uint32_t)strlen(text));
  const Model *model = instance_load(heap, &names, &source, NULL, NULL, (LangOptions){.strict = true}, &diags);
  const Diag *error = diags.errors ? diags_first_error(&diags) : NULL;
  snprintf(message, sizeof message, "%s", error ? error->message : model ? "" : "no model, and no message");
  heap_destroy(heap);
  return message;
}

static void expect_model(const char *text, const char *said) {
  const char *message = first_error_of_model(text);
  if (*said ? strstr(message, said) != NULL : !*message) return;
  fail_msg("%s\n  says '%s', expected '%s'", text, message, said);
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
      expect(text, prefixes[i].group != prefixes[k].group, i == k ? "is written twice" : "");
    }
}

static void kinds_of_classes_restrict_components(void **state) {
  (void)state;
  static const char *const prefixes[] = {"",          "protected", "inner",    "outer", "flow",  "stream",
                                         "parameter", "constant",  "discrete", "input", "output"};
  static const struct {
    const char *kind, *allowed; /* one letter per prefix */
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
      {"record R Real x = time; end R;", "cannot use `time`"},
      {"connector C Real x = 2 * time; end C;", "cannot use `time`"},
      {"function f output Real y; algorithm y := time; end f;", "cannot use `time`"},
      {"function f input Real time; output Real y; algorithm y := time; end f;", ""},
      {"function f extends g; algorithm y := time; end f;", ""},
      {"function f input R.time t; output Real y = t.time; end f;", ""},
      {"model M model N Real y = time; end N; end M;", ""},
      {"package P model N Real y = time; end N; end P;", ""},
      {"function f input Real x; protected output Real y; end f;", ""}, /* a warning where it is used */
      {"function f input Real x; Real y; end f;", "neither input nor output"},
      {"function f input Real x; T y; end f;", ""},
      {"//! base 0.1.0\nfunction f input Real x; Real y; end f;", ""},
      {"function f algorithm algorithm end f;", "only one algorithm"},
      {"function f algorithm external \"C\"; end f;", "not both"},
      {"operator O model M end M; end O;", "only functions"},
      {"operator O function f end f; import A.B; end O;", ""},
      {"pure model M end M;", "cannot be `pure`"},
      {"pure impure function f end f;", "cannot be combined"},
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

/* ---- bases ---- */

/* The contents of a class of each kind as a base, and the use of a class D of that kind in a model. */
static const struct {
  const char *kind, *base, *use, *bases; /* the kinds that it can extend, by number */
} kinds[] = {
    {"model", "model B parameter Real x = 1; end B;", "D d;", "0126"},
    {"block", "block B parameter Real x = 1; end B;", "D d;", "126"},
    {"record", "record B parameter Real x = 1; end B;", "D d;", "26"},
    {"connector", "connector B parameter Real x = 1; end B;", "D d;", "236"},
    {"package", "package B constant Real x = 1; end B;", "Real y = D.x;", "46"},
    {"function", "function B input Real u; output Real y = u; algorithm end B;", "Real y = D(1);", "56"},
    {"class", NULL, "D d;", ""}, /* the contents of the class that it stands for */
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void kinds_of_classes_restrict_bases(void **state) {
  (void)state;
  static const char *const forms[] = {"%s model M %s D extends B; end D; %s end M;", "%s model M %s D = B(); %s end M;",
                                      "%s model M %s D = B; %s end M;"};
  static const char *const classes[KINDS] = {
      "class B parameter Real x = 1; end B;", "class B parameter Real x = 1; end B;",
      "class B parameter Real x = 1; end B;", "class B parameter Real x = 1; end B;",
      "class B constant Real x = 1; end B;",  "class B input Real u; output Real y = u; end B;"};
  for (size_t derived = 0; derived + 1 < KINDS; derived++)
    for (size_t base = 0; base < KINDS; base++)
      for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        char text[400];
        if (!kinds[base].base && form == 2) continue; /* another name for a class has the same kind */
        bool is_fine = strchr(kinds[derived].bases, (int)('0' + base)) != NULL;
        const char *contents = kinds[base].base ? kinds[base].base : classes[derived];
        snprintf(text, sizeof text, forms[form], contents, kinds[derived].kind, kinds[derived].use);
        expect_model(text, is_fine ? "" : "cannot extend");
      }
}

static void bases_stand_alone_or_are_fixed(void **state) {
  (void)state;
  static const char *const alone[] = {"model X = A[3];", "model X = A; ", "type X = Real;", "type X = Real[2];",
                                      "connector X = input Real;"};
  static const char *const beside[] = {"", "Real y = 2;", "extends A;", "equation assert(true, \"\");", "extends E;"};
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) {
      char text[400];
      bool is_simple = i != 1, is_empty = k == 0 || k == 4;
      snprintf(
          text, sizeof text,
          "model A Real x = 1; end A; partial class E end E; %s class B extends X; %s end B; model M B b%s; end M;",
          alone[i], beside[k],
          i == 2 || i == 4 ? " = 1"
          : i == 3         ? " = {1, 2}"
                           : "");
      if (i == 1 && k == 2) continue;
      expect_model(text, is_simple && !is_empty ? "must have no other elements" : "");
    }
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"model M replaceable model A Real x = 1; end A; extends A; end M;", "`A` is replaceable"},
      {"model M model A Real x = 1; end A; extends A; end M;", ""},
      {"model B Real x = 1; end B; model M replaceable model A = B; extends A; end M;", "`A` is replaceable"},
      {"package P replaceable model A Real x = 1; end A; end P; model M extends P.A; end M;", "`A` is replaceable"},
      {"package P model A Real x = 1; end A; end P; model M extends P.A; end M;", ""},
      {"package P replaceable package Q model A Real x = 1; end A; end Q; end P; model M extends P.Q.A; end M;",
       "`Q` is replaceable"},
      {"package P replaceable model A Real x = 1; end A; model M A a; end M; end P;", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_model(cases[i].text, cases[i].said);
}

/* ---- modifications ---- */

static void final_elements_are_not_modified(void **state) {
  (void)state;
  static const char *const inner[] = {"model A parameter Real p = 1; parameter Real q = 1; end A; model B %s; end B;",
                                      "record A parameter Real p = 1; parameter Real q = 1; end A; model B %s; end B;"};
  static const char *const made[] = {"A a(final p = 2)", "final A a(p = 2)", "extends A(final p = 2)",
                                     "A a(p(final start = 2))"};
  static const char *const changes[] = {"B b(a(p = 3));", "B b(a(p = 3));", "B b(p = 3);", "B b(a(p(start = 3)));"};
  static const char *const others[] = {"B b(a(q = 3));", "B b;", "B b(q = 3);", "B b(a(p = 3));"};
  for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
    for (size_t k = 0; k < sizeof made / sizeof *made; k++)
      for (int outer = 0; outer < 2; outer++) {
        char classes[200], text[400];
        snprintf(classes, sizeof classes, inner[i], made[k]);
        snprintf(text, sizeof text, "%s model M %s end M;", classes, outer ? others[k] : changes[k]);
        expect_model(text, outer ? "" : "is final");
      }
}

static void protected_elements_are_not_reached(void **state) {
  (void)state;
  static const struct {
    const char *element, *change,
        *inherited; /* change: the effect of a modifier on the element; inherited: the effect of an accepted modifier in an extends clause */
  } elements[] = {
      {"parameter Real x = 1;", "x = 2", "x = 2"},
      {"C c;", "c(x = 2)", "c(x = 2)"},
      {"replaceable C c;", "redeclare D c", "redeclare D c"},
      {"replaceable model K = C; K c;", "redeclare model K = D", "redeclare model K = D"},
  };
  static const char *const classes = "model C parameter Real x = 1; end C; model D parameter Real x = 3, y = 4; end D;";
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
    for (int is_public = 0; is_public < 2; is_public++) {
      char text[500];
      snprintf(text, sizeof text, "%s model A %s %s end A; model M A a(%s); end M;", classes,
               is_public ? "" : "protected", elements[i].element, elements[i].change);
      expect_model(text, is_public ? "" : "is protected");
      snprintf(text, sizeof text, "%s model A %s %s end A; model M extends A(%s); end M;", classes,
               is_public ? "" : "protected", elements[i].element, elements[i].inherited);
      expect_model(text, "");
    }
  static const struct {
    const char *element, *use;
  } names[] = {
      {"constant Real c = 1;", "Real y = P.c;"},
      {"package Q constant Real c = 1; end Q;", "Real y = P.Q.c;"},
      {"model A Real x = 1; end A;", "P.A a;"},
      {"model A Real x = 1; end A;", "extends P.A;"},
      {"function f input Real u; output Real y = u; algorithm end f;", "Real y = P.f(1);"},
      {"constant Real c = 1;", "import P.c; Real y = c;"},
      {"constant Real c = 1;", "import d = P.c; Real y = d;"},
      {"model A Real x = 1; end A;", "import P.{A}; A a;"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int is_public = 0; is_public < 2; is_public++) {
      char text[400];
      snprintf(text, sizeof text, "package P %s %s end P; model M %s end M;", is_public ? "" : "protected",
               names[i].element, names[i].use);
      expect_model(text, is_public ? "" : "is protected");
    }
}

/* ---- names ---- */

static void names_find_what_they_may(void **state) {
  (void)state;
  static const struct {
    const char *text, *said;
  } cases[] = {
      /* partial classes */
      {"partial package P constant Real c = 1; end P; model M Real x = P.c; end M;", "`P` is partial"},
      {"partial package P model A Real x = 1; end A; end P; model M P.A a; end M;", "`P` is partial"},
      {"partial package P constant Real c = 1; end P; package Q extends P; end Q; model M Real x = Q.c; end M;", ""},
      {"partial record R Real x = 1; end R; model M R r; end M;", "partial class"},
      {"partial record R Real x = 1; end R; record S extends R; end S; model M S r; end M;", ""},
      /* classes that are not packages */
      {"model A Real x = 1; model B Real y = 2; end B; end A; model M A.B b; end M;", "which is not a package"},
      {"model A Real x = 1; encapsulated model B Real y = 2; end B; end A; model M A.B b; end M;", ""},
      {"model A constant Real c = 1; model B Real y = 2; end B; end A; model M A.B b; Real z = A.c; end M;", ""},
      {"model A constant Real c = 1; Real x = 2; end A; model M Real z = A.c; A a; end M;", "which is not a package"},
      {"model A constant Real c = 1; equation assert(true, \"\"); end A; model M Real z = A.c; A a; end M;",
       "which is not a package"},
      /* classes of components */
      {"model A model B Real y = 2; end B; end A; model M A a; a.B b; end M;", "cannot be looked up in a component"},
      {"model A function f input Real u; output Real y = u; algorithm end f; end A; model M A a; Real x = a.f(2); end "
       "M;",
       ""},
      {"model A function f input Real u; output Real y = u; algorithm end f; end A; model M A a[2]; Real x = a.f(2); "
       "end M;",
       "`a` is an array"},
      {"model A function f input Real u; output Real y = u; algorithm end f; end A; model M A a; function g = a.f; "
       "Real "
       "x = g(2); end M;",
       "cannot be looked up in a component"},
      {"model A protected function f input Real u; output Real y = u; algorithm end f; end A; model M A a; Real x = "
       "a.f(2); end M;",
       "is protected"},
      /* variables around */
      {"model M Real x = 1; model A Real y = x; end A; A a; end M;", "is not a constant"},
      {"model M parameter Real x = 1; model A Real y = x; end A; A a; end M;", "is not a constant"},
      {"model M constant Real x = 1; model A Real y = x; end A; A a; end M;", ""},
      {"model M parameter Real p = 1; function f input Real u; output Real y = p*u; algorithm end f; Real x = f(2); "
       "end "
       "M;",
       "`p` is not declared"},
      {"model M Real x = 1; model A Real y; end A; A a(y = x); end M;", ""},
      {"model M Real x = 1; model A Real y; end A; model B = A(y = 2); B b(y = x); end M;", ""},
      /* imports */
      {"package P constant Real c = 1; end P; model M import P.c; import c = P.c; Real x = c; end M;",
       "imported twice"},
      {"package P constant Real c = 1; constant Real d = 2; end P; model M import P.c; import e = P.d; Real x = c + e; "
       "end M;",
       ""},
      {"package P constant Real c = 1; end P; package Q constant Real c = 2; end Q; model M import P.*; import Q.*; "
       "Real "
       "x = c; end M;",
       "is imported both as"},
      {"package P constant Real c = 1; constant Real d = 3; end P; package Q constant Real c = 2; end Q; model M "
       "import "
       "P.*; import Q.*; Real x = d; end M;",
       ""},
      {"package P constant Real c = 1; protected constant Real d = 3; end P; model M import P.*; Real x = d; end M;",
       "is not declared"},
      {"model A model B Real x = 1; end B; end A; model M import A.*; B b; end M;", "is not a package"},
      {"model A model B Real x = 1; end B; end A; model M import A.B; B b; end M;", "which is not a package"},
      {"model A package B constant Real x = 1; end B; end A; model M import A.B; Real y = B.x; end M;", ""},
      {"model A Real x = 1; end A; model M import B = A; B b; end M;", ""},
      /* modifiers that set the same element twice */
      {"model A parameter Real p = 1; end A; model M A a(p = 2, p = 3); end M;", "`p` is modified twice"},
      {"model A parameter Real p = 1; end A; model B A a; end B; model M B b(a.p = 2, a.p = 3); end M;",
       "`a.p` is modified twice"},
      {"model A parameter Real p = 1; end A; model M A a(p = 2, p(start = 3)); end M;", ""},
      {"model A parameter Real p = 1, q = 2; end A; model B A a; end B; model M B b(a.p = 2, a.q = 3); end M;", ""},
      {"model M Real x = 1 annotation(Line(c = 1, c = 2)); model A end A; A a; end M;", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_model(cases[i].text, cases[i].said);
}

/* ---- redeclarations ---- */

/* Each way to redeclare an element of A in a class that extends or contains it. */
static void redeclarations_keep_what_is_promised(void **state) {
  (void)state;
  static const struct {
    const char *element;       /* element of A, with prefixes in front */
    const char *same, *narrow; /* its redeclaration by a subtype, and by another type */
  } elements[] = {
      {"%s C c%s;", "redeclare D c", "redeclare N c"},
      {"%s model K = C%s; K c;", "redeclare model K = D", "redeclare model K = N"},
      {"%s Real c = 1%s;", "redeclare Length c", "redeclare Boolean c"},
      {"%s function K = f%s; Real c = K(1);", "redeclare function K = g", "redeclare function K = h"},
  };
  static const char *const constraints[] = {" constrainedby C", " constrainedby C", " constrainedby Real",
                                            " constrainedby f"};
  static const char *const classes =
      "model C Real x = 1; end C; model D Real x = 3, y = 4; end D; model N Real z = 1; end N; type Length = Real(unit "
      "= "
      "\"m\"); function f input Real u; output Real y = u; algorithm end f; function g input Real u; input Real v = 1; "
      "output Real y = u*v; algorithm end g; function h input Real w; output Real y = w; algorithm end h;";
  static const struct {
    const char *prefixes, *said;
    bool is_wide; /* other types no longer fit */
  } prefixes[] = {
      {"replaceable", "", false}, {"", "it is not replaceable", true}, {"final replaceable", "it is final", true}};
  static const char *const ways[] = {"model M A a(%s); end M;", "model M extends A(%s); end M;",
                                     "model B extends A; end B; model M B b(%s); end M;"};
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
      for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (int has_constraint = 0; has_constraint < 2; has_constraint++) {
          char a[200], way[200], text[1000];
          if (has_constraint && p == 1) continue; /* only replaceable elements have a constraining clause */
          snprintf(a, sizeof a, elements[i].element, prefixes[p].prefixes, has_constraint ? constraints[i] : "");
          snprintf(way, sizeof way, ways[w], elements[i].same);
          snprintf(text, sizeof text, "%s model A %s end A; %s", classes, a, way);
          bool is_unchanged = i == 2 && p == 1; /* Real as Length */
          expect_model(text, is_unchanged ? "not replaceable" : prefixes[p].said);
          snprintf(way, sizeof way, ways[w], elements[i].narrow);
          snprintf(text, sizeof text, "%s model A %s end A; %s", classes, a, way);
          expect_model(text, prefixes[p].is_wide ? prefixes[p].said : "is not a subtype of");
        }
}

static void single_redeclarations(void **state) {
  (void)state;
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"model A replaceable constant Real c = 1; end A; model M A a(redeclare Real c = 2); end M;", "it is a constant"},
      {"model A replaceable parameter Real c = 1; end A; model M A a(redeclare Real c = 2); end M;", ""},
      {"model A protected replaceable Real c = 1; end A; model M extends A; redeclare Real c = 2; end M;",
       "cannot become public"},
      {"model A replaceable Real c = 1; end A; model M extends A; protected redeclare Real c = 2; end M;",
       "cannot become protected"},
      {"model A protected replaceable Real c = 1; end A; model M extends A; protected redeclare Real c = 2; end M;",
       ""},
      {"model A replaceable Real c = 1; end A; model M extends A; redeclare Real c = 2; end M;", ""},
      {"model A parameter Integer n = 1; Real c[n] = ones(n); end A; model M A a(redeclare Real c[2] = {1, 2}); end M;",
       ""},
      {"model C Real x = 1; end C; model A replaceable C c; end A; model B extends A(redeclare C c); end B; model M "
       "extends B(redeclare replaceable C c); end M;",
       ""},
      {"model C Real x = 1; end C; model D Real x = 1; end D; model A replaceable C c; end A; model B extends "
       "A(redeclare D c); end B; model M extends B(redeclare C c); end M;",
       "it is not replaceable"},
      {"model C Real x = 1; end C; model D Real x = 1; end D; model A replaceable C c; end A; model B extends "
       "A(redeclare replaceable D c); end B; model M extends B; redeclare C c; end M;",
       ""},
      {"model C Real x = 1; end C; model D Real x = 1, y = 2; end D; model M replaceable C c constrainedby D; end M;",
       "has no public component `y`"},
      {"model C Real x = 1; end C; model D Real x = 1, y = 2; end D; model M replaceable D c constrainedby C; end M;",
       ""},
      {"model C Real x = 1; end C; model D Real x = 1, y = 2; end D; model A replaceable D c constrainedby D; end A; "
       "model M A a(redeclare replaceable D c constrainedby C); end M;",
       "the constraining type"},
      {"type V = Real[3]; type W = Real[2, 3]; model M replaceable V x[2] = {{1, 2, 3}, {4, 5, 6}} constrainedby W; "
       "end "
       "M;",
       "1 dimension, not"},
      {"type V = Real[3]; type W = Real[3]; model M replaceable V x[2] = {{1, 2, 3}, {4, 5, 6}} constrainedby W; end "
       "M;",
       ""},
      {"model A model B Real x = 1; end B; end A; model M extends A; redeclare model extends B Real y = 2; end B; B b; "
       "end M;",
       "it is not replaceable"},
      {"model A replaceable model B Real x = 1; end B; end A; model M extends A; redeclare model extends B Real y = 2; "
       "end B; B b; end M;",
       ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_model(cases[i].text, cases[i].said);
}

/* ---- inner and outer ---- */

static void inner_components_fit_outer_ones(void **state) {
  (void)state;
  static const struct {
    const char *inner, *outer, *use, *said;
  } cases[] = {
      {"Real p = 1;", "Real p;", "p", ""},
      {"Real p = 1;", "Integer p;", "p", "is not a subtype"},
      {"Real p[2] = {1, 2};", "Real p[2];", "p[1]", ""},
      {"Real p[2] = {1, 2};", "Real p;", "1", "1 dimension, not"},
      {"Real p[2] = {1, 2};", "Real p[3];", "p[1]", "has size 3"},
      {"Real p[2] = {1, 2};", "Real p[:];", "p[1]", ""},
      {"E p = E.one;", "E p;", "1", ""},
      {"E p = E.one;", "F p;", "1", "has other literals"},
      {"S p;", "R p;", "p.x", ""},
      {"S p;", "R p;", "p.y", "there is no `y`"},
      {"R p;", "S p;", "p.x", "has no public component `y`"},
      {"Real p = 1;", "Real p = 2;", "p", "cannot be modified"},
      {"Real p = 1;", "Real p(unit = \"m\");", "p", "cannot be modified"},
  };
  static const char *const classes =
      "type E = enumeration(one, two); type F = enumeration(two, three); record R Real x = "
      "1; end R; record S Real x = 1; Real y = 2; end S;";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[500];
    snprintf(text, sizeof text, "%s model A outer %s Real z = %s; end A; model M inner %s A a; end M;", classes,
             cases[i].outer, cases[i].use, cases[i].inner);
    expect_model(text, cases[i].said);
  }
  expect_model("model A outer Real p; end A; model M inner Real p = 1; A a(p = 2); end M;", "cannot be modified");
}

/* ---- single rules of whens and constructors ---- */

static void whens_and_constructors(void **state) {
  (void)state;
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"model M discrete Real x = 1; end M;", "must be assigned in a when"},
      {"model M discrete Real x; equation x = 2; end M;", "must be assigned in a when"},
      {"model M discrete Real x(start = 0, fixed = true); equation when sample(0, 1) then x = 2; end when; end M;", ""},
      {"model M discrete Real x(start = 0, fixed = true), y; equation when sample(0, 1) then x = 2; end when; y = x; "
       "end M;",
       ""},
      {"model A discrete Real x(start = 0, fixed = true); end A; model M A a; equation when sample(0, 1) then a.x = 2; "
       "end "
       "when; end M;",
       "component of a model: `a`"},
      {"block A discrete Real x(start = 0, fixed = true); end A; model M A a; algorithm when sample(0, 1) then a.x := "
       "2; "
       "end when; end M;",
       "component of a block: `a`"},
      {"record A discrete Real x(start = 0, fixed = true); end A; model M A a; equation when sample(0, 1) then a.x = "
       "2; "
       "end when; end M;",
       ""},
      {"operator record R Real x; encapsulated operator 'constructor' function f import R; input Real u; output R r = "
       "R(u); "
       "algorithm end f; end 'constructor'; end R; model M R r(x = 1); end M;",
       ""},
      {"operator record R Real x; encapsulated operator 'constructor' function f import R; input Real u; output R r; "
       "output "
       "R s; algorithm end f; end 'constructor'; end R; model M R r = R(1); end M;",
       "must have one output"},
      {"operator record R Real x; encapsulated operator 'constructor' function f input Real u; output Real r = u; "
       "algorithm "
       "end f; end 'constructor'; end R; model M R r = R(1); end M;",
       "must have one output"},
      {"operator record R Real x; encapsulated operator 'constructor' function f import R; input String u; output R "
       "r(x = 1); "
       "algorithm end f; function g import R; input String v; output R r(x = 2); algorithm end g; end 'constructor'; "
       "end R; "
       "model M R r = R(\"a\"); end M;",
       "take the same inputs"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_model(cases[i].text, cases[i].said);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prefixes_exclude_each_other),
      cmocka_unit_test(kinds_of_classes_restrict_components),
      cmocka_unit_test(kinds_of_classes_restrict_sections),
      cmocka_unit_test(single_rules_hold),
      cmocka_unit_test(kinds_of_classes_restrict_bases),
      cmocka_unit_test(bases_stand_alone_or_are_fixed),
      cmocka_unit_test(final_elements_are_not_modified),
      cmocka_unit_test(protected_elements_are_not_reached),
      cmocka_unit_test(names_find_what_they_may),
      cmocka_unit_test(redeclarations_keep_what_is_promised),
      cmocka_unit_test(single_redeclarations),
      cmocka_unit_test(inner_components_fit_outer_ones),
      cmocka_unit_test(whens_and_constructors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
