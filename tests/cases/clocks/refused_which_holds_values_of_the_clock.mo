// run: check
// expect: exit 3
// expect: 9:3: which contains values of the clock
model M
  Real x, y, z;
equation
  der(x) = y;
  x = z;
  z = sample(time, Clock(Clock(1, 10),  "ExplicitEuler" ));
end M;
