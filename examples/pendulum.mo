model Pendulum "a point mass on a rigid rod, in Cartesian coordinates: index 3"
  parameter Real L = 1 "length of the rod";
  parameter Real g = 9.81 "gravity";
  Real x(start = 1);
  Real y(start = 0, fixed = true);
  Real vx(start = 0);
  Real vy(start = 0, fixed = true);
  Real lambda(start = 0) "tension of the rod over mass and length";
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end Pendulum;
