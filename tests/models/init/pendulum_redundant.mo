model Pendulum "fixed to eight digits: accepted, moved by the rest"
  // expect exit 0
  // expect redundant x
  // expect value x 0.70710678118654752
  // expect value y 0.70710678118654752
  // expect how x fixed
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
