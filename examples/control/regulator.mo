model Regulator "a linear-quadratic regulator of an unstable process, on a finite horizon"
  Real x(start = 1, fixed = true), u;
equation
  der(x) = x + u;
minimize
  integral((x^2 + u^2)/2);
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Regulator;
