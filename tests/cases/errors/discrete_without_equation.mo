model DiscreteWithoutEquation
  // run: check
  // expect: exit 4
  // expect: 6:11: no equation determines `b`
  Real x;
  Boolean b;
equation
  x = time;
end DiscreteWithoutEquation;
