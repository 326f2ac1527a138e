model Contradiction "Two sources in parallel that do not agree"
  // expect: exit 4
  Real v1, v2, i;
equation
  v1 - v2 = 5;
  v1 - v2 = 3;
  i = v1;
end Contradiction;
