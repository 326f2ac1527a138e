model Redundant "The same constraint twice"
  // expect: mu 1
  // expect: a 2
  // expect: d 0
  // expect: v 1
  // expect: u 0
  // solution: x = sin(t)
  // solution: y = cos(t)
  Real x, y;
equation
  der(x) = y;
  x = sin(time);
  2*x = 2*sin(time);
end Redundant;
