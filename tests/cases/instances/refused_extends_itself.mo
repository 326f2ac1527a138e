// run: check
// expect: exit 3
// expect: 10:11: extends itself
model A
  parameter Real k = 1;
protected
  Real h = 1;
end A;
model M
  extends M;
end M;
