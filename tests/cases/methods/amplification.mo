// Errors of exp(t) grow by exp(3).
// run: compare --methods dummy
// expect: report.runs[0].amplification = exp(3) within 0.2
model M
  Real x(start=0.01, fixed=true);
equation
  der(x) = x;
  annotation(experiment(StopTime=3));
end M;
