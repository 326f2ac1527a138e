// run: check
// expect: exit 3
// expect: 9:20: expected an Integer
model M
  parameter Integer n = 3;
  Real x, y;
equation
  x = sample(time, Clock(1, 10));
  y = subSample(x, time);
end M;
