model DeclaredTwice
  // expect: exit 3
  // expect: 5:8: `x`
  Real x;
  Real x;
equation
  x = 1;
end DeclaredTwice;
