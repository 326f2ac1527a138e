// run: simulate --stop-time 1
// expect: s = 2 within 1e-7
// run: simulate --stop-time 1 --override n=3
// expect: s = 3 within 1e-7
// run: check
// change: a[n] -> a[m]
// expect: exit 3
// expect: says `m` is not declared
model A
  Real x = 1;
end A;
model M
  parameter Integer n = 2;
  A a[n];
  Real s = sum(a.x);
end M;
