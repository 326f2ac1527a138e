// run: check
// expect: exit 3
// expect: 8:12: expected a clocked variable
model M
  Clock c = Clock(1, 10);
  Real x;
equation
  x = hold(c);
end M;
