model ConstraintWithoutCoordinate
  // run: check
  // expect: exit 3
  // expect: 10:3: this constraint contains no coordinate
  Real x(start = 1), y, u = sin(time);
lagrangian
  der(x)^2 + der(y)^2;
constraint
  x^2 + y^2 = 1 "rod";
  u = 1;
end ConstraintWithoutCoordinate;
