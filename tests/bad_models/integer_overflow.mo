model IntegerOverflow
  // expect: exit 3
  // expect: 4:25: integer overflow
  parameter Integer n = 99999999999999999999;
  Real x;
equation
  x = n;
end IntegerOverflow;
