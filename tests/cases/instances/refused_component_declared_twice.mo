// run: check
// expect: exit 3
// expect: 11:5: declared twice
model A
  parameter Real k = 1;
protected
  Real h = 1;
end A;
model M
  A a;
  A a;
end M;
