// Functions that come with C text are compiled with --allow-external: static ones, those that call back, external objects. Without
// leave the message says so.
// run: simulate --allow-external
// expect: x[3] = 8 within 1e-12
// expect: v = 11 within 1e-12
// expect: w = 1
// expect: says the model prints: an open line
// run: simulate --allow-external --override limit=0.7
// expect: exit 5
// expect: says external function `my_checked`: x is 0.7
// run: check --allow-external
// change: return 2*x; -> return 2*x
// expect: exit 3
// expect: says external functions cannot be compiled: the C compiler `cc` failed
// run: simulate
// change: n = integer(twice(1.5)) -> n = 3
// expect: exit 3
// expect: says --allow-external compiles its C text
package P
  function twice
    input Real x;
    output Real y;
    external "C" y = my_twice(x) annotation(Include = "static double my_twice(double x) { return 2*x; }");
  end twice;
  function checked
    input Real x;
    output Real y;
    external "C" y = my_checked(x) annotation(Include = "#include \"ModelicaUtilities.h\"
static double my_checked(double x) { if (x > 0.5) ModelicaFormatError(\"x is %g\", x);
  ModelicaMessage(\"an open line\"); return x; }");
  end checked;
  function joined
    input String a;
    output String b;
    external "C" b = my_join(a) annotation(Include = "#include \"ModelicaUtilities.h\"
#include <string.h>
const char *my_join(const char *a) { char *r = ModelicaAllocateString(strlen(a) + 1); strcpy(r, a); strcat(r, \"!\"); return r; }");
  end joined;
  class Counter
    extends ExternalObject;
    function constructor
      input Real first;
      output Counter c;
      external "C" c = counter_new(first) annotation(Include = "#include <stdlib.h>
static void *counter_new(double first) { double *p = malloc(sizeof *p); *p = first; return p; }
static void counter_free(void *p) { free(p); }
static double counter_value(void *p, double t) { return *(double *)p + t; }");
    end constructor;
    function destructor
      input Counter c;
      external "C" counter_free(c) annotation(Include = "#include <stdlib.h>
static void *counter_new(double first) { double *p = malloc(sizeof *p); *p = first; return p; }
static void counter_free(void *p) { free(p); }
static double counter_value(void *p, double t) { return *(double *)p + t; }");
    end destructor;
  end Counter;
  function value
    input Counter c;
    input Real t;
    output Real y;
    external "C" y = counter_value(c, t) annotation(Include = "#include <stdlib.h>
static void *counter_new(double first) { double *p = malloc(sizeof *p); *p = first; return p; }
static void counter_free(void *p) { free(p); }
static double counter_value(void *p, double t) { return *(double *)p + t; }");
  end value;
  model M
    parameter Integer n = integer(twice(1.5));
    Real x[n];
    Counter c = Counter(10);
    Real v = value(c, time);
    parameter Boolean fits = joined("a") == "a!";
    Real w = if fits then 1 else 0;
    parameter Real limit = 0.4;
    Real z = checked(limit);
  equation
    for i in 1:n loop x[i] = twice(time + i); end for;
  end M;
end P;
