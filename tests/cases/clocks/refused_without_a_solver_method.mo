// run: check
// expect: exit 3
// expect: 5:8: without a solver method
model M
  Real x(start = 1);
equation
  der(x) = -x + sample(time, Clock(1, 10));
end M;
