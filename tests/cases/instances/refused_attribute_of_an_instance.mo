// run: check
// expect: exit 3
// expect: 11:9: unitt
// expect: says `b.a.k`
model A
  parameter Real k = 1;
protected
  Real h = 1;
end A;
model B
  A a(k(unitt =  "m" ));
end B;
model M
  B b;
end M;
