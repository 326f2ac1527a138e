model DoublePendulumCartesianByHand "the equations of two point masses on two rods in Cartesian coordinates"
  parameter Real m1 = 1, m2 = 1, L1 = 1, L2 = 1, g = 9.81;
  Real x1(start = 1), y1(start = 0, fixed = true), x2(start = 2), y2(start = 0, fixed = true), s1, s2;
  Real vx1, vy1(start = 0, fixed = true), vx2, vy2(start = 0, fixed = true);
equation
  der(x1) = vx1;
  der(y1) = vy1;
  der(x2) = vx2;
  der(y2) = vy2;
  m1*der(vx1) = -s1*x1 + s2*(x2 - x1);
  m1*der(vy1) = -s1*y1 + s2*(y2 - y1) - m1*g;
  m2*der(vx2) = -s2*(x2 - x1);
  m2*der(vy2) = -s2*(y2 - y1) - m2*g;
  x1^2 + y1^2 = L1^2;
  (x2 - x1)^2 + (y2 - y1)^2 = L2^2;
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end DoublePendulumCartesianByHand;
