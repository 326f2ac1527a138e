// Equations that hold in all modes do not have a comment that names one mode.
// run: reduce --method dummy
// expect: never prints are those where
model M
  Real x(start = 1);
equation
  der(x) = if x < 1 then 1 else 2;
end M;
