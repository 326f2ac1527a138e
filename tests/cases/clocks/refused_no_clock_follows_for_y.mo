// run: check
// expect: exit 3
// expect: 7:7: no clock follows for `y`
model M
  Real y;
equation
  y = previous(y) + 1;
end M;
