model Pendulum "one initial equation too many, and it disagrees"
  // run: init
  // expect: exit 5
  // expect: says x^2 + y^2 = L^2
  // expect: says y = -0.9
  // expect: says remove one of the initial equations
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.1);
  Real y(start = -0.9);
  Real vx;
  Real vy;
  Real lambda;
initial equation
  x = 0;
  vx = 0;
  y = -0.9;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
