model Pendulum "fixed velocities that violate the hidden constraint are refused"
  // run: init
  // expect: exit 5
  // expect: report.conflict.variables.name = ["x", "vx", "vy"]
  // expect: says der(x)
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
  Real y(start = -0.8);
  Real vx(start = 1, fixed = true);
  Real vy(start = 1, fixed = true);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
