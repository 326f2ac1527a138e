// Sizes that depend on other fields, also of outputs that are not known before the function runs.
// run: simulate --stop-time 1
// expect: x = 6322 within 0.06322
// expect: y = 16 within 0.00016
record I
  Real p = 3;
  Real q = 2*p;
end I;
record R
  Real a;
  Integer n = 2;
  Real v[n];
  I i;
end R;
record T
  R r[2](n = {1, 1});
end T;
function f
  input Real u;
  output R r(n = 3);
algorithm
  r.a := u;
  for k in 1:r.n loop
    r.v[k] := k*u;
  end for;
  while r.a > 1e9 loop
    r.a := r.a - 1;
  end while;
end f;
function g
  input R r;
  output Real y;
algorithm
  y := r.a + r.v[1] + 10*r.v[2] + 100*r.v[3] + 1000*r.i.q;
end g;
function h
  input Real u;
  output Real y;
protected
  T t;
algorithm
  t.r[2].v[1] := u;
  t.r[1].v := {3};
  y := t.r[2].v[1] + t.r[1].v[1] + sum(t.r.i.q);
end h;
model M
  Real x = g(f(time));
  Real y = h(time);
end M;
