// run: simulate
// expect: exit 6
model M
  Real y(start = 1, fixed = true), z(start = 0);
equation
  der(y) = z;
  y^2 + z^2 = 1;
end M;
