// run: check
// expect: exit 3
// expect: 8:24: has two clocks
model M
  Real x, y;
equation
  x = sample(time, Clock(0.1));
  y = x + sample(time, Clock(0.2));
end M;
