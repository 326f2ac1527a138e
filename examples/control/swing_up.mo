model SwingUp "a pendulum in Cartesian coordinates swings up in two seconds with least effort: index 3"
  parameter Real L = 1, g = 9.81;
  Real x(start = 0, fixed = true), y(start = -1), vx(start = 0, fixed = true), vy, tension, u "torque";
  Real adjoint_x(start = 10), adjoint_vx(start = 8);
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -tension*x - u*y;
  der(vy) = -tension*y + u*x - g;
  x^2 + y^2 = L^2;
minimize
  integral(u^2/2);
final equation
  x = 0;
  y = 1;
  vx = 0;
  vy = 0;
  annotation(experiment(StopTime = 2, Tolerance = 1e-10));
end SwingUp;
