model UnsupportedFeature
  // expect: exit 3
  // expect: 5:3: stream
  Real x;
  stream Real h;
equation
  x = 1;
  h = 2;
end UnsupportedFeature;
