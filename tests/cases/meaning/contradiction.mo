// Two equations that contradict each other.
// run: check
// expect: exit 4
// expect: says contradict
// run: simulate
// expect: exit 4
// expect: says contradict
model M
  Real x, y;
equation
  x + y = 1; x + y = 2 + time;
end M;
