// run: simulate --solver {auto,radau}
// expect: exit 6
// expect: report.singular.time = 1 within 1e-6
// expect: report.singular.rank = 1
// expect: says x + y = sin(time)
model M
  Real x(start = 1), y(start = 0), f, g, u, v;
equation
  der(x) = u;
  der(y) = v;
  der(u) = f + time*g - x;
  der(v) = f + g - y;
  x + y = sin(time);
  time*x + y = cos(time);
  annotation(experiment(StopTime = 2));
end M;
