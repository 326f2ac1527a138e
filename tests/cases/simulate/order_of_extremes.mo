// max and min select the same argument for any order of their arguments, even where the arguments are equal, and after that point.
// run: simulate --stop-time {0.16666666666666666,0.5} --intervals 3
// change: max(0.5, 3*time) -> max(0.5, 3*time) | max(3*time, 0.5)
// expect: x = 3 + a within 1e-12
// run: simulate --stop-time {0.16666666666666666,0.5} --intervals 3
// change: max(0.5, 3*time) -> min(0.5, 3*time) | min(3*time, 0.5)
// expect: x = a within 1e-12
model M
  Real a, x, y;
equation
  a = max(0.5, 3*time);
  x = der(a) + a;
  y = der(x);
end M;
