model AliasConflict "two names of one variable, fixed at different values"
  // expect exit 5
  // expect words a
  // expect words 1 and 2
  Real a(start = 1, fixed = true);
  Real b(start = -2, fixed = true);
equation
  der(a) = -a;
  b = -a;
end AliasConflict;
