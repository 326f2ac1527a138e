// An interval of 0 is refused.
// run: {check,simulate}
// expect: 8:8: the interval 0 of sample is not positive
// expect: exit 3
model M
  Integer n(start = 0, fixed = true);
equation
  when sample(0, 0) then n = pre(n) + 1; end when;
end M;
