model Jerk "an oscillator of sixth order on a circle: a Lagrangian with third derivatives and a constraint"
  Real x(start = 1), y(start = 0, fixed = true);
initial equation
  der(y) = 1;
  der(der(y)) = 0;
  der(der(der(y))) = -1.1;
  der(der(der(der(y)))) = 0;
  der(der(der(der(der(y))))) = 1;
lagrangian
  (der(der(der(x)))^2 + der(der(der(y)))^2)/2 - 7*(der(der(x))^2 + der(der(y))^2) + 49/2*(der(x)^2 + der(y)^2);
constraint
  x^2 + y^2 = 1 "rod";
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Jerk;
