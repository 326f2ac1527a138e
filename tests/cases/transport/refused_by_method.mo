// run: simulate --stop-time 1 --method overdetermined
// expect: exit 2
// expect: says cannot integrate spatialDistribution(
model M
  Real x(start=0, fixed=true), a, b;
  parameter Real p = 0.5;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 2, x, true);
end M;
