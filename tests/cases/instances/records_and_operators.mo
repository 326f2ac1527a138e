// run: simulate --stop-time 1
// expect: s = 6 within 6e-05
// expect: t = -1 within 1e-05
record R
  parameter Integer n = 2;
  parameter Real v[n] = {i for i in 1:n};
end R;
model M
  parameter R r(n = 3);
  parameter R q = r;
  Real s = sum(q.v);
  Complex z = Complex(1, 2)*Complex(0, 1) + 3;
  Complex w[2] = {z, -z};
  Real t = w[2].re;
end M;
