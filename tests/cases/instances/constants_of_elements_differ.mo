// run: simulate --stop-time 1
// expect: c[1].x = 3 within 1e-7
// expect: c[2].x = 6 within 1e-7
model C
  constant Real k = 2;
  function f
    input Real u;
    output Real y;
  algorithm
    y := k*u;
  end f;
  Real x = f(3*time);
end C;
model M
  C c[2](k = {1, 2});
end M;
