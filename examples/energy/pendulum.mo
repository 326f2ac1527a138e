model Pendulum "a point mass on a rigid rod, in Cartesian coordinates"
  parameter Real m = 1, L = 1, g = 9.81;
  Real x(start = 1), y(start = 0, fixed = true);
initial equation
  der(y) = 0;
lagrangian
  m/2*(der(x)^2 + der(y)^2) - m*g*(y + L);
constraint
  x^2 + y^2 = L^2 "rod";
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Pendulum;
