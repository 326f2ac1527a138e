// run: simulate --method {dummy,projection}
// expect: says warning
// expect: says singular on the tangent space, in a direction of y [
model M
  Real x(start = 1, fixed = true), y(start = 0.5, fixed = true), z;
initial equation
  der(x) = 0;
lagrangian
  der(x)^2/2 + 0* der(y)^2/2 - x^2/2 - y^2/2;
dissipation
  der(y)^2/2;
constraint
  z = 2*x + 3;
end M;
