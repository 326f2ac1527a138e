model SphericalPendulum "a point mass on a sphere, fast enough to pass its equator: index 3"
  // At the equator z = 0 the height is not a function of x and y, so no fixed choice of two coordinates works for the whole run.
  // Start at (0.8, 0, -0.6) with speed (3, 1, 4): energy 13 - 0.6 g, angular momentum 0.8 about the vertical.
  parameter Real L = 1 "radius";
  parameter Real g = 9.81 "gravity";
  Real x(start = 0.8, fixed = true);
  Real y(start = 0, fixed = true);
  Real z(start = -0.6);
  Real vx(start = 3, fixed = true);
  Real vy(start = 1, fixed = true);
  Real vz(start = 4);
  Real lambda(start = 0) "tension over mass and length";
  Real E "energy over mass";
  Real H "angular momentum about the vertical over mass";
equation
  der(x) = vx;
  der(y) = vy;
  der(z) = vz;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y;
  der(vz) = -lambda*z - g;
  x^2 + y^2 + z^2 = L^2;
  E = (vx^2 + vy^2 + vz^2)/2 + g*z;
  H = x*vy - y*vx;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end SphericalPendulum;
