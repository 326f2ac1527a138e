// run: simulate --stop-time 1
// expect: exit 6
// expect: says x jumps by more than 1
model M
  Real x(start=0, fixed=true), a, b;
  parameter Real p = 0.5;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 2, if x > 0.5 then x + 3 else x, true);
end M;
