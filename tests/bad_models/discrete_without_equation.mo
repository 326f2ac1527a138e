model DiscreteWithoutEquation
  // expect: exit 4
  // expect: 5:11: no equation determines `b`
  Real x;
  Boolean b;
equation
  x = time;
end DiscreteWithoutEquation;
