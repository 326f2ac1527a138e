model Homotopy "Newton's method from x = 0 is caught by the minimum at sqrt(2/3); the simplified equation leads to the root"
  // run: init
  // expect: exit 0
  // expect: begins(report.way, "homotopy()")
  // expect: x = -1.7692923542386314 within 2.77e-12
  // expect: report.residual < 1e-12
  Real x(start = 0.1);
  Real z(start = 1, fixed = true);
equation
  der(z) = x - z;
  homotopy(x^3 - 2*x + 2, x + 2) = 0;
end Homotopy;
