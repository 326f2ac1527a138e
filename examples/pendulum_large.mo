model PendulumLarge "large oscillations over 116 periods, four pivots a period"
  // Mattsson and Soderlind, section 5, case 2: phi(0) = pi/2, phi'(0) = -1, x = L sin(phi), y = -L cos(phi), so
  // x = 1, y = 0, x' = cos(phi) phi' = 0, y' = sin(phi) phi' = -1; energy 1.5.
  parameter Real m = 1 "mass";
  parameter Real L = 1 "length of the rod";
  parameter Real g = 1 "gravity";
  Real x(nominal = 1, start = 1);
  Real y(nominal = 1, start = 0, fixed = true);
  Real vx(nominal = 1, start = 0);
  Real vy(nominal = 1, start = -1, fixed = true);
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
end PendulumLarge;
