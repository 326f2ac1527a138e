model Paraboloid "Kunkel and Mehrmann, (62): a mass point on a paraboloid, differentiation index 3"
  // The constraint is differentiated twice; two positions and two speeds are free.
  // run: analyze
  // expect: report.equations = 7
  // expect: report.structural_index = 3
  // expect: report.dof = 4
  // expect: report.offsets.c = [1, 1, 1, 0, 0, 0, 2]
  // expect: report.offsets.d = [2, 2, 2, 1, 1, 1, 0]
  // expect: sum(report.differentiations.times) = 5
  // expect: size(report.blocks) = 1
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 2
  // expect: report.strangeness.a = 3
  // expect: report.strangeness.d = 4
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // run: flatten
  // expect: exit 0
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
