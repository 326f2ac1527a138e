// run: check
// expect: exit 0
// run: flatten
// expect: prints Real 'a[2].x[2]'
model A
  parameter Integer n = 1;
  Real x[n] = ones(n);
end A;
model M
  A a[2](n = {1, 2});
end M;
