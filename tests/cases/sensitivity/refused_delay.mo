// run: simulate --sensitivity a
// expect: exit 2
// expect: says delay
model M
  parameter Real a = 1;
  Real x(start = 1, fixed = true);
equation
  der(x) = -a*delay(x, 0.1);
end M;
