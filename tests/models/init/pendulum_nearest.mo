model Pendulum "the nearest point of the circle lies on the ray from the centre"
  // expect exit 0
  // expect how x moved
  // expect value x 0.6
  // expect value y 0.8
  // expect value vx -0.32
  // expect value vy 0.24
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 3);
  Real y(start = 4);
  Real vx(start = 1);
  Real vy(start = 2);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
