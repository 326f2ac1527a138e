// A Boolean that nothing determines must not count as false.
// run: check
// expect: exit 4
// expect: says no equation determines `b`
// run: simulate
// expect: exit 4
// expect: says no equation determines `b`
model M
  Boolean b; Real x(start = 0, fixed = true);
equation
  der(x) = if b then 1 else 2;
end M;
