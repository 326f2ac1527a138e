model DerivativeOfBoolean
  // run: check
  // expect: exit 3
  // expect: 7:7: der
  Boolean b;
equation
  der(b) = 1;
end DerivativeOfBoolean;
