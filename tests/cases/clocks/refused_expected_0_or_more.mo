// run: check
// expect: exit 3
// expect: 8:7: expected 0 or more
model M
  Real x, y;
equation
  x = sample(time, Clock(2, 10));
  y = subSample(x, -1);
end M;
