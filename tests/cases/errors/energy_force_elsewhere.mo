model ForceElsewhere
  // run: check
  // expect: exit 3
  // expect: 13:3: a force acts on a coordinate, and `v` is none
  // expect: 14:3: a force acts on a coordinate, and `m` is none
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
