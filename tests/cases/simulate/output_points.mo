// Output points are as accurate as the ends of steps. Here a few steps of high order have many output points each.
// run: simulate --stop-time 20 --intervals 1000 --tolerance {1e-8,1e-10,1e-12} --solver {erk,radau}
// expect: report.steps < 150
// expect: x = cos(time) within 10*option.tolerance everywhere
model M
  Real x(start=1, fixed=true);
  Real v(start=0, fixed=true);
equation
  der(x) = v;
  der(v) = -x;
end M;
