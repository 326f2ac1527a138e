// run: simulate
// expect: exit 5
// expect: says x^2 + y^2 = 1
// expect: report.status = "init"
model M
  Real x(start=0.6, fixed=true);
  Real y(start=0.7, fixed=true);
  Real u(start=0, fixed=true);
  Real v, s;
equation
  der(x) = u;
  der(y) = v;
  der(u) = -s*x;
  der(v) = -s*y - 1;
  x^2 + y^2 = 1;
end M;
