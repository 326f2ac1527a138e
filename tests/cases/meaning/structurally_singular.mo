// check finds it as simulate does.
// run: check
// expect: exit 4
// expect: says structurally singular
// run: simulate
// expect: exit 4
// expect: says structurally singular
model M
  Real x, y, z;
equation
  x = 1; x = time; y + z = 2;
end M;
