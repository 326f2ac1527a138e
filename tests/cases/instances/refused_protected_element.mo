// run: check
// expect: exit 3
// expect: 11:12: protected
model A
  parameter Real k = 1;
protected
  Real h = 1;
end A;
model M
  A a;
  Real x = a.h;
end M;
