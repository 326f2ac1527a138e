model ZeroInductance "A parameter of zero raises the index: the inductor is a wire"
  // run: simulate
  // expect: "parameters" in report.conversions.kind
  // expect: u = exp(-time) within 1e-6*(1 + largest(abs(exp(-time)))) everywhere
  // run: analyze
  // expect: report.dof_true = 1
  // expect: [size(block.equations) for block in report.singular_blocks] = [1]
  // expect: report.singular_blocks.rank = [0]
  // expect: [size(block.variables) for block in report.singular_blocks] = [1]
  // expect: report.singular_blocks.verdict = ["identical"]
  // expect: min(report.singular_blocks.points) >= 3
  // run: simulate --override L=0.1
  // expect: report.conversions = []
  // run: simulate --override L=0
  // expect: report.conversions.kind = ["parameters"]
  // expect: says warning
  parameter Real L = 0, C = 1, R = 1;
  Real i, u(start = 1, fixed = true);
equation
  L*der(i) = u - R*i;
  C*der(u) = -i;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end ZeroInductance;
