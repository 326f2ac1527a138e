model IntegerArithmeticOverflow
  // expect: exit 3
  // expect: 4:
  constant Integer n = 9007199254740992*9007199254740992;
  Real x[n];
equation
  x = zeros(n);
end IntegerArithmeticOverflow;
