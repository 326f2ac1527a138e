model ParaboloidReduced "the paraboloid with constraints of all levels, derivatives eliminated by hand"
  // Kunkel and Mehrmann, (64).
  Real p1(start = 1, fixed = true);
  Real p2(start = 0, fixed = true);
  Real p3(start = 1);
  Real v1(start = 0, fixed = true);
  Real v2(start = 1, fixed = true);
  Real v3(start = 0);
  Real lambda(start = -0.6);
equation
  der(p1) = v1;
  der(p2) = v2;
  der(v1) = 2*lambda*p1;
  der(v2) = 2*lambda*p2;
  0 = p1^2 + p2^2 - p3;
  0 = 2*p1*v1 + 2*p2*v2 - v3;
  0 = 2*v1^2 + 4*lambda*p1^2 + 2*v2^2 + 4*lambda*p2^2 + lambda + 1;
  annotation(experiment(StopTime = 100, Tolerance = 1e-9));
end ParaboloidReduced;
