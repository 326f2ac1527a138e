model Pendulum "given x only: y follows, the velocities keep their default"
  // expect exit 0
  // expect how x fixed
  // expect value x 0.6
  // expect how y computed
  // expect value y 0.8
  // expect value lambda -7.848
  // expect highest [[3, "lambda"]]
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
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
