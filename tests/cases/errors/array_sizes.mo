model ArraySizes
  // run: check
  // expect: exit 3
  // expect: 8:3: size
  Real x[3];
  Real y[2];
equation
  x = y;
  y = {1, 2};
end ArraySizes;
