model TypeMismatch
  // run: check
  // expect: exit 3
  // expect: 8:7: Boolean
  Real x;
  Boolean b;
equation
  x = time > 1;
  b = time > 2;
end TypeMismatch;
