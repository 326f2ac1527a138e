// run: simulate --stop-time 1
// expect: exit 3
// expect: 9:7: below zero
model M
  Real x(start=1, fixed=true), y;
  parameter Real p=1;
equation
  der(x) = -x;
  y = delay(x, -1);
end M;
