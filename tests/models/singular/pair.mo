model Pair "A block of two whose determinant is cos(t): singular at pi/2"
  // expect: exit 6
  // expect: singular 1.5707963267948966
  Real a, b, p(start = 0, fixed = true);
equation
  der(p) = 1;
  cos(p)*a + b = 1 + cos(p);
  cos(p)*a + 2*b = 2 + cos(p);
  annotation(experiment(StopTime = 3));
end Pair;
