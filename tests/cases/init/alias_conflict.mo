model AliasConflict "two names of one variable, fixed at different values"
  // run: init
  // expect: exit 5
  // expect: says a
  // expect: says 1 and 2
  Real a(start = 1, fixed = true);
  Real b(start = -2, fixed = true);
equation
  der(a) = -a;
  b = -a;
end AliasConflict;
