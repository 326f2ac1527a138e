// An equation with a value that is very large at one moment holds there up to round-off of that value, which is not a violation.
// run: simulate --intervals 10
// expect: exit 0
model Peak
  Real x(start=1, fixed=true), q, r, s;
equation
  der(x) = -x;
  0.1*q + 3*r + s*x = noEvent(if abs(time - 1) > 1e-9 then x else 1e16*x);
  7*q - r*x + 0.3*s = x;
  q + r - 0.7*s = 0;
  annotation(experiment(StopTime=2));
end Peak;
