// A state that is constant.
// expect: x = 1 everywhere
// expect: der(x) = 0 everywhere
model State
  Real x(start = 1, fixed = true);
equation
  der(x) = 0;
end State;
