model DoublePendulumByHand "the equations of two point masses on two rods by the angles of the rods, as textbooks derive them"
  parameter Real m1 = 1, m2 = 1, L1 = 1, L2 = 1, g = 9.81;
  Real a1(start = 0, fixed = true), a2(start = 0, fixed = true), w1(start = 0, fixed = true), w2(start = 0, fixed = true);
equation
  der(a1) = w1;
  der(a2) = w2;
  (m1 + m2)*L1^2*der(w1) + m2*L1*L2*cos(a1 - a2)*der(w2) = -m2*L1*L2*sin(a1 - a2)*w2^2 - (m1 + m2)*g*L1*cos(a1);
  m2*L1*L2*cos(a1 - a2)*der(w1) + m2*L2^2*der(w2) = m2*L1*L2*sin(a1 - a2)*w1^2 - m2*g*L2*cos(a2);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end DoublePendulumByHand;
