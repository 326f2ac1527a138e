model TypeMismatch
  // expect: exit 3
  // expect: 7:7: Boolean
  Real x;
  Boolean b;
equation
  x = time > 1;
  b = time > 2;
end TypeMismatch;
