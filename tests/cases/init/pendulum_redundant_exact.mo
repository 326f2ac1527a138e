model Pendulum "x and y fixed on the circle: accepted, and one of them named"
  // run: init
  // expect: exit 0
  // expect: report.values["x"].redundant
  // expect: report.values["y"].how = "fixed"
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
  Real y(start = 0.8, fixed = true);
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
