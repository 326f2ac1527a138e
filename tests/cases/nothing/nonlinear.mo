// A nonlinear equation without a state.
// expect: x = sqrt(1 + time) within 1e-6 everywhere
model Nonlinear
  Real x(start = 1);
equation
  x^2 = 1 + time;
end Nonlinear;
