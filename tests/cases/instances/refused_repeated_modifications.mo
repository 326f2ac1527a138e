// Two modifications of one element, however they are nested.
// run: check
// change: b(a.x = 1) -> b(a.x = 1, a(x = 2)) | b(a(x = 1), a(x = 2)) | b(a(y(min = 0) = 1), a.y = 2)
// expect: exit 3
// expect: says is modified twice
// run: check
// change: b(a.x = 1) -> b(redeclare A a(x = 1), a(y = 2)) | b(redeclare A a, a.x = 1)
// expect: exit 3
// expect: says `a` is modified twice
// run: check
// change: b(a.x = 1) -> b(a.x = 1, a(x(min = 0), y = 2)) | b(a(x = 1), a(y = 2))
// expect: exit 0
model A
  Real x = 0, y = 0;
end A;

model B
  replaceable A a;
end B;

model M
  B b(a.x = 1);
end M;
