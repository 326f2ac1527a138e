model Paraboloid "Kunkel and Mehrmann, (62): a mass point on a paraboloid, differentiation index 3"
  // The constraint is differentiated twice; two positions and two speeds are free.
  // expect: equations 7
  // expect: index 3
  // expect: dof 4
  // expect: c 1 1 1 0 0 0 2
  // expect: d 2 2 2 1 1 1 0
  // expect: differentiations 5
  // expect: blocks 1
  Real p1;
  Real p2;
  Real p3;
  Real v1;
  Real v2;
  Real v3;
  Real lambda;
equation
  der(p1) = v1;
  der(p2) = v2;
  der(p3) = v3;
  der(v1) = 2*lambda*p1;
  der(v2) = 2*lambda*p2;
  der(v3) = -lambda - 1;
  0 = p1^2 + p2^2 - p3;
end Paraboloid;
