// run: simulate --stop-time 50 --tolerance 1e-9 --solver {auto,radau,bdf,ida}
// expect: largest(y) > 0.99
// expect: E = first(E) within 1e-5 everywhere
// expect: x^2 + y^2 = 1 within 1e-11 everywhere
// expect: size(report.pivots) > 10
model Turns
  Real x(start=0, fixed=true);
  Real y(start=-1);
  Real u(start=3, fixed=true);
  Real v(start=0);
  Real s;
  Real E;
equation
  der(x) = u;
  der(y) = v;
  der(u) = -s*x;
  der(v) = -s*y - 1;
  x^2 + y^2 = 1;
  E = (u^2 + v^2)/2 + y;
end Turns;
