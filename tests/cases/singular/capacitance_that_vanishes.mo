// run: simulate --solver {auto,radau}
// expect: exit 6
// expect: report.singular.time = 1 / 3 within 1e-6
// expect: report.singular.rank = 0
// expect: says v^2*der(v) = i
model M
  Real v(start = -1, fixed = true), i;
equation
  v^2*der(v) = i;
  i = 1;
  annotation(experiment(StopTime = 2));
end M;
