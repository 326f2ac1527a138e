// A discrete variable that nothing determines must not count as 0.
// run: check
// expect: exit 4
// expect: says no equation determines `d`
// run: simulate
// expect: exit 4
// expect: says no equation determines `d`
model M
  discrete Real d; Real x(start = 0, fixed = true);
equation
  der(x) = 2*d + 1;
end M;
