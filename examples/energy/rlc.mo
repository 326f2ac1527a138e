model RLC "resistor, inductor and capacitor in series (Shmoylova et al. 2013, (75))"
  parameter Real R = 1, L = 2, C = 0.1;
  Real I1(start = 1, fixed = true), I2, I3;
initial equation
  der(I2) = 0;
lagrangian
  L/2*der(I2)^2 - I3^2/(2*C);
dissipation
  R/2*der(I1)^2;
constraint
  I1 = I2;
  I2 = I3;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end RLC;
