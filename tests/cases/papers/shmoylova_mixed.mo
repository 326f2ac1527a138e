model Mixed "Shmoylova, Gerhard, Postma and Roche, (50): mixed Hessenberg index-1,3 form with a matrix A of rank 1"
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
  der(y1) = 2*x1*z1 + x2*z2;
  der(y2) = 2*x2*z1 - x1*z2 - 1;
  der(x1) = y1;
  der(x2) = y2;
  0 = x1 + z1 + z2;
  0 = x1^2 + x2^2 - 1 + 2*x1 + 2*z1 + 2*z2;
end Mixed;
