// Equations of all modes are not said to be those of one.
// run: reduce --method dummy
// expect: never prints are those where
model M
  Real x(start = 1);
equation
  der(x) = if x < 1 then 1 else 2;
end M;
