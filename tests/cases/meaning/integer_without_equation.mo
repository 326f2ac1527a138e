// An Integer that nothing determines must not count as 0.
// run: check
// expect: exit 4
// expect: says no equation determines `k`
// run: simulate
// expect: exit 4
// expect: says no equation determines `k`
model M
  Integer k; Real x(start = 0, fixed = true);
equation
  der(x) = 2*k + 1;
end M;
