// A field that is modified has that value, whatever value the whole record has.
// run: simulate --stop-time 1
// expect: r.b = 3 within 3e-05
// expect: x = 31 within 0.00031
// expect: y = 32 within 0.00032
// expect: z = 32 within 0.00032
// expect: w = 22 within 0.00022
model M
  record R
    Real a;
    Real b;
  end R;
  function f
    input Real u;
    output Real y;
  protected
    R r(b = 3) = R(u, 7);
  algorithm
    y := r.a + 10*r.b;
  end f;
  function g
    input Real u;
    input R r(b = 3) = R(1, 7);
    output Real y;
  algorithm
    y := r.a + 10*r.b + u;
  end g;
  function h
    input Real u;
    input R r(a = 1, b = 3);
    output Real y;
  algorithm
    y := r.a + 10*r.b + u;
  end h;
  function k
    input Real u;
    output Real y;
  protected
    R r[2](each a = u, b = {1, 2});
  algorithm
    y := r[1].a + 10*r[2].b + u;
  end k;
  R r(b = 3) = R(time, 7);
  Real x = f(time), y = g(time), z = h(time), w = k(time);
end M;
