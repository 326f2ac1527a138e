model SpecialCase1 "Shmoylova, Gerhard, Postma and Roche, (27): n = m = 3, k = 2 constraints, of which l = 1 is linear"
  // run: analyze
  // expect: report.equations = 8
  // expect: report.index_true = 3
  // expect: report.dof_true = 2
  Real x1(start = 0.6, fixed = true);
  Real x2(start = 0.64);
  Real x3(start = 0.48);
  Real y1;
  Real y2;
  Real y3;
  Real z1;
  Real z2;
equation
  der(y1) = z1 + 2*x1*z2;
  der(y2) = z1 - 9.81 + 2*x2*z2;
  der(y3) = -z1 + 2*x3*z2;
  der(x1) = y1;
  der(x2) = y2;
  der(x3) = y3;
  0 = x1 + x2 - x3 - 0.76;
  0 = x1^2 + x2^2 + x3^2 - 1;
end SpecialCase1;
