model Underdetermined "Two variables, one equation: y is held at its start value"
  // expect: mu 0
  // expect: a 0
  // expect: d 1
  // expect: v 0
  // expect: u 1
  // solution: x = exp(-t) + 2*(1 - exp(-t))
  Real x(start = 1), y(start = 2);
equation
  der(x) = y - x;
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Underdetermined;
