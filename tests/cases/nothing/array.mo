// An array without states.
// expect: time = 1
model Array_
  parameter Integer n = 0;
  Real x[n](each start = 1, each fixed = true);
equation
  der(x) = -x;
end Array_;
