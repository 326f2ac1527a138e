model Pendulum "x fixed where no y exists"
  // run: init
  // expect: exit 5
  // expect: report.conflict.variables.name = ["x"]
  // expect: says x^2 + y^2 = L^2
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 1.5, fixed = true);
  Real y;
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
