// run: steady -q
// expect: exit 5
// expect: says no steady state
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1 + x^2;
end M;
