model Pair "A block of two whose determinant is cos(t): singular at pi/2"
  // run: simulate
  // expect: exit 6
  // expect: report.singular.time = 1.5707963267948966 within 1.57e-06
  // expect: report.singular.rank < report.singular.equations
  Real a, b, p(start = 0, fixed = true);
equation
  der(p) = 1;
  cos(p)*a + b = 1 + cos(p);
  cos(p)*a + 2*b = 2 + cos(p);
  annotation(experiment(StopTime = 3));
end Pair;
