model RealOutOfRange
  // run: check
  // expect: exit 3
  // expect: 6:22: number out of range: the largest
  // expect: 7:22: number out of range: the smallest
  parameter Real a = 1e400;
  parameter Real b = 1e-400;
  Real x;
equation
  x = a;
end RealOutOfRange;
