// run: simulate --solver {erk,radau,bdf} --stop-time 20
// expect: exit 6
// expect: report.singular.time = pi/2 within 1e-5
model M
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  x^2*der(y) = 1;
end M;
