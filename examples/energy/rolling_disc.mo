model RollingDisc "an upright disc that rolls without slipping on a slope: constraints on velocities, not integrable"
  parameter Real m = 1, r = 0.5, g = 9.81, slope = 0.3;
  parameter Real J = m*r^2/2 "inertia about the axle", K = m*r^2/4 "inertia about a diameter";
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  Real phi(start = 0, fixed = true) "rolling angle", psi(start = 0.5, fixed = true) "heading";
initial equation
  der(phi) = 2;
  der(psi) = 1;
lagrangian
  m/2*(der(x)^2 + der(y)^2) + J/2*der(phi)^2 + K/2*der(psi)^2 + m*g*sin(slope)*(x + 10);
constraint
  der(x) = r*der(phi)*cos(psi) "along";
  der(y) = r*der(phi)*sin(psi) "across";
  annotation(experiment(StopTime = 6, Tolerance = 1e-8));
end RollingDisc;
