model ConstraintTwice
  // run: check
  // expect: exit 3
  // expect: 10:24: this constraint is given twice
  // expect: 11:3: this constraint holds no coordinate
  Real x(start = 1), y, u = sin(time);
lagrangian
  der(x)^2 + der(y)^2;
constraint
  x^2 + y^2 = 1 "rod"; 2 - 2*x^2 = 2*y^2 "again";
  u = 1;
end ConstraintTwice;
