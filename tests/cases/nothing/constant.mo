// A constant equation.
// expect: x = 1 everywhere
model Constant
  Real x = 1;
end Constant;
