// run: check
// expect: exit 3
// expect: 7:7: Boolean and Clock
model M
  Boolean b;
equation
  b = Clock(0.1);
end M;
