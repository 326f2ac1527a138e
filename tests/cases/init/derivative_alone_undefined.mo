// Rows are accepted at a point at which only their derivatives do not exist.
// run: init
// change: sqrt(x^2 + z^2) -> sqrt(x^2 + z^2) | atan2(z, x) | atan2(-z, -x) | sqrt(x) | abs(x)^0.5
// expect: exit 0
model M
  Real x(start = 0, fixed = true), y, z;
initial equation
  z = 0;
equation
  der(x) = 1;
  der(z) = 1;
  y = sqrt(x^2 + z^2);
end M;
