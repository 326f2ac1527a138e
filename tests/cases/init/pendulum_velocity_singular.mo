model Pendulum "a velocity along the rod: the structure allows it, the numbers do not"
  // run: init
  // expect: exit 5
  // expect: report.conflict.variables.name = ["x", "vx"]
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 1, fixed = true);
  Real y(start = 0);
  Real vx(start = 0.5, fixed = true);
  Real vy;
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
