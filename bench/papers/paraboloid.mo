model Paraboloid "a point mass on the paraboloid p3 = p1^2 + p2^2 under gravity: index 3"
  // Kunkel and Mehrmann, (62). The paper gives neither interval nor start: as in examples/paraboloid.mo.
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
  der(p3) = v3;
  der(v1) = 2*lambda*p1;
  der(v2) = 2*lambda*p2;
  der(v3) = -lambda - 1;
  0 = p1^2 + p2^2 - p3;
  annotation(experiment(StopTime = 100, Tolerance = 1e-9));
end Paraboloid;
