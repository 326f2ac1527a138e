model Pair "A block of two whose determinant is cos(t): it leaves a free at pi/2, an instant that the solution passes"
  // run: simulate --solver {auto,radau,bdf,ida}
  // expect: a = 1 within 1e-6 everywhere
  // expect: b = 1 within 1e-6 everywhere
  // run: simulate
  // change: = 2 + cos(p) -> = 2.1 + cos(p)
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
