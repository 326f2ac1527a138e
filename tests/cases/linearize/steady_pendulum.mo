// run: steady -q --by {newton,homotopy,integration}
// expect: sin(report.values.x) = 0.25 within 1e-9
// expect: report.values.v = 0
// expect: report.stability = ("stable" if cos(report.values.x) > 0 else "unstable")
// expect: report.isolated
// run: steady -q
// expect: sin(report.values.x) = 0.25 within 1e-9
// expect: report.values.v = 0
// expect: report.stability = ("stable" if cos(report.values.x) > 0 else "unstable")
// expect: report.isolated
model M
  Real x(start = 3, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -2*sin(x) - 0.7*v + 0.5;
end M;
