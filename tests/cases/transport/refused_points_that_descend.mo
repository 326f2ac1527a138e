// run: simulate --stop-time 1
// expect: exit 3
// expect: 9:12: ascend from 0 to 1
model M
  Real x(start=0, fixed=true), a, b;
  parameter Real p = 0.5;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 2, x, true, {0, 0.5, 0.4, 1}, {0, 1, 2, 3});
end M;
