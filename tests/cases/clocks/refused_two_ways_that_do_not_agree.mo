// run: check
// expect: exit 3
// expect: 8:25: two ways that do not agree
model M
  Real x, y;
equation
  x = sample(time, Clock(1, 10));
  y = subSample(x, 2) + subSample(x, 3);
end M;
