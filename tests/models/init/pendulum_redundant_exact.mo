model Pendulum "x and y fixed on the circle: accepted, and one of them named"
  // expect exit 0
  // expect redundant x
  // expect how y fixed
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
