// A mass matrix that is not definite on the tangent space is reported, with its coordinates.
// run: simulate --method {dummy,projection}
// expect: never says warning
// run: simulate --method {dummy,projection}
// change: der(x)^2/2 + der(y)^2/2 -> der(x)^2/2 - der(y)^2/2
// expect: says warning
// expect: says indefinite on the tangent space, in a direction of y [
model M
  Real x(start = 1, fixed = true), y(start = 0.5, fixed = true), z;
initial equation
  der(x) = 0;
  der(y) = 0;
lagrangian
  der(x)^2/2 + der(y)^2/2 - x^2/2 - y^2/2;
constraint
  z = 2*x + 3;
end M;
