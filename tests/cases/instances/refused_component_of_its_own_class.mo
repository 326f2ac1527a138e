// run: check
// expect: exit 3
// expect: 5:5: its own class
model A
  A a;
end A;
model M
  A a;
end M;
