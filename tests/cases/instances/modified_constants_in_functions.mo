// run: simulate --stop-time 1
// expect: a.x = 5 within 5e-05
// expect: b.x = 4 within 4e-05
model A
  constant Real k = 3;
  function f
    input Real u;
    output Real y;
  algorithm
    y := u + k;
  end f;
  Real x = f(time);
end A;
model M
  A a(k = 4);
  A b;
end M;
