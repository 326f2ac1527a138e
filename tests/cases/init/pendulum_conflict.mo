model Pendulum "x and y fixed off the circle"
  // run: init
  // expect: exit 5
  // expect: report.conflict.variables.name = ["x", "y"]
  // expect: says x^2 + y^2 = L^2
  // expect: says x = 0.8, y = 0.8
  // expect: says residual 0.28
  // expect: says x is fixed at 0.8
  // expect: says y is fixed at 0.8
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.8, fixed = true);
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
