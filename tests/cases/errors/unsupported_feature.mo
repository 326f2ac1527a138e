model UnsupportedFeature
  // run: check
  // expect: exit 3
  // expect: 6:3: stream
  Real x;
  stream Real h;
equation
  x = 1;
  h = 2;
end UnsupportedFeature;
