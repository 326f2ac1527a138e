model Pendulum "initial equations for rest: the lower equilibrium by the guess"
  // expect exit 0
  // expect value x 0
  // expect value y -1
  // expect value lambda 9.81
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.1);
  Real y(start = -0.9);
  Real vx;
  Real vy;
  Real lambda;
initial equation
  der(vx) = 0;
  vx = 0;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
