model NotLinear
  // run: check
  // expect: exit 3
  // expect: 9:3: linear in the velocities, and is not in der(x)
  Real x, y;
lagrangian
  der(x)^2 + der(y)^2;
constraint
  der(x)^2 = der(y);
end NotLinear;
