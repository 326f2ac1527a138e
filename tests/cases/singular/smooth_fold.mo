// run: simulate --stop-time 2
// expect: exit 6
// expect: says singular
model fold
  Real y(start = -2);
equation
  y^3 - 3*y = 4*time - 4;
end fold;
