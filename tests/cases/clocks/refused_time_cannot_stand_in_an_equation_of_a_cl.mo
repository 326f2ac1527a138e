// run: check
// expect: exit 3
// expect: 7:3: `time` is not allowed in an equation of a clock
model M
  Real x;
equation
  x = sample(time, Clock(2, 10)) + time;
end M;
