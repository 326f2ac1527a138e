// A variable that is assigned its own start value counts as assigned.
// run: simulate --stop-time 1
// change: start = 0 -> start = 0 | start = 1 | start = 2
// expect: v.a = 1 within 1e-05
// expect: v.b = 0 within 1e-05
// expect: y = 2 within 2e-05
record V
  Real a(start = 0);
  Real b;
end V;
function f
  input Real x;
  output V v;
algorithm
  v.a := x - 1;
  v.b := 0;
end f;
model M
  V v;
  Real w[3];
  Real y;
algorithm
  v := f(2);
  w := {0, 1, 0};
  y := v.a + v.b + sum(w);
end M;
