model Magnetic "a charged particle in a homogeneous magnetic and electric field (Shmoylova et al. 2013, (65))"
  parameter Real m = 1, q = 2, B = 3 "along z", E = 0.5 "along x";
  Real x(start = 0, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = true);
  Real Ax = -B*y/2, Ay = B*x/2 "vector potential";
initial equation
  der(x) = 1;
  der(y) = 0;
  der(z) = 0.25;
lagrangian
  m/2*(der(x)^2 + der(y)^2 + der(z)^2) + q*(der(x)*Ax + der(y)*Ay) + q*E*x;
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Magnetic;
