// run: simulate --stop-time 1
// expect: exit 5
// expect: says delay time of delay(x, p) is -1, below zero
model M
  Real x(start=1, fixed=true), y;
  parameter Real p=-1;
equation
  der(x) = -x;
  y = delay(x, p);
end M;
