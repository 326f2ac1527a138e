// run: simulate --solver {auto,radau}
// expect: exit 6
// expect: report.singular.time = 1 within 1e-6
// expect: report.singular.rank = 1
// expect: says sin(a) + sin(a + b) = 0
model M
  Real a(start = 0.2), b(start = 1.5), p, q, u, v;
equation
  der(a) = u;
  der(b) = v;
  der(u) = p;
  der(v) = q - 0.1*cos(b)*p;
  cos(a) + cos(a + b) = 1 + time;
  sin(a) + sin(a + b) = 0;
  annotation(experiment(StopTime = 2));
end M;
