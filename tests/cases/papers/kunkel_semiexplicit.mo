model SemiExplicit "Kunkel and Mehrmann, (23): a linear semi-explicit system with m1 = 3, m2 = 2 and A22 of rank 1, so that s = 1"
  // run: analyze
  // expect: report.equations = 5
  // expect: report.index_true = 2
  // expect: report.dof_true = 2
  Real x1;
  Real x2;
  Real x3;
  Real z1;
  Real z2;
equation
  der(x1) = x2 - x3 + z1 + 2*z2;
  der(x2) = x1 + time*x3 + z1;
  der(x3) = -x2 + z2 + sin(time);
  0 = x1 + x2 + z1 + z2;
  0 = 2*x1 - x3 + 2*z1 + 2*z2 + cos(time);
end SemiExplicit;
