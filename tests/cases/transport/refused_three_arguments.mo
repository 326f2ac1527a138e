// run: simulate --stop-time 1
// expect: exit 3
// expect: 9:12: expected 4
model M
  Real x(start=0, fixed=true), a, b;
  parameter Real p = 0.5;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 2, x);
end M;
