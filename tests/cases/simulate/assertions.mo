// run: simulate
// expect: exit 6
// expect: says assertion failed at time
// expect: says small
// run: simulate
// change: x > 0.5 -> x > 0.1
// expect: exit 0
// run: simulate
// change: x > 0.5 -> x > 2
// expect: exit 5
// run: simulate
// change: "small" -> "small", AssertionLevel.warning
// expect: exit 0
// expect: occurrences(stderr, "warning: at time") = 1
model M
  Real x(start=1, fixed=true);
equation
  der(x) = -x;
  assert(x > 0.5,  "small" );
end M;
