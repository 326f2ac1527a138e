// run: check
// expect: exit 3
// expect: 7:3: `pre` is not allowed in an equation of a clock
model M
  discrete Real x;
equation
  x = sample(time, Clock(2, 10)) + pre(x);
end M;
