/* libFuzzer target: a generated model with the files of the library that it uses, by the pipeline. The library has packages
 * in packages, base classes, replaceable and conditional parts, connectors, constants, records and functions; words and
 * statements of all files change. */
#include "generate.h"
#include "text.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static void put_package(Random *random, Text *text) {
  put(text, "//@ L/package.mo\nwithin;\npackage L\n  constant Real k = %u;\n  constant Integer n = %u;\n",
      (unsigned)random_below(random, 5), (unsigned)(1 + random_below(random, 3)));
  if (random_below(random, 2)) put(text, "  record R Real a = 1; Real b = k; end R;\n");
  else put(text, "  record R parameter Real a = 2; parameter Real b = 3*k; end R;\n");
  put(text, "  type E = enumeration(off, on);\nend L;\n");
}

/* L.F: functions; L.P: connectors and the parts that have them. */
static void put_functions(Random *random, Text *text) {
  static const char *const BODIES[] = {"y := L.k*u;", "y := if u > 0.5 then u else L.k;",
                                       "y := 0; for i in 1:L.n loop y := y + u/i; end for;", "y := F.g(u, L.k);"};
  put(text,
      "//@ L/F.mo\nwithin L;\npackage F\n  function g input Real a; input Real b = 2; output Real c; algorithm c := a "
      "+ "
      "b*sin(a); end g;\n  function f input Real u; output Real y; algorithm %s end f;\nend F;\n",
      PICK(random, BODIES));
}

static void put_parts(Random *random, Text *text) {
  static const char *const BASES[] = {"  parameter Real c = 1;\n", "  parameter Real c = L.k + 1;\n",
                                      "  parameter L.R r; parameter Real c = r.a + 1;\n"};
  static const char *const STATES[] = {"c*der(x) = p.i;", "c*der(x) = p.i - x; ", "c*x = p.i;", "der(x) = L.F.f(p.i);"};
  put(text,
      "//@ L/P/package.mo\nwithin L;\npackage P\n  connector C Real v; flow Real i; end C;\n"
      "  partial model One C p; Real x(start = %u, fixed = false);\n%s  end One;\nend P;\n",
      (unsigned)random_below(random, 3), PICK(random, BASES));
  put(text, "//@ L/P/A.mo\nwithin L.P;\nmodel A \"part\"\n  extends One%s;\nequation\n  %s\n  p.v = x;\nend A;\n",
      random_below(random, 2) ? "" : "(c = 3)", PICK(random, STATES));
  put(text,
      "//@ L/P/B.mo\nwithin L.P;\nmodel B\n  import F = L.F;\n  extends One;\n  parameter Boolean on = %s;\n"
      "  A a[L.n] if on;\nequation\n  x = F.f(p.v);\n  p.i = x*c;\n  for i in 1:L.n loop connect(a[i].p, q[i]); end "
      "for;\n"
      "protected\n  C q[L.n];\nend B;\n",
      random_below(random, 2) ? "true" : "false");
}

static size_t generate_library(Random *random, char *text, size_t limit) {
  static const char *const LOADS[] = {"L.P.A", "A", "P.B", "L.P.A(c = 2)", "P.A(x(start = 5))"};
  static Text whole;
  memset(&whole, 0, sizeof whole);
  put(&whole, "// %u\nmodel M\n  import L.P.*;\n  import L.P;\n", (unsigned)random_below(random, 1u << 30));
  put(&whole, "  replaceable model Load = %s;\n  Load a;\n  %s b%s;\n", PICK(random, LOADS), PICK(random, LOADS),
      random_below(random, 2) ? "" : "(c = 2)");
  put(&whole, "  L.E e = if time > 0.05 then L.E.on else L.E.off;\n  Real y = L.F.g(%s);\n",
      random_below(random, 2) ? "time" : "a.x, b.x");
  put(&whole, "equation\n  %s\n", random_below(random, 2) ? "connect(a.p, b.p);" : "a.p.v = time;");
  put(&whole, "%send M;\n", random_below(random, 2) ? "" : "  annotation(uses(L(version = \"1\")));\n");
  put_package(random, &whole);
  put_functions(random, &whole);
  put_parts(random, &whole);
  return put_out(&whole, text, limit);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  return mutate_or_generate(generate_library, mutate_model, seed, (char *)data, size, max_size);
}
