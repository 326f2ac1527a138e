// An array constructor over an empty range has all the dimensions of its type.
// expect: z = 1
// expect: a = 0
// run: simulate
// change: n = 0 -> n = 2
// expect: z = 3
// expect: a = 20/3 within 1e-12
function f
  input Real x;
  output Real y[2];
algorithm
  y := {x, 2*x};
end f;

model M
  parameter Integer n = 0;
  parameter Real p[n, 3] = {{0, 1, 0} for i in 1:n};
  parameter Real r[n, 2, 2] = {{{i, j} for j in 1:2} for i in 1:n};
  Real q[n, 3] = {{time, 0, -1} for i in 1:n};
  Real z = sum(p) + sum(q) + time;
  Real a = sum(f(r[i, 1, 2])*{1, 1} + f(time/3)*{1/3, 1/3} for i in 1:n);
end M;
