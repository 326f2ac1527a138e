// run: check
// expect: exit 3
// expect: 10:9: cannot have a value
model A
  parameter Real k = 1;
protected
  Real h = 1;
end A;
model M
  A a = 5;
end M;
