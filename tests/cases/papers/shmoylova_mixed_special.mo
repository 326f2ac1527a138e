model MixedSpecial "Shmoylova, Gerhard, Postma and Roche, (62): the special case, whose second constraint has no algebraic variable"
  // run: analyze
  // expect: report.equations = 6
  // expect: report.index_true = 3
  // expect: report.dof_true = 2
  Real x1(start = 0.6);
  Real x2(start = 0.8);
  Real y1;
  Real y2;
  Real z1;
  Real z2;
equation
  der(y1) = 2*x1*z2 + x2*z1;
  der(y2) = 2*x2*z2 - x1*z1 - 1;
  der(x1) = y1;
  der(x2) = y2;
  0 = x1 + z1 + z2;
  0 = x1^2 + x2^2 - 1;
end MixedSpecial;
