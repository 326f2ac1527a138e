// run: simulate --stop-time 1
// expect: y = 6 within 1e-7
package P
  record C
    parameter Integer n = 2;
    Real a[n];
    Real b[:, 2];
  end C;
  record D
    extends C(n = 3, a = {1, 2, 3}, b = {{1, 2}, {3, 4}});
  end D;
  function f
    input Real u;
    output Real y;
  protected
    D d;
  algorithm
    y := u*d.a[3] + d.b[2, 1];
    while y > 50 loop
      y := y/2;
    end while;
  end f;
end P;
model M
  Real y = P.f(time);
end M;
