model NonlinearSemiExplicit "Kunkel and Mehrmann, (27) and (28): x' = f(x, y, z), 0 = g(x, y), 0 = h(x)"
  // run: analyze
  // expect: report.equations = 4
  // expect: report.index_true = 2
  // expect: report.dof_true = 1
  Real x1(start = 0.6);
  Real x2(start = 0.8);
  Real y;
  Real z;
equation
  der(x1) = -x1*z + y;
  der(x2) = x1 - x2*z;
  0 = y + y^3 - x1*x2;
  0 = x1^2 + x2^2 - 1;
end NonlinearSemiExplicit;
