// A stiff model: the run changes to radau, which bdf checks.
// run: simulate --verify --tolerance 1e-6
// expect: report.solver = "radau"
// expect: report.verify.solver = "bdf"
// expect: report.verify.status = "ok"
// expect: report.verify.digits > 4
model Stiff
  Real x(start = 0, fixed = true), y(start = 1, fixed = true);
equation
  der(x) = -1e5*(x - cos(y));
  der(y) = -y*x;
  annotation(experiment(StopTime = 10));
end Stiff;
