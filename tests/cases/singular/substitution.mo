model Substitution "Two nonlinear functions of der(x) + time*der(y): no combination with factors free of derivatives is regular"
  // run: simulate
  // expect: "substitution" in report.conversions.kind
  // expect: x = sin(time) within 1e-6*(1 + largest(abs(sin(time)))) everywhere
  // expect: y = cos(time) within 1e-6*(1 + largest(abs(cos(time)))) everywhere
  // run: analyze
  // expect: report.dof_true = 1
  // expect: [size(block.equations) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.rank = [1]
  // expect: [size(block.variables) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.verdict = ["identical"]
  // expect: min(report.singular_blocks.points) >= 3
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 0
  // expect: report.strangeness.a = 1
  // expect: report.strangeness.d = 1
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // expect: x = sin(time) within 1e-6*(1 + largest(abs(sin(time)))) everywhere
  // expect: y = cos(time) within 1e-6*(1 + largest(abs(cos(time)))) everywhere
  Real x(start = 0, fixed = true), y(start = 1);
equation
  (der(x) + time*der(y))^3 + x = (cos(time) - time*sin(time))^3 + sin(time);
  (der(x) + time*der(y)) + (der(x) + time*der(y))^5 + y = cos(time) - time*sin(time) + (cos(time) - time*sin(time))^5 + cos(time);
  annotation(experiment(StopTime = 0.5, Tolerance = 1e-9));
end Substitution;
