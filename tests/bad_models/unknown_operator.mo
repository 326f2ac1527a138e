model UnknownOperator
  // expect: exit 3
  // expect: 6:9: unknown character `%`
  Real x;
equation
  x = 7 % 2;
end UnknownOperator;
