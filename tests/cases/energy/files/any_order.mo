// any_order.mo with the angle as its coordinate: the same Lagrangian without constraint.
model Angle
  Real a(start = 0, fixed = true), x, y;
initial equation
  der(y) = 1;
  der(der(y)) = 0;
  der(der(der(y))) = -1.1;
  der(der(der(der(y)))) = 0;
  der(der(der(der(der(y))))) = 1;
equation
  x = cos(a);
  y = sin(a);
lagrangian
  (der(der(der(x)))^2 + der(der(der(y)))^2)/2 - 7*(der(der(x))^2 + der(der(y))^2) + 49/2*(der(x)^2 + der(y)^2);
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Angle;
