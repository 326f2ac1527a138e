// run: simulate --stop-time 1
// expect: exit 3
// expect: 9:12: without noEvent
model M
  Real x(start=0, fixed=true), a, b;
  parameter Real p = 0.5;
equation
  der(x) = 1;
  (a, b) = spatialDistribution(1, 2, x, noEvent(x > 1));
end M;
