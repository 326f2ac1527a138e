// run: check
// expect: exit 3
// expect: 7:7: an initial section
model M
  Real x(start = 0);
initial equation
  x = previous(x);
equation
  x = sample(time, Clock(1, 10));
end M;
