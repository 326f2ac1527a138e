// Events are named by their condition.
// run: simulate -v
// expect: says event at t = 0.5: x > 0.5 becomes 0
model M
  Real x(start=1, fixed=true);
equation
  der(x) = if x > 0.5 then -1 else -2;
end M;
