// run: simulate --stop-time 1 --method overdetermined
// expect: exit 2
// expect: says method overdetermined cannot integrate delay(x, 0.5)
model M
  Real x(start=1, fixed=true), y;
  parameter Real p=1;
equation
  der(x) = -x;
  y = delay(x, 0.5);
end M;
