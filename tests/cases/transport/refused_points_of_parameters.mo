// run: simulate --stop-time 1
// expect: exit 5
// expect: says initialPoints does not ascend
model M
  Real x(start=0, fixed=true), a, b;
  parameter Real p = 0.5;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 2, x, true, {0, p}, {0, 1});
end M;
