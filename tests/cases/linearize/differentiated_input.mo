// run: linearize -q
// expect: exit 4
// expect: says that contains the input `u` is differentiated
model M
  input Real u;
  Real x, v;
equation
  v = der(x);
  x = sin(u);
end M;
