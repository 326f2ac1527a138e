model WithMultiplier
  // run: check
  // expect: exit 3
  // expect: 6:1: the energies depend on the multiplier `lambda_rod`
  Real x(start = 1), y;
lagrangian
  der(x)^2 + der(y)^2 + lambda_rod*x;
constraint
  x^2 + y^2 = 1 "rod";
end WithMultiplier;
