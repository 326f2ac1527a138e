model SeveralNames
  // expect: exit 3
  // expect: 8:7: `a`
  // expect: 9:7: `b`
  // expect: 10:7: `c`
  Real x, y, z;
equation
  x = a;
  y = b;
  z = c;
end SeveralNames;
