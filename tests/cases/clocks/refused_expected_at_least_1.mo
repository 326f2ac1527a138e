// run: check
// expect: exit 3
// expect: 8:7: expected at least 1
model M
  Real x, y;
equation
  x = sample(time, Clock(2, 10));
  y = shiftSample(x, 1, 0);
end M;
