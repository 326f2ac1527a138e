// run: check
// expect: exit 3
// expect: 8:7: before its base clock
model M
  Real x, y;
equation
  x = sample(time, Clock(2, 10));
  y = backSample(x, 1);
end M;
