model DeclaredTwice
  // run: check
  // expect: exit 3
  // expect: 6:8: `x`
  Real x;
  Real x;
equation
  x = 1;
end DeclaredTwice;
