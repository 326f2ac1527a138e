model NotATerm
  // expect: exit 3
  // expect: 6:12: a term of `lagrangian` is an expression
  Real x;
lagrangian
  der(x)^2 = 1;
end NotATerm;
