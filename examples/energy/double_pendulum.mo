model DoublePendulum "two point masses on two rigid rods, in Cartesian coordinates"
  parameter Real m1 = 1, m2 = 1, L1 = 1, L2 = 1, g = 9.81;
  Real x1(start = 1), y1(start = 0, fixed = true), x2(start = 2), y2(start = 0, fixed = true);
initial equation
  der(y1) = 0;
  der(y2) = 0;
lagrangian
  m1/2*(der(x1)^2 + der(y1)^2) - m1*g*(y1 + L1);
  m2/2*(der(x2)^2 + der(y2)^2) - m2*g*(y2 + L1 + L2);
constraint
  x1^2 + y1^2 = L1^2 "upper";
  (x2 - x1)^2 + (y2 - y1)^2 = L2^2 "lower";
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end DoublePendulum;
