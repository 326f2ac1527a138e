model InductorPair "Two inductors in series: the current law is written for voltages over inductances"
  // expect: kind combination
  // expect: dof_true 1
  // solution: i1 = 0.5*(1 - exp(-2*t/3))
  parameter Real L1 = 1, L2 = 2, R = 2;
  Real i1(start = 0, fixed = true), i2, v;
equation
  L1*der(i1) + L2*der(i2) = 1 - R*i1;
  L1*der(i1) - v = 0;
  L1*der(i1) + L2*der(i2) = 1 - R*i2;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end InductorPair;
