// A variable mass, a prescribed motion, a motor with its own differential equation.
// run: simulate
// reference: files/given_functions.mo simulate
// expect: x = reference.x within 1e-5 everywhere
model M
  Real m(start = 2, fixed = true), x(start = 0, fixed = true), s, i(start = 0, fixed = true);
initial equation
  der(x) = 1;
equation
  der(m) = -0.5;
  s = sin(time);
  0.1*der(i) + i = 1 - 0.2*der(x);
lagrangian
  m/2*(der(x) + der(s))^2;
force
  x = 0.2*i;
end M;
