// run: check
// expect: exit 3
// expect: 10:3: `B` is not defined
model A
  parameter Real k = 1;
protected
  Real h = 1;
end A;
model M
  B b;
end M;
