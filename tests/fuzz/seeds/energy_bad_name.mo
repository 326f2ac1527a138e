model SphericalPendulum "a point mass on a sphere"
  parameter Real m = 1, L = 1, g , 9.81;
  initialReal x(start = 0.8, fixed = true), y(start2= 0, fixed = true), z(start = -0.6);
  Real A "angular momentum about the vertical, which is conserved";
initial equation
  der(x) = 0;
  der(y) = 1;
equation
  A = m*(x*der(y) - y*der(x));
lagrangian
  m/2*(der(x)^2 + der(y)^2 + der(z)^ ) - m*g*(z + L);
constraint
  x^2 + y^2 + z^2 = L^2 "sphere";
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end SphericalPendulum;
