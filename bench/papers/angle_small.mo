model AngleSmall "the pendulum's angle as an ordinary differential equation"
  // Mattsson and Soderlind, (5.1), case 1.
  Real phi(nominal = 1, start = 0.1, fixed = true);
  Real w(nominal = 1, start = 0, fixed = true);
  Real E "energy, zero at rest at the bottom";
equation
  der(phi) = w;
  der(w) = -sin(phi);
  E = w^2/2 + 1 - cos(phi);
  annotation(experiment(StopTime = 1000, Interval = 0.5, Tolerance = 1e-9));
end AngleSmall;
