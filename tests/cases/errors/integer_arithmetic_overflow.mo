model IntegerArithmeticOverflow
  // run: check
  // expect: exit 3
  // expect: 5:
  constant Integer n = 9007199254740992*9007199254740992;
  Real x[n];
equation
  x = zeros(n);
end IntegerArithmeticOverflow;
