// run: check
// expect: exit 3
// expect: 8:7: hold needs a variable
model M
  Real x, y;
equation
  x = sample(time, Clock(2, 10));
  y = hold(x + 1);
end M;
