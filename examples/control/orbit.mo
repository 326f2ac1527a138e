model Orbit "the widest circular orbit that a low thrust reaches in a given time (Bryson and Ho 1975, section 2.5)"
  parameter Real thrust = 0.1405, consumption = 0.07487;
  Real r(start = 1, fixed = true) "radius", u(start = 0, fixed = true) "radial velocity", v(start = 1, fixed = true);
  Real m "mass", a(start = 0.5) "angle of the thrust";
  Real adjoint_r(start = -1), adjoint_u(start = -0.5), adjoint_v(start = -1);
  parameter Real adjoint_final_2(start = -1, fixed = false);
equation
  m = 1 - consumption*time;
  der(r) = u;
  der(u) = v^2/r - 1/r^2 + thrust*sin(a)/m;
  der(v) = -u*v/r + thrust*cos(a)/m;
maximize
  r;
final equation
  u = 0;
  v = 1/sqrt(r);
  annotation(experiment(StopTime = 3.3155, Tolerance = 1e-9));
end Orbit;
