// run: check
// expect: exit 3
// expect: 7:26: expected an Integer
model M
  Real x;
equation
  x = sample(time, Clock(1.5, 10));
end M;
