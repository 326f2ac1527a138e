model Inductors "Two inductors in series, their node between them written as two equations for the derivatives"
  // run: simulate
  // expect: i1 = 0.5*(1 - exp(-2*time/3)) within 1e-6*(1 + largest(abs(0.5*(1 - exp(-2*time/3))))) everywhere
  // run: analyze
  // expect: report.dof_true = 1
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 1
  // expect: report.strangeness.a = 4
  // expect: report.strangeness.d = 1
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // expect: i1 = 0.5*(1 - exp(-2*time/3)) within 1e-6*(1 + largest(abs(0.5*(1 - exp(-2*time/3))))) everywhere
  parameter Real L1 = 1, L2 = 2, R = 2;
  Real i1(start = 0, fixed = true), i2, u1, u2, u;
equation
  u1 = L1*der(i1);
  u2 = L2*der(i2);
  u1 + u2 + R*i1 = u;
  u = 1;
  i1 = i2;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Inductors;
