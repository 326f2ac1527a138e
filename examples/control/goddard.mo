model Goddard "A rocket that climbs as high as it can: full thrust, a singular arc on which the thrust is between its bounds, coasting"
  type Arc = enumeration(full, singular, coast);
  // Goddard 1919, in the units of Bryson (1999). On a singular arc the derivative of Hamilton's function by the thrust stays zero; with that of its
  // derivative, and with H = 0 for the free final time, v*(dD/dv + D/c) = D + m*g: the surface D*(1 + v/c) = m*g in the states. The thrust that
  // keeps the rocket on it follows by one differentiation: the index is 2 on this arc, and 1 on the others.
  parameter Real q = 1 "1 is the singular surface; any other is left or right of it";
  parameter Real Tmax = 3.5, c = 0.5, k = 310, H = 500, mf = 0.6;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), m(start = 1, fixed = true), T, D;
  Arc arc(start = Arc.full, fixed = true);
equation
  der(h) = v;
  der(v) = (T - D)/m - 1/h^2;
  der(m) = -T/c;
  D = k*v^2*exp(-H*(h - 1));
  if arc == Arc.full then
    T = Tmax;
  elseif arc == Arc.singular then
    D*(1 + v/c) = q*m/h^2;
  else
    T = 0;
  end if;
  when D*(1 + v/c) > q*m/h^2 then
    arc = Arc.singular;
  elsewhen m < mf then
    arc = Arc.coast;
  end when;
  when v < 0 then
    terminate("at the top");
  end when;
  annotation(experiment(StopTime = 1, Tolerance = 1e-10));
end Goddard;
