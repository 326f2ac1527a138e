// If there are several solutions, the one to which homotopy() leads from its simplified expression is intended, even in a single equation.
// run: simulate
// expect: x = 100 within 1e-9
// expect: report.initial.rung = "homotopy(actual, simplified)"
model HomotopySingle
  Real x(start = 0);
equation
  0 = homotopy(sin(x)*(x - 100), x - 100);
end HomotopySingle;
