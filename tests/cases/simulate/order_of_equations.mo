// Reordering equations and renaming variables changes the result by round-off only.
// run: simulate --stop-time 10 --tolerance 1e-10
// reference: files/other_order.mo simulate --stop-time 10 --tolerance 1e-10
// expect: x = reference.a within 1e-9 everywhere
// expect: size(report.pivots) = size(reference.report.pivots)
model M
  Real x(start=1, fixed=true);
  Real y(start=0);
  Real u(start=0, fixed=true);
  Real v(start=0);
  Real s;
equation
  der(x) = u;
  der(y) = v;
  der(u) = -s*x;
  der(v) = -s*y - 1;
  x^2 + y^2 = 1;
end M;
