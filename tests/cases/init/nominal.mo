model Nominal "moves are measured by nominal values"
  // run: init
  // expect: exit 0
  // min (x/10)^2 + y^2 with x + y = 101: x = 100, y = 1
  // expect: x = 100 within 1.01e-11
  // expect: y = 1 within 2e-13
  // expect: report.residual < 1e-12
  Real x(start = 0, nominal = 10);
  Real y(start = 0);
  Real u;
equation
  der(x) = u;
  der(y) = u;
  x + y = 101;
end Nominal;
