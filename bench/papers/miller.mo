model Miller "the Miller integrator circuit: index 2"
  // Kunkel and Mehrmann, (59), with C1 = C2 = A = G = 1 as there; the source and the interval are not printed: a sine, 0 to 100.
  parameter Real C1 = 1;
  parameter Real C2 = 1;
  parameter Real A = 1;
  parameter Real G = 1;
  Real u1, u3, J, JV;
  Real u2(start = 0, fixed = true);
equation
  J + G*(u1 - u2) = 0;
  C1*der(u2) - G*(u1 - u2) + C2*(der(u2) - der(u3)) = 0;
  JV - C2*(der(u2) - der(u3)) = 0;
  u1 - sin(time) = 0;
  u3 - A*u2 = 0;
  annotation(experiment(StopTime = 100, Tolerance = 1e-9));
end Miller;
