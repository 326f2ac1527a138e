model LeastNorm "One equation for two variables: of all solutions the one of least norm, where either of them alone would grow without bound"
  // run: simulate --method strangeness
  // expect: report.strangeness.u = 1
  // expect: sorted(report.strangeness.free.variable) = ["u1", "u2"]
  // expect: report.strangeness.free.choice = ["nearest", "nearest"]
  // expect: u1 = cos(time) within 1e-9 everywhere
  // expect: u2 = sin(time) within 1e-9 everywhere
  // expect: says u2 free
  Real u1, u2, x1 = cos(time), x2 = sin(time);
equation
  x1*u1 + x2*u2 = 1;
  annotation(experiment(StopTime = 7, Tolerance = 1e-8));
end LeastNorm;
