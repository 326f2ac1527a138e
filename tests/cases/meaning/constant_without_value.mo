// run: check
// expect: exit 0
// expect: says constant `c` has no value
// run: simulate
// expect: exit 3
// expect: says constant `c` has no value
model M
  constant Real c;
  Real y = c*time;
end M;
