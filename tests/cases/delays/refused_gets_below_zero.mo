// run: simulate --stop-time 1
// expect: exit 6
// expect: says below zero
model M
  Real x(start=1, fixed=true), y;
  parameter Real p=1;
equation
  der(x) = -x;
  y = delay(x, 1 - 2*time, 2);
end M;
