// A dissipation of second derivatives: m q'' = c q''' (Abraham and Lorentz), q'' = -exp(m/c t).
// run: simulate --energy --method {dummy,projection,overdetermined,strangeness}
// expect: q = 1 - (exp(2*time) - 1)/4 + time/2 within 1e-6 everywhere
// expect: abs(energy.balance) < 1e-5 everywhere
model Radiation
  parameter Real m = 2, c = 1;
  Real q(start = 1, fixed = true);
initial equation
  der(q) = 0;
  der(der(q)) = -1;
lagrangian
  m/2*der(q)^2;
dissipation
  c/2*der(der(q))^2;
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Radiation;
