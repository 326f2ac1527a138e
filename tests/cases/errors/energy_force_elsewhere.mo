model ForceElsewhere
  // run: check
  // expect: exit 3
  // expect: 13:3: a force must act on a coordinate, and `v` is not one
  // expect: 14:3: a force must act on a coordinate, and `m` is not one
  parameter Real m = 1;
  Real x, v;
equation
  v = der(x);
lagrangian
  m/2*v^2;
force
  v = 3;
  m = 2;
end ForceElsewhere;
