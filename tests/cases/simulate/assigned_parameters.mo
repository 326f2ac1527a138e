// Initial algorithms determine Boolean, Integer and enumeration parameters, and the parameters that are bound to them.
// run: simulate --method {dummy,none}
// expect: y = 12
// expect: q = 1 at start
// expect: der(x) = -3 at start
// run: simulate
// expect: y = 12
// expect: q = 1 at start
// expect: der(x) = -3 at start
// run: simulate --override m=100
// expect: y = 104
// expect: q = 1 at start
// expect: der(x) = -3 at start
model M
  type C = enumeration(red, green);
  parameter Boolean b(fixed=false);
  parameter Integer n(fixed=false, start=1), m = 2*n;
  parameter Real r(fixed=false), g = if b then 3 else 5;
  parameter C c(fixed=false);
  Real x(start=1, fixed=true), y, q;
initial algorithm
  r := 2;
  n := if r > 1.5 then 4 else 7;
  b := false;
  if n > 3 then
    b := true;
  end if;
  c := C.green;
equation
  der(x) = -g*x;
  y = m + n;
  if b then
    q = x;
  else
    q = if c == C.red then 7 else -x;
  end if;
end M;
