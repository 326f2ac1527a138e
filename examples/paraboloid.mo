model Paraboloid "a point mass on the paraboloid p3 = p1^2 + p2^2 under gravity: index 3"
  // Kunkel and Mehrmann, (62). The paper gives neither interval nor start. Chosen here: 0 to 100, from (1, 0, 1)
  // with speed (0, 1, 0), which satisfies the hidden constraint 2 p1 v1 + 2 p2 v2 = v3; then lambda = -0.6,
  // energy 1.5, angular momentum 1 about the axis.
  Real p1(start = 1, fixed = true);
  Real p2(start = 0, fixed = true);
  Real p3(start = 1);
  Real v1(start = 0, fixed = true);
  Real v2(start = 1, fixed = true);
  Real v3(start = 0);
  Real lambda(start = 0);
  Real E "energy";
  Real H "angular momentum about the axis";
equation
  der(p1) = v1;
  der(p2) = v2;
  der(p3) = v3;
  der(v1) = 2*lambda*p1;
  der(v2) = 2*lambda*p2;
  der(v3) = -lambda - 1;
  0 = p1^2 + p2^2 - p3;
  E = (v1^2 + v2^2 + v3^2)/2 + p3;
  H = p1*v2 - p2*v1;
  annotation(experiment(StopTime = 100, Tolerance = 1e-9));
end Paraboloid;
