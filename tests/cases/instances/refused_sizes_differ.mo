// run: check
// expect: exit 3
// expect: 6:10: differ
model A
  parameter Integer n = 1;
  Real x[n] = ones(n);
end A;
model M
  A a[2](n = {1, 2});
end M;
