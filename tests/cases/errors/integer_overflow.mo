model IntegerOverflow
  // run: check
  // expect: exit 3
  // expect: 5:25: integer overflow
  parameter Integer n = 99999999999999999999;
  Real x;
equation
  x = n;
end IntegerOverflow;
