model Pendulum "fixed to eight digits: accepted, moved by the rest"
  // run: init
  // expect: exit 0
  // expect: report.values["x"].redundant
  // expect: x = 0.70710678118654752 within 1.71e-13
  // expect: y = 0.70710678118654752 within 1.71e-13
  // expect: report.values["x"].how = "fixed"
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.70710678, fixed = true);
  Real y(start = 0.70710678, fixed = true);
  Real vx;
  Real vy;
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
