model NoCoordinate
  // run: check
  // expect: exit 3
  // expect: 8:1: no coordinate
  Real x(start = 1);
equation
  der(x) = 1;
lagrangian
  der(x)^2/2;
end NoCoordinate;
