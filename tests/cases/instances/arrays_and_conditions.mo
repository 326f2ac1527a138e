// run: simulate --stop-time 1
// expect: s = 14 within 0.00014
model A
  parameter Real k = 1;
  Real x[2] = {k, 2*k};
end A;
model M
  parameter Integer n = 2;
  A a[n](k = {3, 4});
  A b if n > 2;
  A c[n](each k = 5) if n == 2;
  Real s = sum(a.x[2]);
end M;
