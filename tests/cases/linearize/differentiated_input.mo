// run: linearize -q
// expect: exit 4
// expect: says differentiated, and the input `u`
model M
  input Real u;
  Real x, v;
equation
  v = der(x);
  x = sin(u);
end M;
