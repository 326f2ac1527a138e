model Ungrounded "Series of source, resistor, inductor and capacitor; no node is grounded"
  // run: simulate
  // expect: "redundant" in report.conversions.kind
  // expect: iL = exp(-0.5*time)*sin(sqrt(0.75)*time)/sqrt(0.75) within 1e-6*(1 + largest(abs(exp(-0.5*time)*sin(sqrt(0.75)*time)/sqrt(0.75)))) everywhere
  // run: analyze
  // expect: report.dof_true = 2
  // expect: [size(block.equations) for block in report.singular_blocks] = [4, 4]
  // expect: report.singular_blocks.rank = [3, 3]
  // expect: [size(block.variables) for block in report.singular_blocks] = [4, 4]
  // expect: report.singular_blocks.verdict = ["identical", "identical"]
  // expect: min(report.singular_blocks.points) >= 3
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 0
  // expect: report.strangeness.a = 6
  // expect: report.strangeness.d = 2
  // expect: report.strangeness.v = 1
  // expect: report.strangeness.u = 1
  // expect: iL = exp(-0.5*time)*sin(sqrt(0.75)*time)/sqrt(0.75) within 1e-6*(1 + largest(abs(exp(-0.5*time)*sin(sqrt(0.75)*time)/sqrt(0.75)))) everywhere
  parameter Real R = 1, L = 1, C = 1;
  Real v1, v2, v3, v4;
  Real iV, iR, iL(start = 0, fixed = true), iC, u(start = 0, fixed = true);
equation
  v1 - v4 = 1;
  v1 - v2 = R*iR;
  v2 - v3 = L*der(iL);
  u = v3 - v4;
  C*der(u) = iC;
  iV + iR = 0;
  iR - iL = 0;
  iL - iC = 0;
  iC + iV = 0;
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Ungrounded;
