model DerivativeOfBoolean
  // expect: exit 3
  // expect: 6:7: der
  Boolean b;
equation
  der(b) = 1;
end DerivativeOfBoolean;
