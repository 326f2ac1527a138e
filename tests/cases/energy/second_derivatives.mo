// A coordinate whose second derivative does not occur, next to one whose second derivative does.
// run: simulate --stop-time 0.3
// reference: files/second_derivatives.mo simulate --stop-time 0.3
// expect: y = reference.y within 1e-5 everywhere
model M
  Real x(start = 1, fixed = true), y(start = 0.3, fixed = true);
initial equation
  der(x) = 0.1;
  der(y) = 0;
  der(der(y)) = 0.2;
  der(der(der(y))) = 0.1;
lagrangian
  x*der(der(y))^2/2 + der(x)*der(der(y))^2/5 + der(x)^2/2 - 4*y^2 - x^2;
end M;
