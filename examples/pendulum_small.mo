model PendulumSmall "small oscillations over 159 periods"
  // Mattsson and Soderlind, section 5, case 1: phi(0) = 0.1 at rest, x = L sin(phi), y = -L cos(phi),
  // energy 1 - cos(0.1) = 0.004995834721974...
  parameter Real m = 1 "mass";
  parameter Real L = 1 "length of the rod";
  parameter Real g = 1 "gravity";
  parameter Real phi0 = 0.1 "angle at the start, from the vertical";
  Real x(nominal = 1, start = L*sin(phi0), fixed = true);
  Real y(nominal = 1, start = -L*cos(phi0));
  Real vx(nominal = 1, start = 0, fixed = true);
  Real vy(nominal = 1, start = 0);
  Real F(start = 1) "force in the rod";
  Real E "energy, zero at rest at the bottom";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F/L*x;
  m*der(vy) = -F/L*y - m*g;
  x^2 + y^2 = L^2;
  E = m/2*(vx^2 + vy^2) + m*g*(y + L);
  annotation(experiment(StopTime = 1000, Interval = 0.5, Tolerance = 1e-9));
end PendulumSmall;
