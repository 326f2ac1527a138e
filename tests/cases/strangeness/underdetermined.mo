model Underdetermined "Two variables, one equation: y is held at its start value"
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 0
  // expect: report.strangeness.a = 0
  // expect: report.strangeness.d = 1
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 1
  // expect: x = exp(-time) + 2*(1 - exp(-time)) within 1e-6*(1 + largest(abs(exp(-time) + 2*(1 - exp(-time))))) everywhere
  Real x(start = 1), y(start = 2);
equation
  der(x) = y - x;
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Underdetermined;
