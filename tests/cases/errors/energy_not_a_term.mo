model NotATerm
  // run: check
  // expect: exit 3
  // expect: 7:12: a term of `lagrangian` is an expression
  Real x;
lagrangian
  der(x)^2 = 1;
end NotATerm;
