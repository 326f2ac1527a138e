model InductorPair "Two inductors in series: the current law is written for voltages over inductances"
  // run: simulate
  // expect: "combination" in report.conversions.kind
  // expect: i1 = 0.5*(1 - exp(-2*time/3)) within 1e-6*(1 + largest(abs(0.5*(1 - exp(-2*time/3))))) everywhere
  // run: analyze
  // expect: report.dof_true = 1
  // expect: [size(block.equations) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.rank = [1]
  // expect: [size(block.variables) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.verdict = ["identical"]
  // expect: min(report.singular_blocks.points) >= 3
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 1
  // expect: report.strangeness.a = 2
  // expect: report.strangeness.d = 1
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // expect: i1 = 0.5*(1 - exp(-2*time/3)) within 1e-6*(1 + largest(abs(0.5*(1 - exp(-2*time/3))))) everywhere
  parameter Real L1 = 1, L2 = 2, R = 2;
  Real i1(start = 0, fixed = true), i2, v;
equation
  L1*der(i1) + L2*der(i2) = 1 - R*i1;
  L1*der(i1) - v = 0;
  L1*der(i1) + L2*der(i2) = 1 - R*i2;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end InductorPair;
