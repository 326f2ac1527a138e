// An interval of 0 is no interval.
// run: check
// expect: exit 0
// run: simulate
// expect: exit 3
// expect: says sample(0, 0)
model M
  Integer n(start = 0, fixed = true);
equation
  when sample(0, 0) then n = pre(n) + 1; end when;
end M;
