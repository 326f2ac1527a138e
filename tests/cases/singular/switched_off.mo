// After the event the equations determine other variables than before it.
// run: simulate --solver {auto,radau}
// expect: exit 6
// expect: report.singular.time = 1 within 1e-6
// expect: report.singular.rank = 0
// expect: says der(x) = 1
model M
  Real x(start = 0, fixed = true);
  equation (if time < 1 then 1 else 0)*der(x) + x = 1;
  annotation(experiment(StopTime = 2));
end M;
