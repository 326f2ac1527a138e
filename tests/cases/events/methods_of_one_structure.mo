// A string that becomes taut: the method is refused before the run, and the message says why.
// run: simulate {-v,-q} --solver auto --tolerance 1e-6 --intervals 3 --stop-time 1 --method overdetermined
// expect: exit 2
// expect: says method overdetermined cannot follow equations that change at events, where taut changes
model M
  Real x(start = 0.5, fixed = true), y(start = 0, fixed = true), u(start = 0, fixed = true), v(start = 0, fixed = true), f;
  Boolean taut(start = false, fixed = true);
equation
  der(x) = u;
  der(y) = v;
  der(u) = -f*x;
  der(v) = -f*y - 9.81;
  taut = pre(taut) or x^2 + y^2 > 1;
  0 = if taut then x^2 + y^2 - 1 else f;
end M;
