model PaisUhlenbeck "an oscillator of fourth order: a Lagrangian with second derivatives"
  parameter Real w1 = 1, w2 = 2;
  Real q(start = 1, fixed = true);
initial equation
  der(q) = 0;
  der(der(q)) = -1.5;
  der(der(der(q))) = 0.5;
lagrangian
  -der(der(q))^2/2 + (w1^2 + w2^2)/2*der(q)^2 - w1^2*w2^2/2*q^2;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end PaisUhlenbeck;
