// run: check
// expect: exit 3
// expect: 8:7: both clocked and of continuous time
model M
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -x + y;
  y = previous(y) + sample(x, Clock(0.1));
end M;
