// run: check
// expect: exit 3
// expect: 5:11: a model cannot extend a type
model M
  extends Real;
end M;
