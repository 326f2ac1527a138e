// run: simulate --stop-time 1
// expect: exit 0
model M
  Real x(start=1, fixed=true), y;
  parameter Real p=1;
equation
  der(x) = -x;
  y = delay(x, 0);
end M;
