model Pendulum "the guess of y decides the branch"
  // expect exit 0
  // expect how y moved
  // expect value y 0.8
  // expect value lambda -7.848
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
  Real y(start = 0.3);
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
