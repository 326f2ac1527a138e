model DoublePendulumAngles "two point masses on two rigid rods, by the angles of the rods against the horizontal"
  parameter Real m1 = 1, m2 = 1, L1 = 1, L2 = 1, g = 9.81;
  Real a1(start = 0, fixed = true), a2(start = 0, fixed = true);
initial equation
  der(a1) = 0;
  der(a2) = 0;
lagrangian
  (m1 + m2)/2*L1^2*der(a1)^2 + m2/2*L2^2*der(a2)^2 + m2*L1*L2*cos(a1 - a2)*der(a1)*der(a2);
  -(m1 + m2)*g*L1*(sin(a1) + 1) - m2*g*L2*(sin(a2) + 1);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end DoublePendulumAngles;
