model MultiplierTwice
  // run: check
  // expect: exit 3
  // expect: 11:3: `lambda_rod`, and that name is given twice
  // expect: 12:3: `lambda_wall`, and that name is given twice
  Real x, y, z, lambda_wall;
lagrangian
  der(x)^2 + der(y)^2 + der(z)^2;
constraint
  x = 0 "rod";
  y = 3 "rod";
  z = 1 "wall";
end MultiplierTwice;
