// Its value is the mean of both modes, which is not a value of either.
// run: simulate -q --solver auto --tolerance 1e-6 --intervals 3 --stop-time 5
// expect: says nothing
// expect: report.events = 1
// expect: u = -0.5*cos(5) within 1e-6
// expect: w = -cos(5) within 1e-6
model M
  Real x(start = 1, fixed = true), u, w;
equation
  u = if x > 0 then -1 else 1;
  w = 2*u;
  der(x) = u + 0.5*cos(time);
end M;
