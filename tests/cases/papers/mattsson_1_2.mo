model DerivativeChain "Mattsson and Soderlind, (1.2): an index three derivative chain"
  // (1.2a) is differentiated once and (1.2c) twice; no initial conditions can be imposed.
  // run: analyze
  // expect: report.equations = 3
  // expect: report.structural_index = 3
  // expect: report.dof = 0
  // expect: report.offsets.c = [1, 0, 2]
  // expect: report.offsets.d = [2, 1, 0]
  // expect: sum(report.differentiations.times) = 3
  // expect: size(report.blocks) = 3
  // run: flatten
  // expect: exit 0
  Real x;
  Real y;
  Real z;
equation
  der(x) = y;
  der(y) = z;
  x = sin(time);
end DerivativeChain;
