// run: check
// expect: exit 3
// expect: 12:7: no element `j`
// expect: says `a`
// expect: says ^
model A
  parameter Real k = 1;
protected
  Real h = 1;
end A;
model M
  A a(j = 2);
end M;
