model Goddard "A rocket that climbs as high as it can: full thrust, a singular arc on which the thrust is between its bounds, coasting"
  // Goddard 1919, in the units of Bryson (1999). Only the bounds of the thrust are given: daedal finds the arcs.
  parameter Real T(start = 0.2, fixed = false, min = 0.05) "final time";
  parameter Real c = 0.5, k = 310, H = 500;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), m(start = 1, fixed = true), D "drag";
  Real u(min = 0, max = 3.5) "thrust";
equation
  der(h) = v;
  der(v) = (u - D)/m - 1/h^2;
  der(m) = -u/c;
  D = k*v^2*exp(-H*(h - 1));
maximize
  h;
final equation
  time = T;
  m = 0.6;
  annotation(experiment(Tolerance = 1e-9));
end Goddard;
