// run: simulate --stop-time 1
// expect: y = 4/3 + 8/3 within 1e-7
package P
  constant String names[:] = { "a" ,  "b" ,  "c" };
  constant Real x[n] = fill(1/n, n);
  constant Integer n = size(names, 1);
  function f
    input Real u;
    input Real w[:] = x;
    output Real y;
  algorithm
    y := u*sum(w) + P.g(u);
  end f;
  function g
    input Real u;
    output Real y;
  algorithm
    y := x[n]*u;
    while y > 100 loop
      y := y/2;
    end while;
  end g;
  constant Real z = P.f(2);
end P;
model M
  Real y = P.f(time) + P.z;
  Real v[P.n] = P.x;
end M;
