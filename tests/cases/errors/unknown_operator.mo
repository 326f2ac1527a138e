model UnknownOperator
  // run: check
  // expect: exit 3
  // expect: 7:9: unknown character `%`
  Real x;
equation
  x = 7 % 2;
end UnknownOperator;
