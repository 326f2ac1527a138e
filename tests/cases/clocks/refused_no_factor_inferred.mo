// run: check
// expect: exit 3
// expect: 8:7: no factor can be inferred
model M
  Real x, y;
equation
  x = sample(time, Clock(2, 10));
  y = superSample(x) + sample(time, Clock(3, 10));
end M;
