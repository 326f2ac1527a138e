model Transformer "two loops with a mutual inductance, a source in one and a load in the other (Shmoylova et al. 2013, (66))"
  parameter Real L1 = 1, L2 = 2, M = 1.2, C1 = 0.5, C2 = 1, R = 0.3, U0 = 2, w = 1.5;
  Real q1(start = 0, fixed = true), q2(start = 0, fixed = true) "charges";
  Real u "voltage of the source";
initial equation
  der(q1) = 0;
  der(q2) = 0;
equation
  u = U0*sin(w*time);
lagrangian
  L1/2*der(q1)^2 + M*der(q1)*der(q2) + L2/2*der(q2)^2 - q1^2/(2*C1) - q2^2/(2*C2);
dissipation
  R/2*der(q2)^2;
force
  q1 = u;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end Transformer;
