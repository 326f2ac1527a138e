// An algebraic variable cannot be set.
// run: check
// expect: exit 3
// expect: says reinit cannot set `y`
// run: simulate
// expect: exit 3
// expect: says reinit cannot set `y`
model M
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 1; y = 2*x; when x > 0.5 then reinit(y, 0); end when;
end M;
