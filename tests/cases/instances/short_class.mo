// run: simulate --stop-time 1
// expect: x = 2 within 2e-05
model A
  parameter Real k = 1;
  Real x = k;
end A;
model B = A(k = 2);
