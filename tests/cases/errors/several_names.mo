model SeveralNames
  // run: check
  // expect: exit 3
  // expect: 9:7: `a`
  // expect: 10:7: `b`
  // expect: 11:7: `c`
  Real x, y, z;
equation
  x = a;
  y = b;
  z = c;
end SeveralNames;
